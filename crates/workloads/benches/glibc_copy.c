/* memcpy of the C library that this is linked with, by the method of the MEMCPY workload: two arrays in anonymous maps that
   start at a huge page and are advised to use them, written to before the clock starts, one copy unclocked, then PASSES
   copies clocked one by one. Prints bytes per second: all bytes over all time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 2 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static char *array(size_t size) {
    char *map = mmap(0, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    map += -(uintptr_t)map % HUGE_PAGE;
    madvise(map, size, MADV_HUGEPAGE);
    for (size_t i = 0; i < size / 8; i++) ((uint64_t *)map)[i] = i + 1;
    return map;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    size_t size = strtoull(arguments[1], 0, 10), passes = strtoull(arguments[2], 0, 10);
    /* Through a pointer, so that the compiler cannot put code of its own in memcpy's place. */
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    char *from = array(size), *to = array(size);
    double sum = 0;
    copy(to, from, size);
    for (size_t i = 0; i < passes; i++) {
        double start = now();
        copy(to, from, size);
        sum += now() - start;
    }
    printf("%.0f\n", size * passes / sum);
    return memcmp(to, from, size) != 0;
}

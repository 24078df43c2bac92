### Checks: title, evidence, what to do.
###
### check-THREAT-title and check-THREAT-advice; the evidence is check-THREAT-evidence-SHAPE where the evidence has a word "shape",
### else check-THREAT-evidence. Variables are the keys of the evidence, formatted by the caller by the endings of their names
### (…-share as percent, …-seconds, …-bytes, …-hertz with units, the rest as plain numbers or words), and $status.

## Who executes

check-accelerator-title = Accelerator
check-accelerator-evidence-hypervisor = The study says { $expected }; QEMU says { $seen }.
check-accelerator-evidence-study = { $expected } was asked for; the study was made with { $seen }.
check-accelerator-evidence-cpuid = { $expected } was expected; the CPUID of the guest says { $seen }.
check-accelerator-evidence-canary = The spin loop takes { $slower-factor } times as long in the guest as on the host: no guest under KVM is so slow.
check-accelerator-evidence-agreed = The study, QEMU and the CPUID of the guest, as far as they can be asked, say { $seen }.
check-accelerator-evidence-unknown = QEMU could not be asked whether KVM is in use.
check-accelerator-advice = Make sure that /dev/kvm can be opened and that virtualization is enabled in the firmware; ask for --accel kvm, which fails rather than falls back.

## Clocks

check-clock-title = Clock
check-clock-evidence-rate = The guest's clock ran wrong by { $error-share } (known to ± { $uncertainty-share }).
check-clock-evidence-duration = The run took { $guest-seconds } by the guest's clock and { $controller-seconds } by the controller's; messages explain a difference of { $message-seconds }.
check-clock-evidence-unknown = The guest's clock could not be compared with the controller's.
check-clock-advice = Every figure of the guest is made with its clock: look at its clock source and at whether the host was suspended or its time was set, and measure again.

check-clock-source-title = Clock source
check-clock-source-evidence-cost = The guest keeps time with { $source }; a read of it costs { $read-seconds }.
check-clock-source-evidence-source = The guest keeps time with { $source }.
check-clock-source-evidence-unknown = The guest does not say which clock source it uses.
check-clock-source-advice = Give the guest kvm-clock or an invariant tsc (a CPU model with +invtsc). An emulated guest usually has hpet: tools that read the clock for every operation pay for it.

## Contention

check-steal-title = Steal
check-steal-evidence = A hypervisor above took away { $steal-share } of this machine's CPU time.
check-steal-evidence-unknown = Stolen CPU time could not be read.
check-steal-advice = Stop other guests on this host, or measure on a machine with CPUs of its own.

check-run-queue-title = Waiting for a CPU
check-run-queue-evidence = While others worked on its CPUs, what ran was ready and had none for { $wait-share } of the time that it wanted one ({ $wait-seconds }).
check-run-queue-evidence-unknown = The time that was spent waiting for a CPU could not be read (the kernel keeps no schedstat for it).
check-run-queue-advice = Stop what else runs on these CPUs, or give the study CPUs of its own (isolcpus, cpusets).

check-contention-title = Contention in one arm
check-contention-evidence-steal = { $base-share } of the CPU time was stolen in the host's turn and { $other-share } in the guest's.
check-contention-evidence-waiting = The host's run waited for a CPU for { $base-share } of its time, and the guest's for { $other-share }.
check-contention-evidence-unknown = Steal or waiting is not known of both arms, so that they cannot be compared.
check-contention-advice = Something else ran in the turn of one arm only. Find it (cron jobs, other guests, backups), stop it, and measure again.

check-quota-title = CPU quota
check-quota-evidence = A CPU quota held it back for { $throttled-seconds }.
check-quota-evidence-unknown = Throttling by CPU quotas could not be read.
check-quota-advice = Remove the quota (cpu.max) from the cgroup in which vmtax runs, or run vmtax outside it.

check-other-load-title = Other load
check-other-load-evidence-pressure = While the machine should have been idle, tasks waited for { $resource ->
        [cpu] a CPU
        [io] I/O
       *[memory] memory
    } for { $pressure-share } of the time.
check-other-load-evidence-busy = While the machine should have been idle, its CPUs were busy for { $busy-share } of their time.
check-other-load-evidence-unknown = Pressure (/proc/pressure) could not be read.
check-other-load-advice = Stop other work on this machine before the study; systemd-cgtop and iotop show who it is.

check-canary-title = Canary
check-canary-evidence-distance = { $machine ->
        [host] Host
        [guest] Guest
       *[other] { $machine }
    }: the spin loop that took furthest from its usual { $median-seconds } was off by { $distance-share }, in round { $round }.
check-canary-evidence-change = { $machine ->
        [host] Host
        [guest] Guest
       *[other] { $machine }
    }: the spin loop changed by { $distance-share } from before the runs of round { $round } to after them (usually { $median-seconds }).
check-canary-evidence-unknown = { $machine ->
        [host] Host
        [guest] Guest
       *[other] { $machine }
    }: too few spin loops were timed to compare them.
check-canary-advice = The machine itself changed its speed: look for a power-saving governor, turbo, heat and neighbours. A canary alone drops no block.

## Power

check-thermal-title = Heat and power
check-thermal-evidence-time = The CPUs were throttled for { $throttled-share } of the run.
check-thermal-evidence-events = { $events } throttling events for heat or power during the run.
check-thermal-evidence-seconds = The CPUs were throttled for { $throttled-seconds } during the run.
check-thermal-evidence-unknown = The host has no counters of throttling.
check-thermal-advice = Improve cooling or lower the power limit and the turbo, so that the speed does not depend on what ran before.

check-frequency-title = CPU frequency
check-frequency-evidence-arms = The CPUs ran at { $base-hertz } for the host's run and at { $other-hertz } for the guest's: a difference of { $difference-share }.
check-frequency-evidence-unknown = The CPU frequency is not known of both arms.
check-frequency-advice = Set the governor to performance and switch turbo off for the study.

## Memory

check-memory-pressure-title = Memory pressure
check-memory-pressure-evidence-killed = The kernel killed processes for want of memory during the run: { $processes }.
check-memory-pressure-evidence-swapped = Pages swapped during the run: { $pages }.
check-memory-pressure-evidence-merged = The host has merged pages of memory (KSM): { $pages }.
check-memory-pressure-evidence-none = Nothing was swapped or killed on either side, and the host has merged no pages.
check-memory-pressure-evidence-unknown = Swapping or OOM kills could not be read of every kernel that took part.
check-memory-pressure-advice = Free memory, make the guest or the benchmark smaller, switch swap off (swapoff -a) and KSM too (echo 2 > /sys/kernel/mm/ksm/run).

check-huge-pages-title = Huge pages
check-huge-pages-evidence-run = { $huge-share } of the workload's memory lay in huge pages of its machine; { $backing-share } of the memory below it in huge pages of the host.
check-huge-pages-evidence-own = { $base-share } of the workload's memory lay in huge pages on the host and { $other-share } in the guest.
check-huge-pages-evidence-backing = { $base-share } of the host's memory for the work lay in huge pages, and { $other-share } of the memory below the guest.
check-huge-pages-evidence-unknown = The share of huge pages could not be read at every level.
check-huge-pages-advice = Set transparent huge pages alike on both sides (/sys/kernel/mm/transparent_hugepage/enabled, and the memory backing of QEMU), or read the row as the difference of page sizes too.

## Disk

check-page-cache-title = Page cache of the host
check-page-cache-evidence-buffered = QEMU has the data file open without O_DIRECT: the guest's reads come from the host's page cache.
check-page-cache-evidence-missing = Of the bytes that the benchmark moved, only { $lowest-share } to { $highest-share } moved to or from storage: a page cache served the rest.
check-page-cache-evidence-surplus = { $lowest-share } to { $highest-share } of the bytes that the benchmark moved went to or from storage: something else used the disk through the same process.
check-page-cache-evidence-complete = { $lowest-share } to { $highest-share } of the bytes that the benchmark moved went to or from storage.
check-page-cache-evidence-buffered-writes = QEMU writes through the host's page cache: which bytes reached the device for this run cannot be told.
check-page-cache-evidence-descriptor = The bytes add up, but whether QEMU's descriptor has O_DIRECT could not be read.
check-page-cache-evidence-unknown = The bytes that reached storage, or those that the benchmark moved, are not known.
check-page-cache-advice = Use --set disk.cache=none (with disk.aio=native or io_uring). With a buffered mode the row says how fast the host's memory is.

check-cache-mode-title = Cache mode
check-cache-mode-evidence-descriptor = The settings ask for a { $asked ->
        [direct] direct
       *[buffered] buffered
    } data file; QEMU's descriptor is { $seen ->
        [direct] direct
       *[buffered] buffered
    }.
check-cache-mode-evidence-unknown = QEMU's descriptor of the data file could not be read.
check-cache-mode-advice = The file system of the data file may refuse O_DIRECT (tmpfs, some network file systems): put the data file elsewhere with --work-dir.

check-guest-page-cache-title = Page cache of the guest
check-guest-page-cache-evidence-direct = The benchmark goes around the page cache of its kernel (O_DIRECT).
check-guest-page-cache-evidence-small = The benchmark goes through the page cache and works among { $span-bytes }; the guest has { $memory-bytes } of memory, the host { $other-memory-bytes }.
check-guest-page-cache-evidence-memory = The benchmark goes through the page cache (among { $span-bytes }), on a guest with { $memory-bytes } and a host with { $other-memory-bytes } of memory.
check-guest-page-cache-evidence-unknown = Whether the benchmark goes through the page cache, or how much there is of it, is not known.
check-guest-page-cache-advice = Use O_DIRECT, or a region of at least twice the guest's memory on machines with as much memory.

check-thin-provisioning-title = Holes in the data file
check-thin-provisioning-evidence = { $holes-share } of the data file is not allocated; reads of it do no I/O.
check-thin-provisioning-evidence-unknown = How much of the data file is allocated could not be read.
check-thin-provisioning-advice = Let vmtax write the data file in full, on a file system that neither compresses nor punches holes.

## Length and course of a run

check-too-short-title = Too short
check-too-short-evidence-clock = The steady part took { $steady-seconds }, and one read of the clock { $read-seconds }: the resolution of the clock is part of the figure.
check-too-short-evidence-chosen = The steady part took { $steady-seconds }, because the user asked for less time than usual.
check-too-short-evidence-steady = The steady part took { $steady-seconds }; it should be { $limit-seconds } or more.
check-too-short-evidence-percentile = { $metric } was made from { $samples } samples; it takes { $least-samples }.
check-too-short-evidence-effective = The samples of the run are worth { $effective-samples } independent ones.
check-too-short-evidence-long = The steady part took { $steady-seconds }.
check-too-short-evidence-unknown = How long the steady part took is not known.
check-too-short-advice = Give the benchmark more time (--param time=10s).

check-steady-state-title = Steady state
check-steady-state-evidence-no-level = The throughput did not settle: the best cut is half way through the run, { $warm-up-seconds } after its beginning.
check-steady-state-evidence-halves = After a warm-up of { $warm-up-seconds } the two halves of the run differ by { $change-share }.
check-steady-state-evidence-unknown = The run has no series of its throughput, or one with too few samples.
check-steady-state-advice = Run longer and with a longer ramp (--param ramp=10s); write an SSD full before measuring writes.

check-burst-credits-title = Burst credits
check-burst-credits-evidence-drop = { $at-seconds } after its beginning the throughput fell for good to { $after-share } of what it was.
check-burst-credits-evidence-level = No lasting drop of the throughput within { $series-seconds }.
check-burst-credits-evidence-short = { $series-seconds } of throughput are too short to show a drop.
check-burst-credits-evidence-product = The host says that it is a “{ $product }”.
check-burst-credits-evidence-unknown = Neither the throughput over time nor the name of the machine's type says anything of credits.
check-burst-credits-advice = Use up or rest out the credits before each run, run longer than the bucket lasts, or take a machine without credits.

check-coordinated-omission-title = Coordinated omission
check-coordinated-omission-evidence-rate = The load generator reached { $achieved-share } of the rate that it was to keep.
check-coordinated-omission-evidence-gap = One operation took { $longest-seconds } where one was to be issued every { $interval-seconds }: those in between have no latency.
check-coordinated-omission-evidence-unknown = The rate that was reached, or the longest latency, is not known.
check-coordinated-omission-advice = Lower the rate, or use a generator that counts latencies from the intended start of each operation.

## Machines

check-tool-version-title = Versions of tools
check-tool-version-evidence-differs = { $note }
check-tool-version-evidence-same = { $version } on both sides.
check-tool-version-evidence-unknown = The tool's version is not recorded.
check-tool-version-advice = Do not call the difference virtualization overhead: make both sides run the same tool with the same libraries.

check-kernel-title = Kernels
check-kernel-evidence-same = Both machines run { $host }.
check-kernel-evidence-kernel-bound = The kernel does this work, and the host runs { $host }, the guest { $guest }: the figure holds the difference of the kernels too.
check-kernel-evidence-other = The host runs { $host }, the guest { $guest }.
check-kernel-evidence-unknown = The kernel is not known of both machines.
check-kernel-advice = Boot the guest with the host's kernel.

check-environment-title = Environment
check-environment-evidence-none = What is known of both machines is the same.
check-environment-evidence-differences = Host and guest differ in { $differences } known properties: { $keys }.
check-environment-evidence-unknown = Facts of one of the machines are missing.
check-environment-advice = Make alike what can be made alike (mitigations, huge pages, I/O scheduler, read-ahead); the rest belongs to what is compared.

## Course of the study

check-dependence-title = Rounds that depend on one another
check-dependence-evidence-few = { $blocks } blocks are too few to tell.
check-dependence-evidence-trend = The host's own values rise or fall with time (Mann-Kendall tau { $tau }, p = { $p-value }).
check-dependence-evidence-order = The overhead depends on who came first in the block (p = { $p-value }).
check-dependence-evidence-lag = The overhead of one round goes along with that of the one before (correlation { $correlation }).
check-dependence-evidence-none = No tendency, no effect of the order, and no correlation worth the name ({ $correlation }).
check-dependence-evidence-unknown = The values do not allow the tests.
check-dependence-advice = The paired result stands. Longer pauses or more rounds make it firmer; look for heat, a filling disk or neighbours.

check-host-noise-title = Noise of the host
check-host-noise-evidence-spread = The host's own values spread by { $spread-share }.
check-host-noise-evidence-rescued = The host's own values spread by { $spread-share }, but the guest's move along with them: pairing makes it { $reduction-factor } times better.
check-host-noise-evidence-unknown = Too few values to tell.
check-host-noise-advice = Measure on a quiet machine; with a host that moves so much no overhead is precise.

check-pairing-title = Pairing
check-pairing-evidence-few = { $blocks } blocks are too few to tell.
check-pairing-evidence-reduction = Comparing within rounds divides the variance by { $reduction-factor }.
check-pairing-evidence-unknown = The values do not vary, or are not usable.
check-pairing-advice = Below 1 pairing does harm: the noise is faster than a block, or one arm disturbs the other. Longer runs help.

check-faster-than-host-title = Faster than the host
check-faster-than-host-evidence-not-faster = The guest is not faster than the host by more than the margin.
check-faster-than-host-evidence-implausible = The guest is faster than the host by at least { $gain-share }: hardly by virtualization.
check-faster-than-host-evidence-flushes = The guest is faster by at least { $gain-share }, and its flushes are ignored (cache mode unsafe): it promises less than the host.
check-faster-than-host-evidence-bytes = The guest is faster by at least { $gain-share }, and not every block's bytes are known to have reached the device.
check-faster-than-host-evidence-device = The guest is faster by at least { $gain-share }, and every byte reached the device.
check-faster-than-host-evidence-unknown = The interval of the overhead is not known.
check-faster-than-host-advice = Look for what the guest does not really do: caches, flushes, another kernel or other mitigations, huge pages, a clock that runs slow.

check-dropped-blocks-title = Dropped blocks
check-dropped-blocks-evidence = { $dropped } of { $blocks } blocks were dropped by checks ({ $dropped-share }).
check-dropped-blocks-evidence-unknown = No block was measured on both sides.
check-dropped-blocks-advice = Remove what the other checks name, and measure again.

check-unknown-title = A check of a newer version
check-unknown-evidence = This version does not know what was looked at.
check-unknown-evidence-unknown = This version does not know what was looked at.
check-unknown-advice = Read the study with the version that made it.

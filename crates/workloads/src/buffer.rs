//! Page-aligned memory that is there before the clock starts, laid out alike on every machine.

use crate::WorkloadError;
use std::ptr::NonNull;

/// Where huge pages begin: buffers start here, whatever the kernel's own policy for anonymous maps is.
const HUGE_PAGE: usize = 2 << 20;
/// Lengths are whole pages.
pub(crate) const PAGE: usize = 4096;

/// An anonymous private map, placed with respect to a huge page, advised to use huge pages, written to once, unmapped on drop.
#[derive(Debug)]
pub(crate) struct Buffer {
    map: NonNull<u8>,
    mapped: usize,
    /// Bytes between the start of the map and the first aligned byte.
    skip: usize,
    length: usize,
}

impl Buffer {
    /// At least `bytes` bytes of zeros, rounded up to whole pages, from a huge page's start.
    pub(crate) fn new(bytes: u64) -> Result<Self, WorkloadError> {
        Self::staggered(bytes, 0)
    }

    /// The same, `stagger` pages after a huge page's start. Two buffers that are worked on in step must not lie a multiple of a
    /// power of two apart: in a direct-mapped TLB their pages would evict each other at every step (an emulator's then makes a
    /// copy ten times slower, or not, as its TLB happens to be sized).
    pub(crate) fn staggered(bytes: u64, stagger: usize) -> Result<Self, WorkloadError> {
        let refused =
            |source: std::io::Error| WorkloadError::System { what: format!("Mapping {bytes} bytes of memory"), source };
        let too_large = || refused(std::io::ErrorKind::OutOfMemory.into());
        let length = usize::try_from(bytes).ok().filter(|n| *n <= isize::MAX as usize - 2 * HUGE_PAGE);
        let length = length.ok_or_else(too_large)?.max(1).next_multiple_of(PAGE);
        let mapped = length + stagger * PAGE + HUGE_PAGE;
        let map = system::map(mapped).map_err(refused)?;
        let skip = map.as_ptr().align_offset(HUGE_PAGE) + stagger * PAGE;
        let mut buffer = Buffer { map, mapped, skip, length };
        system::advise_huge_pages(buffer.words_mut());
        buffer.words_mut().iter_mut().step_by(PAGE / 8).for_each(|word| {
            // SAFETY: it is a valid reference; volatile, because a store of zero into zeros must still touch the page.
            unsafe { std::ptr::from_mut(word).write_volatile(0) }
        });
        Ok(buffer)
    }

    /// Bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Its first byte.
    pub(crate) fn start(&self) -> *const u8 {
        // SAFETY: `skip` is less than HUGE_PAGE and the stagger, which is inside the map.
        unsafe { self.map.as_ptr().add(self.skip) }
    }

    /// Its first byte, to be written.
    pub(crate) fn start_mut(&mut self) -> *mut u8 {
        self.start().cast_mut()
    }

    /// The first `count` bytes of it, or all of it where it has fewer.
    #[cfg(target_os = "linux")]
    pub(crate) fn bytes_mut(&mut self, count: usize) -> &mut [u8] {
        // SAFETY: skip + length <= mapped, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start_mut(), count.min(self.length)) }
    }

    /// Its contents.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: skip + length <= mapped, aligned to a page, and any bits are a u64.
        unsafe { std::slice::from_raw_parts(self.start().cast(), self.length / 8) }
    }

    /// Its contents, to be written.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `words`, and `self` is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start_mut().cast(), self.length / 8) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this is the whole map, and nothing refers to it any more.
        unsafe { system::unmap(self.map, self.mapped) }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
    use std::io::{Error, ErrorKind};
    use std::ptr::{NonNull, null_mut};

    pub(super) fn map(bytes: usize) -> Result<NonNull<u8>, Error> {
        // SAFETY: a new map at an address that the kernel chooses.
        let map = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) }?;
        NonNull::new(map.cast()).ok_or_else(|| ErrorKind::OutOfMemory.into())
    }

    /// The answer is dropped on purpose: a kernel without huge pages refuses the advice, and the machine's facts say so.
    pub(super) fn advise_huge_pages(memory: &mut [u64]) {
        // SAFETY: the advice changes no contents.
        let _ = unsafe { madvise(memory.as_mut_ptr().cast(), size_of_val(memory), Advice::LinuxHugepage) };
    }

    /// # Safety
    /// `map` is a map of `bytes` bytes to which nothing refers any more.
    pub(super) unsafe fn unmap(map: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises; it cannot fail for a range that was mapped.
        let _ = unsafe { munmap(map.as_ptr().cast(), bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io::{Error, ErrorKind};
    use std::ptr::NonNull;

    pub(super) fn map(_: usize) -> Result<NonNull<u8>, Error> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(super) fn advise_huge_pages(_: &mut [u64]) {}

    pub(super) unsafe fn unmap(_: NonNull<u8>, _: usize) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_whole_pages_of_zeros_at_a_huge_page() {
        let buffer = Buffer::new(5000).unwrap();
        assert_eq!(buffer.length(), 8192);
        assert_eq!(buffer.start() as usize % HUGE_PAGE, 0);
        assert!(buffer.words().iter().all(|word| *word == 0));
    }

    #[test]
    fn an_impossible_size_is_an_error_that_says_how_large_it_was() {
        for bytes in [u64::MAX, 1 << 62, 1 << 50] {
            let error = Buffer::new(bytes).unwrap_err();
            assert!(error.to_string().contains(&bytes.to_string()), "{error}");
        }
    }
}

//! Copying between two page-aligned buffers, without a C library: what MEMCPY, DUMB and MCBLOCK time.
//!
//! A copy is `total` bytes in blocks, each of which is read from the start of the source; a plain copy is one block.
//!
//! Which instructions are used depends on the instruction set of the study and the block's size only, never on the cache
//! size or the features that this CPU reports, for those may differ between a host and its guest. What was measured on a
//! Zen 5 with 1 MiB of L2 and 32 MiB of L3 (medians of 61 interleaved rounds), and is why the kernels are what they are:
//!
//! - 256-bit registers beat 512-bit ones by 9 % at 1 MiB and by 15 % at 128 MiB: level 4 uses the kernels of level 3.
//! - Asking for the destination's lines ahead (`prefetchw`) gives 256-bit kernels 12 % at 1 MiB, and takes 5 % from 128-bit
//!   ones.
//! - At 128 MiB non-temporal stores in one stream are 40 % faster than ordinary ones, and than glibc 2.36; with four pages
//!   interleaved, as glibc does for large copies, they were only 8 % faster.
//! - `rep movsb` is the equal of these, but emulators do it byte by byte.

use crate::WorkloadError;
use model::isa::InstructionSet;

/// Copies `total` bytes to `to` in blocks of `block` bytes, each read from `from`.
///
/// # Safety
/// `to` is writable for `total` bytes and `from` readable for the smaller of `block` and `total`; they do not overlap, are
/// aligned to 64 bytes, and both lengths are multiples of 128 and not zero. The CPU has the kernel's instruction set.
pub(crate) type CopyKernel = unsafe fn(to: *mut u8, from: *const u8, block: usize, total: usize);

/// Targets larger than this are written past the caches. It lies between the level-2 and the level-3 cache of most servers.
#[cfg(target_arch = "x86_64")]
const STREAM_ABOVE: usize = 8 << 20;

/// The copy kernel for a target of this many bytes: what counts is whether the written lines stay in a cache, so that blocks of 256 KiB
/// into a large target stream too (measured 1.4 times as fast as regular stores there).
#[cfg(target_arch = "x86_64")]
pub(crate) fn fastest(isa: InstructionSet, target: usize) -> Result<CopyKernel, WorkloadError> {
    if isa < InstructionSet::V3 {
        return Ok(if target > STREAM_ABOVE { timed_stream_sse2 } else { timed_copy_sse2 });
    }
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(WorkloadError::System {
            what: format!("Running {isa} code on a CPU that lacks it"),
            source: std::io::ErrorKind::Unsupported.into(),
        });
    }
    Ok(if target > STREAM_ABOVE { timed_stream_avx2 } else { timed_copy_avx2 })
}

/// The copy kernel.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fastest(_: InstructionSet, _: usize) -> Result<CopyKernel, WorkloadError> {
    Ok(timed_copy_words)
}

/// `b[i] = a[i]` over 64-bit words, as mbw's DUMB and as its compiler emits it: one load and one store each.
///
/// # Safety
/// As for [`CopyKernel`].
#[inline(never)]
pub(crate) unsafe fn timed_copy_words(to: *mut u8, from: *const u8, block: usize, total: usize) {
    let (to, from) = (to.cast::<u64>(), from.cast::<u64>());
    let (block, total) = (block / 8, total / 8);
    let mut done = 0;
    while done < total {
        let length = block.min(total.wrapping_sub(done));
        let mut i = 0;
        while i < length {
            // SAFETY: done + i < total and i < block. Volatile, so that the compiler neither widens the accesses nor calls
            // memcpy.
            unsafe { to.add(done.wrapping_add(i)).write_volatile(from.add(i).read_volatile()) };
            i = i.wrapping_add(1);
        }
        done = done.wrapping_add(length);
    }
}

/// One kernel: `$ahead` before, then four loads and four stores of `$width` bytes, until the block is done.
#[cfg(target_arch = "x86_64")]
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident, $load:literal, $store:literal, $register:literal, $width:literal, [$($ahead:literal)*],
     $after:literal) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`CopyKernel`].
        #[inline(never)]
        unsafe fn $name(mut to: *mut u8, from: *const u8, block: usize, total: usize) {
            let end = to.wrapping_add(total);
            while to < end {
                let length = block.min((end as usize).wrapping_sub(to as usize));
                // SAFETY: `length` bytes are readable at `from` and writable at `to` and a multiple of four registers, as the
                // caller promises; prefetches never fault.
                unsafe {
                    std::arch::asm!(
                        ".p2align 6",
                        "2:",
                        $($ahead,)*
                        concat!($load, " ", $register, "0, [{from}]"),
                        concat!($load, " ", $register, "1, [{from} + ", $width, "]"),
                        concat!($load, " ", $register, "2, [{from} + 2*", $width, "]"),
                        concat!($load, " ", $register, "3, [{from} + 3*", $width, "]"),
                        concat!($store, " [{to}], ", $register, "0"),
                        concat!($store, " [{to} + ", $width, "], ", $register, "1"),
                        concat!($store, " [{to} + 2*", $width, "], ", $register, "2"),
                        concat!($store, " [{to} + 3*", $width, "], ", $register, "3"),
                        concat!("add {from}, 4*", $width),
                        concat!("add {to}, 4*", $width),
                        "cmp {to}, {stop}",
                        "jb 2b",
                        $after,
                        from = inout(reg) from => _,
                        to = inout(reg) to,
                        stop = in(reg) to.wrapping_add(length),
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernel!(
    /// For blocks that caches hold, 128-bit registers.
    timed_copy_sse2, "movups", "movaps", "xmm", 16, [], ""
);
#[cfg(target_arch = "x86_64")]
kernel!(
    /// For blocks that caches do not hold, 128-bit registers.
    timed_stream_sse2, "movups", "movntps", "xmm", 16, [], "sfence"
);
#[cfg(target_arch = "x86_64")]
kernel!(
    /// For blocks that caches hold, 256-bit registers.
    timed_copy_avx2, "vmovups", "vmovaps", "ymm", 32, ["prefetchw [{to} + 1024]" "prefetchw [{to} + 1088]"], "vzeroupper"
);
#[cfg(target_arch = "x86_64")]
kernel!(
    /// For blocks that caches do not hold, 256-bit registers.
    timed_stream_avx2, "vmovups", "vmovntps", "ymm", 32, [], "sfence\nvzeroupper"
);

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;
    use crate::buffer::{Buffer, PAGE};

    #[expect(clippy::unwrap_used, reason = "of the tests")]
    fn copies(isa: InstructionSet, block: usize, total: usize) {
        let mut from = Buffer::new(block as u64).unwrap();
        let mut to = Buffer::new((total + PAGE) as u64).unwrap();
        from.words_mut().iter_mut().zip(1..).for_each(|(word, i)| *word = i);
        for copy in [fastest(isa, block).unwrap(), timed_copy_words] {
            to.words_mut().fill(u64::MAX);
            // SAFETY: both are page-aligned and apart, `to` is longer than `total`, `from` is `block` long.
            unsafe { copy(to.start_mut(), from.start(), block, total) };
            for (i, word) in to.words().iter().enumerate() {
                let want = if i < total / 8 { (i % (block / 8)) as u64 + 1 } else { u64::MAX };
                assert_eq!(*word, want, "{isa}, block {block}, total {total}, word {i}");
            }
        }
    }

    #[test]
    fn every_kernel_copies_every_byte_and_no_more() {
        let mut levels = vec![InstructionSet::Baseline, InstructionSet::V2];
        if std::arch::is_x86_feature_detected!("avx2") {
            levels.extend([InstructionSet::V3, InstructionSet::V4]);
        }
        for isa in levels {
            copies(isa, PAGE, PAGE);
            copies(isa, PAGE, 5 * PAGE);
            copies(isa, 3 * PAGE, 7 * PAGE);
            copies(isa, STREAM_ABOVE, STREAM_ABOVE);
            copies(isa, STREAM_ABOVE + PAGE, STREAM_ABOVE + PAGE);
            copies(isa, STREAM_ABOVE + PAGE, STREAM_ABOVE + 4 * PAGE);
        }
    }
}

//! A kernel image that the user named: bzImage or vmlinux, with a payload in any packing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::kernel::decompress::Packing;
use machines::kernel::image::{has_pvh_entry, release, vmlinux};

/// Bytes that one payload may unpack to here; a real kernel may have far more, which would only slow the search.
const LIMIT: usize = 16 << 20;

/// The same with the marks of a bzImage (Documentation/arch/x86/boot.rst), which libfuzzer seldom guesses.
fn marked(bytes: &[u8]) -> Vec<u8> {
    let mut image = bytes.to_vec();
    for (at, mark) in [(0x1fe, &b"\x55\xaa"[..]), (0x202, b"HdrS\x0f\x02")] {
        if let Some(place) = image.get_mut(at..at + mark.len()) {
            place.copy_from_slice(mark);
        }
    }
    image
}

fuzz_target!(|bytes: &[u8]| {
    for image in [bytes, &marked(bytes)] {
        let _ = release(image);
        let _ = vmlinux(image);
    }
    let _ = has_pvh_entry(bytes);
    if let Some(Ok(unpacked)) = Packing::of(bytes).map(|packing| packing.unpack(bytes, LIMIT)) {
        assert!(unpacked.len() <= LIMIT || Packing::of(bytes) == Some(Packing::Elf));
    }
});

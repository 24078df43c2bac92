//! Linux kernel images of x86: the boot header of a bzImage, its payload, and the PVH entry of an uncompressed vmlinux.
//!
//! Offsets are from Documentation/arch/x86/boot.rst of Linux ("The Real-Mode Kernel Header").

use super::decompress::{Packing, UnpackError};
use goblin::elf::{Elf, header::EM_X86_64};

/// Bytes from the start of an image that surely hold the boot header and the version text.
pub const HEAD: usize = 64 << 10;
/// Largest vmlinux that is unpacked, bytes.
pub const MAX_VMLINUX: usize = 256 << 20;

/// Type of the Xen note that holds the PVH entry point (XEN_ELFNOTE_PHYS32_ENTRY of xen/include/public/elfnote.h).
const PVH_NOTE: u32 = 18;

/// Why bytes are no kernel that can be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Something else.
    #[error("It is no x86 Linux kernel: {0}")]
    NotLinux(&'static str),
    /// The file ends early.
    #[error("It is cut off: its payload ends at byte {need}, the file at {have}")]
    CutOff {
        /// Where the payload should end.
        need: usize,
        /// Where the file ends.
        have: usize,
    },
    /// The kernel inside is damaged.
    #[error("The kernel inside cannot be unpacked")]
    Payload(#[from] UnpackError),
}

/// True for an ELF file (an uncompressed vmlinux).
pub fn is_elf(bytes: &[u8]) -> bool {
    Packing::of(bytes) == Some(Packing::Elf)
}

/// The release (`uname -r`) of a bzImage of which `head` is the first [`HEAD`] bytes, or of a whole vmlinux.
pub fn release(head: &[u8]) -> Result<String, ImageError> {
    let text = if is_elf(head) {
        let banner = b"Linux version ";
        let at = head.windows(banner.len()).position(|window| window == banner);
        at.and_then(|at| head.get(at + banner.len()..))
            .ok_or(ImageError::NotLinux("an ELF file without Linux' banner"))?
    } else {
        check_bzimage(head)?;
        let at = 0x200 + usize::from(u16_at(head, 0x20e).unwrap_or(0));
        head.get(at..).ok_or(ImageError::NotLinux("its version text lies outside of its header"))?
    };
    let word: String =
        text.iter().take(128).take_while(|b| b.is_ascii_graphic() && **b != b'/').map(|b| *b as char).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        Ok(word)
    } else {
        Err(ImageError::NotLinux("its header names no version"))
    }
}

/// The uncompressed kernel inside a bzImage; none where it is packed in a way that is not supported (bzip2, lzo) or the
/// image is older than boot protocol 2.08 (Linux 2.6.26).
pub fn vmlinux(bzimage: &[u8]) -> Result<Option<Vec<u8>>, ImageError> {
    check_bzimage(bzimage)?;
    if u16_at(bzimage, 0x206) < Some(0x208) {
        return Ok(None);
    }
    let setup_sectors = match bzimage[0x1f1] {
        0 => 4,
        n => usize::from(n),
    };
    let (offset, length) = (u32_at(bzimage, 0x248).unwrap_or(0), u32_at(bzimage, 0x24c).unwrap_or(0));
    let start = (setup_sectors + 1) * 512 + offset as usize;
    let end = start + length as usize;
    let payload = bzimage.get(start..end).ok_or(ImageError::CutOff { need: end, have: bzimage.len() })?;
    let Some(packing) = Packing::of(payload) else { return Ok(None) };
    Ok(Some(packing.unpack(payload, MAX_VMLINUX)?))
}

/// True where `vmlinux` is an x86-64 kernel with a PVH entry, so that QEMU boots it without a firmware's help.
pub fn has_pvh_entry(vmlinux: &[u8]) -> bool {
    let Ok(elf) = Elf::parse(vmlinux) else { return false };
    elf.header.e_machine == EM_X86_64
        && elf.iter_note_headers(vmlinux).is_some_and(|mut notes| {
            notes
                .any(|note| note.is_ok_and(|note| note.n_type == PVH_NOTE && note.name.trim_end_matches('\0') == "Xen"))
        })
}

fn check_bzimage(head: &[u8]) -> Result<(), ImageError> {
    if head.len() < 0x250 {
        return Err(ImageError::NotLinux("it is shorter than a boot header"));
    }
    if u16_at(head, 0x1fe) != Some(0xaa55) || head.get(0x202..0x206) != Some(b"HdrS") {
        return Err(ImageError::NotLinux("it has no boot header"));
    }
    Ok(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    /// A bzImage with this release and payload.
    pub(crate) fn bzimage(release: &str, payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 5 * 512];
        image[0x1f1] = 4;
        image[0x1fe..0x200].copy_from_slice(&0xaa55u16.to_le_bytes());
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206..0x208].copy_from_slice(&0x020fu16.to_le_bytes());
        image[0x20e..0x210].copy_from_slice(&0x0100u16.to_le_bytes());
        let text = format!("{release} (someone@somewhere) #1 SMP\0");
        image[0x300..0x300 + text.len()].copy_from_slice(text.as_bytes());
        image[0x248..0x24c].copy_from_slice(&16u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        image.extend_from_slice(&[0x90; 16]);
        image.extend_from_slice(payload);
        image
    }

    /// An x86-64 ELF file with one note.
    pub(crate) fn elf_with_note(name: &[u8; 4], kind: u32) -> Vec<u8> {
        let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        elf.extend_from_slice(&[2u16, EM_X86_64].map(u16::to_le_bytes).concat());
        elf.extend_from_slice(&1u32.to_le_bytes());
        elf.extend_from_slice(&[0u64, 64, 0].map(u64::to_le_bytes).concat()); // entry, program headers, sections
        elf.extend_from_slice(&0u32.to_le_bytes());
        elf.extend_from_slice(&[64u16, 56, 1, 0, 0, 0].map(u16::to_le_bytes).concat());
        elf.extend_from_slice(&[4u32, 4].map(u32::to_le_bytes).concat()); // PT_NOTE, readable
        elf.extend_from_slice(&[120u64, 0, 0, 24, 24, 4].map(u64::to_le_bytes).concat());
        elf.extend_from_slice(&[4u32, 8, kind].map(u32::to_le_bytes).concat());
        elf.extend_from_slice(name);
        elf.extend_from_slice(&0x0100_0000u64.to_le_bytes());
        elf
    }

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_release_is_read_from_the_boot_header_or_the_banner() {
        assert_eq!(release(&bzimage("6.1.0-9-cloud-amd64", b"")).unwrap(), "6.1.0-9-cloud-amd64");
        let mut vmlinux = elf_with_note(b"Xen\0", 18);
        vmlinux.extend_from_slice(b"\0Linux version 6.9.1-x (gcc)");
        assert_eq!(release(&vmlinux).unwrap(), "6.9.1-x");
        for not in [b"".as_slice(), b"#!/bin/sh\n", &[0; 4096], &bzimage("../../etc", b""), b"\x7fELF"] {
            assert!(matches!(release(not), Err(ImageError::NotLinux(_))));
        }
    }

    #[test]
    fn the_kernel_inside_comes_out_and_only_a_pvh_entry_counts() {
        let kernel = elf_with_note(b"Xen\0", 18);
        assert!(has_pvh_entry(&kernel));
        assert!(!has_pvh_entry(&elf_with_note(b"Xen\0", 5)));
        assert!(!has_pvh_entry(&elf_with_note(b"GNU\0", 18)));
        assert_eq!(vmlinux(&bzimage("6.1", &gzip(&kernel))).unwrap(), Some(kernel.clone()));
        assert_eq!(vmlinux(&bzimage("6.1", &kernel)).unwrap(), Some(kernel));
        assert_eq!(vmlinux(&bzimage("6.1", b"BZh91AY&SY")).unwrap(), None);
    }

    #[test]
    fn a_torn_or_damaged_image_says_so() {
        let whole = bzimage("6.1", &gzip(&[7; 5000]));
        assert!(matches!(vmlinux(&whole[..whole.len() - 1]), Err(ImageError::CutOff { .. })));
        let mut damaged = whole;
        let last = damaged.len() - 5;
        damaged[last] ^= 0xff;
        assert!(matches!(vmlinux(&damaged), Err(ImageError::Payload(_))));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..2000),
            flips in proptest::collection::vec((0usize..3000, any::<u8>()), 0..8),
        ) {
            let _ = (release(&bytes), vmlinux(&bytes), has_pvh_entry(&bytes));
            let mut image = bzimage("6.1.0-9", &gzip(&elf_with_note(b"Xen\0", 18)));
            let mut elf = elf_with_note(b"Xen\0", 18);
            for (at, value) in flips {
                let (i, e) = (at % image.len(), at % elf.len());
                image[i] = value;
                elf[e] = value;
            }
            let _ = (release(&image), vmlinux(&image), release(&elf), has_pvh_entry(&elf));
        }
    }
}

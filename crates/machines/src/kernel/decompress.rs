//! Decompression by magic number, for kernel payloads and modules. Output is bounded: a file that claims more is refused.

use std::io::{self, BufReader, Read};

/// Largest dictionary or window that is granted, bytes. The kernel's own build uses up to 128 MiB (zstd -22).
const MAX_WINDOW: u64 = 128 << 20;

/// First bytes of lz4's legacy frames, the only kind that Linux uses (Documentation/arch/x86/boot.rst, "payload").
const LZ4_LEGACY: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];
/// Most that one block of a legacy frame holds, bytes.
const LZ4_BLOCK: usize = 8 << 20;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all: an ELF file.
    Elf,
    /// gzip.
    Gzip,
    /// xz.
    Xz,
    /// The older .lzma.
    Lzma,
    /// Zstandard.
    Zstd,
    /// lz4, legacy frames.
    Lz4,
}

/// Why bytes could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The stream is damaged.
    #[error("The {0:?} stream is damaged")]
    Damaged(Packing, #[source] io::Error),
    /// It unpacks to more than is allowed.
    #[error("The {packing:?} stream unpacks to more than {limit} bytes")]
    TooLong {
        /// Its kind.
        packing: Packing,
        /// The bound, bytes.
        limit: usize,
    },
}

impl Packing {
    /// The packing that these first bytes announce; none for what is not supported (bzip2, lzo).
    pub fn of(bytes: &[u8]) -> Option<Packing> {
        let magics: [(&[u8], Packing); 6] = [
            (b"\x7fELF", Packing::Elf),
            (b"\x1f\x8b", Packing::Gzip),
            (b"\xfd7zXZ\0", Packing::Xz),
            (b"\x5d\0\0", Packing::Lzma),
            (b"\x28\xb5\x2f\xfd", Packing::Zstd),
            (&LZ4_LEGACY, Packing::Lz4),
        ];
        magics.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, packing)| *packing)
    }

    /// Unpacks one stream; what follows it (the size that Linux's build appends) is ignored.
    pub fn unpack(self, bytes: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
        let damaged = |e: io::Error| UnpackError::Damaged(self, e);
        let memory_kib = (MAX_WINDOW >> 10) as u32 + 1024;
        let out = match self {
            Packing::Elf => Ok(bytes.to_vec()),
            Packing::Gzip => drain(flate2::bufread::GzDecoder::new(bytes), limit),
            Packing::Xz => drain(lzma_rust2::XzReader::new_mem_limit(bytes, false, memory_kib), limit),
            Packing::Lzma => {
                lzma_rust2::LzmaReader::new_mem_limit(bytes, memory_kib, None).and_then(|reader| drain(reader, limit))
            }
            Packing::Zstd => ruzstd::decoding::StreamingDecoder::new_with_max_window_size(bytes, MAX_WINDOW)
                .map_err(io::Error::other)
                .and_then(|reader| drain(BufReader::new(reader), limit)),
            Packing::Lz4 => lz4_legacy(bytes, limit),
        }
        .map_err(damaged)?;
        if out.len() > limit {
            return Err(UnpackError::TooLong { packing: self, limit });
        }
        Ok(out)
    }
}

/// Reads up to one byte more than `limit`, so that the caller sees an excess.
fn drain(reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut out)?;
    Ok(out)
}

/// lz4's legacy frames: magic, then blocks of (u32 length, data), each of 8 MiB when unpacked except the last. Linux appends
/// the unpacked size as u32, which tells where the blocks end.
fn lz4_legacy(bytes: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    let mut rest = bytes.get(LZ4_LEGACY.len()..).unwrap_or_default();
    let mut out = Vec::new();
    let mut block = vec![0; LZ4_BLOCK];
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        if tail.is_empty() {
            // Not a block but the appended size.
            if length != out.len() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the appended size does not match"));
            }
            break;
        }
        let (packed, next) = tail.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        let unpacked = lz4_flex::block::decompress_into(packed, &mut block).map_err(io::Error::other)?;
        out.extend_from_slice(&block[..unpacked]);
        if out.len() > limit {
            break;
        }
        rest = next;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    /// [`hello`], packed by the usual tools.
    const XZ: &[u8] = include_bytes!("samples/hello.xz");
    const LZMA: &[u8] = include_bytes!("samples/hello.lzma");
    const ZSTD: &[u8] = include_bytes!("samples/hello.zst");

    fn hello() -> Vec<u8> {
        b"hello, kernel\n".repeat(20)
    }

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let mut out = LZ4_LEGACY.to_vec();
        for block in bytes.chunks(LZ4_BLOCK) {
            let packed = lz4_flex::block::compress(block);
            out.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            out.extend_from_slice(&packed);
        }
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out
    }

    #[test]
    fn every_packing_is_known_by_its_magic_and_unpacked() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&hello()).unwrap();
        for (bytes, packing) in [
            (gzip.finish().unwrap(), Packing::Gzip),
            (XZ.to_vec(), Packing::Xz),
            (LZMA.to_vec(), Packing::Lzma),
            (ZSTD.to_vec(), Packing::Zstd),
            (lz4(&hello()), Packing::Lz4),
        ] {
            assert_eq!(Packing::of(&bytes), Some(packing));
            assert_eq!(packing.unpack(&bytes, 1000).unwrap(), hello(), "{packing:?}");
            assert!(matches!(packing.unpack(&bytes, 100), Err(UnpackError::TooLong { .. })), "{packing:?}");
            let torn = &bytes[..bytes.len() / 2];
            assert!(matches!(packing.unpack(torn, 1000), Err(UnpackError::Damaged(..))), "{packing:?}");
        }
        assert_eq!(Packing::of(b"BZh9"), None);
    }

    #[test]
    fn linux_s_xz_uses_the_x86_filter_and_appends_the_size() {
        let packed = include_bytes!("samples/bcj-x86.xz");
        let code: Vec<u8> =
            (0..64u32).flat_map(|i| [[0xe8].as_slice(), &(0x1000 - 5 * i).to_le_bytes()].concat()).collect();
        let mut with_size = packed.to_vec();
        with_size.extend_from_slice(&(code.len() as u32).to_le_bytes());
        assert_eq!(Packing::Xz.unpack(&with_size, 1 << 20).unwrap(), code);
    }

    #[test]
    fn lz4_of_several_blocks_comes_back_whole() {
        let bytes: Vec<u8> = (0..(LZ4_BLOCK as u32 + 999)).map(|i| (i >> 8) as u8).collect();
        assert!(Packing::Lz4.unpack(&lz4(&bytes), 64 << 20).unwrap() == bytes);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), packing in 0usize..5) {
            let magics: [&[u8]; 5] = [b"\x1f\x8b\x08", b"\xfd7zXZ\0\0\x04", b"\x5d\0\0\0\x01", b"\x28\xb5\x2f\xfd", &LZ4_LEGACY];
            let bytes = [magics[packing], &bytes].concat();
            let _ = Packing::of(&bytes).unwrap().unpack(&bytes, 1 << 20);
        }
    }
}

//! Writes cpio archives in the "newc" format, which Linux unpacks as an initramfs (Documentation/driver-api/early-userspace/
//! buffer-format.rst). The same entries always give the same bytes: times are zero, inodes are counted.

use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// An archive that is being written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    inode: u32,
}

impl<W: Write> Writer<W> {
    /// A new archive.
    pub fn new(out: W) -> Self {
        Writer { out, inode: 0 }
    }

    /// A folder. Names are relative to the root, without a leading slash; parents come first.
    pub fn directory(&mut self, name: &str, permissions: u32) -> io::Result<()> {
        self.entry(name, DIRECTORY | permissions, (0, 0), &[])
    }

    /// A regular file.
    pub fn file(&mut self, name: &str, permissions: u32, contents: &[u8]) -> io::Result<()> {
        self.entry(name, REGULAR | permissions, (0, 0), contents)
    }

    /// A character device.
    pub fn device(&mut self, name: &str, permissions: u32, major: u32, minor: u32) -> io::Result<()> {
        self.entry(name, CHARACTER_DEVICE | permissions, (major, minor), &[])
    }

    /// Ends the archive.
    pub fn finish(mut self) -> io::Result<W> {
        self.inode = 0;
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        Ok(self.out)
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), contents: &[u8]) -> io::Result<()> {
        let too_long = |_| io::Error::new(io::ErrorKind::FileTooLarge, "a cpio archive takes files of up to 4 GiB");
        let size = u32::try_from(contents.len()).map_err(too_long)?;
        let name_size = u32::try_from(name.len() + 1).map_err(too_long)?;
        let links = if mode & DIRECTORY == DIRECTORY { 2 } else { 1 };
        // inode, mode, uid, gid, links, mtime, size, device of the file, device that it is, name size, checksum (unused)
        let fields = [self.inode, mode, 0, 0, links, 0, size, 0, 0, device.0, device.1, name_size, 0];
        self.out.write_all(b"070701")?;
        for field in fields {
            write!(self.out, "{field:08X}")?;
        }
        self.inode += 1;
        // The header is 110 bytes; header with name, and contents, each end on a multiple of four.
        self.out.write_all(name.as_bytes())?;
        self.out.write_all(&[0; 4][..1 + padding(110 + name.len() + 1)])?;
        self.out.write_all(contents)?;
        self.out.write_all(&[0; 3][..padding(contents.len())])
    }
}

fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// One entry as a reader sees it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Entry {
        pub(crate) name: String,
        pub(crate) mode: u32,
        pub(crate) device: (u32, u32),
        pub(crate) contents: Vec<u8>,
    }

    /// Reads an archive as the kernel's init/initramfs.c does: fixed fields, then name and contents, each padded to four.
    pub(crate) fn read(archive: &[u8]) -> Vec<Entry> {
        let (mut at, mut entries, mut inodes) = (0, Vec::new(), HashSet::new());
        loop {
            assert_eq!(&archive[at..at + 6], b"070701");
            let field = |i: usize| {
                let text = std::str::from_utf8(&archive[at + 6 + 8 * i..at + 14 + 8 * i]).unwrap();
                u32::from_str_radix(text, 16).unwrap()
            };
            let (name_size, size) = (field(11) as usize, field(6) as usize);
            let name = &archive[at + 110..at + 110 + name_size];
            assert_eq!(name.last(), Some(&0));
            let name = std::str::from_utf8(&name[..name_size - 1]).unwrap().to_owned();
            let start = (at + 110 + name_size).next_multiple_of(4);
            assert_eq!(field(5), 0, "times are zero");
            if name == "TRAILER!!!" {
                assert_eq!(start, archive.len());
                return entries;
            }
            assert!(inodes.insert(field(0)), "inodes are unique");
            let contents = archive[start..start + size].to_vec();
            entries.push(Entry { name, mode: field(1), device: (field(9), field(10)), contents });
            at = (start + size).next_multiple_of(4);
        }
    }

    #[test]
    fn folders_and_devices_carry_their_kind() {
        let mut writer = Writer::new(Vec::new());
        writer.directory("dev", 0o755).unwrap();
        writer.device("dev/console", 0o600, 5, 1).unwrap();
        let entries = read(&writer.finish().unwrap());
        assert_eq!((entries[0].name.as_str(), entries[0].mode), ("dev", 0o040_755));
        assert_eq!((entries[1].mode, entries[1].device), (0o020_600, (5, 1)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            files in proptest::collection::vec(("[a-z0-9._/-]{1,40}", proptest::collection::vec(any::<u8>(), 0..70)), 0..12),
        ) {
            let mut writer = Writer::new(Vec::new());
            for (name, contents) in &files {
                writer.file(name, 0o644, contents).unwrap();
            }
            let read: Vec<_> = read(&writer.finish().unwrap()).into_iter().map(|e| (e.name, e.contents)).collect();
            prop_assert_eq!(read, files);
        }
    }
}

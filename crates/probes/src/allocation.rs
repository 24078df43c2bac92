//! How much of a file lies on its disk. Reading a hole, or space that was only reserved, reads no disk and is faster than one: a disk image must
//! be written before it is measured.

use rustix::fs::{FileType, Mode, OFlags, SeekFrom, fstat, open, seek};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// What is known of a file's allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its length, bytes.
    pub bytes: u64,
    /// Bytes of disk that it takes (st_blocks): with what is reserved but not written, and less on file systems that compress.
    pub block_bytes: u64,
    /// Bytes of data found (lseek SEEK_DATA).
    pub data_bytes: u64,
    /// Bytes of holes found (lseek SEEK_HOLE): not allocated, or, on most file systems, allocated and never written. Less than the rest of the
    /// file where there are more than [`Self::MOST_EXTENTS`] extents: what lies behind those was not looked at.
    pub hole_bytes: u64,
}

impl Allocation {
    /// A file in more pieces than this is only looked at so far: that many take about a quarter of a second where the list of extents is in memory,
    /// and every lseek can have to read the disk for it.
    pub const MOST_EXTENTS: u32 = 100_000;

    /// Of the file or block device at `path`. The error names it.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("Cannot read what is allocated of {}: {error}", path.display()))
        };
        // Opening a FIFO would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        open(path, flags, Mode::empty()).map_err(io::Error::from).and_then(Self::of_file).map_err(named)
    }

    /// Of an open file or block device, which has to be the caller's own: its offset is moved, and put back.
    pub fn of_file(file: impl AsFd) -> io::Result<Self> {
        Self::of_file_within(file, Self::MOST_EXTENTS)
    }

    fn of_file_within(file: impl AsFd, most_extents: u32) -> io::Result<Self> {
        let (file, state) = (file.as_fd(), fstat(&file)?);
        let offset = seek(file, SeekFrom::Current(0))?;
        let found = match FileType::from_raw_mode(state.st_mode) {
            // Fully allocated by definition: what a thin volume does beneath cannot be asked here.
            FileType::BlockDevice => seek(file, SeekFrom::End(0)).map(|bytes| (bytes, bytes, bytes, 0)),
            FileType::RegularFile => {
                let bytes = u64::try_from(state.st_size).unwrap_or(0);
                let block_bytes = u64::try_from(state.st_blocks).unwrap_or(0).saturating_mul(512);
                extents(file, bytes, most_extents).map(|(data, holes)| (bytes, block_bytes, data, holes))
            }
            _ => Err(Errno::INVAL),
        };
        seek(file, SeekFrom::Start(offset))?;
        let (bytes, block_bytes, data_bytes, hole_bytes) = found?;
        Ok(Allocation { bytes, block_bytes, data_bytes, hole_bytes })
    }

    /// True where the whole file was looked at, so that [`Self::at_least`] and [`Self::at_most`] are the same.
    pub fn is_complete(&self) -> bool {
        self.data_bytes.saturating_add(self.hole_bytes) >= self.bytes
    }

    /// Share of the file that certainly is on disk, 0 to 1; none for an empty file.
    pub fn at_least(&self) -> Option<f64> {
        self.share(self.data_bytes)
    }

    /// Share of the file that can be on disk at most.
    pub fn at_most(&self) -> Option<f64> {
        self.share(self.bytes.saturating_sub(self.hole_bytes))
    }

    fn share(&self, bytes: u64) -> Option<f64> {
        (self.bytes > 0).then(|| bytes.min(self.block_bytes).min(self.bytes) as f64 / self.bytes as f64)
    }
}

/// Bytes of data and of holes, from the beginning of the file. A file system that cannot tell holes says that all is data.
fn extents(file: impl AsFd, bytes: u64, most: u32) -> rustix::io::Result<(u64, u64)> {
    let (mut data, mut holes, mut position) = (0, 0, 0);
    for _ in 0..most {
        if position >= bytes {
            break;
        }
        let begin = match seek(&file, SeekFrom::Data(position)) {
            Ok(begin) => begin.min(bytes),
            // Only a hole is left.
            Err(Errno::NXIO) => bytes,
            Err(error) => return Err(error),
        };
        let end = match seek(&file, SeekFrom::Hole(begin)) {
            Ok(end) => end.min(bytes),
            Err(Errno::NXIO) => bytes,
            Err(error) => return Err(error),
        };
        // Somebody may be writing or cutting it meanwhile: an answer that leads nowhere ends the search.
        if begin < position || end < begin || end == position {
            break;
        }
        holes += begin - position;
        data += end - begin;
        position = end;
    }
    Ok((data, holes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Seek, Write};
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    /// A file of this length, not in the temporary folder, which can be tmpfs.
    fn file(bytes: u64) -> (tempfile::TempDir, std::path::PathBuf, File) {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("disk.raw");
        let file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        file.set_len(bytes).unwrap();
        (folder, path, file)
    }

    #[test]
    fn a_written_file_is_all_there_and_a_sparse_one_is_not() {
        let (_folder, path, mut written) = file(0);
        assert_eq!(Allocation::of_path(&path).unwrap().at_least(), None, "an empty file has no share");
        written.write_all(&vec![7; 2 * MIB as usize + 100]).unwrap();
        written.sync_all().unwrap();
        let all = Allocation::of_path(&path).unwrap();
        assert_eq!((all.bytes, all.at_least(), all.at_most()), (2 * MIB + 100, Some(1.0), Some(1.0)));

        let (_folder, path, _file) = file(64 * MIB);
        let none = Allocation::of_path(&path).unwrap();
        assert_eq!((none.at_least(), none.at_most(), none.is_complete()), (Some(0.0), Some(0.0), true));
        assert_eq!(none.hole_bytes, 64 * MIB);
    }

    #[test]
    fn half_a_file_is_half_and_the_offset_stays() {
        let (_folder, _path, mut half) = file(4 * MIB);
        for begin in [MIB, 3 * MIB] {
            half.write_all_at(&vec![7; MIB as usize], begin).unwrap();
        }
        half.sync_all().unwrap();
        half.seek(io::SeekFrom::Start(12_345)).unwrap();
        let allocation = Allocation::of_file(&half).unwrap();
        assert_eq!((allocation.data_bytes, allocation.hole_bytes), (2 * MIB, 2 * MIB));
        assert_eq!((allocation.at_least(), allocation.at_most()), (Some(0.5), Some(0.5)));
        assert_eq!(half.stream_position().unwrap(), 12_345);
    }

    #[test]
    fn space_that_was_reserved_and_never_written_is_not_on_disk() {
        let (_folder, path, reserved) = file(4 * MIB);
        rustix::fs::fallocate(&reserved, rustix::fs::FallocateFlags::empty(), 0, 4 * MIB).unwrap();
        let allocation = Allocation::of_path(&path).unwrap();
        assert!(allocation.block_bytes >= 4 * MIB, "st_blocks alone would be fooled: {allocation:?}");
        assert_eq!(allocation.at_most(), Some(0.0));
    }

    #[test]
    fn a_shredded_file_is_looked_at_so_far_only() {
        let (_folder, _path, shredded) = file(300 * 8192);
        for piece in 0..300 {
            shredded.write_all_at(&[7], piece * 8192).unwrap();
        }
        shredded.sync_all().unwrap();
        let all = Allocation::of_file(&shredded).unwrap();
        assert_eq!((all.is_complete(), all.at_least(), all.at_most()), (true, Some(0.5), Some(0.5)));
        let some = Allocation::of_file_within(&shredded, 100).unwrap();
        assert_eq!((some.data_bytes, some.hole_bytes, some.is_complete()), (100 * 4096, 99 * 4096, false));
        // What was not looked at may be data, as far as the blocks go, which also hold the list of the extents.
        let (least, most) = (some.at_least().unwrap(), some.at_most().unwrap());
        assert!((least - 1.0 / 6.0).abs() < 1e-12 && (0.5..0.51).contains(&most), "{some:?}");
    }

    #[test]
    fn a_block_device_is_all_there() {
        let root = crate::Root::live();
        // As an ordinary user none may be opened.
        for name in root.list("sys/class/block").unwrap_or_default() {
            let bytes = root.number::<u64>(format!("sys/class/block/{name}/size")).unwrap_or(0) * 512;
            if let Some(device) = Allocation::of_path(&Path::new("/dev").join(&name)).ok().filter(|_| bytes > 0) {
                assert_eq!((device.bytes, device.at_least(), device.is_complete()), (bytes, Some(1.0), true), "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_disk_is_refused_by_name() {
        let error = Allocation::of_path(Path::new("/dev/null")).unwrap_err();
        assert!(error.to_string().contains("allocated of /dev/null"), "{error}");
        let (folder, ..) = file(0);
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RUSR).unwrap();
        assert!(Allocation::of_path(&fifo).is_err(), "and does not wait");
        assert_eq!(Allocation::of_path(Path::new("/not/there")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

//! The data file: what stands behind a guest's data disk, and what the host's own disk runs use.
//!
//! Every byte is really written (space that is only allocated reads as zeros without touching the disk, and its first write
//! pays for metadata), and with bytes that neither compress nor repeat. vmtax writes into no file that it did not create:
//! an existing one is refused, and links are not followed.

use crate::file_error::FileError;
use crate::lease::PREFIX;
use rustix::fs::{OFlags, SeekFrom, seek, statvfs};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Bytes written at a time.
const BLOCK: usize = 1 << 20;
/// Bytes after which the kernel is made to write them out: so progress is of the disk and not of memory, a cancel is answered
/// soon, and other work on the host is not pushed out of the page cache's share of dirty memory.
const SYNC_EVERY: u64 = 64 << 20;
/// Free space that is left to the system: this, or a twentieth of the file system where that is less.
const KEPT_FREE: u64 = 1 << 30;
/// How long a file system may take to account for blocks that it has already synced (ZFS does so with its next transaction).
const ACCOUNTING: Duration = Duration::from_secs(10);

/// Why there is no data file.
#[derive(Debug, thiserror::Error)]
pub enum DataFileError {
    /// The name is not one of vmtax's.
    #[error("'{0}' cannot be the name of a data file: it must begin with '{PREFIX}' and hold no slash")]
    Name(String),
    /// No room.
    #[error(
        "There is no room for a data file of {bytes} bytes in {dir}: {missing} bytes are missing ({kept} are kept free for the \
         system). Make room, or choose a smaller file or another folder"
    )]
    NoRoom {
        /// The folder.
        dir: PathBuf,
        /// Wanted size, bytes.
        bytes: u64,
        /// Bytes that are missing.
        missing: u64,
        /// Bytes that stay free.
        kept: u64,
    },
    /// Something is there.
    #[error(
        "{0} is there already, and vmtax overwrites nothing. Remove it (`vmtax clean` lists leftovers) or choose another folder"
    )]
    Exists(PathBuf),
    /// The file system does not store what is written.
    #[error(
        "{path} has holes although it was fully written: the file system compresses or deduplicates. Choose another folder"
    )]
    Holes {
        /// The file.
        path: PathBuf,
    },
    /// Stopped on request.
    #[error("The making of {0} was cancelled; it was removed")]
    Cancelled(PathBuf),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A fully written file, removed on drop.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    bytes: u64,
    device: u64,
    inode: u64,
}

impl DataFile {
    /// Makes `dir/name` of `bytes` bytes, mode 0600. `progress` is told how many are on the disk. When `cancel` becomes true,
    /// and on every error, what is there is removed.
    pub fn create(
        dir: &Path,
        name: &str,
        bytes: u64,
        progress: &mut dyn FnMut(u64),
        cancel: &AtomicBool,
    ) -> Result<DataFile, DataFileError> {
        if !name.starts_with(PREFIX) || name.contains('/') {
            return Err(DataFileError::Name(name.to_owned()));
        }
        check_room(dir, bytes)?;
        let path = dir.join(name);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&path)
            .map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => DataFileError::Exists(path.clone()),
                _ => FileError::on("create", &path)(e).into(),
            })?;
        let meta = file.metadata().map_err(FileError::on("read", &path))?;
        let made = DataFile { path, bytes, device: meta.dev(), inode: meta.ino() };
        made.fill(&mut file, progress, cancel)?;
        made.check_no_holes(&file)?;
        Ok(made)
    }

    /// Writes the whole file again: somebody has cut holes into it, and reads of holes do no I/O.
    pub fn refill(&self, cancel: &AtomicBool) -> Result<(), DataFileError> {
        let mut file = OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&self.path)
            .map_err(FileError::on("open", &self.path))?;
        let meta = file.metadata().map_err(FileError::on("read", &self.path))?;
        if (meta.dev(), meta.ino()) != (self.device, self.inode) {
            return Err(DataFileError::Exists(self.path.clone()));
        }
        self.fill(&mut file, &mut |_| (), cancel)?;
        self.check_no_holes(&file)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn fill(&self, file: &mut File, progress: &mut dyn FnMut(u64), cancel: &AtomicBool) -> Result<(), DataFileError> {
        let write_error = || FileError::on("write", &self.path);
        let mut noise = Noise::new(self.inode);
        let mut block = vec![0; BLOCK];
        let (mut written, mut synced) = (0, 0);
        while written < self.bytes {
            if cancel.load(Ordering::Relaxed) {
                return Err(DataFileError::Cancelled(self.path.clone()));
            }
            let length = (self.bytes - written).min(BLOCK as u64);
            noise.fill(&mut block);
            file.write_all(&block[..length as usize]).map_err(write_error())?;
            written += length;
            if written - synced >= SYNC_EVERY {
                file.sync_data().map_err(write_error())?;
                synced = written;
                progress(synced);
            }
        }
        file.sync_all().map_err(write_error())?;
        progress(written);
        Ok(())
    }

    fn check_no_holes(&self, file: &File) -> Result<(), DataFileError> {
        let deadline = Instant::now() + ACCOUNTING;
        loop {
            let first_hole = match seek(file, SeekFrom::Hole(0)) {
                Ok(at) => at,
                // An empty file has no place to seek to.
                Err(rustix::io::Errno::NXIO) => 0,
                Err(e) => return Err(FileError::on("seek in", &self.path)(e.into()).into()),
            };
            let allocated = file.metadata().map_err(FileError::on("read", &self.path))?.blocks() * 512;
            if first_hole >= self.bytes && allocated >= self.bytes {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(DataFileError::Holes { path: self.path.clone() });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Removes the name if it still leads to our file.
    fn unlink(&self) -> io::Result<()> {
        let meta = fs::symlink_metadata(&self.path)?;
        if (meta.dev(), meta.ino()) == (self.device, self.inode) { fs::remove_file(&self.path) } else { Ok(()) }
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        // Nobody is left to tell; the lease still lists it.
        let _ = self.unlink();
    }
}

fn check_room(dir: &Path, bytes: u64) -> Result<(), DataFileError> {
    let space = statvfs(dir).map_err(|e| FileError::on("ask for free space in", dir)(e.into()))?;
    let kept = KEPT_FREE.min(space.f_blocks.saturating_mul(space.f_frsize) / 20);
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    match bytes.saturating_add(kept).saturating_sub(free) {
        0 => Ok(()),
        missing => Err(DataFileError::NoRoom { dir: dir.to_owned(), bytes, missing, kept }),
    }
}

/// Marsaglia's xorshift64 ("Xorshift RNGs", 2003): enough to be neither compressible nor alike in two files.
struct Noise(u64);

impl Noise {
    fn new(seed: u64) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64);
        // The state must not be zero.
        Noise((now ^ seed.rotate_left(32)) | 1)
    }

    fn fill(&mut self, block: &mut [u8]) {
        for word in block.chunks_exact_mut(8) {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            word.copy_from_slice(&self.0.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests;

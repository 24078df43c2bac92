//! Making, opening and locking a study folder.

use crate::error::StoreError;
use crate::journal::{Appender, FILE as JOURNAL, Journal};
use crate::{manifest, raw};
use model::record::{Event, Manifest};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";

/// A study folder, for reading. Takes no lock and writes nothing, so that a running study, or one on a read-only file
/// system, can be reported on.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    path: PathBuf,
}

impl StudyFolder {
    /// The study in `path`.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_dir() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        Ok(StudyFolder { path: path.to_owned() })
    }

    /// Makes the folder of a new study, with parents (mode 0755 less the umask), and locks it. An empty folder that is
    /// there is taken; one that holds anything is refused.
    pub fn create(path: &Path) -> Result<StudyWriter, StoreError> {
        let failed = |source| StoreError::Create { path: path.to_owned(), source };
        let mut folders = DirBuilder::new();
        folders.recursive(true).mode(0o755).create(path).map_err(failed)?;
        let taken = || StoreError::NotEmpty { path: path.to_owned() };
        if fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(taken());
        }
        // Of two that found the folder empty, one makes the lock file.
        let lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path.join(LOCK))
            .map_err(|e| if e.kind() == io::ErrorKind::AlreadyExists { taken() } else { failed(e) })?;
        folders.create(path.join(raw::FOLDER)).map_err(failed)?;
        let writer = StudyWriter::over(path, lock)?;
        // The name of a new folder is safe on disk only after its parent is synced; `a` has the parent ``, which is `.`.
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sync_folder(path).and_then(|()| sync_folder(parent)).map_err(failed)?;
        Ok(writer)
    }

    /// The study in `path`, to go on with it. Whoever comes second is refused until the first writer is gone.
    pub fn open_for_writing(path: &Path) -> Result<StudyWriter, StoreError> {
        StudyFolder::open(path)?;
        let lock_path = path.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(|source| StoreError::Lock { path: lock_path, source })?;
        StudyWriter::over(path, lock)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What holds for the whole study. Formats newer than this build's are refused, unknown fields are ignored.
    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        manifest::read(&self.path)
    }

    /// What happened so far. Damaged lines are skipped and reported, never fatal; no journal yet reads as an empty one.
    pub fn journal(&self) -> Result<Journal, StoreError> {
        let path = self.path.join(JOURNAL);
        match fs::read(&path) {
            Ok(bytes) => Ok(Journal::parse(&bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Journal::default()),
            Err(source) => Err(StoreError::Read { path, source }),
        }
    }

    /// The bytes of a raw output, named as [`model::RunRecord::raw`] has it. Names that lead out of the folder, by `..`,
    /// as absolute paths or through symbolic links, are refused: a study may come from a stranger.
    pub fn read_raw(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        raw::read(&self.path, name)
    }

    /// The same for a file that must not be larger than `limit` bytes, so that no study can fill the memory of its reader.
    pub fn read_raw_within(&self, name: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
        let path = self.path.join(name);
        match fs::metadata(&path) {
            Ok(file) if file.len() > limit => {
                Err(StoreError::Read { path, source: io::ErrorKind::FileTooLarge.into() })
            }
            // Whatever else is wrong is found, and told, by who reads it.
            _ => self.read_raw(name),
        }
    }
}

/// A study folder with its lock, which is held until this is dropped (or its process ends, however that happens).
#[derive(Debug)]
pub struct StudyWriter {
    folder: StudyFolder,
    journal: Appender,
    /// Held, not used: the kernel lets go of flock(2) when it is closed.
    _lock: File,
}

impl StudyWriter {
    fn over(path: &Path, lock: File) -> Result<Self, StoreError> {
        lock.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => StoreError::InUse { path: path.to_owned() },
            TryLockError::Error(source) => StoreError::Lock { path: path.join(LOCK), source },
        })?;
        let journal = Appender::open(path)?;
        Ok(StudyWriter { folder: StudyFolder { path: path.to_owned() }, journal, _lock: lock })
    }

    /// The same folder, for reading.
    pub fn folder(&self) -> &StudyFolder {
        &self.folder
    }

    /// Writes `manifest.json`: after a crash it is there whole or not at all. A second one is refused.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        manifest::write(&self.folder.path, manifest)
    }

    /// Adds one line to the journal and returns when it is on the disk. `at` is the time now, seconds since 1970.
    pub fn append(&mut self, at: f64, event: &Event) -> Result<(), StoreError> {
        self.journal.append(at, event)
    }

    /// Stores what a tool said, on the disk when this returns, under `name` (see [`crate::raw_name`]) or, where that is
    /// taken, `name` with -2, -3, … Returns its name relative to the study folder, for [`model::RunRecord::raw`].
    pub fn write_raw(&self, name: &str, bytes: &[u8]) -> Result<String, StoreError> {
        raw::write(&self.folder.path, name, bytes)
    }
}

/// Makes the names in a folder safe against power failure.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

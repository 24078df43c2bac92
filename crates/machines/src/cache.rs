//! The cache: a folder of files that are derived from others (boot images, initramfs, toolbox images, unpacked kernels).
//!
//! A derived file is named after the SHA-256 of what it is made of, is written under a temporary name in the same folder,
//! synced and renamed; so a killed run leaves no half file, and a file that is there is whole. Whoever writes a temporary
//! file holds an flock(2) on it, which the kernel drops with the process: that is how a leftover is told from work in
//! progress, also across PID namespaces. Files are 0644 and folders 0755, because QEMU reads them without privilege.

use crate::file_error::FileError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::{NamedTempFile, TempDir};

/// How the names of unfinished files and folders begin.
const PARTIAL: &str = ".vmtax-part-";

/// A file that was used so recently may belong to a study that still boots from it, whatever its rank.
const IN_USE: Duration = Duration::from_secs(24 * 3600);

/// A file that was written so recently could be written once more without another time stamp (they are as coarse as a timer
/// tick, on some file systems as two seconds), so nothing is remembered about it.
const FRESH: Duration = Duration::from_secs(2);

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Nothing says where it is.
    #[error(
        "There is no place for the cache: neither XDG_CACHE_HOME nor HOME is set. Set one of them or name a folder"
    )]
    NoHome,
    /// The folder does not take files.
    #[error("The cache folder cannot be used. Make room or permit writing there, or name another folder")]
    File(#[from] FileError),
}

/// What a cached file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A kernel as QEMU boots it.
    BootImage,
    /// An initramfs.
    Initramfs,
    /// A file system image with tools.
    Toolbox,
    /// A remembered value (see [`Cache::remember`]).
    Note,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::BootImage => "boot",
            Kind::Initramfs => "initramfs",
            Kind::Toolbox => "toolbox",
            Kind::Note => "note",
        }
    }

    /// How many files of a kind outlive the next one.
    fn kept(self) -> usize {
        match self {
            Kind::Note => 64,
            _ => 6,
        }
    }
}

/// The folder.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

/// Enough of a file's metadata to see that it was changed or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    path: PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what `path` leads to now.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        let meta = fs::metadata(path)?;
        Ok(Stamp {
            path: path.to_owned(),
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }

    /// True while a change could go unnoticed.
    fn is_fresh(&self) -> bool {
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(self.modified.0.max(0) as u64);
        SystemTime::now().duration_since(written).map_or(true, |age| age < FRESH)
    }

    fn holds(&self) -> bool {
        Stamp::of(&self.path).is_ok_and(|now| now == *self)
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    sources: Vec<Stamp>,
    value: String,
}

impl Cache {
    /// Opens (and makes, if need be) `dir`; by default `/var/cache/vmtax` for root, else `$XDG_CACHE_HOME/vmtax` or
    /// `~/.cache/vmtax`.
    pub fn open(dir: Option<PathBuf>) -> Result<Cache, CacheError> {
        let dir = match dir {
            Some(dir) => dir,
            None => default_dir()?,
        };
        make_folder(&dir)?;
        // Absolute, because QEMU is not started in this working directory.
        let dir = dir.canonicalize().map_err(FileError::on("find", &dir))?;
        Ok(Cache { dir })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where unpacked kernels lie: `<release>/{vmlinuz,modules/}`.
    pub fn kernels(&self) -> PathBuf {
        self.dir.join("kernels")
    }

    /// The file made of what has this hash, if it is there; it counts as used now.
    pub fn get(&self, kind: Kind, key: &str) -> Option<PathBuf> {
        let path = self.path(kind, key);
        let file = File::open(&path).ok()?;
        // Someone else's cache may be read-only for us; then its owner's use decides what stays.
        let _ = file.set_modified(SystemTime::now());
        Some(path)
    }

    /// Makes the file for `key`: `write` gets an empty file and its temporary path. Older files of this kind make room.
    pub fn put<E: From<FileError>>(
        &self,
        kind: Kind,
        key: &str,
        write: impl FnOnce(&mut File, &Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let path = self.path(kind, key);
        let mut part = self.partial_file()?;
        let part_path = part.path().to_owned();
        write(part.as_file_mut(), &part_path)?;
        part.as_file()
            .set_permissions(Permissions::from_mode(0o644))
            .and_then(|()| part.as_file().sync_all())
            .map_err(FileError::on("write", &part_path))?;
        part.persist(&path).map_err(|e| FileError::on("create", &path)(e.error))?;
        sync_folder(&self.dir)?;
        self.prune(kind)?;
        Ok(path)
    }

    /// A new folder with a temporary name, for work that ends in files of the cache; it is removed on drop.
    pub fn partial_folder(&self) -> Result<PartialFolder, FileError> {
        loop {
            let dir = tempfile::Builder::new()
                .prefix(PARTIAL)
                .tempdir_in(&self.dir)
                .map_err(FileError::on("write to", &self.dir))?;
            let lock = File::open(dir.path()).map_err(FileError::on("open", dir.path()))?;
            if locked_in_time(&lock) {
                return Ok(PartialFolder { dir, _lock: lock });
            }
        }
    }

    fn partial_file(&self) -> Result<NamedTempFile, FileError> {
        loop {
            let file = tempfile::Builder::new()
                .prefix(PARTIAL)
                .tempfile_in(&self.dir)
                .map_err(FileError::on("write to", &self.dir))?;
            if locked_in_time(file.as_file()) {
                return Ok(file);
            }
        }
    }

    /// Removes what killed processes left unfinished, and says what.
    pub fn sweep_partial(&self) -> Result<Vec<PathBuf>, FileError> {
        let mut swept = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(FileError::on("read", &self.dir))? {
            let path = entry.map_err(FileError::on("read", &self.dir))?.path();
            let partial = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PARTIAL.as_bytes()));
            if !partial {
                continue;
            }
            // Gone or not ours to open: its owner sweeps it.
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_err() {
                continue;
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Ok(()) => swept.push(path),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(FileError::on("remove", &path)(e)),
            }
        }
        Ok(swept)
    }

    /// Keeps `value` for `question` as long as none of `sources` changes. Only a shortcut: where it cannot be written, the
    /// value is computed again next time.
    pub fn remember(&self, question: &str, sources: Vec<Stamp>, value: &str) {
        if sources.iter().any(Stamp::is_fresh) {
            return;
        }
        let note = Note { sources, value: value.to_owned() };
        let Ok(text) = serde_json::to_vec(&note) else { return };
        let _ = self.put::<FileError>(Kind::Note, &hex_digest(question.as_bytes()), |file, path| {
            io::Write::write_all(file, &text).map_err(FileError::on("write", path))
        });
    }

    /// The value that was kept for `question`, if everything that it was made from is unchanged.
    pub fn recall(&self, question: &str) -> Option<String> {
        let path = self.get(Kind::Note, &hex_digest(question.as_bytes()))?;
        let note: Note = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        note.sources.iter().all(Stamp::holds).then_some(note.value)
    }

    /// SHA-256 of a file, hexadecimal; read again only when the file changed.
    pub fn sha256(&self, path: &Path) -> Result<String, FileError> {
        let question = format!("sha256 of {}", path.display());
        if let Some(known) = self.recall(&question) {
            return Ok(known);
        }
        let before = Stamp::of(path).map_err(FileError::on("read", path))?;
        let digest = hex_digest_of_file(path).map_err(FileError::on("read", path))?;
        // A file that changed while it was read is not worth remembering.
        if before.holds() {
            self.remember(&question, vec![before], &digest);
        }
        Ok(digest)
    }

    fn path(&self, kind: Kind, key: &str) -> PathBuf {
        self.dir.join(format!("{}-{key}", kind.name()))
    }

    /// Removes the files of `kind` that are neither among the newest nor recently used.
    fn prune(&self, kind: Kind) -> Result<(), FileError> {
        let prefix = format!("{}-", kind.name());
        let mut found: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.dir)
            .map_err(FileError::on("read", &self.dir))?
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        let now = SystemTime::now();
        for (used, path) in found.into_iter().skip(kind.kept()) {
            if now.duration_since(used).is_ok_and(|age| age > IN_USE) {
                // Another process may prune at the same time.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// A folder under a temporary name in the cache.
#[derive(Debug)]
pub struct PartialFolder {
    dir: TempDir,
    _lock: File,
}

impl PartialFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// True where the lock was taken before a sweep of another process could take the new file for a leftover. Where the file
/// system knows no locks a sweep cannot lock either, and so removes nothing.
fn locked_in_time(file: &File) -> bool {
    let _ = file.lock_shared();
    file.metadata().is_ok_and(|meta| meta.nlink() > 0)
}

fn default_dir() -> Result<PathBuf, CacheError> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/cache/vmtax"));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|base| base.join("vmtax"))
        .ok_or(CacheError::NoHome)
}

/// Makes `dir` and its parents; a new folder is readable for all whatever the umask, one that is there stays as it is.
pub(crate) fn make_folder(dir: &Path) -> Result<(), FileError> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(dir)
        .and_then(|()| fs::set_permissions(dir, Permissions::from_mode(0o755)))
        .map_err(FileError::on("create", dir))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(dir: &Path) -> Result<(), FileError> {
    File::open(dir).and_then(|folder| folder.sync_all()).map_err(FileError::on("sync", dir))
}

/// SHA-256 of bytes, hexadecimal.
pub fn hex_digest(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
}

/// SHA-256 of a file, hexadecimal.
pub(crate) fn hex_digest_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(hasher.finalize().as_slice())),
            n => hasher.update(&block[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;

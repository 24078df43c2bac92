//! The toolbox: programs of the host, with all that they need to start, on a read-only file system image for guests.
//!
//! Layout: the root of the image is a root folder, so a program stands where it stands on the host (`/usr/bin/fio`), and so
//! do its interpreter and libraries. Symbolic links of the host on the way (`/lib` to `usr/lib`, sonames) are there too, and
//! `/etc/ld.so.cache`, so that the loader finds what it finds on the host; mke2fs adds an empty `lost+found`.
//!
//! The guest mounts the image read-only as ext4 on `/tools`, and PID 1 makes for every entry E in the root of the image a
//! link `/E` to `/tools/E` where there is no `/E`: then every absolute path works, also the one of the interpreter that is
//! written into each program. What lies below a folder that the guest has itself (`/tmp/my-tool`) is run by its path below
//! `/tools`; [`ToolFile::guest_path`] says which.

mod image;
mod tree;

use crate::cache::{Cache, Kind, Stamp};
use crate::elf::{Closures, ElfError, find_program};
use crate::file_error::FileError;
use crate::initramfs;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use tree::Tree;

/// Raised when the layout or the making of the image changes.
const LAYOUT: &str = "toolbox 1";
/// Where the guest mounts the image.
pub const MOUNT_POINT: &str = "/tools";
/// The loader's index of libraries.
const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// Links in the root of hosts with a merged /usr. Programs name each other through them (`/bin/sh`), whatever PATH says.
const ROOT_LINKS: [&str; 4] = ["/bin", "/sbin", "/lib", "/lib64"];

/// Programs whose Debian package has another name than they have.
const PACKAGES: [(&str, &str); 3] = [("ab", "apache2-utils"), ("mke2fs", "e2fsprogs"), ("rbd", "ceph-common")];

/// An image with programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolbox {
    /// The image, in the cache.
    pub image: PathBuf,
    /// SHA-256 over the names and contents in it: equal contents have equal hashes, whatever wrote the image.
    pub sha256: String,
    /// The programs that were asked for, in that order.
    pub programs: Vec<ToolFile>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFile {
    /// As it was asked for.
    pub name: String,
    /// Where it is on the host.
    pub host_path: PathBuf,
    /// Where it is in a guest.
    pub guest_path: PathBuf,
    /// SHA-256 of the program (of the file at the end of its links).
    pub sha256: String,
}

/// Why there is no toolbox.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    /// A program is not installed.
    #[error(
        "The program '{name}' was found neither in PATH nor in the system's folders. Install it (Debian: apt-get install {package})"
    )]
    NotFound {
        /// Its name.
        name: String,
        /// The Debian package that surely or probably has it.
        package: String,
    },
    /// A path is not there, or not to be run.
    #[error("'{0}' is not an executable file")]
    NotExecutable(String),
    /// A device, socket or the like.
    #[error("{0} cannot be put into the toolbox: it is neither a file nor a folder")]
    NotFile(PathBuf),
    /// e2fsprogs is missing.
    #[error("The toolbox image cannot be made: mke2fs was not found. Install it (Debian: apt-get install e2fsprogs)")]
    NoMke2fs,
    /// mke2fs failed.
    #[error("mke2fs could not make the toolbox image {image}: {said}")]
    Mke2fs {
        /// The image.
        image: PathBuf,
        /// Its last words.
        said: String,
    },
    /// A program's libraries.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Toolbox {
    /// The image with `programs` (names, or paths if they have a slash) and `extra` files and folders of the host; from the
    /// cache if nothing changed since it was made.
    pub fn build(programs: &[String], extra: &[PathBuf], cache: &Cache) -> Result<Toolbox, ToolboxError> {
        let wanted = programs.iter().map(|name| locate(name).map(|path| (name.as_str(), path)));
        let wanted: Vec<(&str, PathBuf)> = wanted.collect::<Result<_, _>>()?;
        let extra = extra.iter().map(|path| std::path::absolute(path).map_err(FileError::on("find", path)));
        let extra: Vec<PathBuf> = extra.collect::<Result<_, _>>()?;
        let question = format!("{LAYOUT} of {wanted:?} with {extra:?}");
        if let Some(known) = recall(&question, cache) {
            return Ok(known);
        }

        let mut sources = Vec::new();
        let mut closures = Closures::new();
        for (_, path) in &wanted {
            sources.extend(closures.of(path)?);
        }
        for path in &extra {
            collect(path, &mut closures, &mut sources)?;
        }
        if Path::new(LOADER_CACHE).exists() {
            sources.push(PathBuf::from(LOADER_CACHE));
        }
        sources.sort();
        sources.dedup();

        // Before the contents are read: what changes while the image is made is noticed next time.
        let stamps = sources.iter().map(|path| Stamp::of(path).map_err(FileError::on("read", path)));
        let stamps = stamps.collect::<Result<Vec<_>, _>>()?;
        let mut tree = Tree::default();
        let links = ROOT_LINKS.map(PathBuf::from).into_iter().filter(|path| path.is_symlink() && path.is_dir());
        for path in sources.iter().cloned().chain(links) {
            tree.add(&path)?;
        }
        let sha256 = tree.digest(LAYOUT);
        let mut files = Vec::new();
        for (name, path) in wanted {
            let real = tree.add(&path)?;
            files.push(ToolFile {
                name: name.to_owned(),
                guest_path: guest_path(&path),
                host_path: path,
                sha256: tree.sha256(&real).unwrap_or_default().to_owned(),
            });
        }
        let image = match cache.get(Kind::Toolbox, &sha256) {
            Some(image) => image,
            None => image::make(&tree, &sha256, cache)?,
        };
        let toolbox = Toolbox { image, sha256, programs: files };
        if let Ok(text) = serde_json::to_string(&toolbox) {
            cache.remember(&question, stamps, &text);
        }
        Ok(toolbox)
    }
}

fn recall(question: &str, cache: &Cache) -> Option<Toolbox> {
    let known: Toolbox = serde_json::from_str(&cache.recall(question)?).ok()?;
    let image = cache.get(Kind::Toolbox, &known.sha256)?;
    Some(Toolbox { image, ..known })
}

fn locate(name: &str) -> Result<PathBuf, ToolboxError> {
    find_program(name).ok_or_else(|| {
        if name.contains('/') {
            return ToolboxError::NotExecutable(name.to_owned());
        }
        let package = PACKAGES.iter().find(|(program, _)| *program == name).map_or(name, |(_, package)| package);
        ToolboxError::NotFound { name: name.to_owned(), package: package.to_owned() }
    })
}

/// Where the guest finds what lies at `host` on the host.
fn guest_path(host: &Path) -> PathBuf {
    let below_root = host.strip_prefix("/").unwrap_or(host);
    let top = below_root.components().next().map(|c| c.as_os_str().to_owned()).unwrap_or_default();
    if initramfs::FOLDERS.iter().any(|folder| top == *folder) {
        Path::new(MOUNT_POINT).join(below_root)
    } else {
        host.to_owned()
    }
}

/// Lists `path`, everything in it, and the libraries that plug-ins among it need.
fn collect(path: &Path, closures: &mut Closures, found: &mut Vec<PathBuf>) -> Result<(), ToolboxError> {
    found.push(path.to_owned());
    let meta = fs::metadata(path).map_err(FileError::on("read", path))?;
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(FileError::on("read", path))? {
            let entry = entry.map_err(FileError::on("read", path))?.path();
            // A link to a folder may lead back up; the folder itself is named if it is wanted.
            if entry.is_dir() && entry.is_symlink() {
                continue;
            }
            collect(&entry, closures, found)?;
        }
    } else if meta.is_file() {
        match closures.of(path) {
            Ok(files) => found.extend(files),
            // Data.
            Err(ElfError::NotProgram(_)) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

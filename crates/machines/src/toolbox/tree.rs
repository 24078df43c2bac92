//! A part of the host's file system, with its symbolic links, that is to become an image.

use super::ToolboxError;
use crate::cache::{hex_digest, hex_digest_of_file};
use crate::file_error::FileError;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Symbolic links that one path may lead through (the kernel's own bound, path_resolution(7)).
const MAX_LINKS: usize = 40;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Folder,
    Link(PathBuf),
    File { size: u64, executable: bool, sha256: String },
}

/// Absolute paths of the host and what stands there. Parents sort before what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

impl Tree {
    /// Adds the file or folder that `path` leads to, and every symbolic link on the way; so that each name that leads to it
    /// on the host (`/lib` for `/usr/lib`, a soname) leads to it in the image. Returns where it stands.
    pub(super) fn add(&mut self, path: &Path) -> Result<PathBuf, ToolboxError> {
        let read = |act| FileError::on(act, path);
        let mut real = PathBuf::from("/");
        let mut rest: Vec<PathBuf> = components(path);
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == Path::new("..") {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            let meta = fs::symlink_metadata(&next).map_err(FileError::on("read", &next))?;
            if meta.is_symlink() {
                links += 1;
                if links > MAX_LINKS {
                    return Err(read("follow the links of")(rustix::io::Errno::LOOP.into()).into());
                }
                let target = fs::read_link(&next).map_err(FileError::on("read", &next))?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(components(&target));
                self.nodes.insert(next, Node::Link(target));
                continue;
            }
            if meta.is_dir() {
                self.nodes.insert(next.clone(), Node::Folder);
            } else if meta.is_file() && rest.is_empty() {
                self.add_file(&next, &meta)?;
            } else {
                return Err(ToolboxError::NotFile(next));
            }
            real = next;
        }
        Ok(real)
    }

    fn add_file(&mut self, path: &Path, meta: &fs::Metadata) -> Result<(), ToolboxError> {
        if !self.nodes.contains_key(path) {
            let sha256 = hex_digest_of_file(path).map_err(FileError::on("read", path))?;
            let executable = meta.permissions().mode() & 0o111 != 0;
            self.nodes.insert(path.to_owned(), Node::File { size: meta.len(), executable, sha256 });
        }
        Ok(())
    }

    /// SHA-256 of the file that stands at this path of the host (after [`Tree::add`]).
    pub(super) fn sha256(&self, real: &Path) -> Option<&str> {
        match self.nodes.get(real)? {
            Node::File { sha256, .. } => Some(sha256),
            Node::Folder | Node::Link(_) => None,
        }
    }

    /// A hash of all names, kinds and contents.
    pub(super) fn digest(&self, layout: &str) -> String {
        let mut text = layout.as_bytes().to_vec();
        for (path, node) in &self.nodes {
            let (kind, detail) = match node {
                Node::Folder => ("folder", &b""[..]),
                Node::Link(target) => ("link", target.as_os_str().as_bytes()),
                Node::File { sha256, executable: true, .. } => ("program", sha256.as_bytes()),
                Node::File { sha256, executable: false, .. } => ("file", sha256.as_bytes()),
            };
            // NUL cannot be part of a name.
            for part in [path.as_os_str().as_bytes(), kind.as_bytes(), detail] {
                text.extend_from_slice(part);
                text.push(0);
            }
        }
        hex_digest(&text)
    }

    /// Copies everything below `stage`, readable for all and without set-user-id bits.
    pub(super) fn copy_to(&self, stage: &Path) -> Result<(), FileError> {
        for (path, node) in &self.nodes {
            let to = stage.join(path.strip_prefix("/").unwrap_or(path));
            match node {
                Node::Folder => {
                    fs::create_dir(&to).and_then(|()| fs::set_permissions(&to, Permissions::from_mode(0o755)))
                }
                Node::Link(target) => symlink(target, &to),
                Node::File { executable, .. } => fs::copy(path, &to).and_then(|_| {
                    let mode = if *executable { 0o755 } else { 0o644 };
                    fs::set_permissions(&to, Permissions::from_mode(mode))
                }),
            }
            .map_err(FileError::on("copy into the image", path))?;
        }
        Ok(())
    }

    /// How many inodes it takes.
    pub(super) fn inodes(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Blocks of `block` bytes that contents and folders take.
    pub(super) fn blocks(&self, block: u64) -> u64 {
        let folder = |path: &Path| {
            let inside = self.nodes.range(path.to_owned()..).take_while(|(p, _)| p.starts_with(path));
            let names = inside.filter(|(p, _)| p.parent() == Some(path)).map(|(p, _)| {
                // ext4's ext4_dir_entry_2: eight bytes and the name, in multiples of four.
                p.file_name().map_or(0, |name| (8 + name.len() as u64).next_multiple_of(4))
            });
            // A name does not straddle two blocks.
            (names.sum::<u64>() + 24).div_ceil(block - 256)
        };
        let sizes = self.nodes.iter().map(|(path, node)| match node {
            Node::Folder => folder(path),
            Node::Link(_) => 1,
            Node::File { size, .. } => size.div_ceil(block) + 1,
        });
        sizes.sum()
    }
}

/// The components of a path, last first; without the root and `.`.
fn components(path: &Path) -> Vec<PathBuf> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut all: Vec<PathBuf> = named.collect();
    all.reverse();
    all
}

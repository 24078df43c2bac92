//! Leases: what a controller makes outside its keeper's namespace is written down here before it is made, so that whoever comes
//! later (the keeper after a kill -9, or `vmtax clean`) can unmake it.

use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Every file or folder that vmtax may remove has a name with this prefix.
pub const PREFIX: &str = "vmtax-";

/// The list of one controller, kept in a file.
#[derive(Debug)]
pub struct Lease {
    file: PathBuf,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// Process id of the controller.
    owner: u32,
    /// Its start time (field 22 of /proc/PID/stat), so that a reused id is not taken for it.
    started: u64,
    /// Files and empty folders, in the order in which they were made.
    paths: Vec<PathBuf>,
}

/// What became of an old lease.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// What was removed.
    pub removed: Vec<PathBuf>,
    /// What could not be removed, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// Why a lease could not be written.
#[derive(Debug, thiserror::Error)]
#[error("Could not write the list of leftovers {path}; without it nothing is made")]
pub struct LeaseError {
    path: PathBuf,
    #[source]
    source: std::io::Error,
}

fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command may hold spaces and parentheses; fields count from the last one. Field 22 is the 20th after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

impl Lease {
    /// An empty lease of this process in `folder` (made if missing).
    pub fn open(folder: &Path) -> Result<Self, LeaseError> {
        let owner = std::process::id();
        let file = folder.join(format!("{owner}.json"));
        let fail = |source| LeaseError { path: file.clone(), source };
        std::fs::create_dir_all(folder).map_err(fail)?;
        let content = Content { owner, started: start_time(owner).unwrap_or(0), paths: Vec::new() };
        let lease = Lease { file: file.clone(), content };
        lease.write().map_err(fail)?;
        Ok(lease)
    }

    /// Where it is written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Writes a path down. Call this before making it.
    pub fn add(&mut self, path: &Path) -> Result<(), LeaseError> {
        self.content.paths.push(path.to_owned());
        self.write().map_err(|source| LeaseError { path: self.file.clone(), source })
    }

    fn write(&self) -> std::io::Result<()> {
        let part = self.file.with_extension("part");
        let mut file = std::fs::File::create(&part)?;
        file.write_all(&serde_json::to_vec(&self.content)?)?;
        file.sync_all()?;
        std::fs::rename(&part, &self.file)
    }
}

fn release_file(file: &Path, content: &Content) -> Released {
    let mut released = Released::default();
    for path in content.paths.iter().rev() {
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let result = match path.symlink_metadata() {
            Err(_) => continue,
            Ok(_) if !ours => Err(std::io::Error::other("not a name that vmtax gives")),
            // Only ever an empty folder: what somebody else put there stays.
            Ok(meta) if meta.is_dir() => std::fs::remove_dir(path),
            Ok(_) => std::fs::remove_file(path),
        };
        match result {
            Ok(()) => released.removed.push(path.clone()),
            // Its owner, on its way out, was faster.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => released.left.push((path.clone(), e.to_string())),
        }
    }
    if released.left.is_empty() {
        let _ = std::fs::remove_file(file);
    }
    released
}

/// Releases the lease in `file`, as the keeper does when its controller is gone. A file that is no lease is left alone.
pub fn release_abandoned(file: &Path) -> Option<Released> {
    let content: Content = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Some(release_file(file, &content))
}

/// Releases all leases in `folder` whose owner is not alive.
pub fn sweep(folder: &Path) -> Released {
    let mut all = Released::default();
    let Ok(entries) = std::fs::read_dir(folder) else { return all };
    for file in entries.flatten().map(|e| e.path()) {
        let Ok(bytes) = std::fs::read(&file) else { continue };
        match serde_json::from_slice::<Content>(&bytes) {
            Ok(content) if start_time(content.owner) == Some(content.started) => {}
            Ok(content) => {
                let released = release_file(&file, &content);
                all.removed.extend(released.removed);
                all.left.extend(released.left);
            }
            // A half-written list: it was replaced only after a sync, so the full one stands beside it.
            Err(_) if file.extension().is_some_and(|e| e == "part") => {
                let _ = std::fs::remove_file(&file);
            }
            Err(e) => all.left.push((file, e.to_string())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_owner_s_files_are_removed_and_a_living_one_s_stay() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("vmtax-data.raw");
        let foreign = dir.path().join("precious");
        std::fs::write(&data, "x").unwrap();
        std::fs::write(&foreign, "x").unwrap();
        let leases = dir.path().join("leases");
        let mut lease = Lease::open(&leases).unwrap();
        lease.add(&data).unwrap();
        assert_eq!(sweep(&leases), Released::default());
        assert!(data.exists());

        let dead = Content { owner: u32::MAX, started: 1, paths: vec![data.clone(), foreign.clone()] };
        std::fs::write(leases.join("1.json"), serde_json::to_vec(&dead).unwrap()).unwrap();
        let released = sweep(&leases);
        assert_eq!(released.removed, [data]);
        assert_eq!(released.left.len(), 1);
        assert!(foreign.exists());
    }

    #[test]
    fn a_reused_process_id_is_not_taken_for_the_owner() {
        let me = std::process::id();
        assert_ne!(start_time(me), None);
        assert_ne!(start_time(me), Some(0));
    }
}

//! What file system a path lies on, and whether disk figures measured there mean anything (proc_pid_mountinfo(5)).

use crate::Root;
use std::path::{Path, PathBuf};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its type, for example `ext4`.
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// What is mounted: a device, an export, or a word without meaning (`none`).
    pub device: String,
    /// Mount options, then those of the file system.
    pub options: Vec<String>,
    /// The folder of the file system that is mounted (for control groups in containers).
    pub(crate) mounted_folder: PathBuf,
    /// Its device by number, `254:0`: one of memory, network or a pool has a number too, that of no device.
    pub(crate) number: String,
}

impl FileSystem {
    /// Why a disk figure measured here would be a lie; none where it would be the truth.
    pub fn refuses_disk_figures(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "tmpfs" | "ramfs" => Some("it lives in memory, not on a disk"),
            "overlay" | "aufs" => {
                Some("it is a stack of other file systems, and what lies under a file can change when it is written")
            }
            _ => None,
        }
    }

    /// What a reader must know about disk figures measured here.
    pub fn note(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "glusterfs" | "afs" => {
                Some("a network file system: the figures are those of the network and the server too")
            }
            "9p" | "virtiofs" => Some("a folder shared by the hypervisor: the figures are those of the sharing too"),
            "zfs" => Some("its cache can serve reads that ask to go around caches"),
            "btrfs" | "bcachefs" => {
                Some("it copies on write, and may compress and add checksums: a file is not one place on a disk")
            }
            kind if kind == "fuse" || kind.starts_with("fuse.") || kind == "fuseblk" => {
                Some("a file system in user mode: the figures are those of its process too")
            }
            _ => None,
        }
    }
}

/// The file system that holds `path`, an absolute path of that machine; it need not exist yet. None where /proc does not say.
pub fn of_path(root: &Root, path: &Path) -> Option<FileSystem> {
    let path = if root.is_live() { resolved(path) } else { path.to_owned() };
    let mounted = mounts(root);
    // Of two mounts at one place the later covers the earlier, and `max_by_key` takes the last of equals.
    mounted
        .into_iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

/// `path` without links, as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = absolute.ancestors().find_map(|ancestor| Some((ancestor.canonicalize().ok()?, ancestor)));
    match found {
        Some((real, ancestor)) => match absolute.strip_prefix(ancestor) {
            Ok(rest) if rest != Path::new("") => real.join(rest),
            _ => real,
        },
        None => absolute,
    }
}

const MOUNT_INFO: &str = "proc/self/mountinfo";

/// All mounts that this process sees, in their order.
fn mounts(root: &Root) -> Vec<FileSystem> {
    let text = root.read(MOUNT_INFO).unwrap_or_default();
    text.lines().filter_map(parse_mount).collect()
}

/// The mounts of control groups. Only they are parsed: this is read around every run, and a host of containers has hundreds of others.
pub(crate) fn control_group_mounts(root: &Root) -> Vec<FileSystem> {
    let text = root.read(MOUNT_INFO).unwrap_or_default();
    text.lines().filter(|line| line.contains(" - cgroup")).filter_map(parse_mount).collect()
}

/// One line: `36 35 98:0 /folder /mnt rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue`, with any number of optional fields
/// before the dash.
fn parse_mount(line: &str) -> Option<FileSystem> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (number, folder, point, options) = (mount.next()?, mount.next()?, mount.next()?, mount.next()?);
    let mut system = system.split(' ');
    let (kind, device, more) = (system.next()?, system.next()?, system.next().unwrap_or(""));
    let words = options.split(',').chain(more.split(',')).filter(|word| !word.is_empty());
    Some(FileSystem {
        kind: kind.to_owned(),
        mount_point: PathBuf::from(unescape(point)),
        device: unescape(device),
        options: words.map(unescape).collect(),
        mounted_folder: PathBuf::from(unescape(folder)),
        number: number.to_owned(),
    })
}

/// Blanks, tabs, line breaks and backslashes stand there as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
25 24 0:23 / /dev/shm rw,relatime - devtmpfs old rw
30 25 0:27 / /dev/shm rw,relatime shared:3 master:1 - tmpfs tmpfs rw,size=24684092k
31 27 0:40 / /mnt/my\\040disk rw,noatime - xfs /dev/sd\\134x rw
32 27 0:41 / /mnt rw - nfs4 server:/export rw,vers=4.2
33 27 0:42 / /var/lib/c/merged rw - overlay overlay rw
broken line
";

    fn of(path: &str) -> FileSystem {
        let (_folder, root) = tree(&[("proc/self/mountinfo", MOUNTS)]);
        of_path(&root, Path::new(path)).unwrap()
    }

    #[test]
    fn the_longest_and_latest_mount_holds_a_path() {
        assert_eq!(of("/home/x").mount_point, Path::new("/"));
        assert_eq!(of("/mnt/x").kind, "nfs4");
        assert_eq!(of("/mntx").kind, "ext4");
        assert_eq!((of("/dev/shm/a").kind.as_str(), of("/dev/shm").kind.as_str()), ("tmpfs", "tmpfs"));
        let disk = of("/mnt/my disk/file");
        assert_eq!((disk.kind.as_str(), disk.device.as_str()), ("xfs", "/dev/sd\\x"));
        assert_eq!(disk.options, ["rw", "noatime", "rw"]);
    }

    #[test]
    fn memory_and_stacks_are_refused_and_networks_noted() {
        assert!(of("/dev/shm/x").refuses_disk_figures().is_some_and(|why| why.contains("memory")));
        assert!(of("/var/lib/c/merged/x").refuses_disk_figures().is_some());
        let network = of("/mnt/x");
        assert!(
            network.refuses_disk_figures().is_none() && network.note().is_some_and(|note| note.contains("network"))
        );
        let disk = of("/home");
        assert_eq!((disk.refuses_disk_figures(), disk.note()), (None, None));
        assert!(FileSystem { kind: "fuse.sshfs".to_owned(), ..disk }.note().is_some());
    }

    #[test]
    fn without_mountinfo_nothing_is_known() {
        let (_folder, root) = tree(&[]);
        assert_eq!(of_path(&root, Path::new("/x")), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn links_are_followed_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        let root = Root::live();
        assert_eq!(of_path(&root, &link.join("not/there")).map(|f| f.kind).as_deref(), Some("proc"));
        assert!(of_path(&root, Path::new("/")).is_some());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "( - |\\\\[0-9]{0,3}|[0-9]| |/|,|\n|\\PC){0,40}") {
            let _ = (parse_mount(&text), unescape(&text));
        }
    }
}

//! The block devices beneath a path, and what they did (Documentation/ABI/stable/sysfs-block, Documentation/block/stat.rst).

use crate::file_system::{of_path, resolved};
use crate::{Root, difference};
use std::path::{Path, PathBuf};

const CLASS: &str = "sys/class/block";

/// No sensible stack is higher or wider.
const MOST: usize = 64;

/// The kernel's names of the devices beneath `path` (a device, or a file that lies on one), from the upper to the lower: partitions and their
/// disks, the members of device-mapper and RAID devices, loop devices and what lies beneath their files. None where none is found: memory,
/// network and pool (ZFS) file systems, or /sys does not say.
pub fn beneath(root: &Root, path: &Path) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![of_device_or_file(root, path)?];
    while let Some(name) = open.pop() {
        if found.len() < MOST && !found.contains(&name) {
            open.extend(below(root, &name));
            found.push(name);
        }
    }
    Some(found)
}

/// The device at `path`, else the one that holds the file at `path`.
fn of_device_or_file(root: &Root, path: &Path) -> Option<String> {
    named(root, path).or_else(|| {
        let system = of_path(root, path)?;
        named(root, Path::new(&system.device)).or_else(|| numbered(root, &system.number))
    })
}

/// The kernel's name of a device by its number, `254:0`: what is mounted can be called `/dev/root`, which does not exist.
fn numbered(root: &Root, number: &str) -> Option<String> {
    let place = std::fs::read_link(root.path(Path::new("sys/dev/block").join(number))).ok()?;
    Some(place.file_name()?.to_str()?.to_owned())
}

/// The kernel's name of a device under /dev.
fn named(root: &Root, path: &Path) -> Option<String> {
    // /dev/mapper and /dev/disk are links.
    let path = if root.is_live() && path.is_absolute() { resolved(path) } else { path.to_owned() };
    // A slash in a device's name is a bang in /sys.
    let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    (!name.is_empty() && root.path(folder(&name)).exists()).then_some(name)
}

fn below(root: &Root, name: &str) -> Vec<String> {
    let folder = folder(name);
    let mut below = root.list(folder.join("slaves")).unwrap_or_default();
    if root.path(folder.join("partition")).exists() {
        // A partition's folder lies in that of its disk; the class only has links to them.
        let place = std::fs::canonicalize(root.path(&folder)).ok();
        let disk = place.as_deref().and_then(Path::parent).and_then(Path::file_name).and_then(|name| name.to_str());
        below.extend(disk.map(str::to_owned));
    }
    below.extend(backing_file(root, name).and_then(|file| of_device_or_file(root, &file)));
    below
}

fn folder(name: &str) -> PathBuf {
    Path::new(CLASS).join(name)
}

/// The file of a loop device; none for others and those that are free.
fn backing_file(root: &Root, name: &str) -> Option<PathBuf> {
    root.line(folder(name).join("loop/backing_file")).map(PathBuf::from)
}

/// A loop device: a file that is shown as a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    /// Its name, for example `loop0`.
    pub name: String,
    /// The file, by its path when it was attached.
    pub backing_file: PathBuf,
    /// True where it reads the file around the page cache (`losetup --direct-io=on`); without, reads that ask to go around caches are
    /// served by the file's. None on kernels that do not say.
    pub direct: Option<bool>,
}

/// The loop devices beneath `path`; none where it is unknown what lies there. An empty list is the answer for a real disk.
pub fn loop_devices(root: &Root, path: &Path) -> Option<Vec<LoopDevice>> {
    let device = |name: String| {
        let direct = match root.number::<u8>(folder(&name).join("loop/dio")) {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        };
        Some(LoopDevice { backing_file: backing_file(root, &name)?, name, direct })
    };
    Some(beneath(root, path)?.into_iter().filter_map(device).collect())
}

/// What a device did since boot, for everybody: neighbours and read-ahead are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceIo {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Flushes completed; none before Linux 5.5, and on devices that need none.
    pub flushes: Option<u64>,
}

impl DeviceIo {
    /// Reads the counters of a device by its kernel name; none where it is gone.
    pub fn read(root: &Root, name: &str) -> Option<Self> {
        let text = root.read(folder(name).join("stat")).ok()?;
        let fields = text.split_whitespace().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>().ok()?;
        // Sectors of 512 bytes, whatever the device's own.
        let bytes = |index: usize| fields.get(index)?.checked_mul(512);
        Some(DeviceIo { read_bytes: bytes(2)?, write_bytes: bytes(6)?, flushes: fields.get(15).copied() })
    }

    /// What was added from `self` to `later`.
    pub fn until(&self, later: &DeviceIo) -> DeviceIo {
        DeviceIo {
            read_bytes: later.read_bytes.saturating_sub(self.read_bytes),
            write_bytes: later.write_bytes.saturating_sub(self.write_bytes),
            flushes: difference::count(self.flushes, later.flushes),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;
    use tempfile::TempDir;

    /// Partition sda1 of sda holds /; loop0 and loop1 are files on it, loop2 a file on the file system of loop1; dm-0 spans sdb and loop0.
    fn machine() -> (TempDir, Root) {
        let (folder, root) = tree(&[
            (
                "proc/self/mountinfo",
                "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n28 27 7:1 / /mnt/one rw - ext4 /dev/loop1 rw\n29 27 0:9 / /run rw - tmpfs tmpfs rw\n",
            ),
            ("sys/devices/sda/sda1/partition", "1\n"),
            ("sys/class/block/loop0/loop/backing_file", "/srv/zero.img\n"),
            ("sys/class/block/loop0/loop/dio", "1\n"),
            ("sys/class/block/loop1/loop/backing_file", "/srv/one.img (deleted)\n"),
            ("sys/class/block/loop1/loop/dio", "0\n"),
            ("sys/class/block/loop2/loop/backing_file", "/mnt/one/two.img\n"),
            ("sys/class/block/loop3/size", "0\n"),
            ("sys/class/block/dm-0/slaves/loop0/x", ""),
            ("sys/class/block/dm-0/slaves/sdb/x", ""),
            ("sys/class/block/sdb/stat", "5 0 16 1 6 0 32 1 0 1 1 0 0 0 0 77 8\n"),
        ]);
        for (name, place) in [("sda", "sda"), ("sda1", "sda/sda1")] {
            std::os::unix::fs::symlink(format!("../../devices/{place}"), root.path(CLASS).join(name)).unwrap();
        }
        (folder, root)
    }

    #[test]
    fn what_lies_beneath_is_found_to_the_ground() {
        let (_folder, root) = machine();
        let of = |path: &str| beneath(&root, Path::new(path));
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("/home/x"), names(&["sda1", "sda"]));
        assert_eq!(of("/mnt/one/x"), names(&["loop1", "sda1", "sda"]));
        assert_eq!(of("/dev/loop2"), names(&["loop2", "loop1", "sda1", "sda"]));
        assert_eq!(of("/dev/dm-0"), names(&["dm-0", "sdb", "loop0", "sda1", "sda"]));
        assert_eq!(of("/run/x"), None, "memory");
    }

    #[test]
    fn a_loop_device_without_direct_input_is_told() {
        let (_folder, root) = machine();
        let of = |path: &str| loop_devices(&root, Path::new(path));
        let device = |number: u32, file: &str, direct| LoopDevice {
            name: format!("loop{number}"),
            backing_file: PathBuf::from(file),
            direct,
        };
        assert_eq!(of("/home/x"), Some(Vec::new()));
        let one = device(1, "/srv/one.img (deleted)", Some(false));
        assert_eq!(of("/mnt/one/x"), Some(vec![one.clone()]));
        assert_eq!(of("/dev/loop2"), Some(vec![device(2, "/mnt/one/two.img", None), one]));
        assert_eq!(of("/dev/dm-0"), Some(vec![device(0, "/srv/zero.img", Some(true))]));
        assert_eq!(of("/dev/loop3"), Some(Vec::new()), "it is free");
        let (_folder, root) = tree(&[]);
        assert_eq!(loop_devices(&root, Path::new("/home/x")), None);
    }

    #[test]
    fn a_root_without_a_name_is_found_by_its_number() {
        let (_folder, root) =
            tree(&[("proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/root rw\n"), ("sys/dev/block/.keep", "")]);
        assert_eq!(beneath(&root, Path::new("/x")), None);
        std::os::unix::fs::symlink("../../devices/virtio0/block/vda", root.path("sys/dev/block/254:0")).unwrap();
        assert_eq!(beneath(&root, Path::new("/x")), Some(vec!["vda".to_owned()]));
    }

    #[test]
    fn a_loop_that_lies_on_itself_ends() {
        let (_folder, root) = tree(&[
            ("proc/self/mountinfo", "27 1 7:0 / / rw - ext4 /dev/loop0 rw\n"),
            ("sys/class/block/loop0/loop/backing_file", "/x\n"),
        ]);
        assert_eq!(beneath(&root, Path::new("/y")), Some(vec!["loop0".to_owned()]));
    }

    #[test]
    fn a_device_counts_sectors_and_perhaps_flushes() {
        let (_folder, root) = machine();
        let before = DeviceIo::read(&root, "sdb").unwrap();
        assert_eq!(before, DeviceIo { read_bytes: 16 << 9, write_bytes: 32 << 9, flushes: Some(77) });
        std::fs::write(root.path("sys/class/block/sdb/stat"), "5 0 18 1 6 0 32 1 0 1 1\n").unwrap();
        let later = DeviceIo::read(&root, "sdb").unwrap();
        assert_eq!(before.until(&later), DeviceIo { read_bytes: 1024, write_bytes: 0, flushes: None });
        assert_eq!(DeviceIo::read(&root, "sda"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_found_on_this_machine_has_counters() {
        let found = beneath(&Root::live(), Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_or_default();
        assert!(found.iter().all(|name| DeviceIo::read(&Root::live(), name).is_some()), "{found:?}");
        assert_eq!(beneath(&Root::live(), Path::new("/proc/self/stat")), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(text in "([0-9]{0,22}|/|\\.\\.|loop0| |\n|\\PC){0,20}") {
            let (_folder, root) = tree(&[
                ("proc/self/mountinfo", "27 1 7:0 / / rw - ext4 /dev/loop0 rw\n"),
                ("sys/class/block/loop0/loop/backing_file", &text), ("sys/class/block/loop0/loop/dio", &text),
                ("sys/class/block/loop0/stat", &text),
            ]);
            let _ = (loop_devices(&root, Path::new("/x")), DeviceIo::read(&root, "loop0"), beneath(&root, Path::new(&text)));
        }
    }
}

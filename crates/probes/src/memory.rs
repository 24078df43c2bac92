//! How much memory can still be taken: what the machine has, and what the control group of this process allows
//! (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).

use crate::Root;
use crate::control_groups::{Groups, Version, groups};
use crate::text::{field, kilobytes};
use std::path::Path;

/// Bytes that this process can take without swapping or being killed; none where /proc/meminfo cannot be read.
pub fn available(root: &Root) -> Option<u64> {
    let machine = kilobytes(&root.read("proc/meminfo").ok()?, "MemAvailable")?;
    Some(control_group_headroom(root).map_or(machine, |group| group.min(machine)))
}

/// Least headroom in the own memory control group and those above it; none where none of them has a limit.
fn control_group_headroom(root: &Root) -> Option<u64> {
    let Groups { version, folders } = groups(root, "self", "memory")?;
    folders.iter().filter_map(|folder| headroom(root, folder, version)).min()
}

/// Limit minus usage of one group; none where it has no limit. (Version 1 writes a huge number for "none"; the machine's own memory is
/// the smaller one then.)
fn headroom(root: &Root, folder: &Path, version: Version) -> Option<u64> {
    // The last is what `memory.stat` calls the file pages that the kernel gives back at once when memory is short.
    let (limit, usage, reclaimable) = match version {
        Version::V1 => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        Version::V2 => ("memory.max", "memory.current", "inactive_file"),
    };
    let limit: u64 = root.number(folder.join(limit))?;
    let usage: u64 = root.number(folder.join(usage))?;
    let stat = root.read(folder.join("memory.stat")).unwrap_or_default();
    let reclaimable: u64 = field(&stat, reclaimable).and_then(|value| value.parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(reclaimable)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 99999 kB\nMemAvailable:   8192 kB\n");
    const MIB: u64 = 1 << 20;

    #[test]
    fn without_a_group_the_machine_decides() {
        let (_folder, root) = tree(&[MEMINFO]);
        assert_eq!(available(&root), Some(8 * MIB));
        let (_folder, root) = tree(&[]);
        assert_eq!(available(&root), None);
    }

    #[test]
    fn the_tightest_group_above_the_own_one_limits_version_2() {
        let (_folder, root) = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/memory.max", "6291456\n"),
            ("sys/fs/cgroup/a/memory.current", "5242880\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 2097152\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "4096\n"),
        ]);
        // 6 MiB of limit, 5 used, of which 2 can be given back.
        assert_eq!(available(&root), Some(3 * MIB));
    }

    #[test]
    fn version_1_is_found_by_its_mount_also_in_a_container() {
        let mounts = "35 31 0:32 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        let (_folder, root) = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "9:cpu:/docker/x\n4:memory:/docker/x\n0::/\n"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n"),
        ]);
        assert_eq!(available(&root), Some(3 * MIB));
        std::fs::write(root.path("sys/fs/cgroup/memory/memory.limit_in_bytes"), "9223372036854771712\n").unwrap();
        assert_eq!(available(&root), Some(8 * MIB));
        std::fs::write(root.path("sys/fs/cgroup/memory/memory.limit_in_bytes"), "1\n").unwrap();
        assert_eq!(available(&root), Some(0), "used up is zero, not unknown");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_memory() {
        assert!(available(&Root::live()).is_some_and(|bytes| bytes > MIB));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(groups in "([0-9]|:|/|memory|\\.\\.|\n|\\PC){0,20}", text in "([0-9]{0,22}| |max|\n){0,4}") {
            let (_folder, root) = tree(&[
                MEMINFO,
                ("proc/self/cgroup", &groups),
                ("proc/self/mountinfo", "31 23 0:28 / /c rw - cgroup2 cgroup2 rw\n35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"),
                ("c/memory.max", &text), ("c/memory.current", &text), ("c/memory.stat", &text),
            ]);
            prop_assert!(available(&root).is_some());
        }
    }
}

//! CPU quotas: time for which the kernel kept a control group's tasks from running although CPUs were free
//! (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-bwc.rst).

use crate::Root;
use crate::control_groups::{Groups, Version, groups};
use crate::text::field;
use std::path::Path;

/// Throttling of a process's control group and of all those above it that can be seen, summed: any of them stops the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Enforcement periods in which the quota was used up.
    pub periods: u64,
    /// Time for which tasks were held back, seconds, summed over CPUs: it can exceed wall time.
    pub seconds: f64,
}

impl Throttling {
    /// Of the groups of `pid`; none where they cannot be read.
    pub fn of(root: &Root, pid: u32) -> Option<Self> {
        Self::of_process(root, &pid.to_string())
    }

    /// Of the groups of this process.
    pub fn own(root: &Root) -> Option<Self> {
        Self::of_process(root, "self")
    }

    fn of_process(root: &Root, process: &str) -> Option<Self> {
        let Groups { version, folders } = groups(root, process, "cpu")?;
        let readings = folders.iter().filter_map(|folder| Self::of_group(root, folder, version));
        readings
            .reduce(|a, b| Throttling { periods: a.periods.saturating_add(b.periods), seconds: a.seconds + b.seconds })
    }

    fn of_group(root: &Root, folder: &Path, version: Version) -> Option<Self> {
        let text = root.read(folder.join("cpu.stat")).ok()?;
        let number = |key| field(&text, key)?.parse::<u64>().ok();
        match version {
            Version::V1 => {
                Some(Throttling { periods: number("nr_throttled")?, seconds: number("throttled_time")? as f64 * 1e-9 })
            }
            // Where the CPU controller is not switched on for a group, its file tells the usage only: it has no quota.
            Version::V2 if field(&text, "nr_throttled").is_none() => number("usage_usec").map(|_| Self::default()),
            Version::V2 => {
                Some(Throttling { periods: number("nr_throttled")?, seconds: number("throttled_usec")? as f64 * 1e-6 })
            }
        }
    }

    /// What was added from `self` to `later`.
    pub fn until(&self, later: &Throttling) -> Throttling {
        Throttling {
            periods: later.periods.saturating_sub(self.periods),
            seconds: (later.seconds - self.seconds).max(0.0),
        }
    }
}

/// The CPU time that a process may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quota {
    /// No group that can be seen has one.
    Unlimited,
    /// The tightest one, in CPUs: 1.5 is three CPUs for half of the time.
    Cpus(f64),
}

impl Quota {
    /// Of the groups of `pid`; none where they cannot be read.
    pub fn of(root: &Root, pid: u32) -> Option<Self> {
        Self::of_process(root, &pid.to_string())
    }

    /// Of the groups of this process.
    pub fn own(root: &Root) -> Option<Self> {
        Self::of_process(root, "self")
    }

    fn of_process(root: &Root, process: &str) -> Option<Self> {
        let Groups { version, folders } = groups(root, process, "cpu")?;
        let quotas = folders.iter().filter_map(|folder| Self::of_group(root, folder, version));
        quotas.reduce(|a, b| match (a, b) {
            (Quota::Cpus(a), Quota::Cpus(b)) => Quota::Cpus(a.min(b)),
            (Quota::Unlimited, other) | (other, Quota::Unlimited) => other,
        })
    }

    fn of_group(root: &Root, folder: &Path, version: Version) -> Option<Self> {
        // Microseconds of CPU time, and the period that they are for.
        let (quota, period) = match version {
            Version::V1 => {
                let quota = root.line(folder.join("cpu.cfs_quota_us"))?;
                (quota, root.number::<u64>(folder.join("cpu.cfs_period_us"))?)
            }
            Version::V2 => match root.line(folder.join("cpu.max")) {
                Some(line) => {
                    let (quota, period) = line.split_once(' ')?;
                    (quota.to_owned(), period.parse().ok()?)
                }
                // The root, or a group without the CPU controller.
                None => return root.path(folder.join("cgroup.procs")).exists().then_some(Quota::Unlimited),
            },
        };
        match quota.as_str() {
            "max" | "-1" => Some(Quota::Unlimited),
            _ => Some(Quota::Cpus(quota.parse::<u64>().ok().filter(|_| period > 0)? as f64 / period as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    const V2: (&str, &str) = ("proc/self/mountinfo", "31 23 0:28 / /c rw - cgroup2 cgroup2 rw\n");
    const V1: (&str, &str) = ("proc/self/mountinfo", "32 31 0:29 /docker/x /c/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");

    #[test]
    fn any_group_above_throttles_too_in_version_2() {
        let (_folder, root) = tree(&[
            V2,
            ("proc/9/cgroup", "0::/a/b\n"),
            ("c/cpu.stat", "usage_usec 9\n"),
            ("c/cgroup.procs", ""),
            ("c/a/cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 3\nthrottled_usec 1500000\n"),
            ("c/a/cpu.max", "150000 100000\n"),
            ("c/a/b/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 1\nthrottled_usec 500000\n"),
            ("c/a/b/cpu.max", "max 100000\n"),
        ]);
        let before = Throttling::of(&root, 9).unwrap();
        assert_eq!(before, Throttling { periods: 4, seconds: 2.0 });
        assert_eq!(Quota::of(&root, 9), Some(Quota::Cpus(1.5)));
        assert_eq!((Throttling::own(&root), Quota::own(&root)), (None, None), "nothing is known of another process");

        std::fs::write(root.path("c/a/b/cpu.stat"), "nr_throttled 6\nthrottled_usec 750000\n").unwrap();
        let later = Throttling::of(&root, 9).unwrap();
        assert_eq!(before.until(&later), Throttling { periods: 5, seconds: 0.25 });
        assert_eq!(later.until(&before), Throttling::default());
    }

    #[test]
    fn version_1_counts_nanoseconds_and_is_found_in_a_container() {
        let (_folder, root) = tree(&[
            V1,
            ("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n0::/\n"),
            ("c/cpu/cpu.stat", "nr_periods 8\nnr_throttled 2\nthrottled_time 250000000\n"),
            ("c/cpu/cpu.cfs_quota_us", "50000\n"),
            ("c/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(Throttling::own(&root), Some(Throttling { periods: 2, seconds: 0.25 }));
        assert_eq!(Quota::own(&root), Some(Quota::Cpus(0.5)));
        std::fs::write(root.path("c/cpu/cpu.cfs_quota_us"), "-1\n").unwrap();
        assert_eq!(Quota::own(&root), Some(Quota::Unlimited));
    }

    #[test]
    fn a_group_without_the_controller_has_no_quota_and_an_unreadable_one_is_unknown() {
        let (_folder, root) = tree(&[
            V2,
            ("proc/self/cgroup", "0::/a\n"),
            ("c/a/cpu.stat", "usage_usec 9\n"),
            ("c/a/cgroup.procs", "1\n"),
        ]);
        assert_eq!((Throttling::own(&root), Quota::own(&root)), (Some(Throttling::default()), Some(Quota::Unlimited)));
        let (_folder, root) = tree(&[V2, ("proc/self/cgroup", "0::/a\n")]);
        assert_eq!((Throttling::own(&root), Quota::own(&root)), (None, None));
        let (_folder, root) = tree(&[V1, ("proc/self/cgroup", "1:cpu:/\n"), ("c/cpu/cpu.stat", "usage_usec 9\n")]);
        assert_eq!((Throttling::own(&root), Quota::own(&root)), (None, None), "not a version 1 file");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(
            groups in "([0-9]|:|/|cpu|\\.\\.|\n|\\PC){0,20}",
            text in "(nr_throttled |throttled_usec |throttled_time |[0-9]{0,22}| |max|-|\n){0,8}",
        ) {
            for mount in [V1, V2] {
                let (_folder, root) = tree(&[
                    mount, ("proc/self/cgroup", &groups), ("proc/1/cgroup", "1:cpu:/docker/x\n"), ("proc/2/cgroup", "0::/"),
                    ("c/cpu.stat", &text), ("c/cpu.max", &text), ("c/cpu/cpu.stat", &text),
                    ("c/cpu/cpu.cfs_quota_us", &text), ("c/cpu/cpu.cfs_period_us", &text),
                ]);
                let _ = (Throttling::own(&root), Quota::own(&root));
                let _ = [1, 2].map(|pid| (Throttling::of(&root, pid), Quota::of(&root, pid)));
            }
        }
    }
}

//! Thermal throttling of Intel CPUs (Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle; arch/x86 therm_throt.c).
//! Other CPUs, and virtual machines, do not have these counters.

use crate::{Root, difference};
use std::collections::BTreeSet;

/// Throttling since boot, summed over cores and over packages; none where no CPU that was asked tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thermal {
    /// Times that a core became too hot.
    pub core_events: Option<u64>,
    /// Time in that state, seconds, summed over cores. (Linux 5.6 and later.)
    pub core_seconds: Option<f64>,
    /// Times that a package became too hot.
    pub package_events: Option<u64>,
    /// Time in that state, seconds, summed over packages. (Linux 5.6 and later.)
    pub package_seconds: Option<f64>,
}

impl Thermal {
    /// Reads the cores and packages that these CPUs belong to. Every CPU keeps the counters of its core and package: the first one of each
    /// is asked.
    pub fn read(root: &Root, cpus: &[u32]) -> Self {
        let (mut cores, mut packages) = (BTreeSet::new(), BTreeSet::new());
        let mut sum = Thermal::default();
        for cpu in cpus {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            let events = |level: &str| root.number::<u64>(format!("{folder}/thermal_throttle/{level}_throttle_count"));
            let Some(core) = events("core") else { continue };
            let seconds = |level: &str| {
                let path = format!("{folder}/thermal_throttle/{level}_throttle_total_time_ms");
                Some(root.number::<u64>(path)? as f64 * 1e-3)
            };
            let id = |name: &str| root.number::<i64>(format!("{folder}/topology/{name}"));
            let package_id = id("physical_package_id");
            // Where the topology is unknown every CPU is a core of one package.
            if cores.insert((package_id, id("core_id").unwrap_or(i64::from(*cpu)))) {
                sum.core_events = plus(sum.core_events, Some(core), u64::saturating_add);
                sum.core_seconds = plus(sum.core_seconds, seconds("core"), |a, b| a + b);
            }
            if packages.insert(package_id) {
                sum.package_events = plus(sum.package_events, events("package"), u64::saturating_add);
                sum.package_seconds = plus(sum.package_seconds, seconds("package"), |a, b| a + b);
            }
        }
        sum
    }

    /// Events of cores and packages together.
    pub fn events(&self) -> Option<u64> {
        plus(self.core_events, self.package_events, u64::saturating_add)
    }

    /// Time in that state of cores or of packages, whichever is longer, seconds: one is mostly the other's cause.
    pub fn seconds(&self) -> Option<f64> {
        match (self.core_seconds, self.package_seconds) {
            (Some(cores), Some(packages)) => Some(cores.max(packages)),
            (known, None) | (None, known) => known,
        }
    }

    /// What was added from `self` to `later`.
    pub fn until(&self, later: &Thermal) -> Thermal {
        Thermal {
            core_events: difference::count(self.core_events, later.core_events),
            core_seconds: difference::seconds(self.core_seconds, later.core_seconds),
            package_events: difference::count(self.package_events, later.package_events),
            package_seconds: difference::seconds(self.package_seconds, later.package_seconds),
        }
    }
}

/// A sum of what is known.
fn plus<T: Copy>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (known, None) | (None, known) => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;
    use tempfile::TempDir;

    /// Two packages of one core with two threads each.
    fn machine(counter: impl Fn(u32) -> String) -> (TempDir, Root) {
        let mut files = Vec::new();
        for cpu in 0..4 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            files.push((format!("{folder}/topology/core_id"), "0\n".to_owned()));
            files.push((format!("{folder}/topology/physical_package_id"), format!("{}\n", cpu / 2)));
            for name in ["core_throttle_count", "package_throttle_count", "core_throttle_total_time_ms"] {
                files.push((format!("{folder}/thermal_throttle/{name}"), counter(cpu)));
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        tree(&files)
    }

    #[test]
    fn a_core_and_a_package_count_once() {
        let (_folder, root) = machine(|cpu| format!("{}\n", 100 * (cpu / 2 + 1)));
        let before = Thermal::read(&root, &[0, 1, 2, 3]);
        let expected = Thermal {
            core_events: Some(300),
            core_seconds: Some(0.1 + 0.2),
            package_events: Some(300),
            package_seconds: None,
        };
        assert_eq!(before, expected);
        assert_eq!(Thermal::read(&root, &[1]).core_events, Some(100));
        let (_folder, root) = machine(|cpu| format!("{}\n", 100 * (cpu / 2 + 1) + 4));
        let added = before.until(&Thermal::read(&root, &[0, 1, 2, 3]));
        assert_eq!((added.core_events, added.package_events, added.package_seconds), (Some(8), Some(8), None));
        assert!((added.core_seconds.unwrap() - 0.008).abs() < 1e-9);
    }

    #[test]
    fn a_machine_that_does_not_tell_is_not_a_cool_one() {
        let (_folder, root) = tree(&[("sys/devices/system/cpu/cpu0/topology/core_id", "0\n")]);
        let unknown = Thermal::read(&root, &[0, 1]);
        assert_eq!(unknown, Thermal::default());
        assert_eq!(unknown.until(&unknown).core_events, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_panics(text in "([0-9]{0,22}|-|\n|\\PC){0,3}") {
            let (_folder, root) = machine(|_| text.clone());
            let read = Thermal::read(&root, &[0, 1, 2, 3, 9]);
            let _ = read.until(&read);
        }
    }
}

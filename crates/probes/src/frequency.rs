//! How fast the CPUs run and what may change that (Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst).

use crate::Root;
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";

/// Mean clock rate of these CPUs at this moment, Hz; none where any of them does not tell it (most virtual machines), or there are none.
///
/// It says something about a run only if it is read while the run lasts: an idle CPU is clocked down. On x86 before Linux 5.18 the kernel may
/// take 10 ms for every CPU to find out.
pub fn mean_hertz(root: &Root, cpus: &[u32]) -> Option<f64> {
    let hertz = |cpu: &u32| Some(root.number::<u64>(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq"))? as f64 * 1e3);
    let sum: f64 = cpus.iter().map(hertz).sum::<Option<f64>>()?;
    (sum > 0.0).then(|| sum / cpus.len() as f64)
}

/// What decides about the clock rate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The cpufreq governors of the CPUs, sorted, each once; empty where they are unknown.
    pub governors: Vec<String>,
    /// True where CPUs may run above their nominal rate (turbo, boost); none where the driver has no such switch.
    pub turbo: Option<bool>,
}

/// Reads the policy of these CPUs.
pub fn policy(root: &Root, cpus: &[u32]) -> Policy {
    let governor = |cpu: &u32| root.line(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
    let governors: BTreeSet<String> = cpus.iter().filter_map(governor).collect();
    let flag = |path: &str| match root.number::<u8>(format!("{CPUS}/{path}")) {
        Some(0) => Some(false),
        Some(1) => Some(true),
        _ => None,
    };
    Policy {
        governors: governors.into_iter().collect(),
        turbo: flag("intel_pstate/no_turbo").map(|off| !off).or_else(|| flag("cpufreq/boost")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[test]
    fn the_mean_is_over_the_cpus_that_were_asked() {
        let (_folder, root) = tree(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "9000000\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        ]);
        assert_eq!(mean_hertz(&root, &[0, 1]), Some(2e9));
        assert_eq!(mean_hertz(&root, &[0, 7]), None, "a part of them is not all of them");
        let expected =
            Policy { governors: ["performance", "powersave"].map(str::to_owned).to_vec(), turbo: Some(false) };
        assert_eq!(policy(&root, &[0, 1, 2]), expected);
        std::fs::remove_file(root.path("sys/devices/system/cpu/intel_pstate/no_turbo")).unwrap();
        assert_eq!(policy(&root, &[0]).turbo, Some(true));
    }

    #[test]
    fn without_cpufreq_nothing_is_known() {
        let (_folder, root) = tree(&[]);
        assert_eq!((mean_hertz(&root, &[0]), mean_hertz(&root, &[])), (None, None));
        assert_eq!(policy(&root, &[0]), Policy::default());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_panics(text in "([0-9]{0,22}|-|\n|\\PC){0,3}") {
            let paths = ["cpu0/cpufreq/scaling_cur_freq", "cpu0/cpufreq/scaling_governor", "cpufreq/boost"];
            let paths = paths.map(|path| format!("{CPUS}/{path}"));
            let (_folder, root) = tree(&paths.each_ref().map(|path| (path.as_str(), text.as_str())));
            let _ = (mean_hertz(&root, &[0]), policy(&root, &[0]));
        }
    }
}

//! What the CPUs of a machine did, from /proc/stat (proc_stat(5), Documentation/filesystems/proc.rst 1.7).

use crate::Root;
use crate::text::field;
use std::io;

/// CPU time since boot, summed over all CPUs or some.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTimes {
    /// Time that the hypervisor gave to somebody else while a CPU of this machine wanted to run (field 8), seconds; none on
    /// kernels that do not count it.
    pub steal_seconds: Option<f64>,
    /// Time without work: idle (field 4) and waiting for I/O (field 5), seconds.
    pub idle_seconds: f64,
    /// All of it, seconds: fields 1 to 8. (Fields 9 and 10, guests, are part of 1 and 2 already.)
    pub total_seconds: f64,
}

impl CpuTimes {
    /// Reads them.
    pub fn read(root: &Root) -> io::Result<Self> {
        let text = root.read("proc/stat")?;
        Self::parse(&text, ticks_per_second()).ok_or_else(|| malformed(root, "cpu"))
    }

    /// Those of some CPUs only, summed: on a large machine the sum over all hides what happened to a few. An error where one of them is
    /// offline, or `cpus` is empty.
    pub fn of_cpus(root: &Root, cpus: &[u32]) -> io::Result<Self> {
        let text = root.read("proc/stat")?;
        let of_cpu = |cpu: &u32| {
            let name = format!("cpu{cpu}");
            let times = field(&text, &name).and_then(|ticks| Self::parse_ticks(ticks, ticks_per_second()));
            times.ok_or_else(|| malformed(root, &name))
        };
        let all = cpus.iter().map(of_cpu).collect::<io::Result<Vec<_>>>()?;
        all.into_iter().reduce(|a, b| a.plus(&b)).ok_or_else(|| malformed(root, "chosen cpu"))
    }

    fn plus(&self, other: &CpuTimes) -> CpuTimes {
        CpuTimes {
            steal_seconds: self.steal_seconds.zip(other.steal_seconds).map(|(a, b)| a + b),
            idle_seconds: self.idle_seconds + other.idle_seconds,
            total_seconds: self.total_seconds + other.total_seconds,
        }
    }

    fn parse(text: &str, ticks_per_second: f64) -> Option<Self> {
        Self::parse_ticks(text.lines().find_map(|line| line.strip_prefix("cpu "))?, ticks_per_second)
    }

    fn parse_ticks(line: &str, ticks_per_second: f64) -> Option<Self> {
        let ticks = line.split_whitespace().map(str::parse::<u64>).take(8).collect::<Result<Vec<_>, _>>().ok()?;
        let seconds = |index: usize| ticks.get(index).map(|t| *t as f64 / ticks_per_second);
        Some(CpuTimes {
            steal_seconds: seconds(7),
            idle_seconds: seconds(3)? + seconds(4).unwrap_or(0.0),
            total_seconds: ticks.iter().map(|t| *t as f64).sum::<f64>() / ticks_per_second,
        })
    }

    /// What was added from `self` to `later`. Never negative: the kernel says itself that idle and iowait can run backwards.
    pub fn until(&self, later: &CpuTimes) -> CpuTimes {
        let added = |from: f64, to: f64| (to - from).max(0.0);
        CpuTimes {
            steal_seconds: self.steal_seconds.zip(later.steal_seconds).map(|(a, b)| added(a, b)),
            idle_seconds: added(self.idle_seconds, later.idle_seconds),
            total_seconds: added(self.total_seconds, later.total_seconds),
        }
    }

    /// Share of CPU time that was not idle, 0 to 1: how busy the machine was, for a difference of two readings. None where
    /// no time has passed.
    pub fn busy_share(&self) -> Option<f64> {
        (self.total_seconds > 0.0).then(|| (1.0 - self.idle_seconds / self.total_seconds).clamp(0.0, 1.0))
    }

    /// Share of CPU time that was stolen, 0 to 1; none where that is unknown or no time has passed.
    pub fn steal_share(&self) -> Option<f64> {
        let steal = self.steal_seconds.filter(|_| self.total_seconds > 0.0)?;
        Some((steal / self.total_seconds).clamp(0.0, 1.0))
    }
}

fn malformed(root: &Root, line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{} has no {line} line", root.path("proc/stat").display()))
}

/// The kernel's unit of CPU time in /proc (USER_HZ).
pub(crate) fn ticks_per_second() -> f64 {
    #[cfg(target_os = "linux")]
    return rustix::param::clock_ticks_per_second().max(1) as f64;
    #[cfg(not(target_os = "linux"))]
    return 100.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EARLIER: &str = "cpu  100 0 50 800 50 0 0 0 40 0\ncpu0 1 2 3\n";
    const LATER: &str = "cpu  150 0 60 820 45 5 5 15 90 0\n";

    #[test]
    fn guest_time_is_not_counted_twice_and_iowait_is_idle() {
        let times = CpuTimes::parse(EARLIER, 100.0).unwrap();
        assert_eq!(times, CpuTimes { steal_seconds: Some(0.0), idle_seconds: 8.5, total_seconds: 10.0 });
    }

    #[test]
    fn shares_come_from_two_readings() {
        let read = |text| CpuTimes::parse(text, 100.0).unwrap();
        let added = read(EARLIER).until(&read(LATER));
        assert!((added.total_seconds - 1.0).abs() < 1e-12 && (added.idle_seconds - 0.15).abs() < 1e-12);
        assert!((added.busy_share().unwrap() - 0.85).abs() < 1e-12);
        assert!((added.steal_share().unwrap() - 0.15).abs() < 1e-12);
        assert_eq!(read(LATER).until(&read(EARLIER)).idle_seconds, 0.0);
        let nothing = read(LATER).until(&read(LATER));
        assert_eq!((nothing.busy_share(), nothing.steal_share()), (None, None));
    }

    #[test]
    fn an_old_kernel_without_steal_is_not_one_with_none() {
        let times = CpuTimes::parse("cpu 1 2 3 4\n", 100.0).unwrap();
        assert_eq!((times.steal_seconds, times.steal_share()), (None, None));
        assert!(CpuTimes::parse("cpu 1 2 x 4\n", 100.0).is_none() && CpuTimes::parse("intr 1\n", 100.0).is_none());
    }

    #[test]
    fn some_cpus_can_be_read_alone() {
        let text =
            "cpu  9 9 9 9 9 9 9 9\ncpu0 100 0 0 100 0 0 0 50\ncpu1 1 0 0 1 0 0 0 0\ncpu10 0 0 0 100 0 0 0 50\nintr 4\n";
        let (_folder, root) = crate::fixture::tree(&[("proc/stat", text)]);
        let ticks = ticks_per_second();
        let times = CpuTimes::of_cpus(&root, &[0, 10]).unwrap();
        let expected =
            CpuTimes { steal_seconds: Some(100.0 / ticks), idle_seconds: 200.0 / ticks, total_seconds: 400.0 / ticks };
        assert_eq!(times, expected);
        assert!(CpuTimes::of_cpus(&root, &[0, 2]).unwrap_err().to_string().contains("has no cpu2 line"));
        assert!(CpuTimes::of_cpus(&root, &[]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_read() {
        let before = CpuTimes::read(&Root::live()).unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_millis(60);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        let added = before.until(&CpuTimes::read(&Root::live()).unwrap());
        assert!(added.total_seconds > 0.0 && added.busy_share().is_some_and(|share| share > 0.0), "{added:?}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(cpu |[0-9]{0,21}| |\n|\\PC){0,20}") {
            let _ = CpuTimes::parse(&text, 100.0);
            let (_folder, root) = crate::fixture::tree(&[("proc/stat", &text)]);
            let _ = CpuTimes::of_cpus(&root, &[0, 1]);
        }
    }
}

//! All that is cheap to read and can spoil a run, in one reading just before and one just after it.

use crate::Root;
use crate::cpu_times::CpuTimes;
use crate::frequency::mean_hertz;
use crate::paging::{Ksm, Paging};
use crate::pressure::Pressure;
use crate::run_queue::RunQueueWait;
use crate::thermal::Thermal;
use crate::throttling::Throttling;
use std::time::Instant;

/// A machine at one moment. What it does not tell is none.
#[derive(Clone, Debug)]
pub struct MachineReading {
    at: Instant,
    cpu: Option<CpuTimes>,
    pressure: Pressure,
    paging: Paging,
    thermal: Thermal,
    throttling: Option<Throttling>,
    ksm: Option<Ksm>,
    hertz: Option<f64>,
}

/// What happened on a machine between two readings.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineChange {
    /// Time between them, seconds.
    pub wall_seconds: f64,
    /// CPU time of the watched CPUs: their steal, and how busy they were.
    pub cpu: Option<CpuTimes>,
    /// Time for which tasks waited, on the whole machine.
    pub pressure: Pressure,
    /// Swapping, kills and the balloon's moves.
    pub paging: Paging,
    /// Throttling for heat of the watched CPUs.
    pub thermal: Thermal,
    /// Throttling by quota of this process's control groups.
    pub throttling: Option<Throttling>,
    /// Pages that the balloon held at the second reading.
    pub balloon_held_pages: Option<u64>,
    /// Page merging at the second reading.
    pub ksm: Option<Ksm>,
    /// Clock rate of the watched CPUs, Hz, mean of the two readings. What it is while they work is for who reads
    /// [`frequency::mean_hertz`](crate::frequency::mean_hertz) meanwhile.
    pub hertz: Option<f64>,
}

impl MachineReading {
    /// Reads the machine, and of its CPUs those in `cpus`.
    pub fn read(root: &Root, cpus: &[u32]) -> Self {
        MachineReading {
            // First: work on this CPU has just ended, and reading the rest is work too.
            hertz: mean_hertz(root, cpus),
            throttling: Throttling::own(root),
            ksm: Ksm::read(root),
            thermal: Thermal::read(root, cpus),
            paging: Paging::read(root),
            pressure: Pressure::read(root),
            cpu: CpuTimes::of_cpus(root, cpus).ok(),
            at: Instant::now(),
        }
    }

    /// What happened from `self` to `later`.
    pub fn until(&self, later: &MachineReading) -> MachineChange {
        MachineChange {
            wall_seconds: later.at.saturating_duration_since(self.at).as_secs_f64(),
            cpu: self.cpu.zip(later.cpu).map(|(from, to)| from.until(&to)),
            pressure: self.pressure.until(&later.pressure),
            paging: self.paging.until(&later.paging),
            thermal: self.thermal.until(&later.thermal),
            throttling: self.throttling.zip(later.throttling).map(|(from, to)| from.until(&to)),
            balloon_held_pages: later.paging.balloon_held_pages(),
            ksm: later.ksm,
            hertz: self.hertz.zip(later.hertz).map(|(from, to)| (from + to) / 2.0),
        }
    }
}

/// A process at one moment, for example QEMU. (What its vCPUs wait for is in [`qemu_cost`](crate::qemu_cost).)
#[derive(Clone, Debug)]
pub struct ProcessReading {
    at: Instant,
    throttling: Option<Throttling>,
    run_queue_wait: Option<RunQueueWait>,
}

/// What happened to a process between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessChange {
    /// Time between them, seconds.
    pub wall_seconds: f64,
    /// Throttling by quota of its control groups.
    pub throttling: Option<Throttling>,
    /// Time for which its threads were ready to run but waited for a CPU, summed, seconds. Those that have ended in between are left out.
    pub run_queue_wait_seconds: Option<f64>,
}

impl ProcessReading {
    /// Reads the process `pid`.
    pub fn read(root: &Root, pid: u32) -> Self {
        ProcessReading {
            throttling: Throttling::of(root, pid),
            run_queue_wait: RunQueueWait::read(root, pid),
            at: Instant::now(),
        }
    }

    /// What happened from `self` to `later`.
    pub fn until(&self, later: &ProcessReading) -> ProcessChange {
        ProcessChange {
            wall_seconds: later.at.saturating_duration_since(self.at).as_secs_f64(),
            throttling: self.throttling.zip(later.throttling).map(|(from, to)| from.until(&to)),
            run_queue_wait_seconds: self
                .run_queue_wait
                .as_ref()
                .zip(later.run_queue_wait.as_ref())
                .map(|(from, to)| from.until(to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use tempfile::TempDir;

    /// A machine, with process 8 on it, on which everything has happened `times` times.
    fn machine(times: u64) -> (TempDir, Root) {
        let lines = |parts: &[(&str, u64)]| -> String {
            parts.iter().map(|(key, n)| format!("{key} {}\n", n * times)).collect()
        };
        let psi = format!("some avg10=0.00 total={}\n", 1_000_000 * times);
        let n = |number: u64| format!("{}\n", number * times);
        let cpu = "sys/devices/system/cpu/cpu1";
        let files = [
            (
                "proc/stat",
                format!("cpu 9 9 9 9 9 9 9 9\ncpu1 {} 0 0 {} 0 0 0 {}\n", 100 * times, 50 * times, 50 * times),
            ),
            ("proc/pressure/cpu", psi.clone()),
            ("proc/pressure/io", psi),
            (
                "proc/vmstat",
                lines(&[
                    ("pswpin", 3),
                    ("pswpout", 2),
                    ("oom_kill", 1),
                    ("balloon_inflate", 9),
                    ("balloon_deflate", 4),
                ]),
            ),
            ("sys/kernel/mm/ksm/run", "1\n".to_owned()),
            ("sys/kernel/mm/ksm/pages_sharing", n(6)),
            (&format!("{cpu}/thermal_throttle/core_throttle_count"), n(4)),
            (&format!("{cpu}/thermal_throttle/package_throttle_total_time_ms"), n(250)),
            (&format!("{cpu}/cpufreq/scaling_cur_freq"), n(1_000_000)),
            ("proc/self/mountinfo", "31 23 0:28 / /c rw - cgroup2 cgroup2 rw\n".to_owned()),
            ("proc/self/cgroup", "0::/own\n".to_owned()),
            ("proc/8/cgroup", "0::/vm\n".to_owned()),
            ("proc/8/task/8/schedstat", format!("1 {} 1\n", 2_000_000_000 * times)),
            ("c/own/cpu.stat", lines(&[("nr_throttled", 5), ("throttled_usec", 500_000)])),
            ("c/vm/cpu.stat", lines(&[("nr_throttled", 7), ("throttled_usec", 0)])),
        ];
        tree(&files.each_ref().map(|(path, text)| (*path, text.as_str())))
    }

    #[test]
    fn everything_that_happened_is_told_once() {
        let ((_one, before), (_three, after)) = (machine(1), machine(3));
        let (earlier, later) = (MachineReading::read(&before, &[1]), MachineReading::read(&after, &[1]));
        let change = earlier.until(&later);
        assert!((change.cpu.unwrap().steal_share().unwrap() - 0.25).abs() < 1e-9, "{change:?}");
        assert_eq!(change.pressure, Pressure { cpu_seconds: Some(2.0), io_seconds: Some(2.0), memory_seconds: None });
        assert_eq!((change.paging.swapped_in_pages, change.paging.oom_kills), (Some(6), Some(2)));
        assert_eq!((change.thermal.core_events, change.thermal.package_seconds), (Some(8), Some(0.5)));
        assert_eq!(change.throttling, Some(Throttling { periods: 10, seconds: 1.0 }));
        assert_eq!(change.balloon_held_pages, Some(15));
        assert_eq!(change.ksm, Some(Ksm { running: true, sharing_pages: 18 }));
        assert_eq!(change.hertz, Some(2e9));
        assert!((0.0..60.0).contains(&change.wall_seconds));

        let change = ProcessReading::read(&before, 8).until(&ProcessReading::read(&after, 8));
        assert_eq!(change.throttling, Some(Throttling { periods: 14, seconds: 0.0 }));
        assert_eq!(change.run_queue_wait_seconds, Some(4.0));
    }

    #[test]
    fn a_machine_that_tells_nothing_is_not_one_where_nothing_happened() {
        let (_folder, root) = tree(&[]);
        let reading = MachineReading::read(&root, &[0]);
        let change = reading.until(&reading);
        assert_eq!((change.cpu, change.throttling, change.balloon_held_pages), (None, None, None));
        assert_eq!((change.ksm, change.hertz), (None, None));
        assert_eq!((change.pressure, change.paging, change.thermal), Default::default());
        let reading = ProcessReading::read(&root, 8);
        let change = reading.until(&reading);
        assert_eq!((change.throttling, change.run_queue_wait_seconds), (None, None));
    }

    /// What a reading costs, which stands just outside of timed regions: `cargo test -p vmtax-probes -- --ignored --nocapture cost`.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "a measurement, which other work on the machine disturbs"]
    fn the_cost_of_a_reading_is_below_a_millisecond() {
        use std::hint::black_box;
        let (root, pid) = (Root::live(), std::process::id());
        let cpus = crate::topology::spread_over_cores(&root, 8);
        let median = |read: &dyn Fn()| {
            let cost = |_| {
                let begin = Instant::now();
                read();
                begin.elapsed().as_secs_f64()
            };
            let mut costs: Vec<f64> = (0..1001).map(cost).collect();
            costs.sort_by(f64::total_cmp);
            costs[500]
        };
        let machine = median(&|| _ = black_box(MachineReading::read(&root, &cpus)));
        let process = median(&|| _ = black_box(ProcessReading::read(&root, pid)));
        println!("{} CPUs: machine {:.0} us, process {:.0} us", cpus.len(), machine * 1e6, process * 1e6);
        assert!(machine < 1e-3 && process < 1e-3);
    }
}

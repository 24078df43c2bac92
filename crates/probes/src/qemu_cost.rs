//! What a guest costs its host: QEMU's CPU time by the role of its threads, its I/O, memory and switches.
//!
//! QEMU must run with `-name …,debug-threads=on`, or all its threads carry the program's name and count as "other".

use crate::Root;
use crate::process;
use model::HostCost;
use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

/// What a thread of QEMU is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Executes guest instructions, and whatever device emulation happens on the way.
    Vcpu,
    /// Serves disks or network: iothreads, io_uring's kernel workers, QEMU's thread pool, vhost.
    Io,
    /// Main loop, RCU and the rest.
    Other,
}

/// The role of a thread by its name. (QEMU: accel/*/…-accel-ops.c, iothread.c, util/thread-pool.c; Linux: io_uring/io-wq.c and
/// sqpoll.c, drivers/vhost/vhost.c.)
pub fn role(name: &str) -> Role {
    let vcpu = (name.starts_with("CPU ") && name.contains('/')) || name.starts_with("ALL CPUs/");
    let io = ["IO ", "iou-wrk-", "iou-sqp-", "vhost-"].iter().any(|kind| name.starts_with(kind))
        || name == "worker"
        || name.starts_with("thread-pool");
    match (vcpu, io) {
        (true, _) => Role::Vcpu,
        (_, true) => Role::Io,
        _ => Role::Other,
    }
}

/// The state of one live thread.
#[derive(Clone, Debug)]
struct Thread {
    role: Role,
    cpu_seconds: f64,
    run_queue_wait_seconds: Option<f64>,
    switches: u64,
}

/// All counters of one QEMU process at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    at: Instant,
    threads: BTreeMap<u32, Thread>,
    process_cpu_seconds: f64,
    io: process::Io,
    resident_bytes: u64,
}

/// Reads QEMU's counters; its cost is the difference of two such readings.
pub fn guest_cost(root: &Root, pid: u32) -> io::Result<Snapshot> {
    let process_cpu_seconds = process::cpu_seconds(root, pid)?;
    let mut threads = BTreeMap::new();
    for thread in process::threads(root, pid)? {
        let switches = match process::thread_switches(root, pid, thread.tid) {
            Ok(switches) => switches,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let reading = Thread {
            role: role(&thread.name),
            cpu_seconds: thread.cpu_seconds(),
            run_queue_wait_seconds: thread.run_queue_wait_seconds,
            switches,
        };
        threads.insert(thread.tid, reading);
    }
    Ok(Snapshot {
        at: Instant::now(),
        threads,
        process_cpu_seconds,
        io: process::io(root, pid)?,
        resident_bytes: process::resident_bytes(root, pid)?,
    })
}

impl Snapshot {
    /// What was spent from `self` to `later`.
    ///
    /// CPU time of threads that have ended in between is in the process total only; it is counted as I/O, because those that come and go are
    /// workers. Their context switches are lost. The total is kept in ticks, so less than [`Self::UNRESOLVED`] of it is taken for nothing.
    pub fn until(&self, later: &Snapshot) -> HostCost {
        let mut cost = HostCost {
            read_bytes: later.io.read_bytes.saturating_sub(self.io.read_bytes),
            write_bytes: later.io.write_bytes.saturating_sub(self.io.write_bytes),
            resident_bytes: later.resident_bytes,
            wall_seconds: later.at.saturating_duration_since(self.at).as_secs_f64(),
            ..HostCost::default()
        };
        for (tid, thread) in &later.threads {
            let (cpu, switches) = match self.before(*tid, thread) {
                Some(before) => {
                    (thread.cpu_seconds - before.cpu_seconds, thread.switches.saturating_sub(before.switches))
                }
                None => (thread.cpu_seconds, thread.switches),
            };
            match thread.role {
                Role::Vcpu => cost.vcpu_seconds += cpu,
                Role::Io => cost.io_seconds += cpu,
                Role::Other => cost.other_seconds += cpu,
            }
            cost.context_switches += switches;
        }
        let ended = later.process_cpu_seconds - self.process_cpu_seconds - cost.cpu_seconds();
        if ended > Self::UNRESOLVED {
            cost.io_seconds += ended;
        }
        cost
    }

    /// User and system ticks of two readings: each is rounded down.
    const UNRESOLVED: f64 = 0.02;

    /// Time for which the vCPU threads that live at both readings were ready but waited for a host CPU, summed, seconds; none where
    /// the kernel does not say of any of them.
    pub fn vcpu_wait_seconds(&self, later: &Snapshot) -> Option<f64> {
        let vcpus = later.threads.iter().filter(|(_, thread)| thread.role == Role::Vcpu);
        let waits: Vec<f64> = vcpus
            .map(|(tid, thread)| {
                let before = self.before(*tid, thread)?;
                Some((thread.run_queue_wait_seconds? - before.run_queue_wait_seconds?).max(0.0))
            })
            .collect::<Option<_>>()?;
        (!waits.is_empty()).then(|| waits.iter().sum())
    }

    /// The earlier reading of the same thread. A number that now belongs to another thread is told by its clock running backwards.
    fn before(&self, tid: u32, later: &Thread) -> Option<&Thread> {
        self.threads.get(&tid).filter(|t| t.role == later.role && t.cpu_seconds <= later.cpu_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use tempfile::TempDir;

    #[test]
    fn roles_follow_the_names_that_qemu_and_the_kernel_give() {
        for name in ["CPU 0/KVM", "CPU 11/TCG", "ALL CPUs/TCG"] {
            assert_eq!(role(name), Role::Vcpu, "{name}");
        }
        for name in ["IO iothread0", "IO mon_iothread", "iou-wrk-4242", "iou-sqp-4242", "worker", "vhost-4242"] {
            assert_eq!(role(name), Role::Io, "{name}");
        }
        for name in ["qemu-system-x86", "call_rcu", "CPU", "", "workers"] {
            assert_eq!(role(name), Role::Other, "{name}");
        }
    }

    /// One reading of a made-up QEMU: ticks of the whole process, bytes read, and its threads as (tid, name, milliseconds on a CPU,
    /// milliseconds waiting, switches).
    fn reading(ticks: u64, read: u64, threads: &[(u32, &str, u64, u64, u64)]) -> (TempDir, Root) {
        let stat = |name: &str| format!("9 ({name}) S 1 9 9 0 -1 4194560 10 0 0 0 {ticks} 0 0 0 20 0 3 0 177 0\n");
        let mut files = vec![
            ("proc/9/stat".to_owned(), stat("qemu-system-x86")),
            ("proc/9/status".to_owned(), "VmRSS:\t2048 kB\n".to_owned()),
            ("proc/9/io".to_owned(), format!("rchar: 0\nwchar: 0\nread_bytes: {read}\nwrite_bytes: 5\n")),
        ];
        for (tid, name, run, wait, switches) in threads {
            let folder = format!("proc/9/task/{tid}");
            files.push((format!("{folder}/stat"), stat(name)));
            files.push((format!("{folder}/schedstat"), format!("{} {} 1\n", run * 1_000_000, wait * 1_000_000)));
            let text = format!("voluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t0\n");
            files.push((format!("{folder}/status"), text));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        tree(&files)
    }

    fn snapshot(reading: &(TempDir, Root)) -> Snapshot {
        guest_cost(&reading.1, 9).unwrap()
    }

    #[test]
    fn cpu_time_goes_to_the_roles_and_that_of_ended_threads_to_io() {
        let before = snapshot(&reading(
            100,
            1000,
            &[(9, "qemu-system-x86", 400, 0, 10), (10, "CPU 0/KVM", 500, 7, 20), (11, "worker", 100, 0, 30)],
        ));
        // Worker 11 has ended after another 300 ms, worker 12 has come, 50 ms are the iothread's that came too.
        let after = snapshot(&reading(
            345,
            5096,
            &[
                (9, "qemu-system-x86", 500, 0, 15),
                (10, "CPU 0/KVM", 2300, 107, 120),
                (12, "worker", 200, 0, 3),
                (13, "IO iothread0", 50, 0, 1),
            ],
        ));
        let cost = before.until(&after);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}: {cost:?}");
        close(cost.vcpu_seconds, 1.8);
        close(cost.other_seconds, 0.1);
        close(cost.io_seconds, 0.2 + 0.05 + 0.3);
        close(cost.cpu_seconds(), 2.45);
        assert_eq!((cost.read_bytes, cost.write_bytes, cost.resident_bytes), (4096, 0, 2 << 20));
        assert_eq!(cost.context_switches, 5 + 100 + 3 + 1);
        assert!((before.vcpu_wait_seconds(&after).unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_remainder_below_the_clocks_resolution_is_nothing() {
        let before = snapshot(&reading(100, 0, &[(10, "CPU 0/KVM", 1000, 0, 0)]));
        let after = snapshot(&reading(102, 0, &[(10, "CPU 0/KVM", 1005, 0, 0)]));
        let cost = before.until(&after);
        assert_eq!(cost.io_seconds, 0.0);
        assert!((cost.vcpu_seconds - 0.005).abs() < 1e-9);
    }

    #[test]
    fn a_thread_number_that_was_given_again_counts_from_zero() {
        let before = snapshot(&reading(100, 0, &[(10, "worker", 900, 0, 50)]));
        let after = snapshot(&reading(130, 0, &[(10, "worker", 300, 0, 4)]));
        let cost = before.until(&after);
        assert!((cost.io_seconds - 0.3).abs() < 1e-9 && cost.context_switches == 4, "{cost:?}");
        assert_eq!(before.vcpu_wait_seconds(&after), None);
    }

    #[test]
    fn an_unreadable_counter_makes_no_cost_of_zero() {
        let (_folder, root) = reading(1, 1, &[(9, "qemu-system-x86", 1, 1, 1)]);
        std::fs::remove_file(root.path("proc/9/io")).unwrap();
        assert!(guest_cost(&root, 9).unwrap_err().to_string().contains("proc/9/io"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_thread_of_this_process_counts_by_its_name() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        let (root, pid) = (Root::live(), std::process::id());
        let before = guest_cost(&root, pid).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let is_done = Arc::clone(&done);
        let spinner = std::thread::Builder::new().name("CPU 0/KVM".to_owned()).spawn(move || {
            while !is_done.load(Relaxed) {
                std::hint::spin_loop();
            }
        });
        let deadline = Instant::now() + std::time::Duration::from_secs(20);
        let cost = loop {
            std::thread::sleep(std::time::Duration::from_millis(10));
            let cost = before.until(&guest_cost(&root, pid).unwrap());
            if cost.vcpu_seconds > 0.01 || Instant::now() > deadline {
                break cost;
            }
        };
        done.store(true, Relaxed);
        spinner.unwrap().join().unwrap();
        assert!(cost.vcpu_seconds > 0.01 && cost.wall_seconds >= 0.01 && cost.resident_bytes > 0, "{cost:?}");
    }
}

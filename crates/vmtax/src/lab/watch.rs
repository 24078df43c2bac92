//! What the controller sees on the physical host around a run.

use crate::signals::Stop;
use machines::pipe::Observer;
use model::{Counters, HostCost, Surroundings};
use probes::Root;
use probes::allocation::Allocation;
use probes::backing::largest_mapping_backing;
use probes::cpu_times::CpuTimes;
use probes::qemu_cost::{Snapshot, guest_cost};
use probes::watch::{MachineReading, ProcessReading};
use std::path::Path;
use std::time::Instant;

/// Looks at the host before a run, at its begin and end, and after it.
///
/// At begin and end only QEMU's counters are read, because the machine works already or still; everything else is read while no
/// workload is under way.
pub struct Watch<'a> {
    process: Option<u32>,
    is_guest: bool,
    cpus: &'a [u32],
    data: Option<&'a Path>,
    stop: &'a Stop,
    before: Option<Before>,
    /// Busy time of the CPUs in use from before to after the run, seconds.
    busy_seconds: Option<f64>,
    begun: Option<(Instant, Option<Snapshot>)>,
    /// What the run cost QEMU, guests only.
    pub cost: Option<HostCost>,
    /// The timed region, seconds.
    pub seconds: Option<f64>,
    /// Everything else.
    pub surroundings: Surroundings,
}

/// What was read before a run.
struct Before {
    machine: MachineReading,
    process: Option<ProcessReading>,
    cpu_seconds: Option<f64>,
}

impl<'a> Watch<'a> {
    /// A watch over QEMU, if `is_guest`, or else the host's agent, and the host's CPUs in use. `data` is the data file, for runs that
    /// use it.
    pub fn new(process: Option<u32>, is_guest: bool, cpus: &'a [u32], data: Option<&'a Path>, stop: &'a Stop) -> Self {
        Watch {
            process,
            is_guest,
            cpus,
            data,
            stop,
            before: None,
            busy_seconds: None,
            begun: None,
            cost: None,
            seconds: None,
            surroundings: Surroundings::default(),
        }
    }

    /// Before the run is asked for.
    pub fn before(&mut self) {
        let root = Root::live();
        if let Some(data) = self.data {
            self.surroundings.allocated_share = Allocation::of_path(data).ok().and_then(|a| a.at_most());
            if let Some(qemu) = self.process.filter(|_| self.is_guest) {
                self.surroundings.descriptor_direct = probes::open_files::is_direct(&root, qemu, data);
            }
        }
        self.before = Some(Before {
            process: self.process.map(|pid| ProcessReading::read(&root, pid)),
            cpu_seconds: self.process_cpu_seconds(),
            machine: MachineReading::read(&root, self.cpus),
        });
    }

    /// After the run, when the machine is still again.
    pub fn after(&mut self) {
        let root = Root::live();
        let Some(Before { machine, process, cpu_seconds }) = self.before.take() else { return };
        let passed = machine.until(&MachineReading::read(&root, self.cpus));
        let own = self.process_cpu_seconds().zip(cpu_seconds).map(|(after, before)| after - before);
        // Stolen time is nobody's work here.
        let worked = |cpu: &CpuTimes| cpu.total_seconds - cpu.idle_seconds - cpu.steal_seconds.unwrap_or(0.0);
        self.busy_seconds = passed.cpu.map(|cpu| worked(&cpu));
        let seen = &mut self.surroundings;
        seen.steal_share = passed.cpu.and_then(|cpu| cpu.steal_share());
        seen.thermal_events = passed.thermal.events();
        seen.thermal_seconds = passed.thermal.seconds();
        seen.frequency_hertz = passed.hertz;
        seen.swapped_pages = passed.paging.swapped_pages();
        seen.oom_kills = passed.paging.oom_kills;
        seen.merged_pages = passed.ksm.map(|ksm| ksm.sharing_pages);
        if let Some((pid, process)) = self.process.zip(process) {
            let passed = process.until(&ProcessReading::read(&root, pid));
            seen.throttled_seconds = passed.throttling.map(|throttling| throttling.seconds);
            if self.is_guest {
                seen.others_seconds = self.busy_seconds.zip(own).map(|(busy, own)| (busy - own).max(0.0));
                seen.huge_share = largest_mapping_backing(&root, pid).and_then(|mapping| mapping.backing.huge_share());
            }
        }
    }

    /// On the host the workload is a child of the agent, and its own counters tell what it took.
    pub fn subtract_own(&mut self, counters: &Counters) {
        let own = counters.user_seconds + counters.system_seconds;
        self.surroundings.others_seconds = self.busy_seconds.map(|busy| (busy - own).max(0.0));
    }

    /// CPU time of QEMU, seconds.
    fn process_cpu_seconds(&self) -> Option<f64> {
        self.process.filter(|_| self.is_guest).and_then(|pid| probes::process::cpu_seconds(&Root::live(), pid).ok())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.process.filter(|_| self.is_guest).and_then(|pid| guest_cost(&Root::live(), pid).ok())
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self) {
        let snapshot = self.snapshot();
        self.begun = Some((Instant::now(), snapshot));
    }

    fn end(&mut self) {
        let Some((start, before)) = self.begun.take() else { return };
        self.seconds = Some(start.elapsed().as_secs_f64());
        if let (Some(before), Some(after)) = (before, self.snapshot()) {
            let vcpu_wait_seconds = before.vcpu_wait_seconds(&after);
            self.cost = Some(HostCost { vcpu_wait_seconds, ..before.until(&after) });
        }
    }

    fn stop(&self) -> bool {
        self.stop.asked()
    }
}

/// What a run on the host cost it: the workload's own CPU time and I/O.
pub fn own_cost(counters: &Counters, controller_seconds: Option<f64>) -> HostCost {
    HostCost {
        vcpu_seconds: counters.user_seconds + counters.system_seconds,
        read_bytes: counters.read_bytes.unwrap_or(0),
        write_bytes: counters.write_bytes.unwrap_or(0),
        context_switches: counters.context_switches.unwrap_or(0),
        wall_seconds: controller_seconds.unwrap_or(counters.wall_seconds),
        ..HostCost::default()
    }
}

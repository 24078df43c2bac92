//! What came of a run. A failure is not a number.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of one execution of one benchmark on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// One finite value per metric, in the metric's base unit.
    Measured {
        /// Value by metric id.
        values: BTreeMap<String, f64>,
    },
    /// It was tried and did not work.
    Failed {
        /// Whose fault it looks like.
        cause: FailureCause,
        /// What happened, on what, in one or more lines.
        why: String,
    },
    /// It was not tried.
    Skipped {
        /// What is missing here.
        why: String,
    },
    /// The user stopped it.
    Cancelled,
}

impl Outcome {
    /// The value of `metric`, where measured.
    pub fn value(&self, metric: &str) -> Option<f64> {
        match self {
            Outcome::Measured { values } => values.get(metric).copied(),
            _ => None,
        }
    }
}

/// Whose fault a failure looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureCause {
    /// The tool said so, or did no work.
    Tool,
    /// Its output could not be read.
    Parse,
    /// The machine died or misbehaved.
    Guest,
    /// The pipe to the agent broke or carried nonsense.
    Pipe,
    /// It did not end in time.
    Timeout,
    /// vmtax itself.
    Harness,
}

impl FailureCause {
    /// True where the machine must be assumed dead, so that the round cannot go on.
    pub fn ends_the_round(self) -> bool {
        matches!(self, FailureCause::Guest | FailureCause::Pipe | FailureCause::Timeout)
    }
}

/// Counters that the agent read just before and after the timed region, as differences.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Wall time of the timed region by the machine's own monotonic clock, seconds.
    pub wall_seconds: f64,
    /// CPU time in user mode of the workload (or tool and its children), seconds.
    pub user_seconds: f64,
    /// CPU time in system mode, seconds.
    pub system_seconds: f64,
    /// Time stolen from this machine's CPUs by the hypervisor above it, summed over CPUs, seconds; none where unreadable.
    pub steal_seconds: Option<f64>,
    /// All CPU time that passed on this machine's CPUs, seconds (the denominator of the steal share).
    pub cpu_capacity_seconds: Option<f64>,
    /// Anonymous huge pages that the workload's process held at the end, bytes.
    pub anon_huge_bytes: Option<u64>,
    /// Context switches of the workload, voluntary and not.
    pub context_switches: Option<u64>,
    /// Bytes that the tool's process really read from storage (`read_bytes` of /proc/PID/io).
    pub read_bytes: Option<u64>,
    /// Bytes that it really caused to be written (`write_bytes`).
    pub write_bytes: Option<u64>,
    /// Time for which the workload's threads were ready and waited for a CPU, summed, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_queue_wait_seconds: Option<f64>,
    /// Time for which a CPU quota of its own cgroups held it back, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_seconds: Option<f64>,
    /// Pages that this machine swapped in and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swapped_pages: Option<u64>,
    /// Processes that its kernel killed for want of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oom_kills: Option<u64>,
}

/// What a run cost the physical host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostCost {
    /// CPU time of the vCPU threads (guest arm) or of the workload itself (host arm), seconds.
    pub vcpu_seconds: f64,
    /// CPU time of QEMU's iothreads and I/O workers, seconds.
    pub io_seconds: f64,
    /// CPU time of QEMU's main loop and other threads, seconds.
    pub other_seconds: f64,
    /// Bytes that the process really read from storage (`read_bytes` of /proc/PID/io).
    pub read_bytes: u64,
    /// Bytes that the process really caused to be written (`write_bytes`).
    pub write_bytes: u64,
    /// Resident memory at the end, bytes.
    pub resident_bytes: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Wall time between the two readings by the controller's clock, seconds.
    pub wall_seconds: f64,
    /// Time for which the vCPU threads were ready and waited for a host CPU, summed, seconds (guest arm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcpu_wait_seconds: Option<f64>,
}

impl HostCost {
    /// All CPU time, seconds.
    pub fn cpu_seconds(&self) -> f64 {
        self.vcpu_seconds + self.io_seconds + self.other_seconds
    }
}

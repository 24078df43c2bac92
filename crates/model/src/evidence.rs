//! What was seen around a run, in numbers: the ground on which checks stand. What could not be read is absent, never zero.

use serde::{Deserialize, Serialize};

/// What the controller saw on the physical host while a run was under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// Share of the time of the CPUs in use that a hypervisor above the host took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// CPU time on the CPUs in use that neither the machine under test nor a hypervisor took: what others did there, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_seconds: Option<f64>,
    /// Throttling events of cores and packages for heat or power.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thermal_events: Option<u64>,
    /// Time throttled, the longest of all packages, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thermal_seconds: Option<f64>,
    /// Mean frequency of the CPUs in use at the end, Hz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_hertz: Option<f64>,
    /// Pages swapped in and out on the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swapped_pages: Option<u64>,
    /// Processes that the host's kernel killed for want of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oom_kills: Option<u64>,
    /// Pages that the host has merged (KSM) at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_pages: Option<u64>,
    /// Time for which a CPU quota of QEMU's cgroups (host: the agent's) held it back, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_seconds: Option<f64>,
    /// O_DIRECT in QEMU's descriptor of the data file at the start of the run (guest only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor_direct: Option<bool>,
    /// Share of the data file that is allocated, at the start of the run (benchmarks of the data disk only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_share: Option<f64>,
    /// Share of the guest's touched memory that lies in huge pages of the host (guest only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_share: Option<f64>,
    /// How fast the machine's clock ran against the controller's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRate>,
    /// What QEMU says (`query-kvm`): hardware virtualization is in use (guest only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kvm: Option<bool>,
}

/// A clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockRate {
    /// Seconds that passed on the machine for each second of the controller.
    pub rate: f64,
    /// By how much `rate` may be off, as the round trips of the messages bound it.
    pub uncertainty: f64,
}

/// What a tool says it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Bytes moved in the steady part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Bytes read in the steady part; the rest of `bytes` was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<f64>,
    /// Length of the steady part, seconds.
    pub steady_seconds: f64,
    /// Load of the same kind before the steady part, seconds.
    pub ramp_seconds: f64,
    /// True where it went past the page cache of its own kernel (O_DIRECT).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Bytes among which it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// Operations whose latency was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_samples: Option<u64>,
    /// Operations per second that it was to make at a fixed rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_rate: Option<f64>,
    /// Operations per second that it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved_rate: Option<f64>,
    /// Longest latency, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_seconds: Option<f64>,
    /// True where latencies count from the intended start of an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_intended_start: Option<bool>,
}

/// Throughput over the steady part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Ids of the metrics that are means of it, up to a factor.
    pub metrics: Vec<String>,
    /// Seconds from one sample to the next.
    pub step_seconds: f64,
    /// Samples, in the unit of the first metric or any multiple of it.
    pub samples: Vec<f64>,
}

/// Load of others while a machine should have been idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Idle {
    /// How long it was watched, seconds.
    pub seconds: f64,
    /// Share of time in which some task waited for a CPU (/proc/pressure/cpu).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// The same for I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_share: Option<f64>,
    /// The same for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_share: Option<f64>,
    /// Share of its CPUs' time that was not idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
}

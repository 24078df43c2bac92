//! What a machine is. Absent values are `None`, never zero.

use crate::isa::InstructionSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts of one machine, read from inside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Host name.
    pub hostname: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`.
    pub kernel_version: String,
    /// `uname -m`.
    pub architecture: String,
    /// PRETTY_NAME of /etc/os-release.
    pub os: Option<String>,
    /// Kernel command line.
    pub kernel_command_line: Option<String>,
    /// Processors.
    pub cpu: CpuFacts,
    /// Total memory, bytes.
    pub memory_total: u64,
    /// MemAvailable, bytes.
    pub memory_available: u64,
    /// Clocks.
    pub clock: ClockFacts,
    /// Transparent huge pages: the chosen word of `enabled`, for example `always`.
    pub thp_enabled: Option<String>,
    /// The chosen word of `defrag`.
    pub thp_defrag: Option<String>,
    /// True where io_uring_setup(2) works.
    pub io_uring: Option<bool>,
    /// Mitigations by name, from /sys/devices/system/cpu/vulnerabilities.
    pub vulnerabilities: BTreeMap<String, String>,
    /// Block devices.
    pub disks: Vec<BlockDevice>,
    /// Product name of the DMI table.
    pub product: Option<String>,
    /// 1-minute load average at the time of reading.
    pub load_average: Option<f64>,
}

/// Facts about processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuFacts {
    /// CPUID vendor.
    pub vendor: String,
    /// Model name.
    pub model: String,
    /// CPUs online.
    pub online: u32,
    /// Physical cores online, where the topology is readable.
    pub cores: Option<u32>,
    /// NUMA nodes.
    pub nodes: Option<u32>,
    /// Highest instruction set level that CPU and kernel allow.
    pub isa: InstructionSet,
    /// Last-level cache, bytes.
    pub last_level_cache: Option<u64>,
    /// The hypervisor's CPUID signature (leaf 0x40000000), for example `KVMKVMKVM` or `TCGTCGTCGTCG`; none on bare metal.
    pub hypervisor: Option<String>,
    /// Feature flags of /proc/cpuinfo, sorted.
    pub flags: Vec<String>,
    /// cpufreq governor of CPU 0.
    pub governor: Option<String>,
}

/// Facts about clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockFacts {
    /// Current clocksource.
    pub source: Option<String>,
    /// Available clocksources.
    pub available: Vec<String>,
    /// Mean cost of one clock_gettime(CLOCK_MONOTONIC), seconds.
    pub read_seconds: Option<f64>,
}

/// A block device inside a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockDevice {
    /// Kernel name, for example `vda`.
    pub name: String,
    /// Serial number that the device reports.
    pub serial: Option<String>,
    /// Size, bytes.
    pub bytes: u64,
    /// The chosen I/O scheduler.
    pub scheduler: Option<String>,
    /// Read-ahead, bytes.
    pub read_ahead: Option<u64>,
    /// True for spinning disks, as the kernel believes.
    pub rotational: Option<bool>,
    /// Hardware queues (directories under `mq`).
    pub queues: Option<u32>,
}

/// What QEMU says of a guest that it runs, and what /proc says of QEMU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HypervisorFacts {
    /// Program and version.
    pub version: String,
    /// `query-kvm`: enabled.
    pub kvm: bool,
    /// Memory of the guest as QEMU gave it (`query-memory-size-summary`), bytes.
    pub memory: Option<u64>,
    /// The command line, as executed.
    pub command_line: Vec<String>,
    /// Disks as QEMU has them open.
    pub disks: Vec<OpenDisk>,
    /// Host CPUs that QEMU may run on.
    pub cpus_allowed: Vec<u32>,
}

/// A disk as QEMU has it open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenDisk {
    /// Block node name.
    pub node: String,
    /// `cache.direct` as `query-named-block-nodes` reports it.
    pub cache_direct: bool,
    /// `cache.no-flush`.
    pub cache_no_flush: bool,
    /// The device offers a volatile write cache to the guest.
    pub write_cache: bool,
    /// AIO mode, as `query-named-block-nodes` or the command line has it.
    pub aio: Option<String>,
    /// True where an iothread object serves the device.
    pub iothread: bool,
    /// O_DIRECT in /proc/PID/fdinfo of the descriptor, where it was found.
    pub descriptor_direct: Option<bool>,
}

//! The specification of a guest: what the settings write and what the machines room carries out.

use serde::{Deserialize, Serialize};

/// Name of the virtio-serial port over which a guest's agent speaks.
pub const AGENT_PORT: &str = "vmtax.agent";
/// Serial number of the data disk, by which the agent finds it.
pub const DATA_SERIAL: &str = "vmtax-data";
/// Serial number of the read-only disk with the tools.
pub const TOOLBOX_SERIAL: &str = "vmtax-tools";

/// Who executes guest instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accelerator {
    /// Hardware virtualization by the kernel.
    Kvm,
    /// QEMU's emulator. Its cost is not what KVM would cost.
    Tcg,
}

impl Accelerator {
    /// QEMU's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

/// QEMU's cache modes (qemu(1), `-drive cache=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheMode {
    /// O_DIRECT, guest flushes are passed on.
    None,
    /// Host page cache, guest flushes are passed on.
    Writeback,
    /// Host page cache, every write is flushed.
    Writethrough,
    /// O_DIRECT, every write is flushed.
    Directsync,
    /// Host page cache, guest flushes are ignored: data is lost on power failure.
    Unsafe,
}

impl CacheMode {
    /// `cache.direct`: the host page cache is bypassed.
    pub fn direct(self) -> bool {
        matches!(self, CacheMode::None | CacheMode::Directsync)
    }

    /// `cache.no-flush`: guest flushes are ignored.
    pub fn no_flush(self) -> bool {
        self == CacheMode::Unsafe
    }

    /// `write-cache` of the device: the guest sees a volatile cache and flushes it.
    pub fn write_cache(self) -> bool {
        !matches!(self, CacheMode::Writethrough | CacheMode::Directsync)
    }
}

/// How QEMU does its file I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aio {
    /// A pool of threads.
    #[serde(rename = "threads")]
    Threads,
    /// Linux AIO (libaio); needs `cache.direct`.
    #[serde(rename = "native")]
    Native,
    /// io_uring.
    #[serde(rename = "io_uring")]
    IoUring,
}

impl Aio {
    /// QEMU's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Aio::Threads => "threads",
            Aio::Native => "native",
            Aio::IoUring => "io_uring",
        }
    }
}

/// A data disk of a guest: a raw image on virtio-blk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpec {
    /// Cache mode.
    pub cache: CacheMode,
    /// How QEMU reads and writes the image.
    pub aio: Aio,
    /// Virtqueues.
    pub queues: u16,
    /// True where the disk is served by a thread of its own.
    pub iothread: bool,
}

/// A guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineSpec {
    /// vCPUs.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory: u64,
    /// QEMU machine type, for example `q35`.
    pub machine: String,
    /// QEMU CPU model; `best` is `host` under KVM and `max` under TCG.
    pub cpu_model: String,
    /// The data disk.
    pub disk: DiskSpec,
}

impl MachineSpec {
    /// The CPU model as QEMU is told.
    pub fn qemu_cpu_model(&self, accelerator: Accelerator) -> &str {
        match (self.cpu_model.as_str(), accelerator) {
            ("best", Accelerator::Kvm) => "host",
            ("best", Accelerator::Tcg) => "max",
            (named, _) => named,
        }
    }
}

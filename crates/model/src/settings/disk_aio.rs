//! `disk.aio`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::{Aio, MachineSpec};

/// See [`Setting::doc`].
pub struct DiskAio;

impl Setting for DiskAio {
    fn key(&self) -> &'static str {
        "disk.aio"
    }

    fn doc(&self) -> &'static str {
        "How QEMU reads and writes the image: a pool of threads, Linux AIO (native, the default; needs disk.cache=none or directsync) or io_uring."
    }

    fn values(&self) -> Values {
        Values::Words(&["threads", "native", "io_uring"])
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.disk.aio = match value {
            "threads" => Aio::Threads,
            "io_uring" => Aio::IoUring,
            _ => Aio::Native,
        };
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.disk.aio.name().to_owned()
    }

    fn conflict(&self, spec: &MachineSpec) -> Option<String> {
        (spec.disk.aio == Aio::Native && !spec.disk.cache.direct()).then(|| {
            "Linux AIO needs a disk that bypasses the page cache (disk.cache=none or directsync); \
             add disk.aio=threads or disk.aio=io_uring"
                .to_owned()
        })
    }

    fn observe(&self, _guest: &Facts, hypervisor: &HypervisorFacts) -> Option<String> {
        hypervisor.disks.iter().find(|d| d.node == "data")?.aio.clone()
    }
}

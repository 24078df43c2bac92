//! `disk.cache`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::{CacheMode, MachineSpec};

/// See [`Setting::doc`].
pub struct DiskCache;

impl Setting for DiskCache {
    fn key(&self) -> &'static str {
        "disk.cache"
    }

    fn doc(&self) -> &'static str {
        "Cache mode of the data disk. none and directsync bypass the page cache of the host; writethrough and directsync flush every write; unsafe ignores the flushes of the guest, so that a power failure loses data that the guest was told is safe."
    }

    fn values(&self) -> Values {
        Values::Words(&["none", "writeback", "writethrough", "directsync", "unsafe"])
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.disk.cache = match value {
            "writeback" => CacheMode::Writeback,
            "writethrough" => CacheMode::Writethrough,
            "directsync" => CacheMode::Directsync,
            "unsafe" => CacheMode::Unsafe,
            _ => CacheMode::None,
        };
    }

    fn read(&self, spec: &MachineSpec) -> String {
        match spec.disk.cache {
            CacheMode::None => "none",
            CacheMode::Writeback => "writeback",
            CacheMode::Writethrough => "writethrough",
            CacheMode::Directsync => "directsync",
            CacheMode::Unsafe => "unsafe",
        }
        .to_owned()
    }

    fn observe(&self, _guest: &Facts, hypervisor: &HypervisorFacts) -> Option<String> {
        let disk = hypervisor.disks.iter().find(|d| d.node == "data")?;
        let direct = disk.descriptor_direct.unwrap_or(disk.cache_direct);
        Some(
            match (direct, disk.cache_no_flush, disk.write_cache) {
                (_, true, _) => "unsafe",
                (true, _, true) => "none",
                (true, _, false) => "directsync",
                (false, _, true) => "writeback",
                (false, _, false) => "writethrough",
            }
            .to_owned(),
        )
    }
}

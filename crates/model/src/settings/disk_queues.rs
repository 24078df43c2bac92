//! `disk.queues`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct DiskQueues;

impl Setting for DiskQueues {
    fn key(&self) -> &'static str {
        "disk.queues"
    }

    fn doc(&self) -> &'static str {
        "Virtqueues of the data disk. Default: 1. More than one helps only where several vCPUs do I/O at once."
    }

    fn values(&self) -> Values {
        Values::Count(1, 64)
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.disk.queues = value.parse().unwrap_or(spec.disk.queues);
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.disk.queues.to_string()
    }

    fn observe(&self, guest: &Facts, _hypervisor: &HypervisorFacts) -> Option<String> {
        let disk = guest.disks.iter().find(|d| d.serial.as_deref() == Some(crate::machine::DATA_SERIAL))?;
        disk.queues.map(|n| n.to_string())
    }
}

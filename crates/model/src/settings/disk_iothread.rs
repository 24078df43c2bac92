//! `disk.iothread`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct DiskIothread;

impl Setting for DiskIothread {
    fn key(&self) -> &'static str {
        "disk.iothread"
    }

    fn doc(&self) -> &'static str {
        "Whether a thread of its own serves the data disk, instead of the main loop of QEMU. Default: off."
    }

    fn values(&self) -> Values {
        Values::Words(&["off", "on"])
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.disk.iothread = value == "on";
    }

    fn read(&self, spec: &MachineSpec) -> String {
        if spec.disk.iothread { "on" } else { "off" }.to_owned()
    }

    fn observe(&self, _guest: &Facts, hypervisor: &HypervisorFacts) -> Option<String> {
        let on = hypervisor.disks.iter().find(|d| d.node == "data")?.iothread;
        Some(if on { "on" } else { "off" }.to_owned())
    }
}

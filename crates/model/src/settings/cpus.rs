//! `vm.cpus`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct Cpus;

impl Setting for Cpus {
    fn key(&self) -> &'static str {
        "vm.cpus"
    }

    fn doc(&self) -> &'static str {
        "Number of vCPUs. Default: 2, or the CPUs of the host if it has fewer. The runs on the host are confined to as many CPUs."
    }

    fn values(&self) -> Values {
        Values::Count(1, 1024)
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.cpus = value.parse().unwrap_or(spec.cpus);
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.cpus.to_string()
    }

    fn observe(&self, guest: &Facts, _hypervisor: &HypervisorFacts) -> Option<String> {
        Some(guest.cpu.online.to_string())
    }
}

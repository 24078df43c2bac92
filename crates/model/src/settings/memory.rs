//! `vm.memory`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct Memory;

impl Setting for Memory {
    fn key(&self) -> &'static str {
        "vm.memory"
    }

    fn doc(&self) -> &'static str {
        "Memory of the guest. Default: 1 GiB."
    }

    fn values(&self) -> Values {
        Values::Size(256 << 20)
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        spec.memory = value.parse().unwrap_or(spec.memory);
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.memory.to_string()
    }

    fn observe(&self, _guest: &Facts, hypervisor: &HypervisorFacts) -> Option<String> {
        hypervisor.memory.map(|bytes| bytes.to_string())
    }
}

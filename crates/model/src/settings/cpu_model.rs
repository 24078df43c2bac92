//! `vm.cpu-model`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct CpuModel;

impl Setting for CpuModel {
    fn key(&self) -> &'static str {
        "vm.cpu-model"
    }

    fn doc(&self) -> &'static str {
        "CPU model that the guest sees. `best` (the default) is `host` under KVM and `max` under emulation; a named model such as `qemu64` or `EPYC-Milan` hides instructions from the guest."
    }

    fn values(&self) -> Values {
        Values::Name("a CPU model of QEMU (`qemu-system-x86_64 -cpu help`), or best")
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        value.clone_into(&mut spec.cpu_model);
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.cpu_model.clone()
    }

    /// The guest shows the flags of its CPU, not the name of QEMU's model; QEMU refuses a model that it does not have.
    fn observe(&self, _guest: &Facts, _hypervisor: &HypervisorFacts) -> Option<String> {
        None
    }
}

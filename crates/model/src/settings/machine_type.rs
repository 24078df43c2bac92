//! `vm.machine`.

use super::{Setting, Values};
use crate::facts::{Facts, HypervisorFacts};
use crate::machine::MachineSpec;

/// See [`Setting::doc`].
pub struct MachineType;

impl Setting for MachineType {
    fn key(&self) -> &'static str {
        "vm.machine"
    }

    fn doc(&self) -> &'static str {
        "Chipset that QEMU emulates: q35 (PCI Express, the default) or pc (i440FX)."
    }

    fn values(&self) -> Values {
        Values::Words(&["q35", "pc"])
    }

    fn apply(&self, value: &str, spec: &mut MachineSpec) {
        value.clone_into(&mut spec.machine);
    }

    fn read(&self, spec: &MachineSpec) -> String {
        spec.machine.clone()
    }

    fn observe(&self, guest: &Facts, _hypervisor: &HypervisorFacts) -> Option<String> {
        let product = guest.product.as_deref()?;
        Some(if product.contains("Q35") { "q35" } else { "pc" }.to_owned())
    }
}

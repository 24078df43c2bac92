//! Which accelerator works here? KVM counts only when a guest has really booted with it within a deadline: a /dev/kvm that opens, creates
//! a VM and yet never boots one exists (nested hosts without hardware support), and so does a QEMU that aborts there.

use crate::exit::Interrupted;
use crate::signals::Stop;
use crate::workshop::Workshop;
use anyhow::Context;
use machines::guest::{Guest, GuestError, Recipe};
use model::Accelerator;
use model::plan::AcceleratorChoice;
use std::path::Path;
use std::time::Duration;

/// How long a guest under KVM may take to answer where TCG can stand in for it. A healthy one takes about a second.
pub const KVM_PATIENCE: Duration = Duration::from_secs(8);
/// How long a guest may take where nothing else can stand in.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What came of the trial.
#[derive(Debug)]
pub struct Trial {
    /// A running guest.
    pub guest: Guest,
    /// What it runs on.
    pub accelerator: Accelerator,
    /// Why it is not KVM, if it could have been.
    pub note: Option<String>,
}

/// Boots a guest of this recipe with the best accelerator that really works. The recipe's accelerator is set accordingly.
pub fn boot(workshop: &Workshop, recipe: &mut Recipe, choice: AcceleratorChoice, stop: &Stop) -> anyhow::Result<Trial> {
    let kvm = kvm_device();
    let mut note = None;
    if choice != AcceleratorChoice::Tcg {
        match &kvm {
            Ok(()) => {
                let patience = if choice == AcceleratorChoice::Kvm { PATIENCE } else { KVM_PATIENCE };
                recipe.accelerator = Accelerator::Kvm;
                match accelerated(attempt(workshop, recipe, patience, stop)) {
                    Ok(guest) => return Ok(Trial { guest, accelerator: Accelerator::Kvm, note: None }),
                    Err(GuestError::Stopped) => return Err(Interrupted.into()),
                    Err(error) if choice == AcceleratorChoice::Kvm => {
                        return Err(error).context("KVM was asked for (--accel kvm) and no guest boots with it");
                    }
                    Err(error) => {
                        note = Some(format!("/dev/kvm is there, but no guest boots with it: {}", first_line(&error)))
                    }
                }
            }
            Err(why) if choice == AcceleratorChoice::Kvm => anyhow::bail!("KVM was asked for (--accel kvm): {why}"),
            Err(why) => note = Some(why.clone()),
        }
    }
    recipe.accelerator = Accelerator::Tcg;
    match attempt(workshop, recipe, PATIENCE, stop) {
        Ok(guest) => Ok(Trial { guest, accelerator: Accelerator::Tcg, note }),
        Err(GuestError::Stopped) => Err(Interrupted.into()),
        Err(error) => Err(error.into()),
    }
}

fn attempt(workshop: &Workshop, recipe: &Recipe, patience: Duration, stop: &Stop) -> Result<Guest, GuestError> {
    Guest::boot(&workshop.nursery, &workshop.guest_name("trial"), recipe, patience, &|| stop.asked())
}

/// A guest that was to use KVM and that QEMU runs without it (`accel=kvm:tcg` falls back silently) is none.
fn accelerated(booted: Result<Guest, GuestError>) -> Result<Guest, GuestError> {
    let mut guest = booted?;
    if guest.kvm_enabled()? { Ok(guest) } else { Err(GuestError::NotAccelerated) }
}

/// Whether /dev/kvm can be opened at all.
pub fn kvm_device() -> Result<(), String> {
    let path = Path::new("/dev/kvm");
    match std::fs::File::options().read(true).write(true).open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err("there is no /dev/kvm: enable virtualization in the firmware and load kvm_intel or kvm_amd; in a VM, enable nesting on its host".to_owned())
        }
        Err(e) => Err(format!("/dev/kvm cannot be opened ({e}): run as root, or join the group that owns it")),
    }
}

/// An error without the console that hangs below it.
fn first_line(error: &GuestError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

//! Checks that one run shows by itself. Their evidence is stored with the run.

mod clock;
mod contention;
mod disk;
mod latency;
mod length;
mod memory;

use model::check::{Check, Status, Threat};
use model::evidence::Idle;
use model::plan::Cell;
use model::{Accelerator, Area, Benchmark, DiskSpec, Facts, Limits, Outcome, RunRecord, Surroundings};

use crate::signal::{positive, shaped, unknown};

/// What must be known beside the record to judge it.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// Where checks begin to warn and to reject.
    pub limits: &'a Limits,
    /// The benchmark, as declared.
    pub benchmark: &'a Benchmark,
    /// The same with its parameters.
    pub cell: &'a Cell,
    /// Who should execute guest instructions, as the study says.
    pub accelerator: Accelerator,
    /// The guest's data disk, as the settings want it.
    pub disk: &'a DiskSpec,
    /// True for a guest's run, false for one on the physical host.
    pub is_guest: bool,
    /// Facts of the machine that ran.
    pub facts: &'a Facts,
    /// Facts of the machine that it is compared with.
    pub other: Option<&'a Facts>,
    /// Load of others when this machine was visited.
    pub idle: Option<&'a Idle>,
}

impl RunContext<'_> {
    /// True where the benchmark works on the data disk.
    fn uses_disk(&self) -> bool {
        self.cell.needs.disk > 0 || self.benchmark.area == Area::Disk
    }
}

/// Judges one threat; none where the run cannot be under it.
type Rule = fn(&RunContext<'_>, &RunRecord) -> Option<Check>;

/// Every rule, in the order of reports.
const RULES: &[Rule] = &[
    accelerator,
    clock::rate,
    clock::source,
    contention::steal,
    contention::run_queue,
    contention::quota,
    contention::other_load,
    contention::thermal,
    memory::pressure,
    memory::huge_pages,
    disk::page_cache,
    disk::cache_mode,
    disk::guest_page_cache,
    disk::thin_provisioning,
    length::too_short,
    length::steady_state,
    length::burst_credits,
    latency::coordinated_omission,
];

/// Everything that the run shows. A run without figures has nothing to judge.
pub fn checks(context: &RunContext<'_>, record: &RunRecord) -> Vec<Check> {
    match record.outcome {
        Outcome::Measured { .. } => RULES.iter().filter_map(|rule| rule(context, record)).collect(),
        _ => Vec::new(),
    }
}

/// Something that was seen around the run.
fn around<T>(record: &RunRecord, read: impl FnOnce(&Surroundings) -> Option<T>) -> Option<T> {
    record.surroundings.as_ref().and_then(read)
}

/// How long the run took by the controller's clock, else by the machine's own, seconds.
fn wall_seconds(record: &RunRecord) -> Option<f64> {
    positive(record.controller_seconds).or_else(|| positive(record.counters.as_ref().map(|c| c.wall_seconds)))
}

/// What QEMU says of KVM against what the study says.
fn accelerator(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.is_guest {
        return None;
    }
    let Some(kvm) = around(record, |s| s.kvm) else { return Some(unknown(Threat::Accelerator)) };
    let seen = if kvm { Accelerator::Kvm } else { Accelerator::Tcg };
    let status = if seen == context.accelerator { Status::Pass } else { Status::Invalid };
    let check = shaped(Threat::Accelerator, status, "hypervisor");
    Some(check.with("expected", context.accelerator.name()).with("seen", seen.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;

    #[test]
    fn a_run_in_which_nothing_is_wrong_passes_every_check() {
        for area in [Area::Cpu, Area::Memory, Area::Disk] {
            for scene in [Scene::host(area), Scene::guest(area)] {
                let checks = scene.checks();
                assert!(checks.len() >= 7, "{checks:?}");
                assert!(checks.iter().all(|check| check.status == Status::Pass), "{area:?} {checks:#?}");
            }
        }
    }

    #[test]
    fn a_run_of_which_nothing_is_known_passes_no_check() {
        for area in [Area::Cpu, Area::Memory, Area::Disk] {
            for mut scene in [Scene::host(area), Scene::guest(area)] {
                scene.forget();
                let checks = scene.checks();
                assert!(checks.len() >= 6, "{checks:?}");
                assert!(checks.iter().all(|check| check.status == Status::Unknown), "{area:?} {checks:#?}");
            }
        }
    }

    #[test]
    fn a_run_without_figures_is_not_judged() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.record.outcome = Outcome::Skipped { why: "no fio".to_owned() };
        assert_eq!(scene.checks(), []);
    }

    #[test]
    fn emulation_where_kvm_was_promised_is_rejected_and_so_is_the_reverse() {
        let mut scene = Scene::guest(Area::Cpu);
        assert_eq!(scene.status(Threat::Accelerator), Some(Status::Pass));
        scene.surroundings().kvm = Some(false);
        assert_eq!(scene.status(Threat::Accelerator), Some(Status::Invalid));
        scene.accelerator = Accelerator::Tcg;
        assert_eq!(scene.status(Threat::Accelerator), Some(Status::Pass));
        scene.surroundings().kvm = None;
        assert_eq!(scene.status(Threat::Accelerator), Some(Status::Unknown));
        assert_eq!(Scene::host(Area::Cpu).status(Threat::Accelerator), None);
    }
}

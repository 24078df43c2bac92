//! Memory that was short, shared or laid out otherwise.

use super::{RunContext, around};
use crate::signal::{known, ratio, shaped, unknown};
use model::check::{Check, Status, Threat};
use model::{Area, RunRecord};

/// A CPU benchmark that touches less than this has little to gain from huge pages, bytes.
const MUCH_MEMORY: u64 = 64 << 20;

/// Swapping or an OOM kill on either side of the guest's border, or pages that the host has merged. A kernel without KSM merges none.
pub(super) fn pressure(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let counters = record.counters.as_ref();
    let on_host = around(record, |s| Some((s.swapped_pages, s.oom_kills))).unwrap_or_default();
    let inside = counters.map(|c| (c.swapped_pages, c.oom_kills)).unwrap_or_default();
    let killed = on_host.1.unwrap_or(0).max(inside.1.unwrap_or(0));
    let swapped = on_host.0.unwrap_or(0).max(inside.0.unwrap_or(0));
    let merged = around(record, |s| s.merged_pages).unwrap_or(0);
    // On the host both are counters of one kernel.
    let complete = |(swapped, killed): (Option<u64>, Option<u64>)| swapped.is_some() && killed.is_some();
    let looked =
        if context.is_guest { complete(on_host) && complete(inside) } else { complete(on_host) || complete(inside) };
    Some(if killed > 0 {
        shaped(Threat::MemoryPressure, Status::Invalid, "killed").with("processes", killed as f64)
    } else if swapped > 0 {
        shaped(Threat::MemoryPressure, Status::Invalid, "swapped").with("pages", swapped as f64)
    } else if merged > 0 {
        shaped(Threat::MemoryPressure, Status::Warn, "merged").with("pages", merged as f64)
    } else if looked {
        shaped(Threat::MemoryPressure, Status::Pass, "none")
    } else {
        unknown(Threat::MemoryPressure)
    })
}

/// How much of the workload's memory lies in huge pages: of the machine itself, and of the host below it. Nothing is wrong with any
/// share; [`crate::block`] compares the arms.
pub(super) fn huge_pages(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    let needs = context.cell.needs.memory;
    let matters = match context.benchmark.area {
        Area::Memory => true,
        Area::Cpu => needs >= MUCH_MEMORY,
        Area::Disk => false,
    };
    if !matters {
        return None;
    }
    let bytes = record.counters.as_ref().and_then(|c| c.anon_huge_bytes);
    // Whole huge pages reach beyond the ends of a buffer.
    let own = ratio(bytes.map(|b| b as f64), Some(needs as f64)).map(|share| share.min(1.0));
    let below = if context.is_guest { known(around(record, |s| s.huge_share)) } else { own };
    let Some((own, below)) = own.zip(below) else { return Some(unknown(Threat::HugePages)) };
    let check = shaped(Threat::HugePages, Status::Pass, "run");
    Some(check.with("huge-share", own).with("backing-share", below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;
    use crate::signal::seen;

    #[test]
    fn swapping_and_kills_on_either_side_reject() {
        let threat = Threat::MemoryPressure;
        for area in [Area::Cpu, Area::Disk] {
            let mut scene = Scene::guest(area);
            scene.counters().swapped_pages = Some(1);
            assert_eq!(scene.status(threat), Some(Status::Invalid));
            let mut scene = Scene::guest(area);
            scene.surroundings().swapped_pages = Some(1);
            assert_eq!(scene.status(threat), Some(Status::Invalid));
            let mut scene = Scene::host(area);
            scene.surroundings().oom_kills = Some(1);
            assert_eq!(scene.status(threat), Some(Status::Invalid));
        }
    }

    #[test]
    fn merged_pages_warn_and_a_host_without_merging_passes() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.surroundings().merged_pages = None;
        assert_eq!(scene.status(Threat::MemoryPressure), Some(Status::Pass));
        scene.surroundings().merged_pages = Some(7);
        assert_eq!(scene.status(Threat::MemoryPressure), Some(Status::Warn));
    }

    #[test]
    fn a_guest_passes_only_where_both_kernels_were_asked() {
        let mut scene = Scene::guest(Area::Cpu);
        scene.counters().swapped_pages = None;
        assert_eq!(scene.status(Threat::MemoryPressure), Some(Status::Unknown));
        let mut scene = Scene::guest(Area::Cpu);
        scene.surroundings().oom_kills = None;
        assert_eq!(scene.status(Threat::MemoryPressure), Some(Status::Unknown));
        let mut scene = Scene::host(Area::Cpu);
        scene.counters().swapped_pages = None;
        assert_eq!(scene.status(Threat::MemoryPressure), Some(Status::Pass));
    }

    #[test]
    fn huge_pages_are_counted_where_memory_matters() {
        assert_eq!(Scene::guest(Area::Disk).status(Threat::HugePages), None);
        let mut scene = Scene::guest(Area::Cpu);
        scene.cell.needs.memory = 1 << 20;
        assert_eq!(scene.status(Threat::HugePages), None);
        let mut scene = Scene::guest(Area::Memory);
        scene.cell.needs.memory = 1 << 30;
        scene.counters().anon_huge_bytes = Some(1 << 29);
        scene.surroundings().huge_share = Some(0.25);
        scene.judge();
        assert_eq!(seen(&scene.record, Threat::HugePages, "huge-share"), Some(0.5));
        assert_eq!(seen(&scene.record, Threat::HugePages, "backing-share"), Some(0.25));
        scene.surroundings().huge_share = None;
        assert_eq!(scene.status(Threat::HugePages), Some(Status::Unknown));
    }
}

//! Whether a disk figure is one of the disk.

use super::{RunContext, around};
use crate::signal::{grade, known, positive, ratio, shaped, unknown, warn_if};
use model::RunRecord;
use model::check::{Check, Status, Threat};
use model::machine::Aio;

/// Bytes that really went to or came from storage, by the bytes that the benchmark moved: what is missing came from a page cache.
///
/// The tool counts its steady part only, the kernel the load before it too. So the ratio lies between two bounds, with the load
/// before the steady part taken to be as fast and left out; it fires only where both bounds are beyond the limit. A surplus on the
/// host's side means nothing, and none where QEMU uses io_uring: a request that io_uring first tries without waiting and then hands
/// to a worker is counted twice (seen on Linux 6.1).
pub(super) fn page_cache(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.uses_disk() {
        return None;
    }
    let threat = Threat::PageCache;
    let work = record.work.as_ref();
    let moved = positive(work.and_then(|w| w.bytes));
    let read = known(work.and_then(|w| w.read_bytes));
    let buffered = context.is_guest && around(record, |s| s.descriptor_direct) == Some(false);
    if buffered && read.is_some_and(|bytes| bytes > 0.0) {
        return Some(shaped(threat, Status::Invalid, "buffered"));
    }
    let Some(device) = device_bytes(context, record) else { return Some(unknown(threat)) };
    let loaded = work.and_then(|w| {
        let before = known(Some(w.ramp_seconds))? / positive(Some(w.steady_seconds))?;
        known(Some(moved? * (1.0 + before)))
    });
    let Some((highest, lowest)) = ratio(Some(device), moved).zip(ratio(Some(device), loaded)) else {
        return Some(unknown(threat));
    };
    let (warn, invalid) = (context.limits.device_bytes_warn, context.limits.device_bytes_invalid);
    let missing = grade(1.0 - highest, warn, invalid);
    let counts_once = context.is_guest && context.disk.aio != Aio::IoUring;
    let check =
        |status, shape| shaped(threat, status, shape).with("lowest-share", lowest).with("highest-share", highest);
    Some(if missing > Status::Pass {
        check(missing, "missing")
    } else if buffered {
        // Writes that reach the device later than the run, or on behalf of nobody.
        shaped(threat, Status::Unknown, "buffered-writes")
    } else if counts_once && lowest - 1.0 >= warn {
        check(Status::Warn, "surplus")
    } else if context.is_guest && around(record, |s| s.descriptor_direct).is_none() {
        shaped(threat, Status::Unknown, "descriptor")
    } else {
        check(Status::Pass, "complete")
    })
}

/// Bytes between storage and QEMU, or the tool itself on the host.
fn device_bytes(context: &RunContext<'_>, record: &RunRecord) -> Option<f64> {
    if context.is_guest {
        return record.host_cost.as_ref().map(|cost| cost.read_bytes as f64 + cost.write_bytes as f64);
    }
    let counters = record.counters.as_ref()?;
    Some(counters.read_bytes? as f64 + counters.write_bytes? as f64)
}

/// QEMU's open descriptor of the data file against the cache mode that the settings ask for.
pub(super) fn cache_mode(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.is_guest || !context.uses_disk() {
        return None;
    }
    let Some(direct) = around(record, |s| s.descriptor_direct) else { return Some(unknown(Threat::CacheMode)) };
    let word = |direct: bool| if direct { "direct" } else { "buffered" };
    let asked = context.disk.cache.direct();
    let status = if direct == asked { Status::Pass } else { Status::Invalid };
    Some(shaped(Threat::CacheMode, status, "descriptor").with("asked", word(asked)).with("seen", word(direct)))
}

/// A tool that goes through the page cache of its own kernel, among so few bytes that the cache holds them, or on machines whose
/// caches are not of one size.
pub(super) fn guest_page_cache(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.is_guest || !context.uses_disk() {
        return None;
    }
    let threat = Threat::GuestPageCache;
    let work = record.work.as_ref();
    match work.and_then(|w| w.direct) {
        None => return Some(unknown(threat)),
        Some(true) => return Some(shaped(threat, Status::Pass, "direct")),
        Some(false) => {}
    }
    let own = context.facts.memory_total;
    let other = context.other.map(|facts| facts.memory_total).filter(|bytes| *bytes > 0);
    let span = work.and_then(|w| w.span_bytes);
    let (Some(span), Some(other), 1..) = (span, other, own) else { return Some(unknown(threat)) };
    let check = |status, shape| {
        let check = shaped(threat, status, shape).with("span-bytes", span as f64);
        check.with("memory-bytes", own as f64).with("other-memory-bytes", other as f64)
    };
    Some(if span < own.saturating_mul(2) {
        check(Status::Warn, "small")
    } else {
        check(warn_if(own != other), "memory")
    })
}

/// Holes in the data file: a read of one does no I/O.
pub(super) fn thin_provisioning(context: &RunContext<'_>, record: &RunRecord) -> Option<Check> {
    if !context.uses_disk() {
        return None;
    }
    let allocated = known(around(record, |s| s.allocated_share));
    let Some(allocated) = allocated else { return Some(unknown(Threat::ThinProvisioning)) };
    // File systems count their own blocks too, so that a full file may hold more than its size.
    let holes = (1.0 - allocated).max(0.0);
    let status = grade(holes, f64::MIN_POSITIVE, context.limits.holes_invalid);
    Some(Check::new(Threat::ThinProvisioning, status).with("holes-share", holes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Scene;
    use model::Area;
    use model::machine::CacheMode;

    /// The guest's disk run whose QEMU moved `share` of the bytes of the steady part, on top of all of the ramp's.
    fn moved(share: f64) -> Scene {
        let mut scene = Scene::guest(Area::Disk);
        let work = scene.record.work.as_ref().unwrap();
        let device = work.bytes.unwrap() * share;
        scene.record.host_cost.as_mut().unwrap().read_bytes = device as u64;
        scene
    }

    #[test]
    fn a_guest_that_the_hosts_page_cache_serves_is_rejected() {
        for (share, status) in [
            (0.02, Status::Invalid),
            (0.79, Status::Invalid),
            (0.9, Status::Warn),
            (0.96, Status::Pass),
            (1.2, Status::Pass),
            (1.3, Status::Warn),
        ] {
            assert_eq!(moved(share).status(Threat::PageCache), Some(status), "{share}");
        }
    }

    #[test]
    fn the_ramp_neither_hides_nor_makes_a_surplus() {
        // Steady part of ten seconds and a ramp of two: an honest device moves up to 1.2 of the steady bytes.
        let scene = moved(1.2);
        let work = scene.record.work.as_ref().unwrap();
        assert_eq!((work.steady_seconds, work.ramp_seconds), (10.0, 2.0));
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Pass));
    }

    #[test]
    fn reads_through_a_buffered_descriptor_are_rejected_whatever_was_counted() {
        let mut scene = Scene::guest(Area::Disk);
        scene.disk.cache = CacheMode::Writeback;
        scene.surroundings().descriptor_direct = Some(false);
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Invalid));
        assert_eq!(scene.status(Threat::CacheMode), Some(Status::Pass), "that is what was asked for");
        scene.record.work.as_mut().unwrap().read_bytes = Some(0.0);
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Unknown), "writes cannot be attributed");
        scene.record.host_cost.as_mut().unwrap().read_bytes = 0;
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Invalid), "they never reached the device");
    }

    #[test]
    fn a_surplus_means_nothing_where_io_uring_counts_twice() {
        let mut scene = moved(2.0);
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Warn));
        scene.disk.aio = Aio::IoUring;
        assert_eq!(scene.status(Threat::PageCache), Some(Status::Pass));
        let mut host = Scene::host(Area::Disk);
        host.counters().read_bytes = Some(1 << 60);
        assert_eq!(host.status(Threat::PageCache), Some(Status::Pass));
        host.counters().read_bytes = Some(1 << 20);
        assert_eq!(host.status(Threat::PageCache), Some(Status::Invalid));
    }

    #[test]
    fn bytes_that_nobody_counted_are_unknown() {
        let removals: [fn(&mut Scene); 4] = [
            |s| s.record.work = None,
            |s| s.record.work.as_mut().unwrap().bytes = None,
            |s| s.record.host_cost = None,
            |s| s.surroundings().descriptor_direct = None,
        ];
        for remove in removals {
            let mut scene = Scene::guest(Area::Disk);
            remove(&mut scene);
            assert_eq!(scene.status(Threat::PageCache), Some(Status::Unknown));
        }
        assert_eq!(Scene::guest(Area::Cpu).status(Threat::PageCache), None);
    }

    #[test]
    fn a_descriptor_of_another_mode_than_asked_for_is_rejected() {
        let mut scene = Scene::guest(Area::Disk);
        scene.surroundings().descriptor_direct = Some(false);
        assert_eq!(scene.status(Threat::CacheMode), Some(Status::Invalid));
        scene.surroundings().descriptor_direct = None;
        assert_eq!(scene.status(Threat::CacheMode), Some(Status::Unknown));
        scene.disk.cache = CacheMode::Writeback;
        scene.surroundings().descriptor_direct = Some(true);
        assert_eq!(scene.status(Threat::CacheMode), Some(Status::Invalid));
        assert_eq!(Scene::host(Area::Disk).status(Threat::CacheMode), None);
    }

    #[test]
    fn buffered_work_that_the_guests_memory_could_hold_warns() {
        let threat = Threat::GuestPageCache;
        let mut scene = Scene::guest(Area::Disk);
        assert_eq!(scene.status(threat), Some(Status::Pass));
        scene.record.work.as_mut().unwrap().direct = Some(false);
        assert_eq!(scene.status(threat), Some(Status::Warn));
        scene.record.work.as_mut().unwrap().span_bytes = Some(1 << 40);
        assert_eq!(scene.status(threat), Some(Status::Warn), "host and guest have caches of different size");
        scene.other.as_mut().unwrap().memory_total = scene.facts.memory_total;
        assert_eq!(scene.status(threat), Some(Status::Pass));
        scene.other = None;
        assert_eq!(scene.status(threat), Some(Status::Unknown));
    }

    #[test]
    fn holes_warn_and_reject_from_a_hundredth_on() {
        for mut scene in [Scene::host(Area::Disk), Scene::guest(Area::Disk)] {
            for (allocated, status) in [
                (Some(1.0), Status::Pass),
                (Some(1.0001), Status::Pass),
                (Some(0.995), Status::Warn),
                (Some(0.5), Status::Invalid),
                (Some(0.0), Status::Invalid),
                (Some(f64::NAN), Status::Unknown),
                (None, Status::Unknown),
            ] {
                scene.surroundings().allocated_share = allocated;
                assert_eq!(scene.status(Threat::ThinProvisioning), Some(status), "{allocated:?}");
            }
        }
        assert_eq!(Scene::guest(Area::Memory).status(Threat::ThinProvisioning), None);
    }
}

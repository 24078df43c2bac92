//! The spin loop that every visit of a machine times: its time changes only when the machine does.

use crate::signal::{positive, shaped, unknown};
use model::Limits;
use model::check::{Check, Status, Threat};
use model::record::{Event, GUEST, HOST, Line};
use std::collections::BTreeMap;

/// A round and its attempt.
type Attempt = (u32, u32);
/// Seconds of a canary; none where it could not be run.
type Canary = Option<f64>;
/// The canaries before and after the runs of one attempt; none where there was no such visit.
type Pair = [Option<Canary>; 2];

/// Canaries by machine and attempt.
pub(super) struct Visits<'a>(BTreeMap<&'a str, BTreeMap<Attempt, Pair>>);

impl<'a> Visits<'a> {
    pub(super) fn of(lines: &'a [Line]) -> Self {
        let mut visits: BTreeMap<&str, BTreeMap<Attempt, Pair>> = BTreeMap::new();
        for Line { event, .. } in lines {
            if let Event::Visited { machine, round, attempt, leaving, canary_seconds, .. } = event {
                let place = visits.entry(machine).or_default().entry((*round, *attempt)).or_default();
                place[usize::from(*leaving)] = Some(positive(*canary_seconds));
            }
        }
        Visits(visits)
    }

    /// Every canary of a machine, in time order.
    fn canaries(&self, machine: &str) -> impl Iterator<Item = (Attempt, Canary)> {
        let rounds = self.0.get(machine).into_iter().flatten();
        rounds.flat_map(|(at, pair)| pair.iter().flatten().map(|canary| (*at, *canary)))
    }

    fn median(&self, machine: &str) -> Option<f64> {
        stats::median(&self.canaries(machine).filter_map(|(_, seconds)| seconds).collect::<Vec<_>>())
    }

    /// The guest's typical time by the host's.
    pub(super) fn slowdown(&self) -> Option<f64> {
        positive(Some(self.median(GUEST)? / self.median(HOST)?))
    }

    /// Each canary against the median of its machine, and those of one visit against each other. It never rejects: on a busy machine of
    /// two cores a limit of 10 % would have rejected three runs of ten.
    pub(super) fn check(&self, limits: &Limits, machine: &str) -> Check {
        let threat = Threat::Canary;
        let all: Vec<(Attempt, Canary)> = self.canaries(machine).collect();
        let Some(median) = self.median(machine).filter(|_| all.len() > 1) else {
            return unknown(threat).with("machine", machine);
        };
        let change = |[before, after]: &Pair| Some((after.flatten()? / before.flatten()? - 1.0).abs());
        let changes = self.0.get(machine).into_iter().flatten().filter_map(|(at, pair)| Some((*at, change(pair)?)));
        let distances = all.iter().filter_map(|(at, canary)| Some((*at, (canary.as_ref()? / median - 1.0).abs())));
        let (far, changed) = (worst(distances), worst(changes));
        let check = |status, shape, (round, share): (u32, f64)| {
            let check = shaped(threat, status, shape).with("machine", machine).with("median-seconds", median);
            check.with("round", f64::from(round)).with("distance-share", share)
        };
        match (far, changed) {
            (_, Some(worst)) if worst.1 >= limits.canary_change_warn => check(Status::Warn, "change", worst),
            (Some(worst), _) if worst.1 >= limits.canary_warn => check(Status::Warn, "distance", worst),
            (Some(worst), _) if all.iter().all(|(_, canary)| canary.is_some()) => {
                check(Status::Pass, "distance", worst)
            }
            _ => unknown(threat).with("machine", machine),
        }
    }
}

/// The round of the greatest share, and the share.
fn worst(shares: impl Iterator<Item = (Attempt, f64)>) -> Option<(u32, f64)> {
    let finite = shares.filter(|(_, share)| share.is_finite());
    finite.max_by(|a, b| a.1.total_cmp(&b.1)).map(|((round, _), share)| (round, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;

    fn judged(canaries: &[(u32, bool, f64)]) -> Status {
        let lines: Vec<Line> = canaries.iter().map(|(round, leaving, s)| visit(HOST, *round, *leaving, *s)).collect();
        Visits::of(&lines).check(&Limits::default(), HOST).status
    }

    #[test]
    fn a_canary_far_from_the_median_or_from_its_partner_warns() {
        let calm = [(1, false, 0.050), (1, true, 0.0505), (2, false, 0.0498), (2, true, 0.050)];
        assert_eq!(judged(&calm), Status::Pass);
        assert_eq!(judged(&[&calm[..], &[(3, false, 0.052)]].concat()), Status::Warn);
        assert_eq!(judged(&[(1, false, 0.0490), (1, true, 0.0516)]), Status::Warn);
    }

    #[test]
    fn it_takes_two_canaries_and_all_of_them_to_pass() {
        assert_eq!(judged(&[]), Status::Unknown);
        assert_eq!(judged(&[(1, false, 0.05)]), Status::Unknown);
        assert_eq!(judged(&[(1, false, 0.05), (1, true, f64::NAN)]), Status::Unknown);
        assert_eq!(judged(&[(1, false, 0.05), (1, true, 0.05), (2, false, -1.0)]), Status::Unknown);
    }
}

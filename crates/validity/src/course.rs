//! What only the sequence of a benchmark's blocks shows.
//!
//! Here [`Status::Invalid`] cannot drop a block: it takes away the verdict. [`consequence`] says what is left of it.

use crate::Block;
use crate::signal::{grade, known, ratio, shaped, unknown, warn_if};
use model::check::{Check, Status, Threat};
use model::{Area, Benchmark, DiskSpec, Limits, Metric};
use stats::{Interval, Margin, STUDY_ROUNDS};

/// Level at which a tendency or an effect of the order is believed.
const ALPHA: f64 = 0.01;
/// Standard errors from zero beyond which a correlation is believed.
const ERRORS: f64 = 1.96;
/// Fewest values that have a spread.
const FEWEST: usize = 3;

/// What checks leave of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consequence {
    /// It stands.
    None,
    /// It is IMPRECISE, however narrow the interval: the host itself is too noisy to be compared with.
    Imprecise,
    /// It is INVALID.
    Invalid,
}

/// What the checks of a benchmark's course and of the study leave of its verdict.
pub fn consequence<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Consequence {
    let of = |check: &Check| match (check.status, check.threat) {
        (Status::Invalid, Threat::HostNoise) => Consequence::Imprecise,
        (Status::Invalid, _) => Consequence::Invalid,
        _ => Consequence::None,
    };
    checks.into_iter().map(of).max().unwrap_or(Consequence::None)
}

/// The checks of one metric over the blocks that count, in time order.
pub fn checks(limits: &Limits, metric: &Metric, blocks: &[&Block<'_>]) -> Vec<Check> {
    let rounds: Vec<Round> = blocks.iter().filter_map(|block| Round::of(block, metric)).collect();
    vec![dependence(&rounds), host_noise(limits, &rounds), pairing(&rounds)]
}

/// A block, as far as it matters here.
struct Round {
    host: f64,
    guest: f64,
    log_cost_ratio: f64,
    host_first: bool,
}

impl Round {
    fn of(block: &Block<'_>, metric: &Metric) -> Option<Self> {
        let [host, guest] = block.values(metric)?;
        let log_cost_ratio = block.log_cost_ratio(metric)?;
        Some(Round { host, guest, log_cost_ratio, host_first: block.host.turn < block.guest.turn })
    }
}

fn ratios(rounds: &[Round]) -> Vec<f64> {
    rounds.iter().map(|round| round.log_cost_ratio).collect()
}

/// A tendency of the host, a correlation of one round's ratio with the next, or one that depends on who came first. The paired
/// result stands in any case: the interval is stretched for correlation, and orders are random.
fn dependence(rounds: &[Round]) -> Check {
    let threat = Threat::Dependence;
    if rounds.len() < STUDY_ROUNDS {
        return shaped(threat, Status::Unknown, "few").with("blocks", rounds.len() as f64);
    }
    let host: Vec<f64> = rounds.iter().map(|round| round.host).collect();
    let ratios = ratios(rounds);
    let trend = stats::mann_kendall(&host);
    let serial = stats::pseudomedian(&ratios).and_then(|centre| stats::serial(&ratios, centre));
    let of = |host_first: bool| -> Vec<f64> {
        rounds.iter().filter(|round| round.host_first == host_first).map(|round| round.log_cost_ratio).collect()
    };
    let order = stats::mann_whitney_p(&of(true), &of(false));
    let (Some(trend), Some(serial)) = (trend, serial) else { return unknown(threat) };
    if trend.p < ALPHA {
        shaped(threat, Status::Warn, "trend").with("tau", trend.tau).with("p-value", trend.p)
    } else if let Some(p) = order.filter(|p| *p < ALPHA) {
        shaped(threat, Status::Warn, "order").with("p-value", p)
    } else if serial.lag1.abs() > ERRORS / (rounds.len() as f64).sqrt() {
        shaped(threat, Status::Warn, "lag").with("correlation", serial.lag1)
    } else {
        shaped(threat, Status::Pass, "none").with("correlation", serial.lag1)
    }
}

/// The host's own spread: a baseline that moves by itself.
fn host_noise(limits: &Limits, rounds: &[Round]) -> Check {
    let host: Vec<f64> = rounds.iter().map(|round| round.host).collect();
    let spread = stats::robust_cv(&host).filter(|_| host.len() >= FEWEST);
    let Some(spread) = spread else { return unknown(Threat::HostNoise) };
    let reduction = variance_reduction(rounds);
    let status = grade(spread, limits.host_noise_warn, limits.host_noise_invalid);
    let check = |status, shape| shaped(Threat::HostNoise, status, shape).with("spread-share", spread);
    match reduction {
        Some(factor) if status == Status::Invalid && factor > limits.pairing_rescues => {
            check(Status::Warn, "rescued").with("reduction-factor", factor)
        }
        _ => check(status, "spread"),
    }
}

/// What pairing gains; none where it has nothing to reduce.
fn variance_reduction(rounds: &[Round]) -> Option<f64> {
    let logs = |value: fn(&Round) -> f64| -> Vec<f64> { rounds.iter().map(|round| value(round).ln()).collect() };
    stats::variance_reduction(&logs(|round| round.host), &logs(|round| round.guest), &ratios(rounds))
}

/// Pairing that costs more than it gains.
fn pairing(rounds: &[Round]) -> Check {
    if rounds.len() < STUDY_ROUNDS {
        return shaped(Threat::Pairing, Status::Unknown, "few").with("blocks", rounds.len() as f64);
    }
    let Some(factor) = variance_reduction(rounds) else { return unknown(Threat::Pairing) };
    shaped(Threat::Pairing, warn_if(factor < 1.0), "reduction").with("reduction-factor", factor)
}

/// A guest that is faster than its host by more than the margin. Of a disk figure that is believed only where every block's bytes are
/// known to have reached the device on both sides, and where the guest's flushes reach it like the host's.
pub fn faster_than_host(
    benchmark: &Benchmark,
    disk: &DiskSpec,
    interval: &Interval,
    margin: Margin,
    blocks: &[&Block<'_>],
) -> Check {
    let threat = Threat::FasterThanHost;
    if interval.high >= -margin.log() {
        return shaped(threat, Status::Pass, "not-faster");
    }
    let Some(gain) = known(Some(-interval.high.exp_m1())) else { return unknown(threat) };
    let check = |status, shape| shaped(threat, status, shape).with("gain-share", gain);
    if benchmark.area != Area::Disk {
        return check(Status::Warn, "implausible");
    }
    let runs = blocks.iter().flat_map(|block| [block.host, block.guest]);
    let passes = |run: &model::RunRecord| {
        run.checks.iter().any(|check| check.threat == Threat::PageCache && check.status == Status::Pass)
    };
    if disk.cache.no_flush() {
        check(Status::Invalid, "flushes")
    } else if blocks.is_empty() || !runs.into_iter().all(passes) {
        check(Status::Invalid, "bytes")
    } else {
        check(Status::Warn, "device")
    }
}

/// Blocks that checks dropped, by all that were measured on both sides (`counted` and `dropped` together).
pub fn dropped_blocks(limits: &Limits, counted: usize, dropped: usize) -> Check {
    let (dropped, all) = (dropped as f64, counted as f64 + dropped as f64);
    let Some(share) = ratio(Some(dropped), Some(all)) else { return unknown(Threat::DroppedBlocks) };
    let status = if share > limits.dropped_invalid { Status::Invalid } else { warn_if(dropped > 0.0) };
    let check = Check::new(Threat::DroppedBlocks, status).with("dropped-share", share);
    check.with("dropped", dropped).with("blocks", all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Scene, arms, status};
    use model::Outcome;
    use model::machine::CacheMode;

    /// Rounds with these values of host and guest; the host comes first in every other one.
    fn study(area: Area, values: &[[f64; 2]]) -> Vec<[Scene; 2]> {
        let set = |scene: &mut Scene, value: f64| {
            let Outcome::Measured { values } = &mut scene.record.outcome else { unreachable!() };
            values.insert("rate".to_owned(), value);
        };
        let round = |(place, [host, guest]): (usize, &[f64; 2])| {
            let mut pair = arms(area);
            set(&mut pair[0], *host);
            set(&mut pair[1], *guest);
            pair[place % 2].record.turn = 1;
            pair
        };
        values.iter().enumerate().map(round).collect()
    }

    fn with_blocks<T>(study: &[[Scene; 2]], judge: impl FnOnce(&Scene, &[&Block<'_>]) -> T) -> T {
        let first = &study[0][0];
        let blocks: Vec<Block<'_>> = study
            .iter()
            .enumerate()
            .map(|(place, pair)| Block::new(&first.limits, &first.benchmark, place, &pair[0].record, &pair[1].record))
            .collect();
        judge(first, &blocks.iter().collect::<Vec<_>>())
    }

    fn judged(values: &[[f64; 2]], threat: Threat) -> Option<Status> {
        with_blocks(&study(Area::Cpu, values), |scene, blocks| {
            status(&checks(&scene.limits, &scene.benchmark.metrics[0], blocks), threat)
        })
    }

    /// Noise of about a percent without tendency.
    const NOISE: [f64; 12] = [0.3, -0.8, 0.6, -0.2, -0.5, 0.9, -0.1, 0.4, -0.9, 0.2, -0.4, 0.7];

    fn noisy(host: impl Fn(usize) -> f64, guest: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
        (0..12).map(|i| [host(i), guest(i) * (1.0 + NOISE[(5 * i + 3) % 12] / 100.0)]).collect()
    }

    fn calm() -> Vec<[f64; 2]> {
        noisy(|i| 100.0 + NOISE[i], |i| 90.0 * (1.0 + NOISE[i] / 100.0))
    }

    #[test]
    fn rounds_that_do_not_depend_on_one_another_pass() {
        assert_eq!(judged(&calm(), Threat::Dependence), Some(Status::Pass));
        assert_eq!(judged(&calm()[..7], Threat::Dependence), Some(Status::Unknown), "seven rounds say nothing");
    }

    #[test]
    fn a_host_that_gets_slower_and_ratios_that_follow_each_other_warn() {
        let drift = noisy(|i| 100.0 - i as f64, |i| 90.0 - i as f64);
        assert_eq!(judged(&drift, Threat::Dependence), Some(Status::Warn));
        let waves = noisy(|i| 100.0 + NOISE[i], |i| if i % 6 < 3 { 80.0 } else { 95.0 });
        assert_eq!(judged(&waves, Threat::Dependence), Some(Status::Warn));
    }

    #[test]
    fn a_ratio_that_depends_on_who_came_first_warns() {
        let order = noisy(|i| 100.0 + NOISE[i], |i| if i % 2 == 0 { 80.0 } else { 95.0 });
        with_blocks(&study(Area::Cpu, &order), |scene, blocks| {
            let found = checks(&scene.limits, &scene.benchmark.metrics[0], blocks);
            let check = found.iter().find(|c| c.threat == Threat::Dependence).unwrap();
            assert_eq!(check.evidence["shape"], model::Fact::from("order"));
        });
    }

    #[test]
    fn a_noisy_host_warns_and_makes_the_verdict_imprecise_unless_pairing_rescues_it() {
        assert_eq!(judged(&calm(), Threat::HostNoise), Some(Status::Pass));
        let wild = |i: usize| 100.0 * (1.0 + 0.5 * NOISE[i]);
        let alone = noisy(wild, |i| 90.0 + NOISE[i]);
        assert_eq!(judged(&alone, Threat::HostNoise), Some(Status::Invalid));
        let shared = noisy(wild, |i| 0.9 * wild(i));
        assert_eq!(judged(&shared, Threat::HostNoise), Some(Status::Warn), "the guest moves along with it");
        let uneasy = noisy(|i| 100.0 * (1.0 + 0.1 * NOISE[i]), |i| 90.0 + NOISE[i]);
        assert_eq!(judged(&uneasy, Threat::HostNoise), Some(Status::Warn));
        assert_eq!(judged(&calm()[..2], Threat::HostNoise), Some(Status::Unknown));
        let imprecise = [Check::new(Threat::HostNoise, Status::Invalid), Check::new(Threat::Pairing, Status::Warn)];
        assert_eq!(consequence(&imprecise), Consequence::Imprecise);
    }

    #[test]
    fn pairing_that_costs_more_than_it_gains_warns() {
        assert_eq!(judged(&noisy(|i| 100.0 + NOISE[i], |i| 90.0 - NOISE[i]), Threat::Pairing), Some(Status::Warn));
        let shared = noisy(|i| 100.0 + 9.0 * NOISE[i], |i| 90.0 + 8.1 * NOISE[i]);
        assert_eq!(judged(&shared, Threat::Pairing), Some(Status::Pass));
        assert_eq!(judged(&shared[..7], Threat::Pairing), Some(Status::Unknown));
        assert_eq!(judged(&[[100.0, 90.0]; 12], Threat::Pairing), Some(Status::Unknown), "nothing varies");
    }

    fn interval(high: f64) -> Interval {
        Interval { estimate: high - 0.02, low: high - 0.04, high, level: 0.95, n: 8 }
    }

    #[test]
    fn a_guest_that_is_faster_than_its_host_is_looked_at() {
        let judge = |area: Area, high: f64, change: fn(&mut Scene)| {
            let mut rounds = study(area, &calm());
            rounds.iter_mut().flatten().for_each(|scene| {
                change(scene);
                scene.judge();
            });
            with_blocks(&rounds, |scene, blocks| {
                let margin = Margin::relative(area.margin()).unwrap();
                let check = faster_than_host(&scene.benchmark, &scene.disk, &interval(high), margin, blocks);
                check.status
            })
        };
        assert_eq!(judge(Area::Cpu, -0.01, |_| ()), Status::Pass, "within the margin");
        assert_eq!(judge(Area::Cpu, -0.1, |_| ()), Status::Warn);
        assert_eq!(judge(Area::Disk, -0.1, |_| ()), Status::Warn, "every byte reached the device");
        assert_eq!(judge(Area::Disk, -0.1, |s| s.surroundings().descriptor_direct = None), Status::Invalid);
        assert_eq!(judge(Area::Disk, -0.1, |s| s.disk.cache = CacheMode::Unsafe), Status::Invalid);
        assert_eq!(judge(Area::Disk, f64::NAN, |_| ()), Status::Unknown);
        assert_eq!(judge(Area::Disk, f64::NEG_INFINITY, |_| ()), Status::Warn);
    }

    #[test]
    fn more_than_a_fifth_of_the_blocks_dropped_takes_the_verdict_away() {
        let limits = Limits::default();
        for (counted, dropped, expected) in [
            (10, 0, Status::Pass),
            (8, 2, Status::Warn),
            (7, 3, Status::Invalid),
            (0, 1, Status::Invalid),
            (0, 0, Status::Unknown),
        ] {
            assert_eq!(dropped_blocks(&limits, counted, dropped).status, expected, "{counted} {dropped}");
        }
        assert_eq!(consequence(&[dropped_blocks(&limits, 7, 3)]), Consequence::Invalid);
        assert_eq!(consequence(&[dropped_blocks(&limits, 8, 2)]), Consequence::None);
    }
}

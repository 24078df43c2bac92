//! Cells with whole studies, which stop by themselves: looks, stopping on width, verdicts, injected overheads.

use std::ops::RangeInclusive;

use vmtax_stats::{
    Decision, Interval, Margin, STUDY_ALPHA, Verdict, decide, hodges_lehmann, next_look, overhead, percent, verdict,
};

use crate::{
    cell::{Cell, Expect, Trial},
    noise::{MACHINES, Machine, Noise, Rounds, Runs, SHAPES, Shape},
    random::Pcg,
};

/// What the deliberately conservative interval of a study must have: nominally 97 %, reported as 95 %.
const BAND: RangeInclusive<f64> = 0.94..=0.99;

/// When a study ends.
#[derive(Clone, Copy)]
struct Stopping {
    /// The wanted precision.
    relative: f64,
    cap: usize,
}

/// As the product does by default: 3 %, at most 20 rounds.
const DEFAULT: Stopping = Stopping { relative: 0.03, cap: 20 };
/// Many looks.
const TIGHT: Stopping = Stopping { relative: 0.015, cap: 157 };

/// A whole study: the interval at which it stopped.
fn study(stopping: Stopping, random: &mut Pcg, mut round: impl FnMut(&mut Pcg) -> f64) -> Interval {
    let target = Margin::relative(stopping.relative).unwrap();
    let mut d = Vec::new();
    while let Some(look) = next_look(d.len(), stopping.cap) {
        d.resize_with(look, || round(random));
        let interval = overhead(&d).unwrap().interval.unwrap();
        match decide(&interval, target, stopping.cap) {
            Decision::MoreRounds { .. } => {}
            Decision::Precise | Decision::Imprecise { .. } => return interval,
        }
    }
    unreachable!("the last look decides")
}

/// A study of two sides that differ by nothing but noise.
fn null_study(noise: Noise, stopping: Stopping, random: &mut Pcg) -> Interval {
    let mut rounds = Rounds::new(noise);
    study(stopping, random, |random| rounds.next(random))
}

/// A study by default of a guest that is slower by this share.
fn injected_study(noise: Noise, injected: f64, random: &mut Pcg) -> Interval {
    let mut rounds = Rounds::new(noise);
    study(DEFAULT, random, |random| rounds.next(random) + injected.ln_1p())
}

pub fn cells() -> Vec<Cell> {
    let everything: Vec<Noise> = SHAPES
        .map(Noise::both_sides)
        .into_iter()
        .chain(SHAPES.map(Noise::guest_only))
        .chain(MACHINES.map(Noise::on))
        .collect();
    let fair: Vec<Noise> = SHAPES.map(Noise::both_sides).into_iter().chain(MACHINES.map(Noise::on)).collect();

    let mut cells = Vec::new();
    for (stopping, group) in [
        (DEFAULT, "Studies that stop on width: ±3 %, at most 20 rounds (default)"),
        (TIGHT, "Studies that stop on width: ±1.5 %, at most 157 rounds"),
    ] {
        cells.extend(everything.iter().map(|&noise| contains(group, noise, stopping)));
    }
    cells.extend(fair.iter().map(|&noise| false_difference(noise)));
    cells.extend(fair.iter().map(|&noise| false_verdict(noise)));
    for with in [recovered, bias] {
        for noise in [Noise::both_sides(Shape::Normal), Noise::on(Machine::Wandering(0.9))] {
            cells.extend([0.01, 0.03, 0.10, 0.50].map(|injected| with(noise, injected)));
        }
    }
    cells.push(correlated_rounds());
    cells.push(without_the_factor());
    cells.push(correlation_noticed());
    cells.push(correlated_study(0.3, Expect::In(0.90..=1.0)));
    cells.push(correlated_study(0.5, Expect::In(0.90..=1.0)));
    cells
}

fn contains(group: &'static str, noise: Noise, stopping: Stopping) -> Cell {
    let known = STUDY_LIMITS.iter().find(|(name, cap, _)| *name == noise.name() && *cap == stopping.cap);
    let expect = known.map_or(Expect::In(BAND), |(_, _, known)| Expect::Limit(BAND, known.clone()));
    Cell::prepared(
        group,
        noise.name(),
        expect,
        move || noise.truth(),
        move |truth, random| {
            let interval = null_study(noise, stopping, random);
            Trial { rounds: Some(interval.n), ..interval.contains(*truth).into() }
        },
    )
    .fast_if(stopping.cap == DEFAULT.cap && FAST.contains(&noise.name().as_str()))
}

const FAST: [&str; 4] = ["normal", "spikes, guest only", "exponential, guest only", "machine AR(0.9)"];

/// 5 % and two standard errors of 2000 experiments.
const FALSE_DIFFERENCES: RangeInclusive<f64> = 0.0..=0.0597;

fn false_difference(noise: Noise) -> Cell {
    let group = "A/A: two equal sides, the interval excludes 0";
    Cell::new(group, noise.name(), Expect::In(FALSE_DIFFERENCES), move |random| {
        let interval = null_study(noise, DEFAULT, random);
        Trial { rounds: Some(interval.n), ..(!interval.contains(0.0)).into() }
    })
    .nominal("at most 5 %")
    .fast_if(noise.name() == "machine AR(0.9)")
}

fn false_verdict(noise: Noise) -> Cell {
    let group = "A/A: two equal sides, verdict OVERHEAD or FASTER_THAN_HOST (margin 2 %)";
    Cell::new(group, noise.name(), Expect::In(0.0..=0.01), move |random| {
        let interval = null_study(noise, DEFAULT, random);
        let found = verdict(&interval, Margin::relative(0.02).unwrap());
        Trial { rounds: Some(interval.n), ..matches!(found, Verdict::Overhead | Verdict::FasterThanHost).into() }
    })
    .nominal("at most 1 %")
    .fast_if(noise.name() == "machine AR(0.9)")
}

fn injected_name(noise: Noise, injected: f64) -> String {
    format!("{}, {:.0} % injected", noise.name(), 100.0 * injected)
}

fn recovered(noise: Noise, injected: f64) -> Cell {
    let name = injected_name(noise, injected);
    Cell::new("Injected overhead: the interval contains it", name, Expect::In(0.94..=1.0), move |random| {
        let interval = injected_study(noise, injected, random);
        Trial { rounds: Some(interval.n), ..interval.contains(injected.ln_1p()).into() }
    })
    .fast_if(injected == 0.10 && noise.machine != Machine::Quiet)
}

fn bias(noise: Noise, injected: f64) -> Cell {
    let name = injected_name(noise, injected);
    Cell::new("Injected overhead: mean error in percent points", name, Expect::In(-0.2..=0.2), move |random| {
        let interval = injected_study(noise, injected, random);
        Trial { value: percent(interval.estimate) - 100.0 * injected, rounds: Some(interval.n) }
    })
    .in_points()
    .fast_if(injected == 0.10 && noise.machine != Machine::Quiet)
}

const CORRELATED: &str = "Rounds that are correlated themselves, which no order of the runs can mend";

/// 64 rounds whose `d` itself is AR(1), φ = 0.3, sd 5 %.
fn correlated(random: &mut Pcg) -> Vec<f64> {
    let mut runs = Runs::new(Machine::Wandering(0.3));
    (0..64).map(|_| runs.next(random)).collect()
}

fn correlated_rounds() -> Cell {
    let name = "AR(0.3) in d, n = 64: the interval contains 0";
    Cell::new(CORRELATED, name, Expect::In(0.90..=1.0), |random| {
        overhead(&correlated(random)).unwrap().interval.unwrap().contains(0.0).into()
    })
    .fast_if(true)
}

fn without_the_factor() -> Cell {
    let name = "control: the same without the factor for serial correlation";
    Cell::new(CORRELATED, name, Expect::NotIn(BAND), |random| {
        hodges_lehmann(&correlated(random), STUDY_ALPHA).unwrap().contains(0.0).into()
    })
    .nominal("97 %")
}

fn correlation_noticed() -> Cell {
    let name = "AR(0.3) in d, n = 64: SERIAL_CORRELATION is raised";
    Cell::new(CORRELATED, name, Expect::In(0.45..=1.0), |random| {
        overhead(&correlated(random)).unwrap().serial.is_correlated().into()
    })
    .nominal("about half")
    .fast_if(true)
}

fn correlated_study(phi: f64, expect: Expect) -> Cell {
    let name = format!("AR({phi}) in d, study by default: the interval contains 0");
    Cell::new(CORRELATED, name, expect, move |random| {
        let mut runs = Runs::new(Machine::Wandering(phi));
        let interval = study(DEFAULT, random, |random| runs.next(random));
        Trial { rounds: Some(interval.n), ..interval.contains(0.0).into() }
    })
}

/// Where the band is missed: too wide, never too narrow. With many equal values, as above; and on machines so noisy
/// that most studies give up on their precision early, whose interval is then wide.
const STUDY_LIMITS: [(&str, usize, RangeInclusive<f64>); 3] = [
    ("quantised", TIGHT.cap, 0.99..=0.999),
    ("machine AR(0)", TIGHT.cap, 0.99..=0.999),
    ("machine AR(0.5)", TIGHT.cap, 0.99..=0.999),
];

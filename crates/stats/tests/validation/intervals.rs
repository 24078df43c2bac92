//! Cells with a fixed number of rounds: does the interval contain the truth as often as it says?

use std::ops::RangeInclusive;

use vmtax_stats::{hodges_lehmann, median_interval, shift};

use crate::{
    cell::{Cell, Expect},
    noise::{MACHINES, Noise, Rounds, SHAPES, Shape},
    random::Pcg,
};

/// What a nominal 95 % interval must have.
pub const BAND: RangeInclusive<f64> = 0.93..=0.97;

pub fn cells() -> Vec<Cell> {
    let noises = SHAPES
        .map(Noise::both_sides)
        .into_iter()
        .chain(SHAPES.map(Noise::guest_only))
        .chain(MACHINES.map(Noise::on))
        .collect::<Vec<_>>();
    let mut cells = Vec::new();
    for noise in noises {
        for n in [8, 10, 20, 40] {
            cells.push(signed_rank(noise, n));
        }
    }
    for shape in [Shape::Normal, Shape::Exponential, Shape::T3] {
        for n in [8, 20] {
            cells.push(shift_of_unpaired(shape, n));
        }
    }
    cells.push(median_of_one_arm());
    cells.push(means_of_boots());
    cells
}

fn signed_rank(noise: Noise, n: usize) -> Cell {
    let known = FIXED_LIMITS.iter().find(|(name, size, _)| *name == noise.name() && *size == n);
    let expect = known.map_or(Expect::In(BAND), |(_, _, known)| Expect::Limit(BAND, known.clone()));
    Cell::prepared(
        "Signed-rank interval, fixed number of rounds",
        format!("{}, n = {n}", noise.name()),
        expect,
        move || noise.truth(),
        move |truth, random| hodges_lehmann(&Rounds::new(noise).take(n, random), 0.05).unwrap().contains(*truth).into(),
    )
    .fast_if(n == 10)
}

fn shift_of_unpaired(shape: Shape, n: usize) -> Cell {
    let name = format!("{shape:?}, {n} and {n}").to_lowercase();
    Cell::new("Shift between two unpaired samples (gate)", name, Expect::In(BAND), move |random| {
        let mut sample = || (0..n).map(|_| shape.draw(random)).collect::<Vec<_>>();
        shift(&sample(), &sample(), 0.05).unwrap().contains(0.0).into()
    })
    .fast_if(n == 8)
}

fn median_of_one_arm() -> Cell {
    Cell::new("Other intervals", "median of one arm, exponential, n = 20", Expect::In(BAND), |random| {
        let values: Vec<f64> = (0..20).map(|_| random.exponential()).collect();
        median_interval(&values, 0.05).unwrap().contains(2.0_f64.ln()).into()
    })
}

/// Rounds in `boots` boots of `runs` runs each; the sd between boots and that of a run are both 2 %.
pub fn booted(boots: usize, runs: usize, random: &mut Pcg) -> Vec<Vec<f64>> {
    (0..boots)
        .map(|_| {
            let boot = 0.02 * random.normal();
            (0..runs).map(|_| boot + 0.02 * random.normal()).collect()
        })
        .collect()
}

fn means_of_boots() -> Cell {
    Cell::new("Other intervals", "mean of each of 10 boots of 3 runs", Expect::In(BAND), |random| {
        let means: Vec<f64> = booted(10, 3, random).iter().map(|runs| runs.iter().sum::<f64>() / 3.0).collect();
        hodges_lehmann(&means, 0.05).unwrap().contains(0.0).into()
    })
    .fast_if(true)
}

/// Where the band is missed: with many equal values the interval contains the truth too often, never too seldom.
const FIXED_LIMITS: [(&str, usize, RangeInclusive<f64>); 4] = [
    ("quantised", 8, 0.97..=0.995),
    ("quantised", 10, 0.97..=0.995),
    ("quantised", 20, 0.97..=0.995),
    ("quantised", 40, 0.97..=0.995),
];

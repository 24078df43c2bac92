//! Methods that are known to be wrong. If the simulation did not show it, it would show nothing.

use vmtax_stats::{ANYTIME_G, anytime_radius, hodges_lehmann, mean_t, moments, student};

use crate::{
    cell::{Cell, Expect},
    intervals::{BAND, booted},
    noise::{Machine, Noise, Rounds, Runs, Shape},
    random::Pcg,
};

const GROUP: &str = "Controls: wrong on purpose, must fall outside";

pub fn cells() -> Vec<Cell> {
    vec![
        host_first_then_guest(10),
        host_first_then_guest(20),
        pooled_boots(3, 10),
        pooled_boots(10, 3),
        percentile_bootstrap("percentile bootstrap of the mean, normal, n = 10", Noise::both_sides(Shape::Normal)),
        percentile_bootstrap(
            "percentile bootstrap of the mean, spikes in the guest only, n = 10",
            Noise::guest_only(Shape::Spikes),
        ),
        t_interval_of_a_tail(),
        peeking(),
        anytime(Shape::Normal),
        anytime(Shape::T3),
    ]
}

/// All runs of the host before all runs of the guest, on a machine with AR(1) noise, φ = 0.9; 2 % noise of its own.
fn host_first_then_guest(n: usize) -> Cell {
    let name = format!("all host runs, then all guest runs, machine AR(0.9), n = {n}");
    Cell::new(GROUP, name, Expect::NotIn(BAND), move |random| {
        let mut machine = Runs::new(Machine::Wandering(0.9));
        let runs: Vec<f64> = (0..2 * n).map(|_| machine.next(random) + 0.02 * random.normal()).collect();
        let (host, guest) = runs.split_at(n);
        let d: Vec<f64> = guest.iter().zip(host).map(|(guest, host)| guest - host).collect();
        hodges_lehmann(&d, 0.05).unwrap().contains(0.0).into()
    })
    .fast_if(n == 10)
}

/// All runs of few boots as if they were independent.
fn pooled_boots(boots: usize, runs: usize) -> Cell {
    let name = format!("{boots} boots of {runs} runs as {} independent runs", boots * runs);
    Cell::new(GROUP, name, Expect::NotIn(BAND), move |random| {
        hodges_lehmann(&booted(boots, runs, random).concat(), 0.05).unwrap().contains(0.0).into()
    })
    .fast_if(boots == 3)
}

/// The percentile interval of 1000 resampled means, judged against the mean.
fn percentile_bootstrap(name: &'static str, noise: Noise) -> Cell {
    let mean = |d: &[f64]| d.iter().sum::<f64>() / d.len() as f64;
    let truth = move || mean(&Rounds::new(noise).take(200_000, &mut Pcg::new(99)));
    Cell::prepared(GROUP, name, Expect::NotIn(BAND), truth, move |truth, random| {
        let d = Rounds::new(noise).take(10, random);
        let resample = |random: &mut Pcg| (0..10).map(|_| d[random.below(10)]).sum::<f64>() / 10.0;
        let mut means: Vec<f64> = (0..1000).map(|_| resample(random)).collect();
        means.sort_by(f64::total_cmp);
        (means[24] <= *truth && *truth <= means[975]).into()
    })
    .fast_if(noise.guest_only)
}

fn t_interval_of_a_tail() -> Cell {
    let noise = Noise::guest_only(Shape::Spikes);
    let truth = 0.05 * 1.5_f64.ln();
    let name = "t interval of the mean, spikes in the guest only, n = 10";
    Cell::new(GROUP, name, Expect::NotIn(BAND), move |random| {
        mean_t(&Rounds::new(noise).take(10, random), 0.05).unwrap().contains(truth).into()
    })
}

/// Whether the interval about the mean with the radius given for (n, sd) excludes 0 for any n up to 100.
fn ever_excluded(shape: Shape, radius: impl Fn(usize, f64) -> Option<f64>, random: &mut Pcg) -> bool {
    let d = Rounds::new(Noise::both_sides(shape)).take(100, random);
    (6..=100).any(|n| {
        let (mean, sd) = moments(&d[..n]).unwrap();
        radius(n, sd).is_some_and(|radius| mean.abs() > radius)
    })
}

const PEEKING: &str = "Looking after each of 100 rounds: a difference is claimed though there is none";

fn peeking() -> Cell {
    let quantiles = || (0..=100_u8).map(|n| student::quantile(0.975, f64::from(n) - 1.0).unwrap_or(0.0)).collect();
    let name = "control: t interval, stop when it excludes 0";
    Cell::prepared(PEEKING, name, Expect::NotIn(0.0..=0.20), quantiles, |t: &Vec<f64>, random| {
        ever_excluded(Shape::Normal, |n, sd| Some(t[n] * sd / (n as f64).sqrt()), random).into()
    })
    .nominal("5 %")
    .fast_if(true)
}

fn anytime(shape: Shape) -> Cell {
    let name = format!("anytime-valid interval, {shape:?}").to_lowercase();
    Cell::new(PEEKING, name, Expect::In(0.0..=0.05), move |random| {
        ever_excluded(shape, |n, sd| anytime_radius(n, sd, 0.05, ANYTIME_G), random).into()
    })
    .nominal("at most 5 %")
    .fast_if(shape == Shape::Normal)
}

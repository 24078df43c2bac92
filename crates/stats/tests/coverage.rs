//! How often the intervals contain the truth, in simulated experiments with fixed seeds; and that this simulation
//! would notice intervals that do not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use vmtax_stats::{
    ANYTIME_G, Decision, Margin, anytime_radius, decide, hodges_lehmann, loss_percent, moments, next_look, overhead,
    percent, pseudomedian, student,
};

/// PCG32 (O'Neill 2014): 64 bits of state, XSH-RR.
struct Pcg(u64);

impl Pcg {
    fn new(seed: u64) -> Pcg {
        let mut pcg = Pcg(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        pcg.next();
        pcg
    }

    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (((state >> 18) ^ state) >> 27) as u32;
        mixed.rotate_right((state >> 59) as u32)
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        (f64::from(self.next()) + 0.5) / 2.0_f64.powi(32)
    }

    /// Standard normal (Box & Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }
}

/// The shapes of the noise of one round's log ratio.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Normal on both sides.
    Normal,
    /// Normal on both sides; an exponential delay in the guest only.
    SkewGuest,
    /// Normal on both sides; one run in twenty is 50 % slower in the guest only.
    SpikesGuest,
    /// The same on both sides.
    Spikes,
}

const SD: f64 = 0.05;

impl Noise {
    fn draw(self, random: &mut Pcg) -> f64 {
        let spike = |random: &mut Pcg| if random.uniform() < 0.05 { 1.5_f64.ln() } else { 0.0 };
        let both = SD * random.normal();
        both + match self {
            Noise::Normal => 0.0,
            Noise::SkewGuest => -SD * random.uniform().ln(),
            Noise::SpikesGuest => spike(random),
            Noise::Spikes => spike(random) - spike(random),
        }
    }

    fn rounds(self, n: usize, random: &mut Pcg) -> Vec<f64> {
        (0..n).map(|_| self.draw(random)).collect()
    }

    /// The distribution's own pseudomedian, from a great sample.
    fn truth(self) -> f64 {
        match self {
            Noise::Normal | Noise::Spikes => 0.0,
            _ => pseudomedian(&self.rounds(300_000, &mut Pcg::new(99))).unwrap(),
        }
    }
}

/// The share of `experiments` that contain the truth.
fn coverage(experiments: u32, seed: u64, mut contains: impl FnMut(&mut Pcg) -> bool) -> f64 {
    let mut random = Pcg::new(seed);
    let hits = (0..experiments).filter(|_| contains(&mut random)).count();
    hits as f64 / f64::from(experiments)
}

/// What a nominal 95 % interval must have, and a control that is known to be wrong must not.
const BAND: std::ops::RangeInclusive<f64> = 0.93..=0.97;

/// What the deliberately conservative interval of a study must have.
const ADAPTIVE_BAND: std::ops::RangeInclusive<f64> = 0.94..=0.99;

#[test]
fn the_signed_rank_interval_has_its_level_for_every_shape_and_size() {
    for noise in [Noise::Normal, Noise::SkewGuest, Noise::SpikesGuest] {
        let truth = noise.truth();
        for n in [8, 10, 20] {
            let found = coverage(2000, n as u64, |random| {
                hodges_lehmann(&noise.rounds(n, random), 0.05).unwrap().contains(truth)
            });
            println!("{noise:?} n = {n}: {found}");
            assert!(BAND.contains(&found), "{noise:?}, n = {n}: {found}");
        }
    }
}

/// One study that stops on width: whether its last interval contains the truth, and its rounds.
fn study(noise: Noise, truth: f64, random: &mut Pcg) -> (bool, usize) {
    let (target, cap) = (Margin::relative(0.02).unwrap(), 157);
    let mut d = Vec::new();
    while let Some(look) = next_look(d.len(), cap) {
        d.extend(noise.rounds(look - d.len(), random));
        let interval = overhead(&d).unwrap().interval.unwrap();
        match decide(&interval, target, cap) {
            Decision::MoreRounds { .. } => {}
            Decision::Precise | Decision::Imprecise { .. } => {
                return (interval.contains(truth), d.len());
            }
        }
    }
    unreachable!("the last look decides")
}

#[test]
fn stopping_on_width_keeps_the_level() {
    for noise in [Noise::Normal, Noise::SpikesGuest, Noise::SkewGuest, Noise::Spikes] {
        let truth = noise.truth();
        let (experiments, mut rounds) = (1000, 0);
        let found = coverage(experiments, 7, |random| {
            let (contains, n) = study(noise, truth, random);
            rounds += n;
            contains
        });
        println!("{noise:?}: {found}, {} rounds", f64::from(rounds as u32) / f64::from(experiments));
        assert!(ADAPTIVE_BAND.contains(&found), "{noise:?}: {found}");
    }
}

#[test]
fn control_all_of_the_host_before_all_of_the_guest_is_far_below_the_level() {
    // Machine noise AR(1), φ = 0.9, sd 5 %; own noise of each run 2 %; ten runs a side.
    let found = coverage(2000, 3, |random| {
        let (phi, own) = (0.9_f64, 0.02);
        let mut machine = SD * random.normal();
        let runs: Vec<f64> = (0..20)
            .map(|_| {
                machine = phi * machine + (1.0 - phi * phi).sqrt() * SD * random.normal();
                machine + own * random.normal()
            })
            .collect();
        let (host, guest) = runs.split_at(10);
        let d: Vec<f64> = guest.iter().zip(host).map(|(guest, host)| guest - host).collect();
        hodges_lehmann(&d, 0.05).unwrap().contains(0.0)
    });
    println!("sequential blocks: {found}");
    assert!(found < 0.70 && !BAND.contains(&found), "{found}");
}

#[test]
fn control_the_percentile_bootstrap_of_ten_rounds_with_spikes_is_far_below_the_level() {
    let truth = 0.05 * 1.5_f64.ln();
    let found = coverage(1000, 4, |random| {
        let d: Vec<f64> = (0..10)
            .map(|_| 0.2 * SD * random.normal() + if random.uniform() < 0.05 { 1.5_f64.ln() } else { 0.0 })
            .collect();
        let mut means: Vec<f64> = (0..400).map(|_| (0..10).map(|_| d[random.below(10)]).sum::<f64>() / 10.0).collect();
        means.sort_by(f64::total_cmp);
        means[9] <= truth && truth <= means[390]
    });
    println!("percentile bootstrap: {found}");
    assert!(found < 0.70 && !BAND.contains(&found), "{found}");
}

/// The share of experiments in which an interval about the mean of n rounds, with the radius given for (n, sd),
/// excludes the truth for at least one n up to 100.
fn ever_excluded(radius: impl Fn(usize, f64) -> Option<f64>) -> f64 {
    coverage(1000, 8, |random| {
        let d = Noise::Normal.rounds(100, random);
        (6..=100).any(|n| {
            let (mean, sd) = moments(&d[..n]).unwrap();
            radius(n, sd).is_some_and(|radius| mean.abs() > radius)
        })
    })
}

#[test]
fn the_anytime_interval_may_be_looked_at_after_every_round_and_the_t_interval_may_not() {
    let anytime = ever_excluded(|n, sd| anytime_radius(n, sd, 0.05, ANYTIME_G));
    let t: Vec<f64> = (0..=100_u8).map(|n| student::quantile(0.975, f64::from(n) - 1.0).unwrap_or(0.0)).collect();
    let peeking = ever_excluded(|n, sd| Some(t[n] * sd / (n as f64).sqrt()));
    println!("ever excluded: anytime {anytime}, t {peeking}");
    assert!(anytime <= 0.05, "{anytime}");
    assert!(peeking >= 0.20, "{peeking}");
}

#[test]
fn correlated_rounds_are_noticed_about_half_of_the_time_and_cost_little_coverage() {
    // AR(1) with φ = 0.3 in d itself, 64 rounds: a documented limit (90 %).
    let mut noticed = 0;
    let found = coverage(1000, 5, |random| {
        let mut d = vec![SD * random.normal()];
        while d.len() < 64 {
            let last = d[d.len() - 1];
            d.push(0.3 * last + (1.0_f64 - 0.09).sqrt() * SD * random.normal());
        }
        let found = overhead(&d).unwrap();
        noticed += u32::from(found.serial.is_correlated());
        found.interval.unwrap().contains(0.0)
    });
    println!("AR(0.3): {found}, noticed {noticed} of 1000");
    assert!(found >= 0.90, "{found}");
    assert!(noticed >= 450, "{noticed}");
}

#[test]
fn an_injected_overhead_is_recovered() {
    let mut random = Pcg::new(6);
    for injected in [0.01_f64, 0.03, 0.10, 0.50] {
        let d: Vec<f64> = (0..40).map(|_| injected.ln_1p() + 0.002 * random.normal()).collect();
        let found = overhead(&d).unwrap();
        assert!((percent(found.typical) - 100.0 * injected).abs() < 0.2);
        assert!((loss_percent(found.typical) - 100.0 * injected / (1.0 + injected)).abs() < 0.2);
    }
}

//! Simulated experiments: what makes the logarithms of two costs differ, and the rounds that come of it.

use vmtax_stats::pseudomedian;

use crate::random::Pcg;

/// The noise of one run by itself, on the log scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Normal, sd 3.5 %.
    Normal,
    /// A delay of log-normal length (σ = 1), 5 % in the mean.
    Lognormal,
    /// A delay of exponential length, 5 % in the mean.
    Exponential,
    /// One run in five is 10 % slower; sd 2 % besides.
    Bimodal,
    /// One run in twenty is 50 % slower; sd 2 % besides.
    Spikes,
    /// Student's t with three degrees of freedom, scale 2 %.
    T3,
    /// Normal, sd 3.5 %, in steps of 2 %: many equal values.
    Quantised,
}

pub const SHAPES: [Shape; 7] =
    [Shape::Normal, Shape::Lognormal, Shape::Exponential, Shape::Bimodal, Shape::Spikes, Shape::T3, Shape::Quantised];

impl Shape {
    pub fn draw(self, random: &mut Pcg) -> f64 {
        match self {
            Shape::Normal => 0.035 * random.normal(),
            Shape::Lognormal => (0.03 * random.normal().exp()).ln_1p(),
            Shape::Exponential => 0.05 * random.exponential(),
            Shape::Bimodal => 0.02 * random.normal() + if random.happens(0.2) { 0.1 } else { 0.0 },
            Shape::Spikes => 0.02 * random.normal() + if random.happens(0.05) { 1.5_f64.ln() } else { 0.0 },
            Shape::T3 => {
                let square: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                0.02 * random.normal() / (square / 3.0).sqrt()
            }
            Shape::Quantised => (0.035 * random.normal() / 0.02).round() * 0.02,
        }
    }

    fn is_symmetric(self) -> bool {
        matches!(self, Shape::Normal | Shape::T3 | Shape::Quantised)
    }
}

/// What the machine does to whatever runs on it, run after run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Machine {
    /// Nothing.
    Quiet,
    /// An AR(1) process with this φ, sd 5 %.
    Wandering(f64),
    /// Each run is 0.5 % slower than the one before.
    Drifting,
    /// Every other run is 20 % slower.
    Alternating,
}

pub const MACHINES: [Machine; 6] = [
    Machine::Wandering(0.0),
    Machine::Wandering(0.5),
    Machine::Wandering(0.9),
    Machine::Wandering(0.98),
    Machine::Drifting,
    Machine::Alternating,
];

/// The machine's noise, one run after the other.
pub struct Runs {
    machine: Machine,
    done: u32,
    wander: Option<f64>,
}

impl Runs {
    pub fn new(machine: Machine) -> Runs {
        Runs { machine, done: 0, wander: None }
    }

    pub fn next(&mut self, random: &mut Pcg) -> f64 {
        self.done += 1;
        match self.machine {
            Machine::Quiet => 0.0,
            Machine::Wandering(phi) => {
                let fresh = 0.05 * random.normal();
                let now = self.wander.map_or(fresh, |before| phi * before + (1.0 - phi * phi).sqrt() * fresh);
                *self.wander.insert(now)
            }
            Machine::Drifting => 0.005 * f64::from(self.done),
            Machine::Alternating => 1.2_f64.ln() * f64::from(self.done % 2),
        }
    }
}

/// Where the noise of a simulated experiment comes from.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    pub shape: Shape,
    /// The host has normal noise (sd 2 %) instead of the shape.
    pub guest_only: bool,
    pub machine: Machine,
}

impl Noise {
    pub fn both_sides(shape: Shape) -> Noise {
        Noise { shape, guest_only: false, machine: Machine::Quiet }
    }

    pub fn guest_only(shape: Shape) -> Noise {
        Noise { guest_only: true, ..Noise::both_sides(shape) }
    }

    /// Normal noise of both sides on such a machine.
    pub fn on(machine: Machine) -> Noise {
        Noise { machine, ..Noise::both_sides(Shape::Normal) }
    }

    pub fn name(&self) -> String {
        let side = if self.guest_only { ", guest only" } else { "" };
        match self.machine {
            Machine::Quiet => format!("{:?}{side}", self.shape).to_lowercase(),
            Machine::Wandering(phi) => format!("machine AR({phi})"),
            Machine::Drifting => "machine drifts 0.5 % a run".to_owned(),
            Machine::Alternating => "machine slow every other run".to_owned(),
        }
    }

    /// The pseudomedian of `d`: 0 by symmetry, unless only the guest has a tail.
    pub fn truth(&self) -> f64 {
        if !self.guest_only || self.shape.is_symmetric() {
            return 0.0;
        }
        let mut random = Pcg::new(99);
        pseudomedian(&Rounds::new(*self).take(200_000, &mut random)).unwrap()
    }
}

/// Paired rounds, host and guest in random order in each.
pub struct Rounds {
    noise: Noise,
    runs: Runs,
}

impl Rounds {
    pub fn new(noise: Noise) -> Rounds {
        Rounds { noise, runs: Runs::new(noise.machine) }
    }

    /// The log cost ratios of the next `n` rounds.
    pub fn take(&mut self, n: usize, random: &mut Pcg) -> Vec<f64> {
        (0..n).map(|_| self.next(random)).collect()
    }

    /// The log cost ratio of the next round.
    pub fn next(&mut self, random: &mut Pcg) -> f64 {
        let (first, second) = (self.runs.next(random), self.runs.next(random));
        let (host, guest) = if random.happens(0.5) { (first, second) } else { (second, first) };
        let own = if self.noise.guest_only { 0.02 * random.normal() } else { self.noise.shape.draw(random) };
        guest + self.noise.shape.draw(random) - (host + own)
    }
}

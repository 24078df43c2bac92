//! Two studies against each other: the figures and what follows from them, and how it is told.
#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod formats;
mod gate;
mod pairs;
#[path = "../sample/mod.rs"]
mod sample;

use model::Outcome;
use sample::Study;

/// Numbers that are random enough (SplitMix64), the same in every build.
pub struct Noise(pub u64);

impl Noise {
    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box & Muller).
    pub fn gauss(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A study under KVM whose runs have noise of half a percent of their own, and whose guest costs `cost` times what it usually does.
pub fn study(seed: u64, rounds: u32, cost: f64) -> Study {
    let mut study = Study::kvm(rounds);
    study.spread = 0.0;
    study.slowdown = study.slowdown.map(|usual| usual * cost);
    study.manifest.created += seed as f64;
    let mut study = study.measured(rounds);
    let mut noise = Noise(seed);
    study.each_run(|run| {
        if let Outcome::Measured { values } = &mut run.outcome {
            let by = (0.005 * noise.gauss()).exp();
            values.values_mut().for_each(|value| *value *= by);
        }
    });
    study
}

/// The gate of two studies named `before` and `after`.
pub fn gate(a: &Study, b: &Study) -> vmtax_report::compare::Gate {
    vmtax_report::compare::compare(&named(a, "before"), &named(b, "after"), None, None).expect("something in common")
}

/// The analysis of a study in a folder of this name.
pub fn named(study: &Study, name: &str) -> vmtax_report::Analysis {
    vmtax_report::Analysis { folder: Some(name.to_owned()), ..study.analyse() }
}

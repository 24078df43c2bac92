//! One row of the table: an experiment that is repeated many times, and what its mean must be.

use std::ops::RangeInclusive;

use crate::random::Pcg;

/// What one experiment gave.
pub struct Trial {
    /// 1 or 0 for "did it happen", or an error in percent points.
    pub value: f64,
    /// The rounds of a study that stopped by itself.
    pub rounds: Option<usize>,
}

impl From<bool> for Trial {
    fn from(happened: bool) -> Trial {
        Trial { value: f64::from(u8::from(happened)), rounds: None }
    }
}

/// What the mean of all experiments must be.
#[derive(Debug, Clone)]
pub enum Expect {
    /// In this band.
    In(RangeInclusive<f64>),
    /// Outside of it: a method known to be wrong, which shows that the simulation can tell.
    NotIn(RangeInclusive<f64>),
    /// It should be in the first band and is not: a known limit of the method, which the second band holds fast.
    Limit(RangeInclusive<f64>, RangeInclusive<f64>),
}

impl Expect {
    pub fn band(&self) -> &RangeInclusive<f64> {
        let (Expect::In(band) | Expect::NotIn(band) | Expect::Limit(band, _)) = self;
        band
    }

    /// What to write behind the measured value; `Err` if the test fails.
    fn judge(&self, measured: f64) -> Result<&'static str, &'static str> {
        match self {
            Expect::In(band) if band.contains(&measured) => Ok("pass"),
            Expect::NotIn(band) if !band.contains(&measured) => Ok("outside, as it must be"),
            Expect::Limit(wanted, known) if !wanted.contains(&measured) && known.contains(&measured) => {
                Ok("known limit")
            }
            _ => Err("**FAIL**"),
        }
    }
}

/// The unit of the value of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unit {
    /// How often something happened, 0 to 1.
    Share,
    /// Percent points.
    Points,
}

/// Makes what all experiments of a cell share, and then the experiment.
type Prepare = Box<dyn Fn() -> Box<dyn Fn(&mut Pcg) -> Trial>>;

pub struct Cell {
    pub group: &'static str,
    pub name: String,
    pub experiments: u32,
    pub nominal: &'static str,
    pub unit: Unit,
    pub expect: Expect,
    /// Also in the set that runs with every `cargo test`.
    pub fast: bool,
    prepare: Prepare,
}

/// The experiments of a cell, unless it says otherwise: the standard error of 95 % is then half a point.
pub const EXPERIMENTS: u32 = 2000;

impl Cell {
    /// A cell whose experiment needs something (such as the truth) that takes long to make, but only once.
    pub fn prepared<Shared: 'static>(
        group: &'static str,
        name: impl Into<String>,
        expect: Expect,
        prepare: impl Fn() -> Shared + 'static,
        experiment: impl Fn(&Shared, &mut Pcg) -> Trial + Clone + 'static,
    ) -> Cell {
        let prepare: Prepare = Box::new(move || {
            let (shared, experiment) = (prepare(), experiment.clone());
            Box::new(move |random| experiment(&shared, random))
        });
        let (name, experiments) = (name.into(), EXPERIMENTS);
        Cell { group, name, experiments, nominal: "95 %", unit: Unit::Share, expect, fast: false, prepare }
    }

    pub fn new(
        group: &'static str,
        name: impl Into<String>,
        expect: Expect,
        experiment: impl Fn(&mut Pcg) -> Trial + Clone + 'static,
    ) -> Cell {
        Cell::prepared(group, name, expect, || (), move |(), random| experiment(random))
    }

    pub fn nominal(self, nominal: &'static str) -> Cell {
        Cell { nominal, ..self }
    }

    pub fn experiments(self, experiments: u32) -> Cell {
        Cell { experiments, ..self }
    }

    pub fn in_points(self) -> Cell {
        Cell { unit: Unit::Points, nominal: "0", ..self }
    }

    pub fn fast_if(self, fast: bool) -> Cell {
        Cell { fast, ..self }
    }

    /// Runs all experiments. The seed depends on the names only, so that a cell gives the same in every set.
    pub fn run(&self) -> Row {
        let mut random = Pcg::new(fnv(&[self.group, &self.name]));
        let experiment = (self.prepare)();
        let (mut sum, mut rounds) = (0.0, 0);
        for _ in 0..self.experiments {
            let trial = experiment(&mut random);
            sum += trial.value;
            rounds += trial.rounds.unwrap_or(0);
        }
        let n = f64::from(self.experiments);
        let measured = sum / n;
        let verdict = self.expect.judge(measured);
        let rounds = if rounds > 0 { format!("{:.1}", rounds as f64 / n) } else { String::new() };
        let text = format!(
            "| {} | {} | {} | {} | {} | {} | {rounds} |",
            self.name,
            self.experiments,
            self.nominal,
            self.show(measured),
            self.show_band(),
            verdict.unwrap_or_else(|failed| failed),
        );
        Row { text, failed: verdict.is_err() }
    }

    fn show(&self, value: f64) -> String {
        match self.unit {
            Unit::Share => format!("{:.2} %", 100.0 * value),
            Unit::Points => format!("{value:+.3}"),
        }
    }

    fn show_band(&self) -> String {
        let (low, high) = self.expect.band().clone().into_inner();
        let number = |x: f64| match self.unit {
            Unit::Share => format!("{}", (1e4 * x).round() / 1e2),
            Unit::Points => format!("{x}"),
        };
        match (self.unit, low <= 0.0, high >= 1.0) {
            (Unit::Share, true, _) => format!("at most {}", number(high)),
            (Unit::Share, _, true) => format!("at least {}", number(low)),
            _ => format!("{} to {}", number(low), number(high)),
        }
    }
}

/// The result of a cell, as a line of a Markdown table.
pub struct Row {
    pub text: String,
    pub failed: bool,
}

/// FNV-1a (Fowler, Noll & Vo).
fn fnv(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

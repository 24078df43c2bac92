//! Self-tests: how often a study cries wolf where nothing differs, and how well it finds an overhead that is known
//! (statistics.md 8, items 3 and 4).
//!
//! A self-test is a study like any other with a fixed number of rounds, over other machines. What kind it is stands in the names of
//! its machines: [`HOST_B`] and [`GUEST_B`] are twins of the host and the guest, and [`padded`] names a host whose work is made
//! longer by a known percentage. Its rounds are cut into disjoint groups of eight, each of which is judged as if it were a study.
//!
//! Metrics of one round share its guests and its neighbours, so verdicts of one group go together more than independent ones would.
//! The limits are those of independent verdicts nevertheless, which is the strict side; the standard error that the groups really
//! show is given beside each share.

mod aa;
mod injected;
mod text;

pub use aa::{Aa, Noise};
pub use injected::{Injected, Recovery};
pub use text::text;

use crate::ReportError;
use model::record::{Event, GUEST, HOST, Line, Manifest};
use model::{Accelerator, Benchmark, Metric};
use serde::Serialize;
use std::collections::BTreeMap;
use validity::{Block, Ledger};

/// Rounds of a group: the fewest that make a study.
pub const GROUP: usize = stats::STUDY_ROUNDS;
/// With fewer groups nothing is judged: one unlucky group would decide.
pub const LEAST_GROUPS: usize = 4;
/// A second agent on the host.
pub const HOST_B: &str = "host-b";
/// A second guest, made as the first.
pub const GUEST_B: &str = "guest-b";
/// What is compared in a study of the same against itself.
pub const PAIRS: [[&str; 2]; 2] = [[HOST, HOST_B], [GUEST, GUEST_B]];
/// Number of the JSON format.
const SCHEMA: u32 = 1;

/// Name of the host whose work is made longer by so many percent.
pub fn padded(percent: u64) -> String {
    format!("{HOST}+{percent}")
}

/// By how many percent the work of the machine of this name is made longer; none for ordinary machines.
pub fn padding(machine: &str) -> Option<u64> {
    machine.strip_prefix(HOST)?.strip_prefix('+')?.parse().ok()
}

/// What a self-test found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "selftest", rename_all = "lowercase")]
pub enum SelfTest {
    /// The same against itself.
    Aa(Aa),
    /// Known overheads.
    Injected(Injected),
}

/// What one may conclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Judgement {
    /// Everything is within its limit.
    Pass,
    /// Something is not.
    Fail,
    /// A comparison has fewer than [`LEAST_GROUPS`] groups.
    TooFewRounds,
}

/// The study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Head {
    /// Number of this format.
    pub schema: u32,
    /// Version of the writer.
    pub vmtax: String,
    /// When the study began, seconds since 1970.
    pub created: f64,
    /// Who executed the guests' instructions.
    pub accelerator: Accelerator,
    /// Seed of the random orders.
    pub seed: u64,
    /// Rounds that were planned.
    pub rounds_planned: u32,
    /// Rounds that count.
    pub rounds: usize,
    /// Groups of the comparison that has fewest.
    pub groups: usize,
    /// What one may conclude.
    pub judgement: Judgement,
    /// How steady each machine was.
    pub canaries: Vec<Canary>,
}

/// The spin loop of one machine over all its visits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Canary {
    /// The machine.
    pub machine: String,
    /// Median, seconds.
    pub median_seconds: f64,
    /// Largest distance of a visit from the median, percent of it.
    pub worst_change_percent: f64,
}

/// How many of a study's verdicts are so, against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Verdicts that are so.
    pub count: usize,
    /// All verdicts.
    pub of: usize,
    /// Their share, percent; none without verdicts.
    pub percent: Option<f64>,
    /// Standard error of the share as the groups differ, points; none with fewer than two groups.
    pub standard_error_points: Option<f64>,
    /// The limit of the share, percent.
    pub limit_percent: f64,
    /// True where the share is on the right side of the limit, or on it.
    pub within: bool,
}

impl SelfTest {
    /// The study.
    pub fn head(&self) -> &Head {
        match self {
            SelfTest::Aa(aa) => &aa.head,
            SelfTest::Injected(injected) => &injected.head,
        }
    }
}

/// Evaluates the study of a self-test; none where it is a study of another kind.
pub fn evaluate(manifest: &Manifest, lines: &[Line]) -> Option<SelfTest> {
    if manifest.machines.contains_key(HOST_B) {
        return Some(SelfTest::Aa(aa::evaluate(manifest, lines)));
    }
    let paddings: Vec<u64> = manifest.machines.keys().filter_map(|name| padding(name)).collect();
    (!paddings.is_empty()).then(|| SelfTest::Injected(injected::evaluate(manifest, lines, &paddings)))
}

/// The findings as JSON.
pub fn json(test: &SelfTest) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(test)?;
    text.push('\n');
    Ok(text)
}

/// One metric between two machines, over the blocks that count.
struct Series<'a> {
    benchmark: &'a Benchmark,
    metric: &'a Metric,
    /// Values of the two machines by block, in time order.
    values: Vec<[f64; 2]>,
    /// Log cost ratios by block, in time order.
    ratios: Vec<f64>,
    /// Blocks that do not count: a side was not measured, or a check rejects them.
    dropped: usize,
}

impl<'a> Series<'a> {
    /// Every metric of the plan between two machines.
    fn all(manifest: &'a Manifest, lines: &[Line], base: &str, other: &str) -> Vec<Self> {
        let ledger = Ledger::between(lines, base, other);
        let mut all = Vec::new();
        for benchmark in &manifest.benchmarks {
            let (blocks, unmeasured) = ledger.blocks(&manifest.plan.limits, benchmark);
            let counted: Vec<&Block<'_>> = blocks.iter().filter(|block| block.counts()).collect();
            let dropped = unmeasured + blocks.len() - counted.len();
            all.extend(benchmark.metrics.iter().map(|metric| Series {
                benchmark,
                metric,
                values: counted.iter().filter_map(|block| block.values(metric)).collect(),
                ratios: counted.iter().filter_map(|block| block.log_cost_ratio(metric)).collect(),
                dropped,
            }));
        }
        all
    }

    /// The interval of each group, in time order. A group that has none (all its values are equal, say) keeps its place.
    fn groups(&self) -> impl Iterator<Item = Option<stats::Interval>> {
        self.ratios.chunks_exact(GROUP).map(|group| stats::overhead(group)?.interval)
    }
}

/// Counts of a kind of verdict by group.
#[derive(Default)]
struct Tally(Vec<[usize; 2]>);

impl Tally {
    fn note(&mut self, group: usize, is_so: bool) {
        if self.0.len() <= group {
            self.0.resize(group + 1, [0, 0]);
        }
        self.0[group][0] += usize::from(is_so);
        self.0[group][1] += 1;
    }

    /// Against the nominal share, as percent, that `slack` standard errors of independent verdicts may be missed by. `side` is 1 where
    /// the share must not be above, and -1 where it must not be below.
    fn rate(&self, nominal: f64, slack: f64, side: f64) -> Rate {
        let (count, of) = self.0.iter().fold((0, 0), |(count, of), [c, n]| (count + c, of + n));
        let share = count as f64 / of.max(1) as f64;
        let limit = nominal + side * slack * (nominal * (1.0 - nominal) / of.max(1) as f64).sqrt();
        let groups = self.0.len() as f64;
        // The linearised variance of a ratio whose groups are the sampling units.
        let squares: f64 = self.0.iter().map(|[c, n]| (*c as f64 - share * *n as f64).powi(2)).sum();
        let error = (groups / (groups - 1.0) * squares).sqrt() / of.max(1) as f64;
        Rate {
            count,
            of,
            percent: (of > 0).then_some(100.0 * share),
            standard_error_points: (groups > 1.0).then_some(100.0 * error),
            limit_percent: 100.0 * limit,
            within: side * (share - limit) <= 0.0,
        }
    }
}

fn head(manifest: &Manifest, lines: &[Line], groups: Option<usize>, within: bool) -> Head {
    let groups = groups.unwrap_or(0);
    let judgement = match (groups, within) {
        (..LEAST_GROUPS, _) => Judgement::TooFewRounds,
        (_, true) => Judgement::Pass,
        (_, false) => Judgement::Fail,
    };
    let ledger = Ledger::new(lines);
    Head {
        schema: SCHEMA,
        vmtax: manifest.vmtax.clone(),
        created: manifest.created,
        accelerator: manifest.accelerator,
        seed: manifest.plan.seed,
        rounds_planned: manifest.plan.rounds,
        rounds: ledger.used().len(),
        groups,
        judgement,
        canaries: canaries(lines, ledger.used()),
    }
}

fn canaries(lines: &[Line], used: &[(u32, u32)]) -> Vec<Canary> {
    let mut seconds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in lines {
        if let Event::Visited { machine, round, attempt, canary_seconds: Some(canary), .. } = &line.event
            && used.contains(&(*round, *attempt))
        {
            seconds.entry(machine).or_default().push(*canary);
        }
    }
    let canary = |(machine, seconds): (&str, Vec<f64>)| {
        let median = stats::median(&seconds).filter(|m| *m > 0.0)?;
        let worst = seconds.iter().map(|s| (s / median - 1.0).abs()).fold(0.0, f64::max);
        Some(Canary { machine: machine.to_owned(), median_seconds: median, worst_change_percent: 100.0 * worst })
    };
    seconds.into_iter().filter_map(canary).collect()
}

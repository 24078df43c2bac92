//! Did it get better or worse? [`compare`] holds two studies against each other (statistics.md, section 7).
//!
//! What is compared is d, the log of (cost in the guest / cost on the host), of each round: a host that is slower today than
//! last week is slower in both parts of the ratio and cancels. Only equal cells are compared: same benchmark, parameters,
//! workload or tool version, and instruction set. Everything else may differ, and [`Gate::differences`] says what does.

mod cell;
mod change;
mod environment;
mod junit;
mod markdown;
pub(crate) mod sentences;

pub use crate::text::gate::text;
pub use cell::{LeftOut, ParamDifference, Reason};
pub use change::{Change, Confirmation, Shift, Side, Verdict};
pub use environment::Difference;
pub use junit::junit;
pub use markdown::markdown;

use crate::ReportError;
use crate::analysis::Analysis;
use crate::locale::{Lang, Words};
use model::Accelerator;
use model::record::{GUEST, HOST};
use serde::Serialize;

/// Number of the JSON format; raised when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;
/// The chance of a false regression or improvement that is accepted, for all primary metrics together.
pub const ALPHA: f64 = 0.05;
/// Fewest rounds on each side for any test (4 + 4 have a least p of 0.029).
pub const FEWEST_ROUNDS: usize = 4;

/// One of the studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Which {
    /// The baseline.
    A,
    /// What is judged.
    B,
    /// A fresh repetition of B.
    C,
}

impl Which {
    /// The letter.
    pub fn letter(self) -> &'static str {
        match self {
            Which::A => "A",
            Which::B => "B",
            Which::C => "C",
        }
    }
}

/// What two studies say about each other. Serialized, it is the JSON format: values in the metrics' base units, fields whose
/// names end in `percent` in percent, in `log` as natural logarithms. A figure that is not known is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What follows.
    pub decision: Decision,
    /// The studies: A, B, and C where there is one.
    pub studies: Vec<Study>,
    /// What a reader must know before any figure.
    pub notes: Vec<Note>,
    /// [`ALPHA`].
    pub alpha: f64,
    /// Primary metrics that were tested: the family over which p values are adjusted (Holm).
    pub family: usize,
    /// Rounds that each study needs before the test can call any one of the comparable primary metrics changed.
    pub rounds_needed: usize,
    /// Every metric that could be compared, by area. Only primary ones have a verdict.
    pub changes: Vec<Change>,
    /// What could not be compared, and why.
    pub left_out: Vec<LeftOut>,
    /// What differs between the environments of A and B.
    pub differences: Vec<Difference>,
}

/// What follows from a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// No metric got worse, and at least one is known not to have.
    NoRegression,
    /// Some metric got worse.
    Regression,
    /// Nothing is known of any metric, or a regression could be neither confirmed nor refuted.
    Undecided,
}

/// What a reader must know of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// Which one.
    pub which: Which,
    /// Its folder as the user named it; empty where nobody said.
    pub name: String,
    /// When it began, seconds since 1970.
    pub created: f64,
    /// Version of the vmtax that measured.
    pub vmtax: String,
    /// Complete rounds.
    pub rounds: usize,
    /// Who executed the guest's instructions.
    pub accelerator: Accelerator,
    /// Program and version.
    pub hypervisor: String,
    /// Kernel of the host.
    pub host_kernel: String,
    /// Kernel of the guest.
    pub guest_kernel: String,
    /// Name of the guest's configuration.
    pub configuration: String,
}

/// Something about the whole comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The hosts have different processors.
    OtherMachine {
        /// Processor of A.
        a: String,
        /// Processor of B.
        b: String,
    },
    /// The guests were executed in different ways.
    OtherAccelerator {
        /// Of A.
        a: String,
        /// Of B.
        b: String,
    },
    /// At least one guest ran under emulation.
    Emulated,
    /// A study is compared with itself.
    SameStudy,
    /// C was measured in another environment than B.
    NotARepetition {
        /// What differs, as `property: in B → in C`.
        differs: Vec<String>,
    },
}

/// Why two studies could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// No cell is the same.
    #[error(
        "{a} and {b} have no measured cell in common. A has {a_has}; B has {b_has}. {why}\nEach can still be shown by itself: vmtax report {a}, vmtax report {b}"
    )]
    NothingInCommon {
        /// Name of A.
        a: String,
        /// Name of B.
        b: String,
        /// Benchmarks of A.
        a_has: String,
        /// Benchmarks of B.
        b_has: String,
        /// Reasons, in sentences.
        why: String,
    },
    /// The repetition is B or A itself.
    #[error("{0} cannot confirm itself: measure B once more, into a new study folder, and pass that to --confirm")]
    NotFresh(String),
    /// No margin.
    #[error("A margin cannot be {0}: it is a number of percent that is not negative")]
    Margin(String),
}

/// Compares study `b` with the baseline `a`; `fresh` is a repetition of `b` that must confirm each regression, `margin` (a fraction)
/// replaces the margins of the areas. Same input, same output.
pub fn compare(
    a: &Analysis,
    b: &Analysis,
    fresh: Option<&Analysis>,
    margin: Option<f64>,
) -> Result<Gate, CompareError> {
    if let Some(margin) = margin
        && stats::Margin::relative(margin).is_none()
    {
        return Err(CompareError::Margin(format!("{} %", 100.0 * margin)));
    }
    if let Some(fresh) = fresh.filter(|fresh| same_study(a, fresh) || same_study(b, fresh)) {
        return Err(CompareError::NotFresh(name(fresh, Which::C)));
    }
    let (mut changes, left_out) = cell::pair(a, b, Which::B, margin);
    let primary = changes.iter().filter(|c| c.metric.primary).count();
    if primary == 0 {
        return Err(nothing_in_common(a, b, &left_out));
    }
    let family = change::judge(&mut changes);
    if let Some(fresh) = fresh {
        let (repeated, _) = cell::pair(a, fresh, Which::C, margin);
        change::confirm(&mut changes, repeated);
    }
    let differences = environment::differences(&a.manifest, &b.manifest);
    let mut studies = vec![study(a, Which::A), study(b, Which::B)];
    studies.extend(fresh.map(|fresh| study(fresh, Which::C)));
    Ok(Gate {
        schema: SCHEMA,
        decision: decide(&changes),
        studies,
        notes: notes(a, b, fresh),
        alpha: ALPHA,
        family,
        rounds_needed: change::rounds_needed(primary),
        changes,
        left_out,
        differences,
    })
}

/// The comparison as JSON; see [`Gate`] for its fields.
pub fn json(gate: &Gate) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(gate)?;
    text.push('\n');
    Ok(text)
}

impl Gate {
    /// The metrics that have a verdict.
    pub fn primary(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|c| c.verdict.is_some())
    }

    /// How many metrics got this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.primary().filter(|c| c.verdict == Some(verdict)).count()
    }
}

fn decide(changes: &[Change]) -> Decision {
    let any = |test: fn(&Change) -> bool| changes.iter().any(test);
    if any(|c| c.verdict == Some(Verdict::Regression)) {
        Decision::Regression
    } else if any(|c| c.confirmation.as_ref().is_some_and(|again| again.shown.is_none()))
        || !any(|c| c.verdict.is_some_and(Verdict::is_decided))
    {
        Decision::Undecided
    } else {
        Decision::NoRegression
    }
}

/// True where both are the same measurements, in whatever folder they are.
fn same_study(one: &Analysis, other: &Analysis) -> bool {
    one.manifest == other.manifest && one.benchmarks == other.benchmarks
}

fn notes(a: &Analysis, b: &Analysis, fresh: Option<&Analysis>) -> Vec<Note> {
    let mut notes = Vec::new();
    if same_study(a, b) {
        notes.push(Note::SameStudy);
    }
    let cpu = |study: &Analysis| study.host().map(|host| host.cpu.model.clone()).unwrap_or_default();
    if cpu(a) != cpu(b) {
        notes.push(Note::OtherMachine { a: cpu(a), b: cpu(b) });
    }
    let accelerator = |study: &Analysis| study.manifest.accelerator;
    if accelerator(a) != accelerator(b) {
        let name = |study| accelerator(study).name().to_owned();
        notes.push(Note::OtherAccelerator { a: name(a), b: name(b) });
    }
    if [Some(a), Some(b), fresh].into_iter().flatten().any(|study| accelerator(study) == Accelerator::Tcg) {
        notes.push(Note::Emulated);
    }
    let english = Words::new(Lang::En);
    let differs = fresh.map(|fresh| environment::differences(&b.manifest, &fresh.manifest)).unwrap_or_default();
    if !differs.is_empty() {
        let differs = differs.iter().map(|d| sentences::difference(d, &english)).collect();
        notes.push(Note::NotARepetition { differs });
    }
    notes
}

fn name(study: &Analysis, which: Which) -> String {
    study.folder.clone().unwrap_or_else(|| which.letter().to_owned())
}

fn study(study: &Analysis, which: Which) -> Study {
    let manifest = &study.manifest;
    let kernel = |machine: &str| manifest.machines.get(machine).map(|f| f.kernel_release.clone()).unwrap_or_default();
    Study {
        which,
        name: study.folder.clone().unwrap_or_default(),
        created: manifest.created,
        vmtax: manifest.vmtax.clone(),
        rounds: study.course.rounds_complete,
        accelerator: manifest.accelerator,
        hypervisor: manifest.hypervisor.version.clone(),
        host_kernel: kernel(HOST),
        guest_kernel: kernel(GUEST),
        configuration: manifest.plan.configuration.name.clone(),
    }
}

fn nothing_in_common(a: &Analysis, b: &Analysis, left_out: &[LeftOut]) -> CompareError {
    /// Reasons that an error tells.
    const MOST: usize = 6;
    let has = |study: &Analysis| {
        let ids: Vec<&str> = study.benchmarks.iter().map(|b| b.id.as_str()).collect();
        if ids.is_empty() { "no benchmark".to_owned() } else { ids.join(", ") }
    };
    let english = Words::new(Lang::En);
    // Where neither study has what the other has, the two lists say it all.
    let telling = left_out.iter().filter(|l| !matches!(l.reason, Reason::OnlyIn { .. }));
    let mut why: Vec<String> = telling.clone().take(MOST).map(|l| sentences::left_out(l, &english)).collect();
    if telling.count() > MOST {
        why.push("…".to_owned());
    }
    CompareError::NothingInCommon {
        a: name(a, Which::A),
        b: name(b, Which::B),
        a_has: has(a),
        b_has: has(b),
        why: why.join("; "),
    }
}

//! What a study folder holds: the manifest, written once, and the events of the journal, one a line.

use crate::benchmark::Benchmark;
use crate::check::Check;
use crate::evidence::{Idle, Series, Surroundings, Work};
use crate::facts::{Facts, HypervisorFacts};
use crate::isa::InstructionSet;
use crate::machine::Accelerator;
use crate::outcome::{Counters, HostCost, Outcome};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Number of the study folder's format. Readers refuse newer ones.
pub const FORMAT: u32 = 1;

/// Name of the machine that guests are compared with.
pub const HOST: &str = "host";
/// Name of the guest that vmtax boots.
pub const GUEST: &str = "guest";

/// `manifest.json`: everything that holds for the whole study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Version of the writer.
    pub vmtax: String,
    /// Build id of the binary that measured (SHA-256 of its file).
    pub build: String,
    /// When the study began, seconds since 1970.
    pub created: f64,
    /// The command line that began it.
    pub command: Vec<String>,
    /// The resolved plan.
    pub plan: Plan,
    /// The benchmarks of the plan, as declared.
    pub benchmarks: Vec<Benchmark>,
    /// Who executes guest instructions.
    pub accelerator: Accelerator,
    /// Why the accelerator is not the one that one would expect, if it is not.
    pub accelerator_note: Option<String>,
    /// The instruction set that the builtin workloads used on all machines.
    pub isa: InstructionSet,
    /// Facts by machine name.
    pub machines: BTreeMap<String, Facts>,
    /// What QEMU said of the guest.
    pub hypervisor: HypervisorFacts,
    /// What settings were seen in effect, by key; absent where that cannot be seen.
    pub observed: BTreeMap<String, String>,
    /// Kernel of the guest.
    pub kernel: FileFact,
    /// The toolbox image, where one is attached.
    pub toolbox: Option<FileFact>,
    /// Tools in use.
    pub tools: Vec<ToolFact>,
    /// Host CPUs to which both sides were confined.
    pub cpu_set: Vec<u32>,
    /// The data file, host side.
    pub data_file: Option<String>,
    /// File system of the data file.
    pub data_file_system: Option<String>,
    /// Things that the reader must know before any figure, in sentences.
    pub notes: Vec<String>,
}

/// A file that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFact {
    /// Where it was.
    pub path: String,
    /// SHA-256 of its contents, hexadecimal.
    pub sha256: String,
    /// What it is, for example a kernel release.
    pub what: String,
}

/// A tool that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFact {
    /// Its name.
    pub name: String,
    /// Where it was.
    pub path: String,
    /// Its own words about its version.
    pub version: String,
    /// SHA-256 of the program, hexadecimal.
    pub sha256: String,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it was written, seconds since 1970.
    pub at: f64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Line {
    /// Reads a line of a journal.
    ///
    /// Runs, which are nearly all of a journal, are read straight into their record: on the way through the enum every value of
    /// theirs would be buffered first, which takes twice as long.
    pub fn parse(text: &[u8]) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Head<'a> {
            at: f64,
            #[serde(borrow)]
            event: Cow<'a, str>,
        }
        match serde_json::from_slice(text) {
            Ok(Head { at, event }) if event == "run" => {
                Ok(Line { at, event: Event::Run(serde_json::from_slice(text)?) })
            }
            _ => serde_json::from_slice(text),
        }
    }
}

/// What can happen in a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A controller took the folder up, for the first time or again.
    Opened {
        /// Version of that controller.
        vmtax: String,
        /// Its build id.
        build: String,
    },
    /// A round began.
    RoundStarted {
        /// From 1.
        round: u32,
        /// From 1; higher where the round is repeated.
        attempt: u32,
        /// Benchmark ids in the order of their blocks.
        order: Vec<String>,
    },
    /// A guest answered.
    Booted {
        /// Its name.
        machine: String,
        /// The round.
        round: u32,
        /// The attempt.
        attempt: u32,
        /// From spawning QEMU to the agent's hello, seconds, by the controller's clock.
        ready_seconds: f64,
        /// Uncertainty of the clock comparison (half the best round trip), seconds.
        clock_uncertainty_seconds: Option<f64>,
        /// The guest's clock rate against the controller's between boot and the end of the round is taken from these: the
        /// guest's clock minus the controller's at boot, seconds.
        clock_offset_seconds: Option<f64>,
    },
    /// A run is over. Boxed because it is by far the largest event.
    Run(Box<RunRecord>),
    /// A machine was looked at while it should have been idle: before the first or after the last block of a round.
    Visited {
        /// The machine.
        machine: String,
        /// The round.
        round: u32,
        /// The attempt.
        attempt: u32,
        /// True after the last block.
        leaving: bool,
        /// Load of others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle: Option<Idle>,
        /// The shortest of several passes of the spin loop, seconds; none where it could not be run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        canary_seconds: Option<f64>,
    },
    /// The interval of a primary metric was looked at to decide whether its benchmark goes on (statistics.md 2.3).
    Look(Look),
    /// A round is over.
    RoundEnded {
        /// The round.
        round: u32,
        /// The attempt.
        attempt: u32,
        /// True where all of its machines lived to the end, so that its blocks may be used.
        complete: bool,
        /// Why not, otherwise.
        why: Option<String>,
    },
    /// The study is over, or a controller put it down.
    Ended {
        /// How.
        how: Ending,
        /// In a sentence.
        why: String,
    },
    /// A kind of event that this build does not know (written by a newer one of the same format).
    #[serde(other)]
    Unknown,
}

/// One look at one primary metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The round after which it was taken.
    pub round: u32,
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Blocks that counted.
    pub blocks: usize,
    /// Typical log cost ratio.
    pub typical_log: f64,
    /// Half of the interval's width, log scale.
    pub half_width_log: f64,
    /// The half-width at which the metric is precise enough, log scale.
    pub target_log: f64,
    /// What follows.
    pub decision: LookDecision,
    /// Blocks that the target would take in all, as far as one can tell; none where it never will.
    pub forecast: Option<usize>,
}

/// What follows from a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookDecision {
    /// Narrow enough.
    Precise,
    /// Not yet.
    MoreRounds,
    /// Not narrow enough, and it will not be within the rounds that are allowed.
    Imprecise,
}

/// How a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All rounds of the plan were made, or as many as the precision took.
    Finished,
    /// The time budget was used up; what is there is whole rounds.
    Budget,
    /// The user stopped it.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// One run: what was asked, what came of it, and what was seen meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The round, from 1.
    pub round: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Place of the block in the round, from 0.
    pub block: u32,
    /// Place of this run in its block, from 0.
    pub turn: u32,
    /// The machine.
    pub machine: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Counters read inside the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// What it cost the physical host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cost: Option<HostCost>,
    /// The timed region by the controller's clock, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller_seconds: Option<f64>,
    /// From asking to answer, set-up included, seconds.
    pub total_seconds: f64,
    /// The command, for tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Raw output, relative to the study folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Remarks of the driver, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What the tool says it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// Its throughput over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Histogram of its latencies, relative to the study folder ([`Histogram`] as JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// What the controller saw on the host meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
    /// What the checks of this run said. The evidence of which they are made is above; what needs both arms of the block or the
    /// whole study is judged by the reader of the journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// A histogram of latencies: exact counts by the tool's own bins. Histograms are merged by adding counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Latency in nanoseconds (as the tool names the bin) and how many operations took about so long, in rising order.
    pub bins: Vec<(u64, u64)>,
    /// The latency, in nanoseconds, from which on the tool cannot tell latencies apart, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturated_at: Option<u64>,
}

//! Validity checks as values: what was looked at, what was seen, and what it means for the figures (statistics.md, section 5).
//!
//! A check holds numbers, never sentences, so that reports can say it in any language and a reader can judge for himself.

use crate::evidence::Series;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a check found. Ordered by how much it says against a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Looked at, and nothing wrong.
    Pass,
    /// The signal could not be read. Never counts as a pass.
    Unknown,
    /// Something that a reader must know.
    Warn,
    /// The figure is not what it claims to be: its block is dropped.
    Invalid,
}

impl Status {
    /// The word in reports of every language.
    pub fn word(self) -> &'static str {
        match self {
            Status::Pass => "PASS",
            Status::Unknown => "UNKNOWN",
            Status::Warn => "WARN",
            Status::Invalid => "INVALID",
        }
    }
}

macro_rules! threats {
    ($($(#[$doc:meta])* $name:ident = $key:literal,)*) => {
        /// What can make a figure untrue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Threat {
            $($(#[$doc])* $name,)*
            /// A threat that this build does not know (written by a newer one of the same format).
            #[serde(other)]
            Unknown,
        }

        impl Threat {
            /// All that this build knows, in the order of reports.
            pub const ALL: &[Threat] = &[$(Threat::$name,)*];

            /// The key in journals, catalogs of texts and anchors.
            pub fn key(self) -> &'static str {
                match self {
                    $(Threat::$name => $key,)*
                    Threat::Unknown => "unknown",
                }
            }
        }
    };
}

threats! {
    /// Another accelerator than the study says.
    Accelerator = "accelerator",
    /// The guest's clock against the controller's.
    Clock = "clock",
    /// A clock source that virtual machines are not known to keep time with.
    ClockSource = "clock-source",
    /// CPU time stolen by a hypervisor above.
    Steal = "steal",
    /// vCPUs (or the host's workload) that were ready and waited for a CPU.
    RunQueue = "run-queue",
    /// One arm of a block had to share its CPUs, the other not.
    Contention = "contention",
    /// A CPU quota that throttled.
    Quota = "quota",
    /// Load of others before the runs of a machine.
    OtherLoad = "other-load",
    /// The fixed spin loop before and after the runs of a machine.
    Canary = "canary",
    /// Throttling for heat or power.
    Thermal = "thermal",
    /// CPU frequency of the two arms.
    Frequency = "frequency",
    /// Swapping, OOM kills, ballooning, page merging.
    MemoryPressure = "memory-pressure",
    /// Huge pages under one arm only.
    HugePages = "huge-pages",
    /// Bytes that reached the device by bytes that the benchmark moved.
    PageCache = "page-cache",
    /// QEMU's open descriptor against the cache mode that was asked for.
    CacheMode = "cache-mode",
    /// The guest's own page cache under a benchmark that is not direct.
    GuestPageCache = "guest-page-cache",
    /// Holes in the image: reads of them do no I/O.
    ThinProvisioning = "thin-provisioning",
    /// Runs that are too short for what they claim.
    TooShort = "too-short",
    /// No steady state within a run.
    SteadyState = "steady-state",
    /// A drop to a lower level within a run, as burst credits make it.
    BurstCredits = "burst-credits",
    /// Latencies of a load generator that waited for late answers.
    CoordinatedOmission = "coordinated-omission",
    /// Another version of a tool on one side.
    ToolVersion = "tool-version",
    /// Another kernel on one side.
    Kernel = "kernel",
    /// Differences that remain between the machines.
    Environment = "environment",
    /// Rounds that depend on one another.
    Dependence = "dependence",
    /// The host's own spread.
    HostNoise = "host-noise",
    /// Pairing that does not pay.
    Pairing = "pairing",
    /// A guest that is faster than its host.
    FasterThanHost = "faster-than-host",
    /// More blocks dropped than the rules allow.
    DroppedBlocks = "dropped-blocks",
}

/// A piece of evidence. The name of its key says what it is: `…-share` is a fraction of 1, `…-seconds`, `…-bytes`, `…-hertz`
/// are base units, everything else is a plain number or word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number.
    Number(f64),
    /// A word as the machine said it.
    Word(String),
}

impl From<f64> for Fact {
    fn from(value: f64) -> Self {
        Fact::Number(value)
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Fact::Word(value.to_owned())
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at.
    pub threat: Threat,
    /// What it means.
    pub status: Status,
    /// What was seen, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, Fact>,
}

impl Check {
    /// A check without evidence yet.
    pub fn new(threat: Threat, status: Status) -> Self {
        Check { threat, status, evidence: BTreeMap::new() }
    }

    /// The same with one more piece of evidence.
    pub fn with(mut self, key: &str, fact: impl Into<Fact>) -> Self {
        self.evidence.insert(key.to_owned(), fact.into());
        self
    }
}

/// The worst of these checks; [`Status::Pass`] where there is none.
pub fn worst<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Status {
    checks.into_iter().map(|check| check.status).max().unwrap_or(Status::Pass)
}

/// Most samples of a series that are kept with a run.
pub const SERIES_LIMIT: usize = 1000;

impl Series {
    /// True where it is one: a positive step and finite samples, not too many.
    pub fn is_sound(&self) -> bool {
        self.step_seconds > 0.0
            && self.step_seconds.is_finite()
            && self.samples.len() <= SERIES_LIMIT
            && self.samples.iter().all(|s| s.is_finite() && *s >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_says_the_same_after_the_round_trip() {
        let check = Check::new(Threat::PageCache, Status::Invalid).with("device-share", 0.02).with("mode", "writeback");
        let text = serde_json::to_string(&check).unwrap();
        assert_eq!(
            text,
            r#"{"threat":"page-cache","status":"INVALID","evidence":{"device-share":0.02,"mode":"writeback"}}"#
        );
        assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
    }

    #[test]
    fn keys_are_what_serde_writes_and_unknown_threats_are_kept_as_such() {
        for threat in Threat::ALL {
            assert_eq!(serde_json::to_string(threat).unwrap(), format!("\"{}\"", threat.key()));
        }
        let newer: Check = serde_json::from_str(r#"{"threat":"cosmic-rays","status":"WARN"}"#).unwrap();
        assert_eq!(newer.threat, Threat::Unknown);
    }

    #[test]
    fn the_worst_status_wins_and_what_is_not_known_is_no_pass() {
        let of =
            |statuses: &[Status]| worst(&statuses.iter().map(|s| Check::new(Threat::Steal, *s)).collect::<Vec<_>>());
        assert_eq!(of(&[]), Status::Pass);
        assert_eq!(of(&[Status::Pass, Status::Unknown]), Status::Unknown);
        assert_eq!(of(&[Status::Invalid, Status::Warn, Status::Unknown]), Status::Invalid);
    }
}

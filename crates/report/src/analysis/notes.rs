//! What a reader must know: notes on the study, flags on a benchmark. Warnings are values; their texts stand in `locales/`.

use super::course::Course;
use super::settings::SettingCheck;
use super::{BenchmarkReport, Strength};
use crate::Words;
use crate::figures::percent_unsigned;
use fluent_bundle::FluentValue;
use model::record::{GUEST, HOST, Manifest};
use model::{Accelerator, Fact};
use serde::Serialize;
use std::collections::BTreeMap;

/// A note on the whole study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The numbers and words that its sentence holds, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Fact>,
    /// In a sentence or two, in English.
    pub text: String,
}

impl Note {
    fn new(kind: NoteKind, facts: &[(&str, Fact)]) -> Self {
        let facts = facts.iter().map(|(name, fact)| ((*name).to_owned(), fact.clone())).collect();
        let note = Note { kind, facts, text: String::new() };
        Note { text: note.say(Words::english()), ..note }
    }

    /// In a sentence or two. What the session noted stays as it was written.
    pub fn say(&self, words: &Words) -> String {
        let facts = self.facts.iter().map(|(name, fact)| {
            let value = match fact {
                Fact::Number(number) => FluentValue::from(*number),
                Fact::Word(word) => FluentValue::from(word.as_str()),
            };
            (name.as_str(), value)
        });
        words.say(self.kind.key(), &facts.collect::<Vec<_>>())
    }
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The guest ran under emulation.
    Emulated,
    /// KVM was believed in, and QEMU denies it.
    NotAccelerated,
    /// The host is a guest of somebody else.
    HostIsVm,
    /// A setting was seen in another state than asked for.
    Setting,
    /// More than one build measured.
    MixedBuilds,
    /// Too few rounds for more than an indication.
    Indicative,
    /// Too few rounds for any interval.
    PointOnly,
    /// Some benchmark is served by the host's page cache.
    HostPageCache,
    /// Host and guest run different kernels.
    DifferentKernels,
    /// What the measuring session noted.
    Session,
}

impl NoteKind {
    /// Key of its sentence.
    fn key(self) -> &'static str {
        match self {
            NoteKind::Emulated => "note-emulated",
            NoteKind::NotAccelerated => "note-not-accelerated",
            NoteKind::HostIsVm => "note-host-is-vm",
            NoteKind::Setting => "note-setting",
            NoteKind::MixedBuilds => "note-mixed-builds",
            NoteKind::Indicative => "note-indicative",
            NoteKind::PointOnly => "note-point-only",
            NoteKind::HostPageCache => "note-host-page-cache",
            NoteKind::DifferentKernels => "note-different-kernels",
            NoteKind::Session => "note-session",
        }
    }

    /// True where it puts every figure into another light.
    pub fn is_loud(self) -> bool {
        !matches!(self, NoteKind::DifferentKernels | NoteKind::Session)
    }
}

/// Something about one benchmark's figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "flag", rename_all = "snake_case")]
pub enum Flag {
    /// QEMU moved fewer bytes than the guest's tool.
    HostPageCache {
        /// Bytes that QEMU moved by bytes that the guest moved.
        share: f64,
    },
    /// More blocks were rejected by checks than the limits allow.
    BlocksRejected {
        /// Rejected blocks by all that were measured on both sides.
        share: f64,
    },
    /// The work is done by the kernel, and the kernels differ.
    DifferentKernels,
    /// Three to seven rounds.
    Indicative,
    /// One side has a tail of rare slow runs, which the typical overhead hides.
    TailShift,
    /// Rounds repeat each other's values exactly.
    RepeatedValues,
}

impl Flag {
    /// The letter that stands for it in narrow tables.
    pub fn letter(self) -> char {
        match self {
            Flag::HostPageCache { .. } => 'C',
            Flag::BlocksRejected { .. } => 'X',
            Flag::DifferentKernels => 'K',
            Flag::Indicative => 'I',
            Flag::TailShift => 'T',
            Flag::RepeatedValues => 'R',
        }
    }

    /// True where the figures are not what the benchmark is about.
    pub fn refuses(self) -> bool {
        matches!(self, Flag::HostPageCache { .. })
    }

    /// True where the figures do not count, for whatever reason.
    pub fn invalidates(self) -> bool {
        self.refuses() || matches!(self, Flag::BlocksRejected { .. })
    }

    /// In two or three words.
    pub fn name(self, words: &Words) -> String {
        words.get(&format!("{}-name", self.key()))
    }

    /// In a sentence.
    pub fn text(self, words: &Words) -> String {
        let share = match self {
            Flag::HostPageCache { share } | Flag::BlocksRejected { share } => percent_unsigned(100.0 * share),
            _ => String::new(),
        };
        words.say(&format!("{}-text", self.key()), &[("share", share.into())])
    }

    /// What the keys of its words begin with.
    fn key(self) -> &'static str {
        match self {
            Flag::HostPageCache { .. } => "flag-host-page-cache",
            Flag::BlocksRejected { .. } => "flag-blocks-rejected",
            Flag::DifferentKernels => "flag-different-kernels",
            Flag::Indicative => "flag-indicative",
            Flag::TailShift => "flag-tail-shift",
            Flag::RepeatedValues => "flag-repeated-values",
        }
    }
}

/// True where both kernels are known and differ.
pub(super) fn kernels_differ(manifest: &Manifest) -> bool {
    let kernel = |machine: &str| manifest.machines.get(machine).map(|facts| facts.kernel_release.as_str());
    kernel(HOST).zip(kernel(GUEST)).is_some_and(|(host, guest)| host != guest)
}

/// All notes, the gravest first.
pub(super) fn notes(
    manifest: &Manifest,
    course: &Course,
    settings: &[SettingCheck],
    benchmarks: &[BenchmarkReport],
) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut say = |kind: NoteKind, facts: &[(&str, Fact)]| notes.push(Note::new(kind, facts));
    if manifest.accelerator == Accelerator::Tcg {
        say(NoteKind::Emulated, &[]);
    } else if !manifest.hypervisor.version.is_empty() && !manifest.hypervisor.kvm {
        say(NoteKind::NotAccelerated, &[]);
    }
    if let Some(note) = &manifest.accelerator_note {
        say(NoteKind::Session, &[("text", note.as_str().into())]);
    }
    if let Some(hypervisor) = manifest.machines.get(HOST).and_then(|facts| facts.cpu.hypervisor.as_deref()) {
        say(NoteKind::HostIsVm, &[("hypervisor", hypervisor.into())]);
    }
    for setting in settings.iter().filter(|s| s.in_effect == Some(false)) {
        let seen = setting.observed.as_deref().unwrap_or_default();
        say(
            NoteKind::Setting,
            &[("key", setting.key.as_str().into()), ("asked", setting.asked.as_str().into()), ("seen", seen.into())],
        );
    }
    if course.builds.len() > 1 {
        say(NoteKind::MixedBuilds, &[("builds", number(course.builds.len()))]);
    }
    let strengths: Vec<Strength> = benchmarks
        .iter()
        .flat_map(BenchmarkReport::primary)
        .filter_map(|c| c.overhead.as_ref().map(|o| o.strength))
        .collect();
    if strengths.contains(&Strength::Indicative) {
        say(NoteKind::Indicative, &[("rounds", number(course.rounds_complete))]);
    } else if strengths.contains(&Strength::PointOnly) {
        say(NoteKind::PointOnly, &[("rounds", number(course.rounds_complete))]);
    }
    if benchmarks.iter().any(BenchmarkReport::is_refused) {
        say(NoteKind::HostPageCache, &[]);
    }
    if kernels_differ(manifest) {
        let release = |machine: &str| manifest.machines.get(machine).map_or("", |f| f.kernel_release.as_str()).into();
        say(NoteKind::DifferentKernels, &[("host", release(HOST)), ("guest", release(GUEST))]);
    }
    for note in &manifest.notes {
        say(NoteKind::Session, &[("text", note.as_str().into())]);
    }
    notes
}

fn number(n: usize) -> Fact {
    Fact::Number(n as f64)
}

//! What a reader must know: notes on the study, flags on a benchmark. Warnings are values; their texts stand here only.

use super::course::Course;
use super::settings::SettingCheck;
use super::{BenchmarkReport, Strength};
use crate::figures::percent_unsigned;
use model::Accelerator;
use model::record::{GUEST, HOST, Manifest};
use serde::Serialize;

/// The words that every output of an emulated study carries.
pub const EMULATED: &str = "emulated (TCG): not what KVM would cost";

/// A note on the whole study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// In a sentence or two.
    pub text: String,
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
    /// Some benchmark is served by the host's page cache.
    HostPageCache,
    /// Host and guest run different kernels.
    DifferentKernels,
    /// What the measuring session noted.
    Session,
}

impl NoteKind {
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
    pub fn name(self) -> &'static str {
        match self {
            Flag::HostPageCache { .. } => "host page cache",
            Flag::BlocksRejected { .. } => "blocks rejected",
            Flag::DifferentKernels => "different kernels",
            Flag::Indicative => "INDICATIVE",
            Flag::TailShift => "tail",
            Flag::RepeatedValues => "repeated values",
        }
    }

    /// In a sentence.
    pub fn text(self) -> String {
        match self {
            Flag::HostPageCache { share } => format!(
                "QEMU moved only {} of the bytes that the guest's tool moved: the host's page cache served the rest, so \
                 this is no figure of the disk.",
                percent_unsigned(100.0 * share)
            ),
            Flag::BlocksRejected { share } => format!(
                "Checks rejected {} of the blocks, which is more than the limits allow: what is left may be a choice of \
                 lucky rounds.",
                percent_unsigned(100.0 * share)
            ),
            Flag::DifferentKernels => {
                "The kernel does this work, and host and guest run different kernels: the figure \
                                       holds their difference too."
                    .to_owned()
            }
            Flag::Indicative => {
                "Three to seven rounds: the interval is Student's t, which is too narrow where only one \
                                 side has a tail. Eight rounds make a study."
                    .to_owned()
            }
            Flag::TailShift => {
                "The geometric mean is further from the typical overhead than half of the interval: one \
                                side has rare slow runs, which the typical overhead does not show."
                    .to_owned()
            }
            Flag::RepeatedValues => {
                "At least half of the rounds have exactly the value of another one: the tool rounds \
                                     its figures, or rounds were entered twice."
                    .to_owned()
            }
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
    let mut say = |kind: NoteKind, text: String| notes.push(Note { kind, text });
    if manifest.accelerator == Accelerator::Tcg {
        say(NoteKind::Emulated, EMULATED.to_owned());
    } else if !manifest.hypervisor.version.is_empty() && !manifest.hypervisor.kvm {
        say(NoteKind::NotAccelerated, "The plan says KVM, and QEMU says that KVM was not in use.".to_owned());
    }
    if let Some(note) = &manifest.accelerator_note {
        say(NoteKind::Session, note.clone());
    }
    if let Some(hypervisor) = manifest.machines.get(HOST).and_then(|facts| facts.cpu.hypervisor.as_deref()) {
        say(
            NoteKind::HostIsVm,
            format!(
                "The host is itself a VM ({hypervisor}): the guest is nested, and the figures are not those of bare metal."
            ),
        );
    }
    for setting in settings.iter().filter(|s| s.in_effect == Some(false)) {
        let seen = setting.observed.as_deref().unwrap_or_default();
        let text = format!("Setting {} was asked to be {} and was seen to be {seen}.", setting.key, setting.asked);
        say(NoteKind::Setting, text);
    }
    if course.builds.len() > 1 {
        let text = format!("{} different builds of vmtax measured parts of this study.", course.builds.len());
        say(NoteKind::MixedBuilds, text);
    }
    let strengths: Vec<Strength> = benchmarks
        .iter()
        .flat_map(BenchmarkReport::primary)
        .filter_map(|c| c.overhead.as_ref().map(|o| o.strength))
        .collect();
    if strengths.contains(&Strength::Indicative) {
        say(
            NoteKind::Indicative,
            format!("INDICATIVE: made from {} rounds; eight make a study.", course.rounds_complete),
        );
    } else if strengths.contains(&Strength::PointOnly) {
        let text = format!("POINT ONLY: made from {}; three give an interval.", rounds(course.rounds_complete));
        say(NoteKind::Indicative, text);
    }
    if benchmarks.iter().any(BenchmarkReport::is_refused) {
        say(
            NoteKind::HostPageCache,
            "The host's page cache served disk work of the guest: such rows are no figures of the disk and have no part in \
             summaries."
                .to_owned(),
        );
    }
    if kernels_differ(manifest) {
        let release = |machine: &str| manifest.machines.get(machine).map_or("", |f| f.kernel_release.as_str());
        say(
            NoteKind::DifferentKernels,
            format!("Host and guest run different kernels: {} and {}.", release(HOST), release(GUEST)),
        );
    }
    for note in &manifest.notes {
        say(NoteKind::Session, note.clone());
    }
    notes
}

fn rounds(n: usize) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

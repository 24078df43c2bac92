//! The HTML report: one self-contained file.

mod costs;
mod environment;
pub(crate) mod escape;
mod forest;
mod rounds;
mod scale;
mod tables;

use crate::ReportError;
use crate::analysis::{Analysis, Verdict};
use crate::figures::{count, date, shell};
use askama::Template;
use model::quantity::{show_duration, show_size};
use model::{Accelerator, Area};

/// The report as one HTML page that needs nothing else: no network, no other file.
///
/// # Errors
/// When the template cannot be rendered, which only a formatting error can cause.
pub fn html(analysis: &Analysis) -> Result<String, ReportError> {
    Ok(Page::new(analysis).render()?)
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    css: &'static str,
    js: &'static str,
    a: &'a Analysis,
    title: String,
    facts: Vec<(&'static str, String)>,
    forest: Option<forest::Forest>,
    metrics: Vec<tables::MetricRow>,
    details: Vec<tables::Detail>,
    costs: Vec<costs::Row>,
    method: Vec<(&'static str, String)>,
    attempts: Vec<tables::AttemptRow>,
    attempts_left_out: usize,
    troubles: Vec<tables::TroubleRow>,
    troubles_left_out: usize,
    environment: Vec<environment::Row>,
    files: Vec<tables::FileRow>,
    command: String,
    qemu: String,
    cite: String,
}

impl<'a> Page<'a> {
    fn new(a: &'a Analysis) -> Self {
        let (attempts, attempts_left_out) = tables::attempts(a);
        let (troubles, troubles_left_out) = tables::troubles(a);
        let name = a.host().map_or("this machine", |host| host.hostname.as_str());
        Page {
            css: include_str!("../../templates/report.css"),
            js: include_str!("../../templates/report.js"),
            title: format!("What virtualization costs on {name}"),
            facts: facts(a),
            forest: forest::forest(a),
            metrics: tables::metrics(a),
            details: tables::details(a),
            costs: costs::rows(a),
            method: method(a),
            attempts,
            attempts_left_out,
            troubles,
            troubles_left_out,
            environment: environment::rows(a),
            files: tables::files(a),
            command: reproduce(a),
            qemu: shell(&a.manifest.hypervisor.command_line),
            cite: cite(a),
            a,
        }
    }
}

/// The area in prose.
pub(super) fn area_name(area: &Area) -> &'static str {
    match area {
        Area::Cpu => "CPU",
        Area::Memory => "memory",
        Area::Disk => "disk",
    }
}

/// The class that colours a verdict.
fn verdict_class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Overhead => "bad",
        Verdict::Equivalent => "good",
        Verdict::FasterThanHost | Verdict::Small | Verdict::Inconclusive | Verdict::Imprecise | Verdict::Invalid => {
            "open"
        }
    }
}

/// The lines under the title.
fn facts(a: &Analysis) -> Vec<(&'static str, String)> {
    let manifest = &a.manifest;
    let plan = &manifest.plan;
    let mut facts = Vec::new();
    if let Some(host) = a.host() {
        facts.push((
            "Host",
            format!(
                "{}, {}, {}, kernel {}",
                host.cpu.model,
                count(host.cpu.online as usize, "CPU"),
                show_size(host.memory_total),
                host.kernel_release
            ),
        ));
    }
    facts.push((
        "Guest",
        format!(
            "{}, {}, {}, configuration {}",
            count(plan.machine.cpus as usize, "vCPU"),
            show_size(plan.machine.memory),
            plan.machine.machine,
            plan.configuration.name
        ),
    ));
    let how = match manifest.accelerator {
        Accelerator::Kvm => "KVM",
        Accelerator::Tcg => "TCG: QEMU emulates every instruction of the guest",
    };
    facts.push(("Run by", format!("{}, {how}", manifest.hypervisor.version)));
    let suites = if plan.suites.is_empty() { String::new() } else { format!(", suite {}", plan.suites.join(", ")) };
    facts.push((
        "Study",
        format!(
            "{}{suites}, {} of {}",
            date(manifest.created),
            a.course.rounds_complete,
            count(plan.rounds as usize, "round")
        ),
    ));
    facts
}

/// How it was measured.
fn method(a: &Analysis) -> Vec<(&'static str, String)> {
    let (manifest, course) = (&a.manifest, &a.course);
    let runs = &course.runs;
    let mut method = vec![
        (
            "Rounds",
            format!(
                "{} planned, {} complete and used, {} repeated. The guest is booted afresh in every round.",
                course.rounds_planned, course.rounds_complete, course.repeated
            ),
        ),
        (
            "Pairs",
            "In each block of a round the host and the guest take their turns in random order, seconds apart, and are \
             compared with each other only. Blocks come in random order."
                .to_owned(),
        ),
        ("Seed", format!("{} gives the same orders again.", manifest.plan.seed)),
        (
            "Runs",
            format!(
                "{} measured, {} failed, {} skipped, {} cancelled, in {}.",
                runs.measured,
                runs.failed,
                runs.skipped,
                runs.cancelled,
                show_duration(course.seconds)
            ),
        ),
        (
            "Overhead",
            "100 (e^d − 1) percent, where d is the typical (Hodges-Lehmann) value of ln(cost in the guest / cost on the \
             host) over the rounds. It is made from pairs, so it need not be the ratio of the two medians."
                .to_owned(),
        ),
        (
            "Interval",
            "95 %: from eight rounds on the exact Wilcoxon signed-rank interval, stretched for serial correlation; from \
             three to seven Student's t interval of the mean, labelled INDICATIVE; below that none."
                .to_owned(),
        ),
        (
            "Verdict",
            "OVERHEAD: the whole interval is above the practical margin (2 % for CPU and memory, 5 % for disk). \
             FASTER_THAN_HOST: below its negative. EQUIVALENT: inside. SMALL: it excludes zero and straddles the margin. \
             INCONCLUSIVE: none of these."
                .to_owned(),
        ),
        ("Instruction set", format!("{} on both sides, for the builtin workloads.", manifest.isa)),
        ("CPUs", format!("Both sides were confined to the host's CPUs {}.", list(&manifest.cpu_set))),
    ];
    if let Some(boots) = &course.boots {
        method.push((
            "Boots",
            format!(
                "{}; from starting QEMU to a guest that answers took {} (median), {} at worst.",
                count(boots.count, "boot"),
                show_duration(boots.ready_seconds_median),
                show_duration(boots.ready_seconds_worst)
            ),
        ));
    }
    if let Some(file) = &manifest.data_file {
        let system = manifest.data_file_system.as_deref().unwrap_or("a file system of unknown kind");
        method
            .push(("Data disk", format!("{file} on {system}; host runs use the file that the guest has as its disk.")));
    }
    method.push((
        "End",
        course
            .ending_why
            .clone()
            .unwrap_or_else(|| "None in the journal: the study goes on, or was killed.".to_owned()),
    ));
    method
}

fn list(cpus: &[u32]) -> String {
    if cpus.is_empty() {
        return "(not recorded)".to_owned();
    }
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The command that repeats the study, with the seed that it drew.
fn reproduce(a: &Analysis) -> String {
    let mut command = a.manifest.command.clone();
    if !command.iter().any(|word| word.starts_with("--seed")) {
        command.extend(["--seed".to_owned(), a.manifest.plan.seed.to_string()]);
    }
    shell(&command)
}

fn cite(a: &Analysis) -> String {
    let manifest = &a.manifest;
    let build: String = manifest.build.chars().take(12).collect();
    let tools: Vec<&str> = manifest.tools.iter().map(|t| t.version.as_str()).collect();
    let with = if tools.is_empty() { String::new() } else { format!(" with {}", tools.join(", ")) };
    let emulated = if manifest.accelerator == Accelerator::Tcg { " Emulated (TCG)." } else { "" };
    format!(
        "Measured{with} by vmtax {} (build {build}), study of {}, {}, seed {}.{emulated}",
        manifest.vmtax,
        date(manifest.created),
        count(a.course.rounds_complete, "round"),
        manifest.plan.seed
    )
}

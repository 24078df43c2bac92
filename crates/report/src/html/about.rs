//! What the study was, how it was measured, how it can be repeated and cited.

use crate::Words;
use crate::analysis::Analysis;
use crate::figures::{date, shell};
use model::Accelerator;
use model::quantity::{show_duration, show_size};

/// The lines under the title.
pub(super) fn facts(a: &Analysis, w: &Words) -> Vec<(String, String)> {
    let manifest = &a.manifest;
    let plan = &manifest.plan;
    let mut facts = Vec::new();
    if let Some(host) = a.host() {
        let text = w.say(
            "host-line",
            &[
                ("cpu", host.cpu.model.as_str().into()),
                ("cpus", w.count("count-cpus", host.cpu.online as usize).into()),
                ("memory", show_size(host.memory_total).into()),
                ("system", host.os.as_deref().unwrap_or("Linux").into()),
                ("kernel", host.kernel_release.as_str().into()),
            ],
        );
        facts.push((w.get("col-host"), text));
    }
    let kernel = a.guest().map_or(manifest.kernel.what.as_str(), |guest| guest.kernel_release.as_str());
    let text = w.say(
        "guest-line",
        &[
            ("cpus", w.count("count-vcpus", plan.machine.cpus as usize).into()),
            ("memory", show_size(plan.machine.memory).into()),
            ("machine", plan.machine.machine.as_str().into()),
            ("configuration", plan.configuration.name.as_str().into()),
            ("kernel", kernel.into()),
        ],
    );
    facts.push((w.get("col-guest"), text));
    let how = w.get(match manifest.accelerator {
        Accelerator::Kvm => "by-kvm",
        Accelerator::Tcg => "by-tcg",
    });
    facts.push((w.get("run-by"), [manifest.hypervisor.version.as_str(), &how].join(&w.get("comma"))));
    let suites = if plan.suites.is_empty() { w.get("chosen") } else { plan.suites.join(", ") };
    let rounds = w.say("rounds-of", &[("done", a.course.rounds_complete.into()), ("planned", plan.rounds.into())]);
    facts.push((w.get("study"), [date(manifest.created), suites, rounds].join(&w.get("comma"))));
    facts
}

/// How it was measured.
pub(super) fn method(a: &Analysis, w: &Words) -> Vec<(String, String)> {
    let (manifest, course) = (&a.manifest, &a.course);
    let mut method: Vec<(String, String)> = Vec::new();
    let mut tell = |name: &str, text: String| method.push((w.get(name), text));
    tell(
        "method-rounds",
        w.say(
            "method-rounds-text",
            &[
                ("planned", course.rounds_planned.into()),
                ("complete", course.rounds_complete.into()),
                ("repeated", course.repeated.into()),
            ],
        ),
    );
    tell("method-pairs", w.get("method-pairs-text"));
    tell("method-seed", w.say("method-seed-text", &[("seed", manifest.plan.seed.to_string().into())]));
    tell("method-runs", [w.runs(&course.runs), show_duration(course.seconds)].join(&w.get("semicolon")));
    tell("method-overhead", w.get("method-overhead-text"));
    tell("method-interval", w.get("method-interval-text"));
    tell("method-precision", w.get("method-precision-text"));
    tell("method-validity", w.get("method-validity-text"));
    tell("method-isa", w.say("method-isa-text", &[("isa", manifest.isa.to_string().into())]));
    let cpus = if manifest.cpu_set.is_empty() {
        w.get("not-recorded")
    } else {
        manifest.cpu_set.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    };
    tell("method-cpus", w.say("method-cpus-text", &[("cpus", cpus.into())]));
    if let Some(boots) = &course.boots {
        let text = w.say(
            "method-boots-text",
            &[
                ("n", boots.count.into()),
                ("median", show_duration(boots.ready_seconds_median).into()),
                ("worst", show_duration(boots.ready_seconds_worst).into()),
            ],
        );
        tell("method-boots", text);
    }
    if let Some(file) = &manifest.data_file {
        let unknown = w.get("unknown-file-system");
        let system = manifest.data_file_system.as_deref().unwrap_or(&unknown);
        tell("method-disk", w.say("method-disk-text", &[("file", file.as_str().into()), ("system", system.into())]));
    }
    tell("method-end", w.ending(course.ending, course.ending_why.as_deref()));
    method
}

/// The command that repeats the study, with the seed that it drew.
pub(super) fn reproduce(a: &Analysis) -> String {
    let mut command = a.manifest.command.clone();
    if !command.iter().any(|word| word.starts_with("--seed")) {
        command.extend(["--seed".to_owned(), a.manifest.plan.seed.to_string()]);
    }
    shell(&command)
}

pub(super) fn cite(a: &Analysis, w: &Words) -> String {
    let manifest = &a.manifest;
    let build: String = manifest.build.chars().take(12).collect();
    let tools: Vec<String> = manifest.tools.iter().map(|t| t.version.clone()).collect();
    let emulated = manifest.accelerator == Accelerator::Tcg;
    let key = if tools.is_empty() { "cite" } else { "cite-tools" };
    let text = w.say(
        key,
        &[
            ("tools", w.list(&tools).into()),
            ("vmtax", manifest.vmtax.as_str().into()),
            ("build", build.into()),
            ("date", date(manifest.created).into()),
            ("rounds", w.count("count-rounds", a.course.rounds_complete).into()),
            ("seed", manifest.plan.seed.to_string().into()),
        ],
    );
    if emulated { format!("{text} {}", w.get("cite-emulated")) } else { text }
}

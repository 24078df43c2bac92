//! What differs between the environments of two studies.

use crate::figures::share;
use model::plan::Precision;
use model::quantity::{show_duration, show_size};
use model::record::{FileFact, GUEST, HOST, Manifest};
use model::{Area, Facts};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One property that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which, for example `host-kernel` or `setting`.
    pub key: String,
    /// Which of several: the setting, tool, limit or vulnerability.
    pub of: Option<String>,
    /// In A; none where it is not known or not there.
    pub a: Option<String>,
    /// In B.
    pub b: Option<String>,
}

type Read = fn(&Manifest) -> Option<String>;
type ReadAll = fn(&Manifest) -> BTreeMap<String, String>;

/// Properties that every study has once. The keys are also those of the words (`compare-env-KEY`).
const PROPERTIES: &[(&str, Read)] = &[
    ("host-cpu", |m| host(m, |f| Some(f.cpu.model.clone()))),
    ("accelerator", |m| Some(m.accelerator.name().to_owned())),
    ("qemu", |m| Some(m.hypervisor.version.clone())),
    ("host-kernel", |m| host(m, |f| Some(f.kernel_release.clone()))),
    ("host-kernel-version", |m| host(m, |f| Some(f.kernel_version.clone()))),
    ("guest-kernel", |m| guest(m, |f| Some(f.kernel_release.clone()))),
    ("guest-kernel-file", |m| Some(hash(&m.kernel.sha256))),
    ("vmtax", |m| Some(m.vmtax.clone())),
    ("build", |m| Some(hash(&m.build))),
    ("host-name", |m| host(m, |f| Some(f.hostname.clone()))),
    ("host-product", |m| host(m, |f| f.product.clone())),
    ("host-hypervisor", |m| host(m, |f| f.cpu.hypervisor.clone())),
    ("host-os", |m| host(m, |f| f.os.clone())),
    ("host-command-line", |m| host(m, |f| f.kernel_command_line.clone())),
    ("host-cpus", |m| host(m, |f| Some(f.cpu.online.to_string()))),
    ("host-memory", |m| host(m, |f| Some(show_size(f.memory_total)))),
    ("host-governor", |m| host(m, |f| f.cpu.governor.clone())),
    ("host-thp", |m| host(m, |f| f.thp_enabled.clone())),
    ("host-clock", |m| host(m, |f| f.clock.source.clone())),
    ("cpu-set", |m| Some(m.cpu_set.iter().map(u32::to_string).collect::<Vec<_>>().join(","))),
    ("data-file", |m| m.data_file.clone()),
    ("data-file-system", |m| m.data_file_system.clone()),
    ("guest-cpu", |m| guest(m, |f| Some(f.cpu.model.clone()))),
    ("guest-command-line", |m| guest(m, |f| f.kernel_command_line.clone())),
    ("guest-thp", |m| guest(m, |f| f.thp_enabled.clone())),
    ("guest-clock", |m| guest(m, |f| f.clock.source.clone())),
    ("toolbox", |m| m.toolbox.as_ref().map(|FileFact { what, sha256, .. }| format!("{what} ({})", hash(sha256)))),
    ("isa", |m| Some(m.isa.name().to_owned())),
    ("suites", |m| Some(m.plan.suites.join(", "))),
    ("rounds", |m| Some(m.plan.rounds.to_string())),
    ("precision", |m| m.plan.precision.map(precision)),
    ("budget", |m| m.plan.budget_seconds.map(show_duration)),
];

/// Properties of which there are several, by name.
const FAMILIES: &[(&str, ReadAll)] = &[
    ("setting", |m| m.plan.configuration.settings.clone()),
    ("observed", |m| m.observed.clone()),
    ("tool", |m| {
        let tools =
            m.tools.iter().map(|tool| (tool.name.clone(), format!("{} ({})", tool.version, hash(&tool.sha256))));
        tools.collect()
    }),
    ("host-mitigation", |m| m.machines.get(HOST).map(|f| f.vulnerabilities.clone()).unwrap_or_default()),
    ("guest-mitigation", |m| m.machines.get(GUEST).map(|f| f.vulnerabilities.clone()).unwrap_or_default()),
    ("limit", limits),
];

/// Everything that is known to differ; what neither study knows is no difference.
pub(super) fn differences(a: &Manifest, b: &Manifest) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut note = |key: &str, of: Option<&String>, a: Option<String>, b: Option<String>| {
        let told = |value: Option<String>| value.filter(|text| !text.is_empty());
        let (a, b) = (told(a), told(b));
        if a != b {
            all.push(Difference { key: key.to_owned(), of: of.cloned(), a, b });
        }
    };
    for (key, read) in PROPERTIES {
        note(key, None, read(a), read(b));
    }
    for (key, read) in FAMILIES {
        let (of_a, of_b) = (read(a), read(b));
        let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
        for name in names {
            note(key, Some(name), of_a.get(name).cloned(), of_b.get(name).cloned());
        }
    }
    all
}

/// The keys of all words that differences use.
#[cfg(test)]
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    PROPERTIES.iter().map(|(key, _)| *key).chain(FAMILIES.iter().map(|(key, _)| *key))
}

fn host(manifest: &Manifest, read: fn(&Facts) -> Option<String>) -> Option<String> {
    manifest.machines.get(HOST).and_then(read)
}

fn guest(manifest: &Manifest, read: fn(&Facts) -> Option<String>) -> Option<String> {
    manifest.machines.get(GUEST).and_then(read)
}

/// Enough of a hash to see that it is another one.
fn hash(sha256: &str) -> String {
    sha256.chars().take(12).collect()
}

fn precision(precision: Precision) -> String {
    match precision {
        Precision::ByArea => format!("{} / {}", share(Area::Cpu.precision()), share(Area::Disk.precision())),
        Precision::HalfWidth(fraction) => format!("{} %", 100.0 * fraction),
    }
}

/// The checks' limits by name: which blocks were dropped depends on them.
fn limits(manifest: &Manifest) -> BTreeMap<String, String> {
    let Ok(serde_json::Value::Object(limits)) = serde_json::to_value(&manifest.plan.limits) else {
        return BTreeMap::new();
    };
    limits.into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

//! Host and guest side by side.

use crate::Words;
use crate::analysis::Analysis;
use model::Facts;
use model::quantity::show_size;
use std::collections::BTreeSet;

/// One property.
pub(super) struct Row {
    pub name: String,
    pub host: String,
    pub guest: String,
    pub differs: bool,
}

type Read = fn(&Facts, &Words) -> Option<String>;

const PROPERTIES: &[(&str, Read)] = &[
    ("hostname", |f, _| Some(f.hostname.clone())),
    ("product", |f, _| f.product.clone()),
    ("os", |f, _| f.os.clone()),
    ("kernel", |f, _| Some(f.kernel_release.clone())),
    ("kernel-version", |f, _| Some(f.kernel_version.clone())),
    ("kernel-command-line", |f, _| f.kernel_command_line.clone()),
    ("architecture", |f, _| Some(f.architecture.clone())),
    ("cpu-model", |f, _| Some(f.cpu.model.clone())),
    ("cpu-vendor", |f, _| Some(f.cpu.vendor.clone())),
    ("cpus", |f, _| Some(f.cpu.online.to_string())),
    ("cores", |f, _| f.cpu.cores.map(|n| n.to_string())),
    ("numa-nodes", |f, _| f.cpu.nodes.map(|n| n.to_string())),
    ("instruction-set", |f, _| Some(f.cpu.isa.to_string())),
    ("last-level-cache", |f, _| f.cpu.last_level_cache.map(show_size)),
    ("hypervisor", |f, _| f.cpu.hypervisor.clone()),
    ("governor", |f, _| f.cpu.governor.clone()),
    ("memory", |f, _| Some(show_size(f.memory_total))),
    ("memory-available", |f, _| Some(show_size(f.memory_available))),
    ("clock-source", |f, _| f.clock.source.clone()),
    ("clock-sources", |f, _| Some(f.clock.available.join(", "))),
    ("clock-read", |f, _| f.clock.read_seconds.map(|s| format!("{:.1} ns", 1e9 * s))),
    ("huge-pages", |f, _| f.thp_enabled.clone()),
    ("huge-pages-defrag", |f, _| f.thp_defrag.clone()),
    ("io-uring", |f, w| f.io_uring.map(|works| w.get(if works { "io-uring-works" } else { "io-uring-refused" }))),
    ("load-average", |f, _| f.load_average.map(|l| format!("{l:.2}"))),
    ("disks", |f, w| Some(f.disks.iter().map(|d| disk(d, w)).collect::<Vec<_>>().join("; "))),
];

fn disk(disk: &model::facts::BlockDevice, w: &Words) -> String {
    let mut parts = vec![format!("{} {}", disk.name, show_size(disk.bytes))];
    parts.extend(disk.queues.map(|n| w.count("count-queues", n as usize)));
    parts.extend(disk.scheduler.as_deref().map(|s| w.say("disk-scheduler", &[("name", s.into())])));
    parts.extend(disk.read_ahead.map(|b| w.say("disk-read-ahead", &[("size", show_size(b).into())])));
    parts.join(&w.get("comma"))
}

/// What differs beside the virtualization itself.
pub(super) fn differences(a: &Analysis, w: &Words) -> Vec<Row> {
    let rows = a.differences.iter().filter_map(|difference| {
        let name = match difference.key.strip_prefix("mitigation-") {
            Some(weakness) => w.say("fact-mitigation", &[("name", weakness.into())]),
            None => w.named("fact", &difference.key, &difference.key),
        };
        let is_size = ["memory", "read-ahead"].contains(&difference.key.as_str());
        let shown = |value: &str| match value.parse() {
            Ok(bytes) if is_size => show_size(bytes),
            _ => value.to_owned(),
        };
        property(name, Some(shown(&difference.host)), Some(shown(&difference.guest)))
    });
    rows.collect()
}

/// Every property that either machine told, differences marked.
pub(super) fn rows(a: &Analysis, w: &Words) -> Vec<Row> {
    let nothing = Facts::default();
    let (host, guest) = (a.host().unwrap_or(&nothing), a.guest().unwrap_or(&nothing));
    let mut rows: Vec<Row> = PROPERTIES
        .iter()
        .filter_map(|(key, read)| property(w.get(&format!("fact-{key}")), read(host, w), read(guest, w)))
        .collect();
    let weaknesses: BTreeSet<&String> = host.vulnerabilities.keys().chain(guest.vulnerabilities.keys()).collect();
    rows.extend(weaknesses.into_iter().filter_map(|name| {
        let state = |facts: &Facts| facts.vulnerabilities.get(name).cloned();
        property(w.say("fact-mitigation", &[("name", name.as_str().into())]), state(host), state(guest))
    }));
    let only = |a: &Facts, b: &Facts| -> Option<String> {
        let other: BTreeSet<&String> = b.cpu.flags.iter().collect();
        let own: Vec<&str> = a.cpu.flags.iter().filter(|f| !other.contains(f)).map(String::as_str).collect();
        (!own.is_empty()).then(|| own.join(" "))
    };
    rows.extend(property(w.get("fact-cpu-flags-of-one-side"), only(host, guest), only(guest, host)));
    rows
}

fn property(name: String, host: Option<String>, guest: Option<String>) -> Option<Row> {
    let told = |value: Option<String>| value.filter(|text| !text.is_empty());
    let (host, guest) = (told(host), told(guest));
    if host.is_none() && guest.is_none() {
        return None;
    }
    let differs = host != guest;
    let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    Some(Row { name, host: shown(host), guest: shown(guest), differs })
}

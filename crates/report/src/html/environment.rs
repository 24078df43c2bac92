//! Host and guest side by side.

use crate::analysis::Analysis;
use crate::figures::count;
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

type Read = fn(&Facts) -> Option<String>;

const PROPERTIES: &[(&str, Read)] = &[
    ("Host name", |f| Some(f.hostname.clone())),
    ("Product", |f| f.product.clone()),
    ("Operating system", |f| f.os.clone()),
    ("Kernel", |f| Some(f.kernel_release.clone())),
    ("Kernel version", |f| Some(f.kernel_version.clone())),
    ("Kernel command line", |f| f.kernel_command_line.clone()),
    ("Architecture", |f| Some(f.architecture.clone())),
    ("Processor", |f| Some(f.cpu.model.clone())),
    ("Vendor", |f| Some(f.cpu.vendor.clone())),
    ("CPUs online", |f| Some(f.cpu.online.to_string())),
    ("Cores", |f| f.cpu.cores.map(|n| n.to_string())),
    ("NUMA nodes", |f| f.cpu.nodes.map(|n| n.to_string())),
    ("Instruction set", |f| Some(f.cpu.isa.to_string())),
    ("Last-level cache", |f| f.cpu.last_level_cache.map(show_size)),
    ("Hypervisor seen", |f| f.cpu.hypervisor.clone()),
    ("Frequency governor", |f| f.cpu.governor.clone()),
    ("Memory", |f| Some(show_size(f.memory_total))),
    ("Memory available", |f| Some(show_size(f.memory_available))),
    ("Clock source", |f| f.clock.source.clone()),
    ("Clock sources", |f| Some(f.clock.available.join(", "))),
    ("Cost of a clock read", |f| f.clock.read_seconds.map(|s| format!("{:.1} ns", 1e9 * s))),
    ("Transparent huge pages", |f| f.thp_enabled.clone()),
    ("Huge page defrag", |f| f.thp_defrag.clone()),
    ("io_uring", |f| f.io_uring.map(|works| if works { "works" } else { "refused" }.to_owned())),
    ("Load average", |f| f.load_average.map(|l| format!("{l:.2}"))),
    ("Disks", |f| Some(f.disks.iter().map(disk).collect::<Vec<_>>().join("; "))),
];

fn disk(disk: &model::facts::BlockDevice) -> String {
    let queues = disk.queues.map_or(String::new(), |n| format!(", {}", count(n as usize, "queue")));
    let scheduler = disk.scheduler.as_deref().map_or(String::new(), |s| format!(", scheduler {s}"));
    let ahead = disk.read_ahead.map_or(String::new(), |b| format!(", read-ahead {}", show_size(b)));
    format!("{} {}{queues}{scheduler}{ahead}", disk.name, show_size(disk.bytes))
}

/// Every property that either machine told, differences marked.
pub(super) fn rows(analysis: &Analysis) -> Vec<Row> {
    let nothing = Facts::default();
    let (host, guest) = (analysis.host().unwrap_or(&nothing), analysis.guest().unwrap_or(&nothing));
    let mut rows: Vec<Row> =
        PROPERTIES.iter().filter_map(|(name, read)| property(name, read(host), read(guest))).collect();
    let weaknesses: BTreeSet<&String> = host.vulnerabilities.keys().chain(guest.vulnerabilities.keys()).collect();
    rows.extend(weaknesses.into_iter().filter_map(|name| {
        let state = |facts: &Facts| facts.vulnerabilities.get(name).cloned();
        property(&format!("Mitigation of {name}"), state(host), state(guest))
    }));
    let only = |a: &Facts, b: &Facts| -> Option<String> {
        let other: BTreeSet<&String> = b.cpu.flags.iter().collect();
        let own: Vec<&str> = a.cpu.flags.iter().filter(|f| !other.contains(f)).map(String::as_str).collect();
        (!own.is_empty()).then(|| own.join(" "))
    };
    rows.extend(property("CPU flags that the other lacks", only(host, guest), only(guest, host)));
    rows
}

fn property(name: &str, host: Option<String>, guest: Option<String>) -> Option<Row> {
    let told = |value: Option<String>| value.filter(|text| !text.is_empty());
    let (host, guest) = (told(host), told(guest));
    if host.is_none() && guest.is_none() {
        return None;
    }
    let differs = host != guest;
    let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    Some(Row { name: name.to_owned(), host: shown(host), guest: shown(guest), differs })
}

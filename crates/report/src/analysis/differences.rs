//! What host and guest do not share beside the virtualization itself.

use model::Facts;
use model::machine::DATA_SERIAL;
use model::record::{GUEST, HOST, Manifest};
use serde::Serialize;
use std::collections::BTreeSet;

/// A property that host and guest do not share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its key, for example `kernel` or `clock-source`; mitigations are `mitigation-NAME`.
    pub key: String,
    /// The host's; sizes in bytes.
    pub host: String,
    /// The guest's.
    pub guest: String,
}

type Read = fn(&Facts) -> Option<String>;

const PROPERTIES: &[(&str, Read)] = &[
    ("kernel", |f| Some(f.kernel_release.clone())),
    ("kernel-version", |f| Some(f.kernel_version.clone())),
    ("clock-source", |f| f.clock.source.clone()),
    ("huge-pages", |f| f.thp_enabled.clone()),
    ("huge-pages-defrag", |f| f.thp_defrag.clone()),
    ("cpus", |f| (f.cpu.online > 0).then(|| f.cpu.online.to_string())),
    ("instruction-set", |f| Some(f.cpu.isa.to_string())),
    ("governor", |f| f.cpu.governor.clone()),
    ("memory", |f| (f.memory_total > 0).then(|| f.memory_total.to_string())),
    ("io-scheduler", |f| disks(f, |d| d.scheduler.clone())),
    ("read-ahead", |f| disks(f, |d| Some(d.read_ahead?.to_string()))),
    ("cpu-flags", |f| (!f.cpu.flags.is_empty()).then(|| f.cpu.flags.len().to_string())),
];

/// What the disks that may carry the data have, each value once: the data disk where there is one, else all.
fn disks(facts: &Facts, read: fn(&model::facts::BlockDevice) -> Option<String>) -> Option<String> {
    let is_data = |d: &&model::facts::BlockDevice| d.serial.as_deref() == Some(DATA_SERIAL);
    let any_data = facts.disks.iter().any(|d| is_data(&d));
    let values: BTreeSet<String> = facts.disks.iter().filter(|d| !any_data || is_data(d)).filter_map(read).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
}

/// Every property that both machines tell and that is not the same, in a fixed order.
pub(super) fn differences(manifest: &Manifest) -> Vec<Difference> {
    let Some((host, guest)) = manifest.machines.get(HOST).zip(manifest.machines.get(GUEST)) else {
        return Vec::new();
    };
    let mut all: Vec<Difference> =
        PROPERTIES.iter().filter_map(|(key, read)| difference(key, read(host), read(guest))).collect();
    let lacks = |a: &Facts, b: &Facts| {
        let other: BTreeSet<&String> = b.cpu.flags.iter().collect();
        a.cpu.flags.iter().filter(|f| !other.contains(f)).map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    if !host.cpu.flags.is_empty() && !guest.cpu.flags.is_empty() {
        all.extend(difference("cpu-flags-of-one-side", Some(lacks(host, guest)), Some(lacks(guest, host))));
    }
    all.extend(host.vulnerabilities.iter().filter_map(|(name, state)| {
        difference(&format!("mitigation-{name}"), Some(state.clone()), guest.vulnerabilities.get(name).cloned())
    }));
    all
}

fn difference(key: &str, host: Option<String>, guest: Option<String>) -> Option<Difference> {
    let (host, guest) = host.zip(guest).filter(|(host, guest)| host != guest)?;
    Some(Difference { key: key.to_owned(), host, guest })
}

//! Settings: one named value of one VM property each, one file each, listed once in [`ALL`].
//!
//! The command line, plans, `vmtax list`, the docs and the report's glossary all come from this list.

mod cpu_model;
mod cpus;
mod disk_aio;
mod disk_cache;
mod disk_iothread;
mod disk_queues;
mod machine_type;
mod memory;

use crate::facts::{Facts, HypervisorFacts};
use crate::machine::{Aio, CacheMode, DiskSpec, MachineSpec};
use crate::nearest::hint;
use crate::quantity::{QuantityError, parse_size};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Every setting, in the order in which lists show them.
pub const ALL: &[&dyn Setting] = &[
    &cpus::Cpus,
    &cpu_model::CpuModel,
    &memory::Memory,
    &machine_type::MachineType,
    &disk_cache::DiskCache,
    &disk_aio::DiskAio,
    &disk_queues::DiskQueues,
    &disk_iothread::DiskIothread,
];

/// What a setting accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number in this range.
    Count(u32, u32),
    /// A size of at least this many bytes.
    Size(u64),
    /// Any name of letters, digits, `.`, `_`, `-`, and after a comma more of QEMU's own options.
    Name(&'static str),
}

impl std::fmt::Display for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Values::Words(words) => f.write_str(&words.join(", ")),
            Values::Count(low, high) => write!(f, "{low} to {high}"),
            Values::Size(least) => write!(f, "a size of at least {}", crate::quantity::show_size(*least)),
            Values::Name(what) => f.write_str(what),
        }
    }
}

/// One property of a VM.
pub trait Setting: Sync {
    /// `group.name`.
    fn key(&self) -> &'static str;
    /// What it does and when it matters.
    fn doc(&self) -> &'static str;
    /// What it accepts.
    fn values(&self) -> Values;
    /// Writes a value that [`check_value`] accepted into the specification.
    fn apply(&self, value: &str, spec: &mut MachineSpec);
    /// The value that a specification holds.
    fn read(&self, spec: &MachineSpec) -> String;
    /// Why the finished specification cannot work, if it is this setting's fault.
    fn conflict(&self, _spec: &MachineSpec) -> Option<String> {
        None
    }
    /// The value that is in effect in a running guest, where it can be seen.
    fn observe(&self, guest: &Facts, hypervisor: &HypervisorFacts) -> Option<String>;
}

/// Why a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No such setting.
    #[error("There is no setting '{key}'{hint} (`vmtax list settings` shows all)")]
    Unknown {
        /// What was asked for.
        key: String,
        /// The nearest, or nothing.
        hint: String,
    },
    /// A value that it does not take.
    #[error("{key} cannot be '{value}': it takes {takes}{hint}")]
    Value {
        /// The setting.
        key: String,
        /// What was given.
        value: String,
        /// What would be right.
        takes: String,
        /// The nearest, or nothing.
        hint: String,
    },
    /// Values that do not go together.
    #[error("{key}={value} cannot work: {why}")]
    Conflict {
        /// The setting.
        key: String,
        /// Its value.
        value: String,
        /// The reason and what to do.
        why: String,
    },
    /// A size that is none.
    #[error("{key}: {source}")]
    Quantity {
        /// The setting.
        key: String,
        /// What is wrong with it.
        source: QuantityError,
    },
}

/// The setting called `key`.
pub fn find(key: &str) -> Result<&'static dyn Setting, SettingError> {
    ALL.iter()
        .copied()
        .find(|s| s.key() == key)
        .ok_or_else(|| SettingError::Unknown { key: key.to_owned(), hint: hint(key, ALL.iter().map(|s| s.key())) })
}

/// `value` in canonical form, if the setting takes it.
pub fn check_value(setting: &dyn Setting, value: &str) -> Result<String, SettingError> {
    let refuse = |near: String| SettingError::Value {
        key: setting.key().to_owned(),
        value: value.to_owned(),
        takes: setting.values().to_string(),
        hint: near,
    };
    match setting.values() {
        Values::Words(words) if words.contains(&value) => Ok(value.to_owned()),
        Values::Words(words) => Err(refuse(hint(value, words.iter().copied()))),
        Values::Count(low, high) => match value.parse::<u32>() {
            Ok(n) if (low..=high).contains(&n) => Ok(n.to_string()),
            _ => Err(refuse(String::new())),
        },
        Values::Size(least) => {
            let bytes =
                parse_size(value).map_err(|source| SettingError::Quantity { key: setting.key().to_owned(), source })?;
            if bytes < least { Err(refuse(String::new())) } else { Ok(bytes.to_string()) }
        }
        Values::Name(_) => {
            let fits = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-+,=".contains(c));
            if fits { Ok(value.to_owned()) } else { Err(refuse(String::new())) }
        }
    }
}

/// A full set of settings: every key has a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// What tables call it: `reference`, or the settings that differ from it.
    pub name: String,
    /// Canonical value by key.
    pub settings: BTreeMap<String, String>,
}

/// The documented reference guest: 2 vCPUs or the host's if fewer, 1 GiB, q35, virtio-blk with cache=none, aio=native
/// and one queue.
pub fn reference(host_cpus: u32) -> MachineSpec {
    MachineSpec {
        cpus: host_cpus.clamp(1, 2),
        memory: 1 << 30,
        machine: "q35".to_owned(),
        cpu_model: "best".to_owned(),
        disk: DiskSpec { cache: CacheMode::None, aio: Aio::Native, queues: 1, iothread: false },
    }
}

/// The reference guest with `chosen` settings in place of its own, and the full configuration that results.
pub fn configure<'a>(
    host_cpus: u32,
    chosen: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(MachineSpec, Configuration), SettingError> {
    let mut spec = reference(host_cpus);
    let base = values_of(&spec);
    for (key, value) in chosen {
        let setting = find(key)?;
        setting.apply(&check_value(setting, value)?, &mut spec);
    }
    for setting in ALL {
        if let Some(why) = setting.conflict(&spec) {
            return Err(SettingError::Conflict { key: setting.key().to_owned(), value: setting.read(&spec), why });
        }
    }
    let settings = values_of(&spec);
    let differing: Vec<String> =
        settings.iter().filter(|(k, v)| base.get(*k) != Some(v)).map(|(k, v)| format!("{k}={v}")).collect();
    let name = if differing.is_empty() { "reference".to_owned() } else { differing.join(" ") };
    Ok((spec, Configuration { name, settings }))
}

fn values_of(spec: &MachineSpec) -> BTreeMap<String, String> {
    ALL.iter().map(|s| (s.key().to_owned(), s.read(spec))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reads_back_what_it_applies() {
        for setting in ALL {
            let value = match setting.values() {
                Values::Words(words) => words[words.len() - 1].to_owned(),
                Values::Count(_, high) => high.to_string(),
                Values::Size(least) => (least * 3).to_string(),
                Values::Name(_) => "qemu64".to_owned(),
            };
            let mut spec = reference(8);
            setting.apply(&check_value(*setting, &value).unwrap(), &mut spec);
            assert_eq!(setting.read(&spec), value, "{}", setting.key());
        }
    }

    #[test]
    fn native_aio_on_a_buffered_image_is_refused_with_the_way_out() {
        let error = configure(2, [("disk.cache", "writeback")]).unwrap_err().to_string();
        assert!(error.contains("disk.aio=native") && error.contains("threads"), "{error}");
        let (spec, configuration) = configure(2, [("disk.cache", "writeback"), ("disk.aio", "threads")]).unwrap();
        assert_eq!(spec.disk.cache, CacheMode::Writeback);
        assert_eq!(configuration.name, "disk.aio=threads disk.cache=writeback");
    }

    #[test]
    fn unknown_keys_and_values_come_with_the_nearest() {
        let error = configure(2, [("disk.cach", "none")]).unwrap_err().to_string();
        assert!(error.contains("did you mean 'disk.cache'"), "{error}");
        let error = configure(2, [("disk.cache", "writeback2")]).unwrap_err().to_string();
        assert!(error.contains("did you mean 'writeback'"), "{error}");
        assert!(configure(2, [("vm.cpu-model", "max; rm -rf /")]).is_err());
    }
}

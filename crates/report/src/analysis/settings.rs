//! Settings asked for, and what was seen in effect.

use model::record::Manifest;
use serde::Serialize;

/// Memory that a guest's kernel keeps for itself and does not count, as a share of what it was given.
const KERNEL_SHARE: f64 = 0.15;

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SettingCheck {
    /// Its key.
    pub key: String,
    /// The value asked for.
    pub asked: String,
    /// The value seen; none where that cannot be seen.
    pub observed: Option<String>,
    /// Whether it took effect; none where that cannot be seen.
    pub in_effect: Option<bool>,
}

/// Every setting of the plan.
pub(super) fn check(manifest: &Manifest) -> Vec<SettingCheck> {
    let plan = &manifest.plan;
    let settings = plan.configuration.settings.iter().map(|(key, asked)| {
        // `best` stands for another word with each accelerator.
        let asked = if key == "vm.cpu-model" {
            plan.machine.qemu_cpu_model(manifest.accelerator).to_owned()
        } else {
            asked.clone()
        };
        let observed = manifest.observed.get(key).cloned();
        let in_effect = observed.as_deref().map(|seen| took_effect(key, &asked, seen));
        SettingCheck { key: key.clone(), asked, observed, in_effect }
    });
    settings.collect()
}

fn took_effect(key: &str, asked: &str, seen: &str) -> bool {
    if key == "vm.memory"
        && let (Ok(asked), Ok(seen)) = (asked.parse::<f64>(), seen.parse::<f64>())
    {
        return (asked * (1.0 - KERNEL_SHARE)..=asked).contains(&seen);
    }
    // QEMU adds options of its own after the model's name.
    asked == seen || (key == "vm.cpu-model" && seen.split(',').next() == Some(asked))
}

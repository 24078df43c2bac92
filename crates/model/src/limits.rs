//! Where validity checks begin to warn and to reject (statistics.md, section 5). Most of them are judgement; all can be set in a
//! plan's `[limits]`, and a report says which were.

use crate::nearest::hint;
use serde::{Deserialize, Serialize};

/// Why a limit is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// No check has it.
    #[error("There is no limit '{key}'{hint}; limits are {known}")]
    Unknown {
        /// What was written.
        key: String,
        /// The nearest, or nothing.
        hint: String,
        /// All of them.
        known: String,
    },
    /// Not a number that can be one.
    #[error("The limit {key} cannot be '{value}': it is a positive number")]
    Value {
        /// Which.
        key: String,
        /// What was written.
        value: String,
    },
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident $key:literal = $default:literal,)*) => {
        /// The limits of all checks. Shares are fractions of 1.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, rename_all = "kebab-case")]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: f64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($name: $default,)* }
            }
        }

        impl Limits {
            /// Key, default and meaning of every limit.
            pub const ALL: &[(&str, f64, &str)] = &[$(($key, $default, concat!($($doc),+)),)*];

            /// Sets the limit called `key`.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), LimitError> {
                let field = match key {
                    $($key => &mut self.$name,)*
                    _ => {
                        let keys = || Self::ALL.iter().map(|(key, ..)| *key);
                        return Err(LimitError::Unknown {
                            key: key.to_owned(),
                            hint: hint(key, keys()),
                            known: keys().collect::<Vec<_>>().join(", "),
                        });
                    }
                };
                let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0);
                *field = value.ok_or_else(|| LimitError::Value { key: key.to_owned(), value: text.to_owned() })?;
                Ok(())
            }
        }
    };
}

limits! {
    /// Stolen share of a machine's CPU time.
    steal_warn "steal-warn" = 0.01,
    /// Stolen share of one arm from which on a difference of the arms rejects.
    steal_invalid "steal-invalid" = 0.05,
    /// Share of a run for which a vCPU or the workload waited for a CPU.
    wait_warn "wait-warn" = 0.01,
    /// The same of one arm, from which on a difference of the arms rejects.
    wait_invalid "wait-invalid" = 0.05,
    /// Difference of steal or waiting between the arms of a block.
    contention_invalid "contention-invalid" = 0.05,
    /// Pressure while the machine should have been idle, share of time.
    load_warn "load-warn" = 0.02,
    /// The same.
    load_invalid "load-invalid" = 0.10,
    /// Distance of the device-byte ratio from 1.
    device_bytes_warn "device-bytes-warn" = 0.05,
    /// What is missing in the device-byte ratio.
    device_bytes_invalid "device-bytes-invalid" = 0.20,
    /// Share of the data file that is not allocated.
    holes_invalid "holes-invalid" = 0.01,
    /// Share of a run that was throttled for heat or power.
    thermal_invalid "thermal-invalid" = 0.01,
    /// Relative difference of the arms' CPU frequency.
    frequency_warn "frequency-warn" = 0.03,
    /// The same.
    frequency_invalid "frequency-invalid" = 0.10,
    /// Distance of a canary from the study's median.
    canary_warn "canary-warn" = 0.03,
    /// Distance of the canaries before and after the runs of a machine.
    canary_change_warn "canary-change-warn" = 0.05,
    /// The guest's canary by the host's, from which on nobody believes in KVM.
    canary_emulated "canary-emulated" = 3.0,
    /// Error of a machine's clock rate (or its uncertainty, if that is more).
    clock_warn "clock-warn" = 0.001,
    /// The same.
    clock_invalid "clock-invalid" = 0.01,
    /// Difference of the arms in the share of memory that lies in huge pages.
    huge_pages_invalid "huge-pages-invalid" = 0.5,
    /// Steady part of a run that loads storage, seconds.
    steady_warn "steady-warn" = 10.0,
    /// Steady part of any run, seconds.
    steady_invalid "steady-invalid" = 1.0,
    /// Samples of a series, correlation taken into account.
    effective_samples_warn "effective-samples-warn" = 10.0,
    /// Change of the mean from the first half of a series to the second.
    halves_warn "halves-warn" = 0.05,
    /// Achieved by intended rate.
    rate_warn "rate-warn" = 0.99,
    /// The same.
    rate_invalid "rate-invalid" = 0.95,
    /// Spread of the host's own values (robust coefficient of variation).
    host_noise_warn "host-noise-warn" = 0.05,
    /// The same.
    host_noise_invalid "host-noise-invalid" = 0.20,
    /// Variance reduction from which on pairing makes good for a noisy host.
    pairing_rescues "pairing-rescues" = 4.0,
    /// Share of a benchmark's blocks that may be dropped.
    dropped_invalid "dropped-invalid" = 0.20,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_by_its_key_and_is_written_by_it() {
        let mut limits = Limits::default();
        for (key, default, doc) in Limits::ALL {
            assert!(doc.trim().ends_with('.') && *default > 0.0, "{key}");
            limits.set(key, "0.375").unwrap();
        }
        let json = serde_json::to_value(&limits).unwrap();
        assert_eq!(json.as_object().unwrap().len(), Limits::ALL.len());
        assert!(Limits::ALL.iter().all(|(key, ..)| json[key] == 0.375));
        assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), Limits::default());
    }

    #[test]
    fn nonsense_is_refused_with_the_nearest_name() {
        let mut limits = Limits::default();
        assert!(limits.set("steel-warn", "1").unwrap_err().to_string().contains("did you mean 'steal-warn'"));
        for value in ["", "-1", "0", "nan", "inf", "much"] {
            assert!(matches!(limits.set("steal-warn", value), Err(LimitError::Value { .. })), "{value}");
        }
    }
}

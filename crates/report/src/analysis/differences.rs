//! What host and guest do not share beside the virtualization itself.

use model::record::Manifest;
use serde::Serialize;

/// A property that host and guest do not share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its key, for example `kernel` or `clock-source`; mitigations are `mitigation-NAME`.
    pub key: String,
    /// The host's.
    pub host: String,
    /// The guest's.
    pub guest: String,
}

/// Every property that both machines tell and that is not the same, in a fixed order.
pub(super) fn differences(manifest: &Manifest) -> Vec<Difference> {
    let all = validity::machines::differences(manifest).into_iter();
    all.map(|found| Difference { key: found.key, host: found.host, guest: found.guest }).collect()
}

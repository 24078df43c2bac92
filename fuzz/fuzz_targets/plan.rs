//! A plan file, read and resolved against the whole catalog. A plan that resolves survives the manifest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Catalog;
use model::benchmark::Load;
use model::catalog::Suite;
use model::plan::{Plan, Request};
use std::sync::LazyLock;

const SUITES: &[Suite] = &[Suite { name: "quick", doc: "", benchmarks: &["cpu.dhrystone", "disk.randread-4k"] }];

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let builtin = workloads::ALL.iter().map(|load| *load as &dyn Load);
    Catalog::new(builtin.chain(drivers::ALL.iter().map(|load| *load as &dyn Load)), SUITES)
});

fuzz_target!(|text: &str| {
    let Ok(request) = Request::from_toml(text, "plan.toml") else { return };
    let Ok(plan) = Plan::resolve(&request, &CATALOG, 4, 1) else { return };
    let _ = (plan.disk_bytes(), plan.tools());
    let written = serde_json::to_string(&plan).expect("a plan is plain data");
    assert_eq!(serde_json::from_str::<Plan>(&written).expect("our own plan"), plan);
});

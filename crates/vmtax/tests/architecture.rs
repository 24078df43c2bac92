//! The direction of dependencies, read from `cargo metadata`: the compiler keeps each edge, this test keeps the list of edges.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Every edge that the house allows (docs/architecture.md).
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &[]),
    ("workloads", &["model"]),
    ("drivers", &["model"]),
    ("probes", &["model"]),
    ("machines", &["model"]),
    ("store", &["model"]),
    ("validity", &["model", "stats"]),
    ("study", &["model", "stats", "validity"]),
    ("report", &["model", "stats", "validity"]),
    ("agent", &["model", "workloads", "probes"]),
    (
        "vmtax",
        &[
            "model",
            "stats",
            "validity",
            "workloads",
            "drivers",
            "probes",
            "machines",
            "store",
            "study",
            "report",
            "agent",
        ],
    ),
];

fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let room = |name: &serde_json::Value| {
        let name = name.as_str().unwrap();
        (name == "vmtax" || name.starts_with("vmtax-")).then(|| name.strip_prefix("vmtax-").unwrap_or(name).to_owned())
    };
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .filter_map(|package| {
            // Dependencies of tests may point anywhere that compiles; the house is about what ships.
            let used = package["dependencies"].as_array().unwrap().iter().filter(|d| d["kind"] != "dev");
            Some((room(&package["name"])?, used.filter_map(|d| room(&d["name"])).collect()))
        })
        .collect()
}

#[test]
fn no_room_depends_on_one_that_the_house_does_not_allow() {
    let found = edges();
    let names: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ALLOWED.iter().map(|(room, _)| *room).collect(), "every room is on the list, and no other");
    for (room, allowed) in ALLOWED {
        for used in &found[*room] {
            assert!(allowed.contains(&used.as_str()), "{room} must not depend on {used}");
        }
    }
}

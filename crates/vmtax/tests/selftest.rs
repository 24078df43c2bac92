//! Self-tests with real agents and guests, too short to be judged: that the machines are what they claim to be, and that nothing that
//! was measured is lost.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{assert_nothing_left, complete_rounds, folder, journal, spawn, turn, vmtax, wait_until, word};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What the self-test says of a study that is there.
fn findings(study: &Path) -> Value {
    let args = ["selftest", "--study", word(study), "--format", "json"];
    let output = vmtax().args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Machines that ran something.
fn machines_of(study: &Path) -> BTreeSet<String> {
    let journal = journal(study);
    let runs = journal.iter().filter(|e| e["event"] == "run" && e["outcome"] == "measured");
    runs.map(|run| run["machine"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_injected_overhead_is_found_also_by_a_study_that_was_interrupted_and_resumed() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let common = ["selftest", "--busy-host", "--accel", "tcg", "--seed", "3", "--output", word(&study)];
    let child = spawn(&[&common[..], &["--injected", "50", "--rounds", "8"]].concat());
    wait_until("the first round", 90, || complete_rounds(&study) == [1]);
    child.signal(Signal::INT);
    let controller = child.id();
    let output = child.output();
    let (text, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{text}\n{told}");
    assert!(text.contains("TOO FEW ROUNDS") && told.contains("vmtax resume"), "{text}\n{told}");
    assert_nothing_left(controller, dir.path());
    assert_eq!(findings(&study)["rounds"], complete_rounds(&study).len());

    // Its report compares host and guest, and no guest was in any round.
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(3);
    let found = findings(&study);
    assert_eq!(
        (&found["rounds"], &found["groups"], &found["judgement"]),
        (&8.into(), &1.into(), &"TOO_FEW_ROUNDS".into())
    );
    assert_eq!(machines_of(&study), ["host", "host+50"].map(str::to_owned).into());
    let recovered = found["series"][0]["recovered_percent"].as_f64().unwrap();
    // Other tests and builds share the machine; without the padding it would be about 0, with it on both sides too.
    assert!((20.0..100.0).contains(&recovered), "{found}");
}

#[test]
fn twins_are_made_of_host_and_guest_and_what_ctrl_c_leaves_is_evaluated() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let common = ["selftest", "--busy-host", "--accel", "tcg", "--output", word(&study), "--lang", "en"];
    let child = spawn(&[&common[..], &["--aa", "--rounds", "8", "--bench", "memory.memcpy"]].concat());
    wait_until("the first round", 120, || complete_rounds(&study) == [1]);
    child.signal(Signal::INT);
    let controller = child.id();
    let output = child.output();
    let (text, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{text}\n{told}");
    assert!(text.contains("guest against guest-b") && text.contains("TOO FEW ROUNDS"), "{text}");
    assert_nothing_left(controller, dir.path());

    assert_eq!(machines_of(&study), ["host", "host-b", "guest", "guest-b"].map(str::to_owned).into());
    let booted =
        |machine: &str| journal(&study).iter().filter(|e| e["event"] == "booted" && e["machine"] == machine).count();
    assert!(booted("guest") >= 1 && booted("guest-b") >= 1);
    let found = findings(&study);
    assert_eq!(found["series"].as_array().unwrap().len(), 2 * 2);
    assert_eq!(found["canaries"].as_array().unwrap().len(), 4);
    // Its ordinary report is host against guest.
    vmtax().args(["report", word(&study)]).assert().code(0).stdout(contains("self-test").and(contains("MEMCPY")));
}

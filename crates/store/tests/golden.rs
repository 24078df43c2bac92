//! Studies that older builds wrote can be read for ever: one golden folder per format number.
//!
//! `cargo test -p vmtax-store --test golden -- --ignored` writes the folder of the current format anew, which is right
//! only while that format has never been released.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

#[path = "golden/make.rs"]
mod make;

use model::Outcome;
use model::record::{Ending, Event, FORMAT, GUEST, HOST};
use serde_json::Value;
use std::path::{Path, PathBuf};
use vmtax_store::StudyFolder;

fn golden(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/format-{format}"))
}

#[test]
#[ignore = "writes the golden folder of the current format"]
fn make_golden_folder() {
    let path = golden(FORMAT);
    let _ = std::fs::remove_dir_all(&path);
    make::make(&path);
}

#[test]
fn every_format_has_its_golden_folder_and_all_of_it_is_read() {
    for format in 1..=FORMAT {
        let folder = StudyFolder::open(&golden(format)).unwrap();
        let manifest = folder.manifest().unwrap();
        assert_eq!(manifest.format, format);
        assert_eq!((manifest.plan.rounds, manifest.plan.cells.len(), manifest.benchmarks.len()), (8, 4, 4));
        assert_eq!(manifest.machines[GUEST].cpu.hypervisor.as_deref(), Some("TCGTCGTCGTCG"));

        let journal = folder.journal().unwrap();
        assert_eq!(journal.skipped.len(), 1, "the line in which the study was killed: {:?}", journal.skipped);
        let count = |kind: fn(&Event) -> bool| journal.lines.iter().filter(|line| kind(&line.event)).count();
        assert_eq!(count(|e| matches!(e, Event::Opened { .. })), 3);
        assert_eq!(count(|e| matches!(e, Event::Unknown)), 1);
        assert_eq!(count(|e| matches!(e, Event::RoundStarted { .. })), 11);
        assert_eq!(count(|e| matches!(e, Event::Booted { .. })), 11);
        assert_eq!(count(|e| matches!(e, Event::RoundEnded { complete: true, .. })), 8);
        assert_eq!(count(|e| matches!(e, Event::RoundEnded { complete: false, why: Some(_), .. })), 2);
        assert_eq!(count(|e| matches!(e, Event::Ended { .. })), 2);
        assert!(matches!(journal.lines.last().unwrap().event, Event::Ended { how: Ending::Finished, .. }));

        let runs: Vec<_> = journal
            .lines
            .iter()
            .filter_map(|line| if let Event::Run(run) = &line.event { Some(run) } else { None })
            .collect();
        let outcomes = |kind: fn(&Outcome) -> bool| runs.iter().filter(|run| kind(&run.outcome)).count();
        assert_eq!(outcomes(|o| matches!(o, Outcome::Skipped { .. })), 2);
        assert_eq!(outcomes(|o| matches!(o, Outcome::Failed { .. })), 2);
        assert_eq!(outcomes(|o| matches!(o, Outcome::Cancelled)), 1);
        let first = |machine| runs.iter().find(|r| r.machine == machine && r.raw.is_some()).unwrap();
        for machine in [HOST, GUEST] {
            let output = folder.read_raw(first(machine).raw.as_deref().unwrap()).unwrap();
            let fio: Value = serde_json::from_slice(&output).unwrap();
            assert_eq!(fio["jobs"][0]["read"]["io_bytes"], 219492352);
        }
        let value = first(HOST).outcome.value("iops").unwrap();
        assert_eq!(value.to_bits(), 54163.01283100154_f64.to_bits(), "floats are read to the last bit: {value:?}");
    }
}

/// True where all that `old` says is said by `new`; `new` may say more.
fn kept(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.iter().all(|(key, value)| new.get(key).is_some_and(|n| kept(value, n)))
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(o, n)| kept(o, n))
        }
        _ => old == new,
    }
}

#[test]
fn nothing_that_the_current_format_says_is_lost_on_reading() {
    let folder = StudyFolder::open(&golden(FORMAT)).unwrap();
    let text = std::fs::read(golden(FORMAT).join("manifest.json")).unwrap();
    let old: Value = serde_json::from_slice(&text).unwrap();
    assert!(kept(&old, &serde_json::to_value(folder.manifest().unwrap()).unwrap()));

    let text = std::fs::read_to_string(golden(FORMAT).join("journal.jsonl")).unwrap();
    let mut old = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in folder.journal().unwrap().lines {
        let old = old.next().unwrap();
        let new = serde_json::to_value(&line).unwrap();
        assert!(line.event == Event::Unknown || kept(&old, &new), "{old}\nbecame\n{new}");
    }
    assert!(old.next().is_none());
}

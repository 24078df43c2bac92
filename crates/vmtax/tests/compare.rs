//! `vmtax compare` as a user or a pipeline runs it, on the golden study and bent copies of it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{folder, vmtax, word};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/golden/format-1");

/// A copy of the golden study in which the manifest and every measured run of the journal were bent.
fn copy(dir: &Path, name: &str, manifest: impl Fn(&mut Value), run: impl Fn(&mut Value)) -> PathBuf {
    let study = dir.join(name);
    fs::create_dir(&study).unwrap();
    let mut json: Value = serde_json::from_slice(&fs::read(Path::new(GOLDEN).join("manifest.json")).unwrap()).unwrap();
    manifest(&mut json);
    fs::write(study.join("manifest.json"), json.to_string()).unwrap();
    let journal = fs::read_to_string(Path::new(GOLDEN).join("journal.jsonl")).unwrap();
    let lines = journal.lines().map(|line| match serde_json::from_str::<Value>(line) {
        Ok(mut event) if event["outcome"] == "measured" => {
            run(&mut event);
            event.to_string() + "\n"
        }
        _ => line.to_owned() + "\n", // the torn line too
    });
    fs::write(study.join("journal.jsonl"), lines.collect::<String>()).unwrap();
    study
}

/// A later study in which the guest's rates are `factor` times what they were.
fn later(dir: &Path, name: &str, factor: f64) -> PathBuf {
    let rename = |manifest: &mut Value| {
        manifest["created"] = (manifest["created"].as_f64().unwrap() + 1000.0 * factor).into();
        manifest["machines"]["host"]["kernel_release"] = "7.0.1".into();
    };
    copy(dir, name, rename, |run| {
        for rate in ["lps", "bandwidth", "iops"] {
            if run["machine"] == "guest" && run["values"][rate].is_f64() {
                run["values"][rate] = (run["values"][rate].as_f64().unwrap() * factor).into();
            }
        }
    })
}

#[test]
fn the_help_text_is_as_reviewed() {
    let output = vmtax().args(["compare", "--help"]).env("COLUMNS", "80").output().unwrap();
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

#[test]
fn a_study_has_not_changed_against_itself() {
    vmtax()
        .args(["compare", GOLDEN, GOLDEN])
        .assert()
        .code(0)
        .stdout(contains("No regression").and(contains("A and B are the same study")))
        .stdout(predicate::function(|text: &str| text.lines().all(|line| line.chars().count() <= 80)))
        .stderr(contains("format-1 is left out"));
}

#[test]
fn a_slower_guest_is_exit_code_4_and_a_faster_one_is_0() {
    let dir = folder();
    let slower = later(dir.path(), "slower", 0.8);
    vmtax()
        .args(["compare", GOLDEN, word(&slower)])
        .assert()
        .code(4)
        .stdout(contains("REGRESSION: 3 of 3 metrics").and(contains("+25.0 %")).and(contains("→ 7.0.1")));
    vmtax().args(["compare", word(&slower), GOLDEN]).assert().code(0).stdout(contains("3 better"));
    vmtax().args(["compare", GOLDEN, word(&slower), "--margin", "40"]).assert().code(0);
    let zh = vmtax().args(["compare", GOLDEN, word(&slower), "--lang", "zh"]).output().unwrap();
    let by_locale = vmtax().args(["compare", GOLDEN, word(&slower)]).env("LC_ALL", "zh_CN.UTF-8").output().unwrap();
    assert!(String::from_utf8_lossy(&zh.stdout).contains("性能退化"));
    assert_eq!(zh.stdout, by_locale.stdout);
}

#[test]
fn a_regression_that_the_repetition_does_not_show_is_none() {
    let dir = folder();
    let (slower, again, well) =
        (later(dir.path(), "b", 0.8), later(dir.path(), "again", 0.79), later(dir.path(), "well", 1.0));
    let compare = |c: &Path| {
        let mut command = vmtax();
        command.args(["compare", GOLDEN, word(&slower), "--confirm", word(c)]);
        command.assert()
    };
    compare(&again).code(4).stdout(contains("confirmed by C"));
    compare(&well).code(0).stdout(contains("NOT_CONFIRMED"));
    compare(&slower).code(2).stderr(contains("--confirm").and(contains("cannot confirm itself")));
}

#[test]
fn every_format_goes_into_a_new_file_and_over_none() {
    let dir = folder();
    let slower = later(dir.path(), "b", 0.8);
    for (format, begins) in [("text", "vmtax"), ("markdown", "## "), ("json", "{"), ("junit", "<?xml")] {
        let file = dir.path().join(format);
        let write = || {
            let mut command = vmtax();
            command.args(["compare", GOLDEN, word(&slower), "--format", format, "--output", word(&file)]);
            command.assert()
        };
        write().code(4).stdout("");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(begins), "{text}");
        write().code(1).stderr(contains("name a file that is not there yet"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    let json: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("json")).unwrap()).unwrap();
    assert_eq!((&json["decision"], &json["changes"][0]["verdict"]), (&"regression".into(), &"REGRESSION".into()));
}

#[test]
fn what_cannot_be_compared_says_which_study_and_what_can_still_be_done() {
    let dir = folder();
    vmtax().args(["compare", GOLDEN, "nowhere"]).assert().code(1).stderr(contains("Study B").and(contains("nowhere")));
    vmtax().args(["compare", "nowhere", GOLDEN]).assert().code(1).stderr(contains("Study A"));
    let newer = copy(dir.path(), "newer", |manifest| manifest["format"] = 99.into(), |_| ());
    vmtax()
        .args(["compare", GOLDEN, GOLDEN, "--confirm", word(&newer)])
        .assert()
        .code(1)
        .stderr(contains("Study C").and(contains("format 99")));
    let other = copy(dir.path(), "other", |manifest| manifest["isa"] = "x86-64-v2".into(), |_| ());
    vmtax()
        .args(["compare", GOLDEN, word(&other)])
        .assert()
        .code(1)
        .stderr(contains("no measured cell in common").and(contains("vmtax report")).and(contains("x86-64-v2")));
    for margin in ["-1", "nan", "much"] {
        vmtax().args(["compare", GOLDEN, GOLDEN]).arg(format!("--margin={margin}")).assert().code(2);
    }
}

#[test]
fn two_rounds_decide_nothing_which_is_exit_code_3() {
    let dir = folder();
    let short = copy(dir.path(), "short", |_| (), |_| ());
    let journal = fs::read_to_string(short.join("journal.jsonl")).unwrap();
    let end = journal.find("\"event\":\"round_started\",\"round\":3").unwrap();
    let end = journal[..end].rfind('\n').unwrap();
    fs::write(short.join("journal.jsonl"), &journal[..end]).unwrap();
    vmtax()
        .args(["compare", GOLDEN, word(&short)])
        .assert()
        .code(3)
        .stdout(contains("TOO_FEW").and(contains("TOO_FEW  too few rounds for any answer: 5 in each study")));
}

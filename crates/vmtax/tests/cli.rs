//! The command line without any guest: help, lists, and what it says of bad input.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{folder, vmtax, word};
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn help_texts_are_as_reviewed() {
    let mut all = String::new();
    let commands = ["run", "resume", "report", "doctor", "selftest", "list", "vm", "clean"];
    for args in std::iter::once(vec![]).chain(commands.map(|command| vec![command])) {
        let output = vmtax().args(&args).arg("--help").env("COLUMNS", "80").output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        all.push_str(&format!("$ vmtax {} --help\n{text}\n", args.join(" ")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn unknown_names_come_with_the_nearest_and_their_place() {
    vmtax()
        .args(["run", "--bench", "cpu.dhrystne"])
        .assert()
        .code(2)
        .stderr(contains("--bench: There is no benchmark 'cpu.dhrystne'; did you mean 'cpu.dhrystone'?"));
    vmtax().args(["run", "--suite", "quik"]).assert().code(2).stderr(contains("did you mean 'quick'"));
    vmtax().args(["run", "--set", "disk.cach=none"]).assert().code(2).stderr(contains("did you mean 'disk.cache'"));
    vmtax().args(["run", "--set", "disk.cache"]).assert().code(2).stderr(contains("KEY=VALUE"));
    vmtax().args(["run", "--param", "siz=4k"]).assert().code(2).stderr(contains("did you mean 'size'"));
    vmtax().args(["run", "--rouns", "3"]).assert().code(2).stderr(contains("--rounds"));
    vmtax().args(["vm", "--accel", "kwm", "--", "true"]).assert().code(2).stderr(contains("did you mean 'kvm'"));
}

#[test]
fn bad_sizes_durations_and_numbers_are_usage_errors() {
    vmtax().args(["run", "--param", "disk:size=4q"]).assert().code(2).stderr(contains("'4q' is not a size"));
    vmtax().args(["run", "--param", "time=soon"]).assert().code(2).stderr(contains("'soon' is not a duration"));
    vmtax()
        .args(["run", "--budget", "1 parsec"])
        .assert()
        .code(2)
        .stderr(contains("--budget: '1 parsec' is not a duration"));
    vmtax().args(["run", "--rounds", "0"]).assert().code(2).stderr(contains("from 1 to 1000"));
    vmtax().args(["run", "--run-timeout", "x"]).assert().code(2).stderr(contains("--run-timeout"));
    vmtax()
        .args(["run", "--set", "disk.cache=writeback"])
        .assert()
        .code(2)
        .stderr(contains("disk.aio=native").and(contains("threads")));
    vmtax().args(["run", "--param", "memory:size=2g"]).assert().code(2).stderr(contains("the guest has 1 GiB"));
}

#[test]
fn a_self_test_that_cannot_be_is_a_usage_error_before_anything_is_made() {
    let refused = |args: &[&str], why: &str| {
        vmtax().arg("selftest").args(args).arg("--dry-run").assert().code(2).stderr(contains(why));
    };
    for rounds in ["12", "0", "-8", "many", "1008"] {
        refused(&["--aa", &format!("--rounds={rounds}")], "a multiple of 8");
    }
    for list in ["0", "1,x", "1.5", "2000", ""] {
        refused(&[&format!("--injected={list}")], "is not a whole number of percent");
    }
    refused(&["--aa", "--bench", "cpu.dhrystne"], "did you mean 'cpu.dhrystone'?");
    refused(&["--aa", "--bench", "disk.read-4k"], "disk.read-4k cannot take part");
    refused(&["--injected", "--bench", "cpu"], "cannot be used with");
    refused(&[], "--aa");
    refused(&["--aa", "--injected"], "cannot be used with");
    vmtax()
        .args(["selftest", "--study", "nowhere"])
        .assert()
        .code(1)
        .stderr(contains("There is no study folder nowhere"));
}

#[test]
fn a_self_test_says_what_it_will_do_and_how_long_that_takes() {
    let dry = |args: &[&str]| {
        let output = vmtax().arg("selftest").args(args).arg("--dry-run").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = dry(&["--aa", "--accel", "tcg"]);
    assert!(
        text.contains("7 benchmarks x 64 rounds on host, host-b, guest, guest-b") && text.contains(" min"),
        "{text}"
    );
    let text = dry(&["--injected"]);
    assert!(text.contains("1 benchmark x 64 rounds on host, host+1, host+3, host+10, host+50"), "{text}");
    let text = dry(&["--injected", "7,2,7", "--rounds", "24"]);
    assert!(text.contains("24 rounds on host, host+2, host+7") && text.contains("Too few rounds to judge"), "{text}");
}

#[test]
fn a_wrong_plan_is_told_by_file_and_line() {
    let dir = folder();
    let plan = dir.path().join("p.toml");
    std::fs::write(&plan, "suite = \"quick\"\n\nround = 3\n").unwrap();
    vmtax()
        .args(["run", "--plan", word(&plan)])
        .assert()
        .code(2)
        .stderr(contains("p.toml:3: There is no plan key 'round'; did you mean 'rounds'?"));
    std::fs::write(&plan, "[settings]\n\"vm.cpu\" = 2\n").unwrap();
    vmtax()
        .args(["run", "--plan", word(&plan)])
        .assert()
        .code(2)
        .stderr(contains("p.toml:2: There is no setting 'vm.cpu'; did you mean 'vm.cpus'?"));
    vmtax()
        .args(["run", "--plan", "nowhere.toml"])
        .assert()
        .code(2)
        .stderr(contains("Could not read the plan nowhere.toml"));
}

#[test]
fn every_example_plan_is_valid() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen = 0;
    for plan in std::fs::read_dir(examples).unwrap().flatten() {
        vmtax()
            .args(["run", "--dry-run", "--plan", word(&plan.path())])
            .assert()
            .success()
            .stdout(contains("rounds, host against"));
        seen += 1;
    }
    assert!(seen >= 2);
}

#[test]
fn a_dry_run_shows_the_estimate_and_makes_nothing() {
    let dir = folder();
    vmtax()
        .current_dir(dir.path())
        .args(["run", "--dry-run", "--budget", "1s"])
        .assert()
        .success()
        .stdout(contains("12 benchmarks x 8 to 20 rounds").and(contains("too little for one round")));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_list_is_also_json_with_units_and_defaults() {
    let output = vmtax().args(["list", "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ids: Vec<&str> = list["benchmarks"].as_array().unwrap().iter().map(|b| b["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"cpu.dhrystone") && ids.contains(&"disk.write-1m"), "{ids:?}");
    let cache = list["settings"].as_array().unwrap().iter().find(|s| s["key"] == "disk.cache").unwrap();
    assert_eq!(cache["default"], "none");
    vmtax()
        .args(["list"])
        .assert()
        .success()
        .stdout(predicate::function(|text: &str| text.lines().all(|l| l.chars().count() <= 80)));
}

#[test]
fn a_report_of_what_is_no_study_says_so() {
    let dir = folder();
    vmtax().args(["report", "nowhere"]).assert().code(1).stderr(contains("There is no study folder nowhere"));
    vmtax().args(["report", word(dir.path())]).assert().code(1).stderr(contains("has no manifest.json"));
    vmtax().args(["resume", "nowhere"]).assert().code(1).stderr(contains("There is no study folder nowhere"));
}

#[test]
fn every_benchmark_suite_setting_and_parameter_stands_in_the_docs() {
    let doc =
        |name: &str| std::fs::read_to_string(format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let output = vmtax().args(["list", "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (benchmarks, settings) = (doc("benchmarks.md"), doc("settings.md"));
    let names = |key: &str, field: &str| -> Vec<String> {
        list[key].as_array().unwrap().iter().map(|x| x[field].as_str().unwrap().to_owned()).collect()
    };
    for id in names("benchmarks", "id").into_iter().chain(names("suites", "name")) {
        assert!(benchmarks.contains(&format!("`{id}`")), "{id} is not in docs/benchmarks.md");
    }
    for benchmark in list["benchmarks"].as_array().unwrap() {
        for param in benchmark["params"].as_array().unwrap() {
            let key = param["key"].as_str().unwrap();
            assert!(benchmarks.contains(&format!("`{key}`")), "parameter {key} is not in docs/benchmarks.md");
        }
    }
    for key in names("settings", "key") {
        assert!(settings.contains(&format!("`{key}`")), "{key} is not in docs/settings.md");
    }
}

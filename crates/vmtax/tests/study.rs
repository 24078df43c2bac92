//! Whole studies with real guests, small ones: from the command line to the report, through interruptions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{
    Small, assert_nothing_left, complete_rounds, folder, guest_of, journal, lenient, spawn, turn, vmtax, wait_until,
    word,
};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A CPU study whose rounds take some seconds.
const CPU: [&str; 9] =
    ["run", "--busy-host", "--accel", "tcg", "--bench", "cpu.dhrystone", "--param", "time=300ms", "--seed"];

fn cpu_study<'a>(study: &'a str, rounds: &'a str) -> Vec<&'a str> {
    lenient(&[&CPU[..], &["7", "--rounds", rounds, "--output", study]].concat())
}

fn runs(study: &Path) -> Vec<serde_json::Value> {
    journal(study).into_iter().filter(|e| e["event"] == "run").collect()
}

#[test]
fn a_study_of_all_areas_goes_from_the_command_line_to_a_report_whose_figures_agree() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let benches = ["cpu.dhrystone", "cpu.whetstone", "cpu.file-copy", "memory", "disk.randread-4k", "disk.write-1m"];
    let mut args =
        vec!["run", "--busy-host", "--accel", "tcg", "--rounds", "3", "--seed", "1", "--output", word(&study)];
    for bench in benches {
        args.extend(["--bench", bench]);
    }
    for param in ["time=400ms", "ramp=100ms", "disk:size=32m", "memory:size=8m", "memory:passes=3"] {
        args.extend(["--param", param]);
    }
    let output = vmtax().args(lenient(&args)).output().unwrap();
    let (text, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{text}\n{told}");
    assert!(text.contains("emulated (TCG)") && text.contains("INDICATIVE"), "{text}");
    // Only the paths of a test are longer than a terminal is wide.
    let wide = |line: &&str| line.chars().count() > 80 && !line.contains(word(&study));
    assert_eq!(text.lines().find(wide), None, "{text}");

    // 8 benchmarks, 3 rounds, 2 machines, all measured, in blocks of both machines.
    let runs = runs(&study);
    assert_eq!(runs.len(), 8 * 3 * 2);
    assert!(runs.iter().all(|r| r["outcome"] == "measured"), "{runs:?}");
    for pair in runs.chunks(2) {
        assert_eq!(pair[0]["benchmark"], pair[1]["benchmark"]);
        assert_ne!(pair[0]["machine"], pair[1]["machine"]);
    }
    let orders: Vec<&serde_json::Value> = runs.iter().step_by(16).map(|r| &r["benchmark"]).collect();
    assert!(!(orders[0] == orders[1] && orders[1] == orders[2]), "every round began alike: {orders:?}");

    // The CPU time and the clock of both sides were read.
    for run in &runs {
        let (inside, outside) =
            (run["counters"]["wall_seconds"].as_f64().unwrap(), run["controller_seconds"].as_f64().unwrap());
        // What lies between them is the pipe, which is slow in an emulated guest.
        assert!((outside - inside).abs() <= inside * 0.1 + 0.3, "{run}");
        assert!(run["host_cost"]["vcpu_seconds"].as_f64().unwrap() > 0.0, "{run}");
    }
    // QEMU really read what the guest's fio moved: the page cache of the host was not asked.
    let disk = |r: &&serde_json::Value| r["benchmark"] == "disk.randread-4k" && r["machine"] == "guest";
    // The host's fio is counted by its own process, and not by whoever has its id outside of its namespace.
    for run in runs.iter().filter(|r| r["benchmark"] == "disk.randread-4k" && r["machine"] == "host") {
        let moved = run["values"]["bandwidth"].as_f64().unwrap() * 0.4;
        assert!(run["counters"]["read_bytes"].as_f64().unwrap() > 0.8 * moved, "{run}");
        assert!(run["counters"]["read_bytes"].as_f64().unwrap() < 3.0 * moved, "{run}");
    }
    for run in runs.iter().filter(disk) {
        let moved = run["values"]["bandwidth"].as_f64().unwrap() * 0.4;
        let read = run["host_cost"]["read_bytes"].as_f64().unwrap();
        assert!(read > 0.8 * moved, "{run}");
    }

    // A raw output says what the journal says.
    let run = runs.iter().find(|r| disk(r)).unwrap();
    let raw: serde_json::Value =
        serde_json::from_slice(&fs::read(study.join(run["raw"].as_str().unwrap())).unwrap()).unwrap();
    assert_eq!(raw["jobs"][0]["read"]["iops"].as_f64(), run["values"]["iops"].as_f64());
    assert_eq!(
        raw["global options"]["filename"]
            .as_str()
            .or(raw["jobs"][0]["job options"]["filename"].as_str())
            .map(|f| f.starts_with("/dev/vd")),
        Some(true)
    );

    // The report is made again from the folder alone, byte for byte, and its page is whole.
    let page = fs::read_to_string(study.join("report.html")).unwrap();
    let again = vmtax().args(["report", word(&study), "--format", "html"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0));
    assert!(page.contains("</html>") && page.len() < 1_500_000);
    let json = vmtax().args(["report", word(&study), "--format", "json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["benchmarks"].as_array().unwrap().len(), 8);

    // What settings were asked for was seen in effect.
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(study.join("manifest.json")).unwrap()).unwrap();
    for (key, asked) in manifest["plan"]["configuration"]["settings"].as_object().unwrap() {
        if let Some(seen) = manifest["observed"].get(key) {
            assert_eq!(seen, asked, "{key}");
        }
    }
    assert_eq!(manifest["observed"]["disk.cache"], "none");
    assert_nothing_left(0, dir.path());
}

#[test]
fn a_killed_qemu_costs_its_round_only_and_the_round_is_made_again() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let child = spawn(&cpu_study(word(&study), "1"));
    wait_until("the guest of round 1", 60, || guest_of(child.id(), "guest-r1a1").is_some());
    wait_until("a run", 60, || journal(&study).iter().any(|e| e["event"] == "booted"));
    let qemu = guest_of(child.id(), "guest-r1a1").unwrap();
    kill_process(Pid::from_raw(qemu as i32).unwrap(), Signal::KILL).unwrap();
    let controller = child.id();
    let output = child.output();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("QEMU ended") && told.contains("signal: 9"), "{told}");
    let attempts: Vec<(u64, bool)> = journal(&study)
        .iter()
        .filter(|e| e["event"] == "round_ended")
        .map(|e| (e["attempt"].as_u64().unwrap(), e["complete"] == true))
        .collect();
    assert_eq!(attempts, [(1, false), (2, true)]);
    assert_nothing_left(controller, dir.path());
}

#[test]
fn a_frozen_guest_is_given_up_at_the_deadline_and_named() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let mut args = cpu_study(word(&study), "1");
    args.extend(["--run-timeout", "4s"]);
    let child = spawn(&args);
    wait_until("the guest of round 1", 60, || guest_of(child.id(), "guest-r1a1").is_some());
    wait_until("a run", 60, || journal(&study).iter().any(|e| e["event"] == "booted"));
    let qemu = Pid::from_raw(guest_of(child.id(), "guest-r1a1").unwrap() as i32).unwrap();
    kill_process(qemu, Signal::STOP).unwrap();
    let output = child.output();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let failed = runs(&study).into_iter().find(|r| r["outcome"] == "failed").unwrap();
    assert!(failed["cause"] == "timeout" || failed["cause"] == "guest", "{failed}");
    assert_eq!(complete_rounds(&study), [1]);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_resume_goes_on() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let child = spawn(&cpu_study(word(&study), "3"));
    wait_until("the first round", 90, || complete_rounds(&study) == [1]);
    child.signal(Signal::INT);
    let controller = child.id();
    let output = child.output();
    let (text, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{text}\n{told}");
    assert!(told.contains("vmtax resume"), "{told}");
    assert_eq!(journal(&study).last().unwrap()["how"], "interrupted");
    assert_nothing_left(controller, dir.path());

    let before = runs(&study);
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(0).stdout(contains("3 of 3 rounds"));
    assert_eq!(complete_rounds(&study), [1, 2, 3]);
    assert_eq!(runs(&study)[..before.len()], before[..], "a finished run was lost");
    // A study that is finished has nothing to go on with, and loses nothing by being asked.
    let after = runs(&study);
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(0);
    assert_eq!(runs(&study), after);
}

#[test]
fn kill_9_at_random_points_leaves_nothing_and_resume_loses_no_finished_run() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let mut args = cpu_study(word(&study), "3");
    args.splice(
        5..6,
        ["cpu.dhrystone", "--bench", "disk.randread-4k", "--param", "disk:size=16m", "--param", "ramp=100ms"],
    );
    // Any moments would do; these are spread over preparation, boots, runs and the ends of rounds, and never the same twice.
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let mut finished = Vec::new();
    for (i, seconds) in [0.3, 3.0, 9.0, 16.0].into_iter().enumerate() {
        let jitter = f64::from(nanos.rotate_left(8 * i as u32) % 2000) / 1000.0;
        let resumable = study.join("manifest.json").exists();
        let words = if resumable { vec!["resume", "--busy-host", word(&study)] } else { args.clone() };
        let child = spawn(&words);
        std::thread::sleep(Duration::from_secs_f64(seconds + jitter));
        let controller = child.id();
        drop(child);
        assert_nothing_left(controller, dir.path());
        let now = runs(&study);
        assert_eq!(now[..finished.len()], finished[..], "after {seconds} + {jitter} s a finished run was lost");
        finished = now;
        if !study.join("manifest.json").exists() {
            // Killed before anything was measured: the folder holds no study.
            let _ = fs::remove_dir_all(&study);
        }
    }
    let words = if study.join("manifest.json").exists() { vec!["resume", "--busy-host", word(&study)] } else { args };
    vmtax().args(&words).assert().code(0);
    assert_eq!(runs(&study)[..finished.len()], finished[..]);
    let mut complete = complete_rounds(&study);
    complete.sort_unstable();
    assert_eq!(complete, [1, 2, 3]);
}

#[test]
fn a_disk_that_fills_up_ends_the_study_and_loses_nothing() {
    let _turn = turn();
    let disk = Small::new(16, "");
    let study = disk.path().join("s");
    let child = spawn(&cpu_study(word(&study), "2"));
    wait_until("the first round", 90, || complete_rounds(&study) == [1]);
    let filler = disk.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    for size in [1 << 20, 4096, 1] {
        while std::io::Write::write_all(&mut file, &vec![1; size]).is_ok() {}
    }
    // The last block of the journal may still have room for some lines.
    let output = child.output();
    let told = String::from_utf8_lossy(&output.stderr);
    drop(file);
    fs::remove_file(&filler).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("No space left") && told.contains("vmtax resume"), "{told}");
    vmtax().args(["report", word(&study)]).assert().code(0).stdout(contains("1 of 2 rounds"));
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(0).stdout(contains("2 of 2 rounds"));
}

#[test]
fn a_budget_ends_a_study_at_whole_rounds() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let mut args = cpu_study(word(&study), "50");
    args.extend(["--budget", "20s"]);
    vmtax().args(&args).assert().code(0).stdout(contains("budget").or(contains("of 50 rounds")));
    let complete = complete_rounds(&study).len();
    assert!((1..8).contains(&complete), "{complete}");
    assert_eq!(journal(&study).last().unwrap()["how"], "budget");
}

#[test]
fn a_study_that_is_in_use_a_folder_that_is_not_empty_and_a_changed_build_are_refused() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    fs::create_dir(&study).unwrap();
    fs::write(study.join("precious"), "x").unwrap();
    vmtax().args(cpu_study(word(&study), "1")).assert().code(1).stderr(contains("already holds files"));
    assert_eq!(fs::read(study.join("precious")).unwrap(), b"x");

    let study = dir.path().join("t");
    let child = spawn(&cpu_study(word(&study), "3"));
    wait_until("a manifest", 60, || study.join("manifest.json").exists());
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(1).stderr(contains("Another vmtax is using"));
    vmtax().args(["report", word(&study)]).assert().code(0);
    drop(child);
    let manifest = study.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let build = serde_json::from_str::<serde_json::Value>(&text).unwrap()["build"].as_str().unwrap().to_owned();
    fs::write(&manifest, text.replace(&build, "0123")).unwrap();
    vmtax().args(["resume", "--busy-host", word(&study)]).assert().code(1).stderr(contains("vmtax build was '0123'"));
}

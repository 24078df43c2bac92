//! Figures that are not what they seem, made on purpose in real studies, and caught.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{folder, guest_of, journal, lenient, spawn, turn, vmtax, wait_until, walk, word};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const QEMU: &str = "/usr/bin/qemu-system-x86_64";

/// A small study: `vmtax run` with what a test needs, and the exit code that it must have.
fn study(extra: &[&str], expected: i32) -> (tempfile::TempDir, PathBuf) {
    let dir = folder();
    let path = dir.path().join("s");
    let output = vmtax().args(arguments(extra)).args(["--output", word(&path)]).output().unwrap();
    check_exit(&output, expected);
    (dir, path)
}

fn arguments<'a>(extra: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--busy-host", "--accel", "tcg", "--seed", "7"][..], extra].concat()
}

fn check_exit(output: &Output, expected: i32) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(expected), "{said}");
}

fn runs(study: &Path, machine: &str) -> Vec<Value> {
    journal(study).into_iter().filter(|e| e["event"] == "run" && e["machine"] == machine).collect()
}

/// The check of a run for one threat.
fn check<'a>(run: &'a Value, threat: &str) -> Option<&'a Value> {
    run["checks"].as_array()?.iter().find(|check| check["threat"] == threat)
}

fn status<'a>(run: &'a Value, threat: &str) -> Option<&'a str> {
    check(run, threat)?["status"].as_str()
}

/// The JSON report.
fn report(study: &Path) -> Value {
    let output = vmtax().args(["report", word(study), "--format", "json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a benchmark's checks said of a threat, in the report.
fn reported<'a>(report: &'a Value, benchmark: &str, threat: &str) -> Vec<&'a str> {
    let benchmarks = report["benchmarks"].as_array().unwrap();
    let checks = benchmarks.iter().find(|b| b["id"] == benchmark).unwrap()["checks"].as_array().unwrap();
    checks.iter().filter(|c| c["threat"] == threat).map(|c| c["status"].as_str().unwrap()).collect()
}

/// A folder that `nobody` may enter, for programs that stand in for others.
fn stage() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("vmtax-test-").tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// An executable script in `dir`.
fn program(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

const DISK: [&str; 10] = [
    "--bench",
    "disk.randread-4k",
    "--param",
    "time=1s",
    "--param",
    "ramp=200ms",
    "--param",
    "size=32m",
    "--rounds",
    "3",
];

#[test]
fn a_writeback_disk_that_the_page_cache_serves_is_no_disk() {
    let _turn = turn();
    let settings = ["--set", "disk.cache=writeback", "--set", "disk.aio=threads"];
    let (_dir, study) = study(&lenient(&[&DISK[..], &settings].concat()), 3);
    let guests = runs(&study, "guest");
    assert_eq!(guests.len(), 3);
    for run in &guests {
        assert_eq!(run["outcome"], "measured", "it worked, and is no figure of the disk all the same");
        assert_eq!(status(run, "page-cache"), Some("INVALID"), "{run}");
        assert_eq!(run["surroundings"]["descriptor_direct"], false);
    }
    assert!(runs(&study, "host").iter().all(|run| status(run, "page-cache") != Some("INVALID")));
    let json = report(&study);
    assert_eq!(
        json["benchmarks"][0]["metrics"].as_array().unwrap().iter().filter(|m| m["verdict"] == "OVERHEAD").count(),
        0
    );
    let text = vmtax().args(["report", word(&study)]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("INVALID") && text.contains("Page cache of the host"), "{text}");
}

#[test]
fn holes_that_somebody_cuts_into_the_image_cost_their_blocks_and_are_filled() {
    let _turn = turn();
    let dir = folder();
    let path = dir.path().join("s");
    let args = arguments(&DISK);
    let running = spawn(&lenient(&[&args[..], &["--output", word(&path)]].concat()));
    wait_until("the first round", 60, || journal(&path).iter().any(|e| e["event"] == "round_started"));
    let image = walk(&path).into_iter().find(|p| p.extension().is_some_and(|e| e == "raw")).unwrap();
    let hole = ["--punch-hole", "--offset", "0", "--length", "24M"];
    assert!(Command::new("fallocate").args(hole).arg(&image).status().unwrap().success());
    check_exit(&running.output(), 3);
    let of_round = |machine: &str, round: u64| {
        let all = runs(&path, machine).into_iter().filter(move |run| run["round"] == round);
        all.map(|run| status(&run, "thin-provisioning").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!([of_round("host", 1), of_round("guest", 1)].concat(), ["INVALID", "INVALID"]);
    for round in [2, 3] {
        assert_eq!([of_round("host", round), of_round("guest", round)].concat(), ["PASS", "PASS"]);
    }
    assert_eq!(report(&path)["benchmarks"][0]["blocks"], 2, "the block of the first round is dropped, and no other");
}

#[test]
fn emulation_where_kvm_was_asked_for_is_told_at_once() {
    let _turn = turn();
    let dir = stage();
    // What `accel=kvm:tcg` in somebody's wrapper does.
    let script = format!(
        "#!/bin/sh\nfor word; do shift; case $word in kvm) word=tcg;; host) word=max;; esac; set -- \"$@\" \"$word\"; done\nexec {QEMU} \"$@\"\n"
    );
    let qemu = program(dir.path(), "qemu", &script);
    let output = vmtax()
        .args([
            "run",
            "--busy-host",
            "--bench",
            "cpu.dhrystone",
            "--accel",
            "kvm",
            "--rounds",
            "1",
            "--qemu",
            word(&qemu),
        ])
        .args(["--output", word(&dir.path().join("s"))])
        .output()
        .unwrap();
    check_exit(&output, 1);
    let told = String::from_utf8(output.stderr).unwrap();
    // Without a /dev/kvm that opens it does not even come to that.
    let expected =
        if fs::File::options().read(true).write(true).open("/dev/kvm").is_ok() { "without it" } else { "/dev/kvm" };
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_guest_clock_that_is_five_percent_wrong_rejects_every_run() {
    let _turn = turn();
    let dir = stage();
    // The kernel believes what it is told about the time stamp counter, if it is also told to trust it.
    let script = format!(
        "#!/usr/bin/perl\nmy $khz;\nopen(my $f, '<', '/proc/cpuinfo');\nwhile (<$f>) {{ if (/^cpu MHz\\s*:\\s*([\\d.]+)/) {{ $khz = $1 * 1000; last }} }}\n\
         my $wrong = int($khz * 1.05);\nfor my $i (0..$#ARGV) {{ if ($ARGV[$i] eq '-append') {{ $ARGV[$i+1] .= \" tsc_early_khz=$wrong tsc=reliable clocksource=tsc\" }} }}\n\
         exec '{QEMU}', @ARGV;\n"
    );
    let qemu = program(dir.path(), "qemu", &script);
    let extra = ["--bench", "cpu.dhrystone", "--param", "time=1s", "--rounds", "3", "--qemu", word(&qemu)];
    let (_dir, study) = study(&lenient(&extra), 3);
    for run in runs(&study, "guest") {
        let rate = run["surroundings"]["clock"]["rate"].as_f64().unwrap();
        // The frequency that /proc/cpuinfo tells is the measured one in most virtual machines, and near it elsewhere.
        assert!((rate - 1.0).abs() > 0.02, "{run}");
        assert_eq!(status(&run, "clock"), Some("INVALID"), "{run}");
    }
    assert!(runs(&study, "host").iter().all(|run| status(run, "clock") != Some("INVALID")));
    assert_eq!(reported(&report(&study), "cpu.dhrystone", "dropped-blocks"), ["INVALID"]);
}

/// User and system ticks of a process; none once it is gone.
fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

#[test]
fn a_hog_that_is_there_only_while_the_guest_works_rejects_the_block() {
    let _turn = turn();
    let dir = folder();
    let path = dir.path().join("s");
    let extra = ["--bench", "cpu.dhrystone", "--param", "time=2s", "--rounds", "3", "--output", word(&path)];
    let limits = ["--limit", "load-invalid=100"];
    let args = [&arguments(&extra)[..], &limits].concat();
    let running = spawn(&args);
    let controller = running.id();
    let (on, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..2 * cpus {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if on.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    } else {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
        scope.spawn(|| {
            let (mut last, mut still) = (0, 0);
            while !over.load(Ordering::Relaxed) {
                let round = journal(&path).iter().filter(|e| e["event"] == "round_started").count();
                let qemu = guest_of(controller, &format!("guest-r{round}a1"));
                let now = qemu.and_then(ticks).unwrap_or(0);
                // A stopped guest uses no time; one that has just begun must not be mistaken for its boot.
                let blocks = journal(&path).iter().filter(|e| e["event"] == "visited" && e["round"] == round).count();
                still = if now > last { 0 } else { still + 1 };
                on.store(blocks >= 2 && now > last || on.load(Ordering::Relaxed) && still < 3, Ordering::Relaxed);
                last = now;
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        wait_until("the end of the study", 120, || {
            journal(&path).iter().any(|e| e["event"] == "ended")
                || !Path::new(&format!("/proc/{}", controller)).exists()
        });
        over.store(true, Ordering::Relaxed);
    });
    check_exit(&running.output(), 3);
    let waited = |machine: &str| -> f64 {
        let wait = |run: &Value| match machine {
            "guest" => run["host_cost"]["vcpu_wait_seconds"].as_f64().unwrap(),
            _ => run["counters"]["run_queue_wait_seconds"].as_f64().unwrap(),
        };
        runs(&path, machine).iter().map(wait).sum()
    };
    assert!(waited("guest") > waited("host") + 0.5, "{} and {}", waited("guest"), waited("host"));
    let json = report(&path);
    assert!(reported(&json, "cpu.dhrystone", "contention").contains(&"INVALID"), "{}", json["benchmarks"][0]["checks"]);
    assert!(json["benchmarks"][0]["blocks"].as_u64().unwrap() < 3);
}

/// A study whose fio is this script.
fn with_fio(script: &str) -> Vec<Value> {
    let (dir, at) = (stage(), folder());
    program(dir.path(), "fio", script);
    let path = at.path().join("s");
    let search = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let args =
        lenient(&["--bench", "disk.randread-4k", "--param", "size=8m", "--rounds", "1", "--output", word(&path)]);
    let output = vmtax().env("PATH", search).args(arguments(&args)).output().unwrap();
    check_exit(&output, 3);
    journal(&path).into_iter().filter(|e| e["event"] == "run").collect()
}

/// What fio printed when its disk was full, as a program that prints it and succeeds; with all errors taken out, if so wished.
fn printing(sample: &str) -> String {
    format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo fio-3.33; exit 0; fi\nprintf '%s' '{}'\nexit 0\n",
        sample.replace('\'', " ")
    )
}

#[test]
fn a_fio_that_reports_an_error_or_no_work_and_succeeds_has_measured_nothing() {
    let _turn = turn();
    let sample = |name: &str| {
        fs::read_to_string(format!("{}/../drivers/samples/fio/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    for run in with_fio(&printing(&sample("3.33-missing-file.txt"))) {
        assert_eq!((run["outcome"].as_str(), run["cause"].as_str()), (Some("failed"), Some("tool")), "{run}");
        assert!(run["why"].as_str().unwrap().contains("error 2"), "{run}");
    }
    let idle = sample("3.33-io_uring-randread-4k.json").replacen("\"total_ios\" : 8745", "\"total_ios\" : 0", 1);
    for run in with_fio(&printing(&idle)) {
        assert_eq!(run["outcome"], "failed", "{run}");
        assert!(run["why"].as_str().unwrap().contains("it did no work"), "{run}");
    }
}

#[test]
fn different_kernels_are_told_and_weigh_on_kernel_bound_rows_only() {
    let _turn = turn();
    let extra = ["--bench", "cpu.file-copy", "--bench", "cpu.dhrystone", "--param", "time=500ms", "--rounds", "3"];
    let (_dir, study) = study(&lenient(&extra), 0);
    let manifest: Value = serde_json::from_slice(&fs::read(study.join("manifest.json")).unwrap()).unwrap();
    let kernel = |machine: &str| manifest["machines"][machine]["kernel_release"].as_str().unwrap().to_owned();
    let json = report(&study);
    let differ = kernel("host") != kernel("guest");
    for benchmark in ["cpu.file-copy", "cpu.dhrystone"] {
        assert_eq!(reported(&json, benchmark, "kernel"), [if differ { "WARN" } else { "PASS" }], "{benchmark}");
    }
    let flags = |id: &str| {
        let benchmarks = json["benchmarks"].as_array().unwrap();
        benchmarks.iter().find(|b| b["id"] == id).unwrap()["flags"].to_string().contains("different_kernels")
    };
    assert_eq!((flags("cpu.file-copy"), flags("cpu.dhrystone")), (differ, false));
}

#[test]
fn huge_pages_under_the_guest_only_are_no_virtualization() {
    let _turn = turn();
    let dir = stage();
    // vmtax and everything that it starts has no transparent huge pages (prctl(2), PR_SET_THP_DISABLE), but QEMU has.
    let qemu = program(
        dir.path(),
        "qemu",
        &format!("#!/usr/bin/perl\nsyscall(157, 41, 0, 0, 0, 0) == 0 or die;\nexec '{QEMU}', @ARGV;\n"),
    );
    let at = folder();
    let path = at.path().join("s");
    let without = "syscall(157, 41, 1, 0, 0, 0) == 0 or die; exec @ARGV";
    let extra = ["--bench", "memory.memcpy", "--param", "size=32m", "--param", "time=300ms", "--rounds", "3"];
    let args = lenient(&[&arguments(&extra)[..], &["--qemu", word(&qemu), "--output", word(&path)]].concat());
    let output = Command::new("perl").args(["-e", without, env!("CARGO_BIN_EXE_vmtax")]).args(args).output().unwrap();
    let thp = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap();
    assert!(!thp.contains("[never]"), "this test needs transparent huge pages: {thp}");
    check_exit(&output, 3);
    assert_eq!(runs(&path, "host")[0]["counters"]["anon_huge_bytes"], 0);
    assert!(runs(&path, "guest")[0]["surroundings"]["huge_share"].as_f64().unwrap() > 0.5);
    let json = report(&path);
    assert!(reported(&json, "memory.memcpy", "huge-pages").contains(&"INVALID"), "{}", json["benchmarks"][0]["checks"]);
    assert_eq!(json["benchmarks"][0]["blocks"], 0);
}

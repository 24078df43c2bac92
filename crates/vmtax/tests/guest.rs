//! One real guest at a time: commands in it, its end in every way, and what doctor says.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{assert_nothing_left, folder, guest_of, spawn, turn, vmtax, wait_until, word};
use predicates::prelude::*;
use predicates::str::contains;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

const VM: [&str; 3] = ["vm", "--accel", "tcg"];

#[test]
fn a_command_runs_in_a_guest_with_the_host_s_tools_and_its_exit_code_comes_back() {
    let _turn = turn();
    let script = "echo here; echo there >&2; cat /proc/1/comm; ls /dev/vport*; exit 7";
    vmtax()
        .args(VM)
        .args(["--", "sh", "-c", script])
        .assert()
        .code(7)
        .stdout(contains("here\ninit\n/dev/vport").and(contains("there").not()))
        .stderr(contains("there"));
}

#[test]
fn a_guest_that_panics_is_told_with_the_last_lines_of_its_console() {
    let _turn = turn();
    vmtax()
        .args(VM)
        .args(["--", "sh", "-c", "echo c > /proc/sysrq-trigger"])
        .assert()
        .code(1)
        .stderr(contains("QEMU ended").and(contains("Kernel panic")));
}

#[test]
fn a_command_that_hangs_is_given_up_at_its_deadline() {
    let _turn = turn();
    vmtax().args(VM).args(["--timeout", "2s", "--", "sleep", "1000"]).assert().code(1).stderr(contains("within 2 s"));
}

#[test]
fn an_unknown_program_and_a_broken_kernel_are_found_before_anything_boots() {
    let _turn = turn();
    vmtax().args(VM).args(["--", "no-such-program"]).assert().code(1).stderr(contains("no-such-program"));
    let dir = folder();
    let kernel = dir.path().join("vmlinuz");
    std::fs::write(&kernel, "not a kernel").unwrap();
    vmtax()
        .args(VM)
        .args(["--kernel", word(&kernel), "--modules", "/lib/modules", "--", "true"])
        .assert()
        .code(1)
        .stderr(contains(word(&kernel)));
    vmtax()
        .args(VM)
        .args(["--kernel", "/nowhere/vmlinuz", "--", "true"])
        .assert()
        .code(1)
        .stderr(contains("/nowhere/vmlinuz"));
    vmtax()
        .args(VM)
        .args(["--qemu", "/nowhere/qemu", "--", "true"])
        .assert()
        .code(1)
        .stderr(contains("There is no QEMU at /nowhere/qemu"));
}

#[test]
fn without_root_it_says_why_it_needs_it() {
    let dir = folder();
    let program = dir.path().join("vmtax");
    std::fs::copy(env!("CARGO_BIN_EXE_vmtax"), &program).unwrap();
    // Everybody may enter the way to it, but for folders that are not ours to open.
    let public = std::path::Path::new("/tmp").join(format!("vmtax-test-{}", std::process::id()));
    std::fs::copy(&program, &public).unwrap();
    let output = std::process::Command::new(&public)
        .args(["run", "--suite", "cpu"])
        .uid(65534)
        .gid(65534)
        .current_dir("/tmp")
        .output()
        .unwrap();
    std::fs::remove_file(&public).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("sudo vmtax"), "{text}");
}

#[test]
fn qemu_runs_unprivileged_and_is_the_first_to_go_when_memory_is_short() {
    let _turn = turn();
    let child = spawn(&["vm", "--accel", "tcg", "--", "sleep", "1000"]);
    let controller = child.id();
    wait_until("a running guest", 30, || guest_of(controller, "trial").is_some());
    let qemu = guest_of(controller, "trial").unwrap();
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{qemu}/{file}")).unwrap_or_default();
    wait_until("a raised oom score", 5, || read("oom_score_adj").trim() == "800");
    let says = |key: &str, value: &str| read("status").lines().any(|l| l.starts_with(key) && l.contains(value));
    assert!(says("Uid:", "65534") && says("Gid:", "65534"));
    wait_until("a system call filter", 5, || says("Seccomp:", "2"));
    drop(child);
    assert_nothing_left(controller, folder().path());
}

#[test]
fn ctrl_c_ends_a_guest_cleanly() {
    let _turn = turn();
    let child = spawn(&["vm", "--accel", "tcg", "--", "sleep", "1000"]);
    let controller = child.id();
    wait_until("a running guest", 30, || guest_of(controller, "trial").is_some());
    std::thread::sleep(Duration::from_secs(4));
    child.signal(rustix::process::Signal::INT);
    assert_eq!(child.output().status.code(), Some(130));
    assert_nothing_left(controller, folder().path());
}

#[test]
fn doctor_tells_within_fifteen_seconds_whether_guests_really_boot() {
    let _turn = turn();
    let start = Instant::now();
    let dir = folder();
    let child = spawn(&["doctor", "--work-dir", word(dir.path())]);
    let controller = child.id();
    let output = child.output();
    let (spent, text) = (start.elapsed(), String::from_utf8_lossy(&output.stdout).into_owned());
    assert_eq!(output.status.code(), Some(0), "{text}");
    // A busy machine is given some more: the figure itself is measured by `make bench`.
    assert!(spent < Duration::from_secs(25), "{spent:?}\n{text}");
    assert!(text.contains("emulation     a guest answered"), "{text}");
    let kvm = text.lines().find(|l| l.contains("KVM")).unwrap();
    assert!(kvm.starts_with("ok") || kvm.starts_with("warning"), "{kvm}");
    assert_nothing_left(controller, dir.path());
}

//! What vmtax refuses, so that a machine that matters is not hurt and no figure is a lie. Nothing here boots a guest.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Small, folder, turn, vmtax, word};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;
use std::process::Command;

/// `--busy-host`, so that what is refused is refused for the reason under test.
const DISK: [&str; 6] = ["run", "--busy-host", "--accel", "tcg", "--bench", "disk.randread-4k"];

/// Exit code and standard error of vmtax in a mount namespace of its own, after the mounts of `script`.
fn where_mounted(script: &str, args: &[&str]) -> (Option<i32>, String) {
    let script = format!("{script} && exec \"$0\" \"$@\"");
    let output = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-c", &script, env!("CARGO_BIN_EXE_vmtax")])
        .args(args)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_disk_figure_from_tmpfs_would_be_a_lie() {
    let _turn = turn();
    let dir = tempfile::Builder::new().prefix("vmtax-test-").tempdir_in("/dev/shm").unwrap();
    let study = dir.path().join("s");
    vmtax()
        .args(DISK)
        .args(["--output", word(&study)])
        .assert()
        .code(1)
        .stderr(contains("tmpfs").and(contains("--work-dir")));
    assert!(!study.exists());
}

#[test]
fn so_would_one_from_an_overlay() {
    let _turn = turn();
    let dir = folder();
    for part in ["lower", "upper", "work", "all"] {
        fs::create_dir(dir.path().join(part)).unwrap();
    }
    let options = "lowerdir=lower,upperdir=upper,workdir=work";
    let script = format!("cd {} && mount -t overlay overlay -o {options} all", word(dir.path()));
    let study = dir.path().join("all/s");
    let (code, told) = where_mounted(&script, &[&DISK[..], &["--output", word(&study)]].concat());
    assert!(code == Some(1) && told.contains("overlay") && told.contains("--work-dir"), "{told}");
}

#[test]
fn a_report_is_never_written_over_a_file_that_is_there() {
    let dir = folder();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/golden/format-1");
    let page = dir.path().join("page.html");
    vmtax().args(["report", golden, "--format", "html", "--output", word(&page)]).assert().code(0);
    assert!(fs::read_to_string(&page).unwrap().trim_end().ends_with("</html>"));
    fs::write(&page, "precious").unwrap();
    vmtax().args(["report", golden, "-o", word(&page)]).assert().code(1).stderr(contains("not there yet"));
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
}

#[test]
fn a_guest_that_would_take_the_host_s_memory_is_refused() {
    let _turn = turn();
    vmtax().args(DISK).args(["--set", "vm.memory=4t"]).assert().code(1).stderr(contains("twice as much"));
}

#[test]
fn a_host_where_other_vms_run_is_refused_without_busy_host() {
    let _turn = turn();
    let dir = folder();
    // Anything that looks like a VM to its neighbours.
    let vm = dir.path().join("qemu-system-x86_64");
    fs::copy("/bin/sleep", &vm).unwrap();
    let mut other = Command::new(&vm).arg("60").spawn().unwrap();
    let study = dir.path().join("s");
    vmtax()
        .args(["run", "--suite", "cpu"])
        .args(["--output", word(&study)])
        .assert()
        .code(1)
        .stderr(contains("Other VMs run on this host").and(contains("--busy-host")));
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(!study.exists());
}

#[test]
fn missing_programs_are_told_with_their_packages_before_anything_is_made() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    // A PATH of our own would not do: the standard folders are looked into as well.
    let run = |hidden: &str| {
        let args = [&DISK[..], &["--output", word(&study)]].concat();
        where_mounted(&format!("mount --bind /dev/null {hidden}"), &args)
    };
    let (code, told) = run("/usr/bin/fio");
    assert!(code == Some(1) && told.contains("apt-get install fio"), "{code:?} {told}");
    let (code, told) = run("/usr/bin/qemu-system-x86_64");
    assert!(code == Some(1) && told.contains("apt-get install qemu-system-x86"), "{code:?} {told}");
    assert!(!study.exists());
}

#[test]
fn no_kernel_at_all_is_told_with_the_way_out() {
    let _turn = turn();
    let dir = folder();
    let study = dir.path().join("s");
    let cache = dir.path().join("cache");
    let args = ["run", "--busy-host", "--suite", "cpu", "--output", word(&study), "--cache", word(&cache)];
    let (code, told) = where_mounted("mount -t tmpfs none /boot", &args);
    assert_eq!(code, Some(1));
    assert!(told.contains("setup.sh") && told.contains("--kernel"), "{told}");
    assert!(!study.exists(), "a study in which nothing was measured is removed");
}

#[test]
fn a_full_and_a_read_only_disk_are_told_and_nothing_is_left_on_them() {
    let _turn = turn();
    let full = Small::new(32, "");
    let study = full.path().join("s");
    vmtax().args(DISK).args(["--output", word(&study)]).assert().code(1).stderr(contains("no room"));
    assert!(!study.exists());
    drop(full);

    let read_only = Small::new(32, ",ro");
    let study = read_only.path().join("s");
    vmtax()
        .args(DISK)
        .args(["--output", word(&study)])
        .assert()
        .code(1)
        .stderr(contains("Could not create the study folder").and(contains("Read-only")));
}

#[test]
fn clean_removes_what_a_dead_controller_leased_and_nothing_else() {
    let _turn = turn();
    let dir = folder();
    let leases = dir.path().join("cache/leases");
    fs::create_dir_all(&leases).unwrap();
    let data = dir.path().join("vmtax-data-1.raw");
    fs::write(&data, "x").unwrap();
    let precious = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("precious-{}", std::process::id()));
    fs::write(&precious, "x").unwrap();
    let lease = serde_json::json!({ "owner": 4_000_000_000u32, "started": 1, "paths": [data, precious] });
    fs::write(leases.join("4000000000.json"), lease.to_string()).unwrap();
    vmtax()
        .args(["clean", "--cache", word(&dir.path().join("cache"))])
        .assert()
        .code(1)
        .stdout(contains(format!("Removed {}", data.display())).and(contains("Could not remove")));
    assert!(!data.exists() && precious.exists());
    fs::remove_file(&precious).unwrap();
    fs::remove_file(leases.join("4000000000.json")).unwrap();
    vmtax()
        .args(["clean", "--cache", word(&dir.path().join("cache"))])
        .assert()
        .code(0)
        .stdout(contains("Nothing was left behind"));
}

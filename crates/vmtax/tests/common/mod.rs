//! What the black-box tests share: the built binary, one guest at a time, and a look at what is left behind.
#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

static TURN: Mutex<()> = Mutex::new(());

/// Guests of different tests would disturb each other, and two cores are all there is.
pub fn turn() -> MutexGuard<'static, ()> {
    assert!(rustix::process::geteuid().is_root(), "the tests boot guests: run them as root");
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The built binary.
pub fn vmtax() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vmtax"));
    command.env("NO_COLOR", "1").timeout(Duration::from_secs(300));
    command
}

/// The same for tests that watch or kill it.
pub fn spawn(args: &[&str]) -> Running {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_vmtax"));
    command.args(args).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Running(Some(command.spawn().unwrap()))
}

/// A vmtax that does not outlive its test, also when that fails.
pub struct Running(Option<std::process::Child>);

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(self.0.as_ref().unwrap()), signal).unwrap();
    }

    /// Waits for its end.
    pub fn output(mut self) -> std::process::Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A folder on a real disk: the system's temporary folder may be a tmpfs.
pub fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("vmtax-test-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// These arguments, with limits that the noise of a busy test machine does not reach: for tests that are about something else.
pub fn lenient<'a>(args: &[&'a str]) -> Vec<&'a str> {
    const LIMITS: [&str; 4] = ["--limit", "load-invalid=100", "--limit", "contention-invalid=100"];
    [args, &LIMITS].concat()
}

/// A path as an argument.
pub fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits for a fact.
pub fn wait_until(what: &str, seconds: u64, mut fact: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(seconds);
    while !fact() {
        assert!(Instant::now() < limit, "{what} did not happen within {seconds} s");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose command line holds `mark`.
pub fn processes_with(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(mark) {
            found.push(pid);
        }
    }
    found
}

/// The guest of a controller, once it runs.
pub fn guest_of(controller: u32, what: &str) -> Option<u32> {
    processes_with(&format!("guest=vmtax-{controller}-{what}")).first().copied()
}

/// Nothing of this controller is left: no process, no data file, no mount, no lease.
pub fn assert_nothing_left(controller: u32, folder: &Path) {
    let mark = format!("vmtax-{controller}");
    wait_until("the end of all processes", 10, || {
        processes_with(&mark).is_empty() && processes_with(&format!("leases/{controller}.json")).is_empty()
    });
    wait_until("the removal of the data file", 10, || {
        !walk(folder).iter().any(|p| p.extension().is_some_and(|e| e == "raw" || e == "part"))
    });
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains("vmtax-"), "a mount was left: {mounts}");
    wait_until("the removal of the lease", 10, || {
        !Path::new("/var/cache/vmtax/leases").join(format!("{controller}.json")).exists()
    });
}

/// All files below a folder.
pub fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() { folders.push(entry.path()) } else { all.push(entry.path()) }
        }
    }
    all
}

/// The journal of a study, one JSON value a line.
pub fn journal(study: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(study.join("journal.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Numbers of the rounds that are complete.
pub fn complete_rounds(study: &Path) -> Vec<u64> {
    let ended = |e: &serde_json::Value| e["event"] == "round_ended" && e["complete"] == true;
    journal(study).iter().filter(|e| ended(e)).map(|e| e["round"].as_u64().unwrap()).collect()
}

/// A small real file system on a loop device, unmounted when dropped.
pub struct Small {
    dir: tempfile::TempDir,
}

impl Small {
    /// `options` begin with a comma.
    pub fn new(megabytes: u64, options: &str) -> Self {
        let dir = folder();
        let image = dir.path().join("image");
        fs::File::create(&image).unwrap().set_len(megabytes << 20).unwrap();
        fs::create_dir(dir.path().join("mnt")).unwrap();
        let small = Small { dir };
        small.sh(&format!("PATH=$PATH:/usr/sbin:/sbin mke2fs -q -F -t ext4 {}", image.display()));
        small.sh(&format!("mount -o loop{options} {} {}", image.display(), small.path().display()));
        small
    }

    /// Where it is mounted.
    pub fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("mnt")
    }

    fn sh(&self, script: &str) {
        assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success(), "{script}");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.path()).status();
    }
}

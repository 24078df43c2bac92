//! Runs one task as a child process: a workload through the binary's own worker, or a tool.

use crate::process::{self, Exit};
use crate::worker::{Order, Word};
use model::messages::{Task, TaskResult};
use model::{Counters, FailureCause};
use probes::Root;
use probes::watch::MachineReading;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// Longest line that a worker is believed to say, bytes.
const MAX_LINE: u64 = 1 << 20;

/// The child of the running task, so that another thread can end it.
#[derive(Debug, Default)]
pub struct Slot {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    leader: Option<u32>,
    cancelled: bool,
}

impl Slot {
    /// Ends the child and everything in its process group; a child that is not started yet will not be.
    pub fn cancel(&self) {
        if let Ok(mut state) = self.state.lock() {
            state.cancelled = true;
            if let Some(leader) = state.leader {
                process::kill_group(leader);
            }
        }
    }

    /// True where the task was cancelled.
    pub fn cancelled(&self) -> bool {
        self.state.lock().is_ok_and(|state| state.cancelled)
    }

    fn occupy(&self, leader: u32) {
        if let Ok(mut state) = self.state.lock() {
            state.leader = Some(leader);
            if state.cancelled {
                process::kill_group(leader);
            }
        }
    }

    /// Ends what a dead leader left behind and forgets it, while its id still is its own.
    fn vacate(&self) {
        if let Ok(mut state) = self.state.lock()
            && let Some(leader) = state.leader.take()
        {
            process::kill_group(leader);
        }
    }
}

/// A task that came to its end.
#[derive(Debug)]
pub struct Done {
    /// What came of it.
    pub result: TaskResult,
    /// Standard output of a tool.
    pub stdout: Vec<u8>,
    /// Standard error of a tool.
    pub stderr: Vec<u8>,
    /// The files that were asked for, in that order.
    pub files: Vec<Vec<u8>>,
}

impl From<TaskResult> for Done {
    fn from(result: TaskResult) -> Self {
        Done { result, stdout: Vec::new(), stderr: Vec::new(), files: Vec::new() }
    }
}

fn failed(cause: FailureCause, why: String) -> Done {
    TaskResult::Failed { cause, why }.into()
}

/// Runs `task`; `begin` and `end` are called just outside its timed region.
pub fn run(task: Task, scratch: &Path, slot: &Slot, begin: &mut dyn FnMut(), end: &mut dyn FnMut()) -> Done {
    let done = match task {
        Task::Workload { name, version, params, isa } => {
            workload(&Order { name, version, params, isa, scratch: scratch.to_owned() }, slot, begin, end)
        }
        Task::Tool { argv, env, limit, files } => {
            if let Some(name) = files.iter().find(|name| !is_plain(name)) {
                return failed(FailureCause::Harness, format!("'{name}' is no plain file name"));
            }
            let done = tool(&argv, &env, limit, scratch, slot, begin, end);
            // Taken whatever came of it: what is left could be appended to by the next run.
            with_files(done, files.iter().map(|name| take_file(&scratch.join(name), limit)))
        }
    };
    if slot.cancelled() { TaskResult::Cancelled.into() } else { done }
}

fn in_its_own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// The machine at one moment, as far as it concerns the CPUs that this agent may use.
pub(crate) fn reading() -> MachineReading {
    let root = Root::live();
    // The workload has the agent's affinity; where it cannot be read, so cannot the rest.
    let cpus = probes::process::cpus_allowed(&root, std::process::id()).unwrap_or_default();
    MachineReading::read(&root, &cpus)
}

/// What the whole machine counted over the timed region, put into `counters`.
fn machine_counters(counters: &mut Counters, before: &MachineReading) {
    let passed = before.until(&reading());
    counters.steal_seconds = passed.cpu.and_then(|cpu| cpu.steal_seconds);
    counters.cpu_capacity_seconds = passed.cpu.map(|cpu| cpu.total_seconds);
    counters.throttled_seconds = passed.throttling.map(|throttling| throttling.seconds);
    counters.swapped_pages = passed.paging.swapped_pages();
    counters.oom_kills = passed.paging.oom_kills;
}

fn workload(order: &Order, slot: &Slot, begin: &mut dyn FnMut(), end: &mut dyn FnMut()) -> Done {
    let fail = |why: String| failed(FailureCause::Harness, why);
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return fail(format!("The agent cannot find its own program: {e}")),
    };
    let mut command = Command::new(program);
    command.arg(crate::WORKER_SUBCOMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
    in_its_own_group(&mut command);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => return fail(format!("The agent cannot start a worker: {e}")),
    };
    slot.occupy(child.id());
    let result = converse(&mut child, order, begin, end);
    // A worker that still runs has nothing more to say.
    let _ = child.kill();
    process::wait_for_end(&child);
    slot.vacate();
    let exit = process::reap(&child);
    match result {
        Ok(done) => done,
        Err(why) => match exit.signal {
            Some(signal) if signal != 9 => {
                failed(FailureCause::Tool, format!("The workload was ended by signal {signal}: {why}"))
            }
            _ => fail(why),
        },
    }
}

fn converse(child: &mut Child, order: &Order, begin: &mut dyn FnMut(), end: &mut dyn FnMut()) -> Result<Done, String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("The worker has no pipes".to_owned());
    };
    let mut output = BufReader::new(output);
    let mut order = serde_json::to_vec(order).map_err(|e| e.to_string())?;
    order.push(b'\n');
    input.write_all(&order).map_err(|e| format!("The worker does not listen: {e}"))?;
    match hear(&mut output)? {
        Word::Ready => {}
        Word::Failed { why } => return Ok(failed(FailureCause::Tool, why)),
        Word::Result { .. } => return Err("The worker was done before it began".to_owned()),
    }
    let before = reading();
    begin();
    input.write_all(b"go\n").map_err(|e| format!("The worker does not listen: {e}"))?;
    let word = hear(&mut output);
    end();
    match word? {
        Word::Result { values, wall_seconds, usage, anon_huge_bytes, run_queue_wait_seconds } => {
            let mut counters = Counters {
                wall_seconds,
                user_seconds: usage.user_seconds,
                system_seconds: usage.system_seconds,
                context_switches: Some(usage.context_switches),
                anon_huge_bytes,
                run_queue_wait_seconds,
                ..Counters::default()
            };
            machine_counters(&mut counters, &before);
            Ok(TaskResult::Values { values, counters }.into())
        }
        Word::Failed { why } => Ok(failed(FailureCause::Tool, why)),
        Word::Ready => Err("The worker said 'ready' twice".to_owned()),
    }
}

fn hear(output: &mut impl BufRead) -> Result<Word, String> {
    let mut line = String::new();
    output.take(MAX_LINE).read_line(&mut line).map_err(|e| format!("The worker cannot be heard: {e}"))?;
    if line.is_empty() {
        return Err("The worker ended without a word".to_owned());
    }
    serde_json::from_str(&line).map_err(|e| format!("The worker cannot be understood: {e}"))
}

/// A program by name from PATH, or by path.
fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Path::new(name).exists().then(|| PathBuf::from(name));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn tool(
    argv: &[String],
    env: &BTreeMap<String, String>,
    limit: u64,
    scratch: &Path,
    slot: &Slot,
    begin: &mut dyn FnMut(),
    end: &mut dyn FnMut(),
) -> Done {
    let Some((name, args)) = argv.split_first() else {
        return failed(FailureCause::Harness, "An empty command was sent".to_owned());
    };
    let Some(program) = find_program(name) else {
        return failed(FailureCause::Tool, format!("There is no program '{name}' on this machine"));
    };
    let mut command = Command::new(&program);
    command.args(args).env_clear().envs(env).env("LC_ALL", "C");
    for key in ["PATH", "HOME"] {
        command.env(key, std::env::var_os(key).unwrap_or_else(|| "/".into()));
    }
    // Some tools leave files where they stand; there it is memory that goes with the agent.
    command.current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    in_its_own_group(&mut command);

    let before = reading();
    begin();
    let start = Instant::now();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            end();
            return failed(FailureCause::Tool, format!("Could not start {}: {e}", program.display()));
        }
    };
    slot.occupy(child.id());
    let readers = [child.stdout.take().map(boxed), child.stderr.take().map(boxed)]
        .map(|stream| std::thread::spawn(move || stream.map_or((Vec::new(), false), |s| read_bounded(s, limit))));
    process::wait_for_end(&child);
    let wall_seconds = start.elapsed().as_secs_f64();
    slot.vacate();
    let Exit { code, signal, usage, read_bytes, write_bytes } = process::reap(&child);
    end();
    let [(stdout, cut_out), (stderr, cut_err)] = readers.map(|r| r.join().unwrap_or_default());
    let mut counters = Counters {
        wall_seconds,
        user_seconds: usage.user_seconds,
        system_seconds: usage.system_seconds,
        context_switches: Some(usage.context_switches),
        read_bytes,
        write_bytes,
        ..Counters::default()
    };
    machine_counters(&mut counters, &before);
    Done {
        result: TaskResult::Exited { code, signal, counters, truncated: cut_out || cut_err },
        stdout,
        stderr,
        files: Vec::new(),
    }
}

/// True for the name of a file right inside a folder.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

/// Up to `limit` bytes of a file, and whether there was more; then it is gone. Nothing where there is none.
fn take_file(path: &Path, limit: u64) -> (Vec<u8>, bool) {
    // Only a file: opening a pipe would wait for its other end, and a link leads elsewhere.
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
    let file = is_file.then(|| std::fs::File::open(path).ok()).flatten();
    let kept = file.map(|file| read_bounded(file, limit)).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    kept
}

/// `done` with the files, where it is the end of a program.
fn with_files(mut done: Done, files: impl Iterator<Item = (Vec<u8>, bool)>) -> Done {
    for (bytes, cut) in files {
        if let TaskResult::Exited { truncated, .. } = &mut done.result {
            *truncated |= cut;
            done.files.push(bytes);
        }
    }
    done
}

fn boxed(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(stream)
}

/// Up to `limit` bytes of a stream that is read to its end, and whether there was more.
fn read_bounded(mut stream: impl Read, limit: u64) -> (Vec<u8>, bool) {
    let mut kept = Vec::new();
    // What cannot be read is what was not printed.
    let _ = (&mut stream).take(limit).read_to_end(&mut kept);
    let more = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0);
    (kept, more > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell script as a tool that is to leave `files`.
    fn script(script: &str, files: &[&str], folder: &Path) -> Done {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let files = files.iter().map(|name| (*name).to_owned()).collect();
        let task = Task::Tool { argv, env: BTreeMap::new(), limit: 8, files };
        run(task, folder, &Slot::default(), &mut || (), &mut || ())
    }

    #[test]
    fn files_of_a_tool_are_sent_in_the_order_asked_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let done = script("echo out; echo 1 > a; echo 2 > b; mkfifo pipe", &["b", "none", "pipe", "a"], folder.path());
        assert!(matches!(done.result, TaskResult::Exited { code: Some(0), truncated: false, .. }), "{:?}", done.result);
        assert_eq!(
            (done.stdout, done.files),
            (b"out\n".to_vec(), [&b"2\n"[..], b"", b"", b"1\n"].map(<[u8]>::to_vec).to_vec())
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_over_the_limit_is_cut_and_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let done = script("echo 1234567890 > a", &["a"], folder.path());
        assert_eq!(done.files, [b"12345678".to_vec()]);
        assert!(matches!(done.result, TaskResult::Exited { truncated: true, .. }));
    }

    #[test]
    fn a_file_elsewhere_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, outer) = (folder.path().join("scratch"), folder.path().join("secret"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&outer, "secret").unwrap();
        for name in ["../secret", outer.to_str().unwrap(), "", ".", ".."] {
            let done = script("true", &[name], &inner);
            assert!(matches!(done.result, TaskResult::Failed { cause: FailureCause::Harness, .. }), "{name}");
        }
        // A tool may leave a link, which is no file.
        assert_eq!(script("ln -s ../secret a", &["a"], &inner).files, [Vec::<u8>::new()]);
        assert_eq!(std::fs::read_to_string(&outer).unwrap(), "secret");
    }

    #[test]
    fn what_a_failed_tool_left_does_not_reach_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let failed = script("echo old >> a; kill -9 $$", &["a"], folder.path());
        assert!(matches!(failed.result, TaskResult::Exited { signal: Some(9), .. }));
        assert_eq!(script("echo new >> a", &["a"], folder.path()).files, [b"new\n".to_vec()]);
    }
}

//! The agent's loop: one request after the other, one task at a time.

use crate::task::{self, Done, Slot};
use model::evidence::Idle;
use model::messages::{MAX_IDLE_SECONDS, Reply, Request, Task, TaskResult};
use model::wire::{self, Decoder};
use probes::Root;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long an end of file is taken for a controller that has not connected yet (a virtio port reads empty until then).
const UNCONNECTED: Duration = Duration::from_secs(10);

/// Why the agent ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The pipe broke.
    #[error("The pipe to the controller broke")]
    Pipe(#[from] std::io::Error),
    /// What came was no request.
    #[error("The controller does not speak like one of this build")]
    Wire(#[from] wire::WireError),
}

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

/// Serves requests until the controller hangs up or says so. `build` is the id of this binary.
pub fn serve(
    mut input: impl Read,
    output: Box<dyn Write + Send>,
    scratch: &Path,
    build: &str,
    is_port: bool,
) -> Result<(), ServeError> {
    let epoch = Instant::now();
    let output: Output = Arc::new(Mutex::new(output));
    let mut decoder = Decoder::default();
    let mut running: Option<(u64, Arc<Slot>)> = None;
    let mut buffer = [0; 16 * 1024];
    let mut silent_since = Instant::now();
    loop {
        while let Some(frame) = decoder.next_frame()? {
            let received = epoch.elapsed().as_nanos() as u64;
            match frame.message::<Request>()? {
                Request::Hello { nonce, .. } => {
                    let reply = Reply::Hello { nonce, build: build.to_owned(), uptime_seconds: uptime() };
                    send(&output, &reply)?;
                }
                Request::Facts => {
                    let mut facts = probes::facts::facts(&Root::live());
                    facts.clock.read_seconds = Some(workloads::clock_read_seconds());
                    send(&output, &Reply::Facts { facts: Box::new(facts) })?;
                }
                Request::Clock => {
                    let sent = epoch.elapsed().as_nanos() as u64;
                    send(&output, &Reply::Clock { received, sent })?;
                }
                Request::Idle { seconds } => send(&output, &Reply::Idle { idle: idle(seconds) })?,
                Request::Run { id, task } => {
                    // The controller starts the next run only after the answer to the last.
                    let slot = Arc::new(Slot::default());
                    running = Some((id, Arc::clone(&slot)));
                    start(id, task, scratch.to_owned(), slot, Arc::clone(&output))?;
                }
                Request::Cancel { id } => {
                    if let Some((running, slot)) = &running
                        && *running == id
                    {
                        slot.cancel();
                    }
                }
                Request::Shutdown => {
                    end(running);
                    return Ok(());
                }
            }
        }
        match input.read(&mut buffer) {
            Ok(0) if is_port && silent_since.elapsed() < UNCONNECTED => std::thread::sleep(Duration::from_millis(2)),
            Ok(0) => {
                end(running);
                return Ok(());
            }
            Ok(n) => {
                decoder.push(&buffer[..n]);
                silent_since = Instant::now();
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Ends a task that is still running.
fn end(running: Option<(u64, Arc<Slot>)>) {
    if let Some((_, slot)) = running {
        slot.cancel();
    }
}

/// Sleeps, and says what others did meanwhile on the CPUs that this agent may use.
fn idle(seconds: f64) -> Idle {
    let before = task::reading();
    std::thread::sleep(Duration::try_from_secs_f64(seconds.clamp(0.0, MAX_IDLE_SECONDS)).unwrap_or_default());
    let passed = before.until(&task::reading());
    let share = |waited: Option<f64>| waited.filter(|_| passed.wall_seconds > 0.0).map(|s| s / passed.wall_seconds);
    Idle {
        seconds: passed.wall_seconds,
        cpu_share: share(passed.pressure.cpu_seconds),
        io_share: share(passed.pressure.io_seconds),
        memory_share: share(passed.pressure.memory_seconds),
        busy_share: passed.cpu.and_then(|cpu| cpu.busy_share()),
    }
}

fn uptime() -> f64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

fn write(output: &Output, bytes: &[u8]) -> std::io::Result<()> {
    let mut output = output.lock().map_err(|_| std::io::Error::other("A thread died while writing"))?;
    output.write_all(bytes)?;
    output.flush()
}

fn send(output: &Output, reply: &Reply) -> Result<(), ServeError> {
    Ok(write(output, &wire::encode(reply)?)?)
}

/// Runs a task on a thread of its own, so that a cancel can be heard meanwhile.
fn start(id: u64, task: Task, scratch: PathBuf, slot: Arc<Slot>, output: Output) -> std::io::Result<()> {
    let work = move || {
        // A controller that is gone hears nothing; the loop notices it and ends the task.
        let mut begin = || drop(send(&output, &Reply::Begin { id }));
        let mut end = || drop(send(&output, &Reply::End { id }));
        let Done { result, stdout, stderr, files } = task::run(task, &scratch, &slot, &mut begin, &mut end);
        let with_output = matches!(result, TaskResult::Exited { .. });
        let _ = send(&output, &Reply::Done { id, result });
        if with_output {
            for bytes in [stdout, stderr].into_iter().chain(files) {
                if let Ok(frame) = wire::encode_bytes(&bytes) {
                    let _ = write(&output, &frame);
                }
            }
        }
    };
    std::thread::Builder::new().name("task".to_owned()).spawn(work).map(drop)
}

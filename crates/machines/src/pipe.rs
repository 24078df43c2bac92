//! The controller's end of an agent's byte pipe. The same for the host (a socket pair to a child) and for a guest (a socket
//! pair to QEMU's virtio-serial port), so that both are measured through exactly the same path.

use model::evidence::Idle;
use model::messages::{MAX_IDLE_SECONDS, Reply, Request, Task, TaskResult};
use model::wire::{self, Decoder, Frame, WireError};
use model::{Facts, FailureCause};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How often a waiting controller looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(250);
/// Round trips of one clock comparison.
const CLOCK_ROUNDS: usize = 8;

/// Why a conversation with an agent ended.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    /// The pipe broke.
    #[error("The pipe to the agent of {machine} broke")]
    Broken {
        /// The machine.
        machine: String,
        /// The kernel's answer.
        #[source]
        source: std::io::Error,
    },
    /// The other side hung up.
    #[error("The agent of {machine} hung up")]
    Closed {
        /// The machine.
        machine: String,
    },
    /// Nonsense came.
    #[error("{machine} does not speak like an agent of this build, and is not trusted any more")]
    Nonsense {
        /// The machine.
        machine: String,
        /// What was wrong.
        #[source]
        source: WireError,
    },
    /// A well-formed message out of place.
    #[error("The agent of {machine} answered out of turn ({got}), and is not trusted any more")]
    OutOfTurn {
        /// The machine.
        machine: String,
        /// What it said.
        got: String,
    },
    /// Nothing came in time.
    #[error("The agent of {machine} did not answer within {seconds:.0} s")]
    Timeout {
        /// The machine.
        machine: String,
        /// The deadline.
        seconds: f64,
    },
    /// The user stopped it.
    #[error("Stopped")]
    Stopped,
}

impl PipeError {
    /// The cause that a failed run is recorded with.
    pub fn cause(&self) -> FailureCause {
        match self {
            PipeError::Timeout { .. } => FailureCause::Timeout,
            _ => FailureCause::Pipe,
        }
    }
}

/// A task that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// What the agent says.
    pub result: TaskResult,
    /// Standard output of a tool.
    pub stdout: Vec<u8>,
    /// Standard error of a tool.
    pub stderr: Vec<u8>,
    /// The files of a tool that were asked for, by name; empty where it left none.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// What a caller wants to know while a task runs.
pub trait Observer {
    /// The timed region is about to start.
    fn begin(&mut self);
    /// The timed region has ended.
    fn end(&mut self);
    /// True where the task should be cancelled.
    fn stop(&self) -> bool;
}

/// The agent's clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOffset {
    /// The agent's monotonic clock minus the controller's, seconds.
    pub offset_seconds: f64,
    /// Half of the best round trip, seconds.
    pub uncertainty_seconds: f64,
}

/// A conversation with one agent.
#[derive(Debug)]
pub struct AgentPipe {
    machine: String,
    stream: UnixStream,
    decoder: Decoder,
    next_run: u64,
    epoch: Instant,
}

impl AgentPipe {
    /// The controller's end of a socket pair.
    pub fn new(machine: &str, stream: UnixStream) -> std::io::Result<Self> {
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        Ok(AgentPipe {
            machine: machine.to_owned(),
            stream,
            decoder: Decoder::default(),
            next_run: 1,
            epoch: Instant::now(),
        })
    }

    /// Greets the agent and waits for its answer. `stop` is asked about four times a second; it may also say that the machine
    /// has died. Returns the seconds since the machine's boot by its own clock.
    pub fn hello(
        &mut self,
        nonce: &str,
        build: &str,
        deadline: Duration,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<f64, PipeError> {
        self.send(&Request::Hello { nonce: nonce.to_owned(), build: build.to_owned() })?;
        match self.receive(deadline, stop)? {
            Reply::Hello { nonce: n, build: b, uptime_seconds } if n == nonce && b == build => Ok(uptime_seconds),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Facts of the machine.
    pub fn facts(&mut self) -> Result<Facts, PipeError> {
        self.send(&Request::Facts)?;
        match self.receive(Duration::from_secs(30), &mut || false)? {
            Reply::Facts { facts } => Ok(*facts),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Compares the clocks by four timestamps, as NTP does (RFC 5905, section 8), and keeps the round trip with the least delay.
    pub fn clock_offset(&mut self) -> Result<ClockOffset, PipeError> {
        let mut best: Option<ClockOffset> = None;
        for _ in 0..CLOCK_ROUNDS {
            let asked = self.epoch.elapsed().as_secs_f64();
            self.send(&Request::Clock)?;
            let reply = self.receive(Duration::from_secs(10), &mut || false)?;
            let answered = self.epoch.elapsed().as_secs_f64();
            let Reply::Clock { received, sent } = reply else { return Err(self.out_of_turn(&reply)) };
            let (received, sent) = (received as f64 * 1e-9, sent as f64 * 1e-9);
            let offset_seconds = ((received - asked) + (sent - answered)) / 2.0;
            let uncertainty_seconds = (((answered - asked) - (sent - received)) / 2.0).max(0.0);
            if best.is_none_or(|b| uncertainty_seconds < b.uncertainty_seconds) {
                best = Some(ClockOffset { offset_seconds, uncertainty_seconds });
            }
        }
        best.ok_or(PipeError::Stopped)
    }

    /// Lets the machine do nothing for some seconds and asks what others did there meanwhile.
    pub fn idle(&mut self, seconds: f64) -> Result<Idle, PipeError> {
        self.send(&Request::Idle { seconds })?;
        match self.receive(Duration::from_secs_f64(MAX_IDLE_SECONDS + 10.0), &mut || false)? {
            Reply::Idle { idle } => Ok(idle),
            other => Err(self.out_of_turn(&other)),
        }
    }

    /// Runs one task. A task that is still running at the deadline is cancelled, and given up if even that is not answered.
    pub fn run(&mut self, task: Task, deadline: Duration, observer: &mut dyn Observer) -> Result<Finished, PipeError> {
        let id = self.next_run;
        self.next_run += 1;
        let names = match &task {
            Task::Tool { files, .. } => files.clone(),
            Task::Workload { .. } => Vec::new(),
        };
        self.send(&Request::Run { id, task })?;
        let mut limit = Instant::now() + deadline;
        let mut cancelled: Option<PipeError> = None;
        loop {
            let left = limit.saturating_duration_since(Instant::now());
            let reply = match self.receive(left, &mut || cancelled.is_none() && observer.stop()) {
                Ok(reply) => reply,
                Err(error @ (PipeError::Stopped | PipeError::Timeout { .. })) if cancelled.is_none() => {
                    self.send(&Request::Cancel { id })?;
                    limit = Instant::now() + Duration::from_secs(5);
                    cancelled = Some(match error {
                        PipeError::Timeout { machine, .. } => {
                            PipeError::Timeout { machine, seconds: deadline.as_secs_f64() }
                        }
                        other => other,
                    });
                    continue;
                }
                Err(error) => return Err(cancelled.unwrap_or(error)),
            };
            match reply {
                Reply::Begin { id: i } if i == id => observer.begin(),
                Reply::End { id: i } if i == id => observer.end(),
                Reply::Done { id: i, result } if i == id => {
                    let (mut stdout, mut stderr, mut files) = (Vec::new(), Vec::new(), BTreeMap::new());
                    if matches!(result, TaskResult::Exited { .. }) {
                        stdout = self.receive_bytes()?;
                        stderr = self.receive_bytes()?;
                        for name in names {
                            files.insert(name, self.receive_bytes()?);
                        }
                    }
                    return match cancelled {
                        Some(error) => Err(error),
                        None => Ok(Finished { result, stdout, stderr, files }),
                    };
                }
                other => return Err(self.out_of_turn(&other)),
            }
        }
    }

    /// Asks the agent to end, without waiting for it.
    pub fn shut_down(&mut self) {
        // A machine that is already gone needs no goodbye.
        let _ = self.send(&Request::Shutdown);
    }

    fn out_of_turn(&self, reply: &Reply) -> PipeError {
        let got = match reply {
            Reply::Refused { why } => model::text::printable(why, 200),
            other => model::text::printable(&format!("{other:?}"), 120),
        };
        PipeError::OutOfTurn { machine: self.machine.clone(), got }
    }

    fn send(&mut self, request: &Request) -> Result<(), PipeError> {
        let frame = wire::encode(request).map_err(|source| self.nonsense(source))?;
        self.stream.write_all(&frame).map_err(|source| PipeError::Broken { machine: self.machine.clone(), source })
    }

    fn nonsense(&self, source: WireError) -> PipeError {
        PipeError::Nonsense { machine: self.machine.clone(), source }
    }

    fn receive(&mut self, deadline: Duration, stop: &mut dyn FnMut() -> bool) -> Result<Reply, PipeError> {
        let frame = self.receive_frame(deadline, stop)?;
        frame.message().map_err(|source| self.nonsense(source))
    }

    fn receive_bytes(&mut self) -> Result<Vec<u8>, PipeError> {
        let frame = self.receive_frame(Duration::from_secs(60), &mut || false)?;
        frame.bytes().map_err(|source| self.nonsense(source))
    }

    fn receive_frame(&mut self, deadline: Duration, stop: &mut dyn FnMut() -> bool) -> Result<Frame, PipeError> {
        let limit = Instant::now() + deadline;
        let mut buffer = [0; 64 * 1024];
        loop {
            if let Some(frame) = self.decoder.next_frame().map_err(|source| self.nonsense(source))? {
                return Ok(frame);
            }
            if stop() {
                return Err(PipeError::Stopped);
            }
            if Instant::now() >= limit {
                return Err(PipeError::Timeout { machine: self.machine.clone(), seconds: deadline.as_secs_f64() });
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(PipeError::Closed { machine: self.machine.clone() }),
                Ok(n) => self.decoder.push(&buffer[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                Err(source) => return Err(PipeError::Broken { machine: self.machine.clone(), source }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent that says exactly these bytes, whatever it is asked.
    fn liar(bytes: &[u8]) -> AgentPipe {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(bytes).unwrap();
        // Leaked on purpose: a closed end would be noticed before the lie is.
        std::mem::forget(theirs);
        AgentPipe::new("guest", ours).unwrap()
    }

    fn hello(pipe: &mut AgentPipe) -> PipeError {
        pipe.hello("n", "b", Duration::from_millis(600), &mut || false).unwrap_err()
    }

    #[test]
    fn lies_of_a_guest_are_refused_each_with_its_name() {
        assert!(matches!(hello(&mut liar(&[0xff, 0xff, 0xff, 0x7f, 1])), PipeError::Nonsense { .. }));
        assert!(matches!(hello(&mut liar(&wire::encode_bytes(b"x").unwrap())), PipeError::Nonsense { .. }));
        assert!(matches!(hello(&mut liar(b"\x03\x00\x00\x00\x01{}}")), PipeError::Nonsense { .. }));
        let nan = br#"{"reply":"hello","nonce":"n","build":"b","uptime_seconds":NaN}"#;
        let mut frame = (nan.len() as u32).to_le_bytes().to_vec();
        frame.push(1);
        frame.extend_from_slice(nan);
        assert!(matches!(hello(&mut liar(&frame)), PipeError::Nonsense { .. }));
        let wrong = Reply::Hello { nonce: "other".to_owned(), build: "b".to_owned(), uptime_seconds: 1.0 };
        assert!(matches!(hello(&mut liar(&wire::encode(&wrong).unwrap())), PipeError::OutOfTurn { .. }));
        let old = Reply::Hello { nonce: "n".to_owned(), build: "older".to_owned(), uptime_seconds: 1.0 };
        assert!(matches!(hello(&mut liar(&wire::encode(&old).unwrap())), PipeError::OutOfTurn { .. }));
        assert!(matches!(hello(&mut liar(b"")), PipeError::Timeout { .. }));
    }

    #[test]
    fn escape_codes_in_a_refusal_are_made_visible() {
        let reply = Reply::Refused { why: "\u{1b}[2Jgone".to_owned() };
        let error = hello(&mut liar(&wire::encode(&reply).unwrap())).to_string();
        assert!(!error.contains('\u{1b}') && error.contains("gone"), "{error}");
    }

    struct Deaf;

    impl Observer for Deaf {
        fn begin(&mut self) {}
        fn end(&mut self) {}
        fn stop(&self) -> bool {
            false
        }
    }

    /// Runs a tool that is to leave two files, on an agent that says these frames after the end.
    fn run(frames: &[&[u8]]) -> Result<Finished, PipeError> {
        let result =
            TaskResult::Exited { code: Some(0), signal: None, counters: model::Counters::default(), truncated: false };
        let mut said = wire::encode(&Reply::Done { id: 1, result }).unwrap();
        said.extend(frames.iter().flat_map(|bytes| wire::encode_bytes(bytes).unwrap()));
        said.extend(wire::encode(&Reply::Begin { id: 1 }).unwrap());
        let files = ["b", "a"].map(str::to_owned).to_vec();
        let task = Task::Tool { argv: vec!["x".to_owned()], env: BTreeMap::new(), limit: 1, files };
        liar(&said).run(task, Duration::from_millis(600), &mut Deaf)
    }

    #[test]
    fn files_of_a_tool_follow_its_output_under_the_names_that_were_asked() {
        let finished = run(&[b"out", b"err", b"of b", b""]).unwrap();
        assert_eq!((finished.stdout, finished.stderr), (b"out".to_vec(), b"err".to_vec()));
        assert_eq!(finished.files, BTreeMap::from([("a".to_owned(), vec![]), ("b".to_owned(), b"of b".to_vec())]));
        // One file less than asked: what comes next is no bytes.
        assert!(matches!(run(&[b"out", b"err", b"of b"]), Err(PipeError::Nonsense { .. })));
    }

    #[test]
    fn a_closed_pipe_is_noticed_at_once() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let mut pipe = AgentPipe::new("guest", ours).unwrap();
        assert!(matches!(hello(&mut pipe), PipeError::Broken { .. } | PipeError::Closed { .. }));
    }
}

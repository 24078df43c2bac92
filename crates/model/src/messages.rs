//! What controller and agent say to each other: one file, shared by both sides.
//!
//! A conversation starts with [`Request::Hello`]; the agent answers with the same nonce and its build id, and the controller
//! hangs up on any other. Nothing is sent between [`Reply::Begin`] and [`Reply::End`] of a run.

use crate::evidence::Idle;
use crate::facts::Facts;
use crate::isa::InstructionSet;
use crate::outcome::{Counters, FailureCause};
use crate::params::Params;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longest time for which an agent looks on, seconds.
pub const MAX_IDLE_SECONDS: f64 = 10.0;

/// From controller to agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// First message.
    Hello {
        /// Echoed by the agent, so that nothing old in the pipe is taken for an answer.
        nonce: String,
        /// Build id of the controller's binary.
        build: String,
    },
    /// Asks for [`Reply::Facts`].
    Facts,
    /// Asks for [`Reply::Clock`].
    Clock,
    /// Asks the machine to do nothing for a while and to tell what others did; answered by [`Reply::Idle`].
    Idle {
        /// How long, at most [`MAX_IDLE_SECONDS`].
        seconds: f64,
    },
    /// Runs one task; answered by `Begin`, `End`, then `Done` (or by `Done` alone where it could not start).
    Run {
        /// Chosen by the controller, echoed in the answers.
        id: u64,
        /// What to do.
        task: Task,
    },
    /// Ends the running task; answered by its `Done`.
    Cancel {
        /// The run to end.
        id: u64,
    },
    /// Ends the agent (and a guest with it).
    Shutdown,
}

/// One thing to do in a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// A builtin workload.
    Workload {
        /// Its name.
        name: String,
        /// Its version; an agent with another one refuses.
        version: u32,
        /// Its parameters.
        params: Params,
        /// The instruction set that all machines of the study share.
        isa: InstructionSet,
    },
    /// A program. It runs in a process group of its own and its whole tree ends with it.
    Tool {
        /// Program (by name, looked up in the toolbox or PATH, or by path) and arguments. No shell is involved.
        argv: Vec<String>,
        /// Environment, beside a minimal one.
        env: BTreeMap<String, String>,
        /// Bytes of standard output, of standard error and of each file that are kept.
        limit: u64,
        /// Files that it leaves in its working folder, by plain name. They are sent and removed.
        files: Vec<String>,
    },
}

/// From agent to controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// Answer to [`Request::Hello`].
    Hello {
        /// The controller's nonce.
        nonce: String,
        /// Build id of the agent's binary.
        build: String,
        /// Seconds since the machine's boot by its own clock.
        uptime_seconds: f64,
    },
    /// Answer to [`Request::Facts`].
    Facts {
        /// Boxed because it is by far the largest message.
        facts: Box<Facts>,
    },
    /// Answer to [`Request::Clock`]: the agent's monotonic clock when the request came in and when the answer went out.
    Clock {
        /// Nanoseconds, at arrival.
        received: u64,
        /// Nanoseconds, at departure.
        sent: u64,
    },
    /// Answer to [`Request::Idle`].
    Idle {
        /// What was seen.
        idle: Idle,
    },
    /// The timed region of a run is about to start.
    Begin {
        /// The run.
        id: u64,
    },
    /// The timed region has ended.
    End {
        /// The run.
        id: u64,
    },
    /// A run is over.
    Done {
        /// The run.
        id: u64,
        /// What came of it.
        result: TaskResult,
    },
    /// The request made no sense to the agent, or something of its own failed.
    Refused {
        /// Why.
        why: String,
    },
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum TaskResult {
    /// A workload's values in base units.
    Values {
        /// By metric id.
        values: BTreeMap<String, f64>,
        /// Counters over the timed region.
        counters: Counters,
    },
    /// A program ended by itself. Its output follows as byte frames: standard output, standard error, then each file that was
    /// asked for, in that order and empty where there is none.
    Exited {
        /// Exit code; none where a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Counters from spawn to exit, children included.
        counters: Counters,
        /// True where more was printed or written than was kept.
        truncated: bool,
    },
    /// It could not be done.
    Failed {
        /// Whose fault it looks like.
        cause: FailureCause,
        /// What happened.
        why: String,
    },
    /// It was cancelled.
    Cancelled,
}

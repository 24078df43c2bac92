//! One machine of a round, wherever it runs.

use super::findings::NoAnswer;
use super::watch::Watch;
use machines::guest::Guest;
use machines::local::Local;
use machines::pipe::{AgentPipe, ClockOffset, Finished, PipeError};
use model::FailureCause;
use model::evidence::{ClockRate, Idle};
use model::messages::Task;
use std::time::{Duration, Instant};

/// A machine that lives.
pub enum Station {
    /// An agent on this host.
    Host(Local),
    /// A guest; stopped unless it is at work.
    Guest {
        /// The guest.
        guest: Box<Guest>,
        /// What QEMU said at its boot: hardware virtualization is in use.
        kvm: bool,
    },
}

impl Station {
    /// The process on the host that stands for it: QEMU, or the agent itself.
    pub fn pid(&self) -> u32 {
        match self {
            Station::Host(local) => local.pid(),
            Station::Guest { guest, .. } => guest.pid(),
        }
    }

    /// True for guests.
    pub fn is_guest(&self) -> bool {
        matches!(self, Station::Guest { .. })
    }

    /// Runs a task; the vCPUs of a guest run only meanwhile.
    pub fn run(&mut self, task: Task, deadline: Duration, watch: &mut Watch<'_>) -> Result<Finished, NoAnswer> {
        match self {
            Station::Host(local) => {
                watch.before();
                let finished = local.agent.run(task, deadline, watch).map_err(|error| match error {
                    PipeError::Stopped => NoAnswer::Cancelled,
                    error => NoAnswer::Failed { cause: error.cause(), why: error.to_string() },
                });
                watch.after();
                finished
            }
            Station::Guest { guest, kvm } => {
                watch.surroundings.kvm = Some(*kvm);
                awake(guest, |agent| {
                    let before = Reading::take(agent)?;
                    watch.before();
                    let finished = agent.run(task, deadline, watch)?;
                    watch.surroundings.clock = before.rate(&Reading::take(agent)?);
                    Ok(finished)
                })
                .inspect(|_| watch.after())
            }
        }
    }

    /// Lets the machine do nothing and asks what others did there.
    pub fn idle(&mut self, seconds: f64) -> Result<Idle, NoAnswer> {
        match self {
            Station::Host(local) => {
                local.agent.idle(seconds).map_err(|e| NoAnswer::Failed { cause: e.cause(), why: e.to_string() })
            }
            Station::Guest { guest, .. } => awake(guest, |agent| agent.idle(seconds)),
        }
    }
}

/// Lets a guest go on for one act of its agent, and stops it again. An error tells the guest's end, if that is why.
fn awake<T>(guest: &mut Guest, act: impl FnOnce(&mut AgentPipe) -> Result<T, PipeError>) -> Result<T, NoAnswer> {
    if let Err(error) = guest.go_on() {
        return Err(NoAnswer::Failed { cause: FailureCause::Guest, why: format!("{error}; {}", guest.autopsy(None)) });
    }
    match act(&mut guest.agent) {
        Ok(done) => match guest.pause() {
            Ok(()) => Ok(done),
            Err(error) => Err(NoAnswer::Failed { cause: FailureCause::Guest, why: error.to_string() }),
        },
        Err(PipeError::Stopped) => Err(NoAnswer::Cancelled),
        Err(error) => {
            let autopsy = guest.autopsy(Some(&error));
            let cause = if guest.alive() { error.cause() } else { FailureCause::Guest };
            Err(NoAnswer::Failed { cause, why: autopsy })
        }
    }
}

/// A machine's clock against the controller's at one moment.
struct Reading {
    at: Instant,
    offset: ClockOffset,
}

impl Reading {
    fn take(agent: &mut AgentPipe) -> Result<Self, PipeError> {
        let offset = agent.clock_offset()?;
        Ok(Reading { at: Instant::now(), offset })
    }

    /// How fast the clock ran until `later`; none where no time passed.
    fn rate(&self, later: &Reading) -> Option<ClockRate> {
        let passed = later.at.duration_since(self.at).as_secs_f64();
        let gained = later.offset.offset_seconds - self.offset.offset_seconds;
        let uncertain = later.offset.uncertainty_seconds + self.offset.uncertainty_seconds;
        (passed > 0.0).then(|| ClockRate { rate: 1.0 + gained / passed, uncertainty: uncertain / passed })
    }
}

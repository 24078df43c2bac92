//! The real lab: carries out on this host and on real guests what the study's loop decides.

use crate::findings::Findings;
use crate::signals::Stop;
use crate::workshop::Workshop;
use drivers::{Driver, Output, Target};
use machines::guest::{Guest, Recipe};
use machines::local::Local;
use machines::pipe::{Finished, Observer, PipeError};
use model::messages::{Task, TaskResult};
use model::plan::Cell;
use model::record::{Event, GUEST, HOST, Histogram, RunRecord};
use model::{Area, Benchmark, Counters, FailureCause, HostCost, InstructionSet, Outcome, Runner};
use probes::Root;
use probes::qemu_cost::{Snapshot, guest_cost};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use store::StudyWriter;
use study::{Lab, RoundFailure, Turn};

/// Bytes of each output of a tool that are kept.
const OUTPUT_LIMIT: u64 = 16 << 20;
/// Seconds of the discarded warm-up of a disk after each boot.
const WARM_UP_SECONDS: f64 = 1.0;

/// Where the data disk is on each machine.
#[derive(Clone, Debug, Default)]
pub struct DataPaths {
    /// The file on the host.
    pub host: Option<String>,
    /// The device in the guest.
    pub guest: Option<String>,
}

/// The machines of a study and what is needed to use them.
pub struct RealLab<'a> {
    /// Makes guests.
    pub workshop: &'a Workshop,
    /// What they are made of.
    pub recipe: Recipe,
    /// The study folder, for raw outputs.
    pub folder: &'a RefCell<StudyWriter>,
    /// An empty folder, on which the host's agent mounts its tmpfs.
    pub scratch: &'a Path,
    /// The host's agent of the round.
    pub local: Option<Local>,
    /// The guest of the round.
    pub guest: Option<Guest>,
    /// The round.
    pub round: u32,
    /// The attempt at it.
    pub attempt: u32,
    /// The cells of the plan.
    pub cells: &'a [Cell],
    /// Their benchmarks.
    pub benchmarks: &'a [Benchmark],
    /// The instruction set of all machines.
    pub isa: InstructionSet,
    /// The data disk.
    pub data: DataPaths,
    /// Paths of tools by machine and name.
    pub tools: BTreeMap<(String, String), String>,
    /// Longest time for one run, if the user named one, seconds.
    pub run_timeout: Option<f64>,
    /// The user's wish to stop.
    pub stop: &'a Stop,
}

/// Reads the host's side of a run at its begin and end.
struct Watch<'a> {
    qemu: Option<u32>,
    stop: &'a Stop,
    begun: Option<(Instant, Option<Snapshot>)>,
    cost: Option<HostCost>,
    seconds: Option<f64>,
}

impl<'a> Watch<'a> {
    fn new(qemu: Option<u32>, stop: &'a Stop) -> Self {
        Watch { qemu, stop, begun: None, cost: None, seconds: None }
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.qemu.and_then(|pid| guest_cost(&Root::live(), pid).ok())
    }
}

impl Observer for Watch<'_> {
    fn begin(&mut self) {
        let snapshot = self.snapshot();
        self.begun = Some((Instant::now(), snapshot));
    }

    fn end(&mut self) {
        let Some((start, before)) = self.begun.take() else { return };
        self.seconds = Some(start.elapsed().as_secs_f64());
        if let (Some(before), Some(after)) = (before, self.snapshot()) {
            self.cost = Some(before.until(&after));
        }
    }

    fn stop(&self) -> bool {
        self.stop.asked()
    }
}

/// What a run on the host cost it: the workload's own CPU time and I/O.
fn own_cost(counters: &Counters, controller_seconds: Option<f64>) -> HostCost {
    HostCost {
        vcpu_seconds: counters.user_seconds + counters.system_seconds,
        read_bytes: counters.read_bytes.unwrap_or(0),
        write_bytes: counters.write_bytes.unwrap_or(0),
        context_switches: counters.context_switches.unwrap_or(0),
        wall_seconds: controller_seconds.unwrap_or(counters.wall_seconds),
        ..HostCost::default()
    }
}

impl RealLab<'_> {
    fn benchmark(&self, id: &str) -> Option<&Benchmark> {
        self.benchmarks.iter().find(|b| b.id == id)
    }

    fn target(&self, machine: &str) -> Target {
        Target { data: if machine == GUEST { self.data.guest.clone() } else { self.data.host.clone() } }
    }

    /// The task of a cell on a machine, and its driver if it is a tool.
    fn task(&self, machine: &str, cell: &Cell) -> Result<(Task, Option<&'static dyn Driver>), String> {
        let benchmark =
            self.benchmark(&cell.benchmark).ok_or_else(|| format!("'{}' is not in the catalog", cell.benchmark))?;
        match &benchmark.runner {
            Runner::Workload { name, version } => {
                let task = Task::Workload {
                    name: name.clone(),
                    version: *version,
                    params: cell.params.clone(),
                    isa: self.isa,
                };
                Ok((task, None))
            }
            Runner::Tool { driver } => {
                let driver = drivers::find(driver).ok_or_else(|| format!("There is no driver '{driver}'"))?;
                let command = driver.command(&cell.params, &self.target(machine)).map_err(|e| e.to_string())?;
                let mut argv = command.argv;
                if let Some(program) = argv.first_mut()
                    && let Some(path) = self.tools.get(&(machine.to_owned(), driver.name().to_owned()))
                {
                    program.clone_from(path);
                }
                Ok((Task::Tool { argv, env: command.env, limit: OUTPUT_LIMIT, files: command.files }, Some(driver)))
            }
        }
    }

    /// Longest time for a run that should take `seconds`.
    fn deadline(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(self.run_timeout.unwrap_or(10.0 * seconds + 30.0))
    }

    /// Sends a task to a machine; the guest's vCPUs run only meanwhile.
    fn send(
        &mut self,
        machine: &str,
        task: Task,
        deadline: Duration,
        watch: &mut Watch<'_>,
    ) -> Result<Finished, Findings> {
        if machine == HOST {
            let Some(local) = &mut self.local else {
                return Err(Findings::failed(FailureCause::Pipe, "The agent on this host is gone".to_owned()));
            };
            return local.agent.run(task, deadline, watch).map_err(|error| match error {
                PipeError::Stopped => Findings::of(Outcome::Cancelled),
                error => Findings::failed(error.cause(), error.to_string()),
            });
        }
        let Some(guest) = &mut self.guest else {
            return Err(Findings::failed(FailureCause::Guest, "The guest is gone".to_owned()));
        };
        let finished = match guest.go_on() {
            Ok(()) => guest.agent.run(task, deadline, watch),
            Err(error) => {
                return Err(Findings::failed(FailureCause::Guest, format!("{error}; {}", guest.autopsy(None))));
            }
        };
        match finished {
            Ok(finished) => match guest.pause() {
                Ok(()) => Ok(finished),
                Err(error) => Err(Findings::failed(FailureCause::Guest, error.to_string())),
            },
            Err(PipeError::Stopped) => Err(Findings::of(Outcome::Cancelled)),
            Err(error) => {
                let autopsy = guest.autopsy(Some(&error));
                let cause = if guest.alive() { error.cause() } else { FailureCause::Guest };
                Err(Findings::failed(cause, autopsy))
            }
        }
    }

    /// Stores what a tool printed and reads it.
    fn judge(&self, at: &Turn, cell: &Cell, finished: Finished, driver: Option<&'static dyn Driver>) -> Findings {
        match (finished.result, driver) {
            (TaskResult::Values { values, counters }, None) => {
                Findings { counters: Some(counters), ..Findings::of(self.checked(&cell.benchmark, values)) }
            }
            (TaskResult::Exited { code, signal, counters, truncated }, Some(driver)) => {
                let name = store::raw_name(at.round, at.attempt, &at.machine, &cell.benchmark, driver.name());
                let raw = match self.folder.borrow().write_raw(&name, &finished.stdout) {
                    Ok(path) => Some(path),
                    Err(error) => {
                        return Findings::failed(FailureCause::Harness, format!("{:#}", anyhow::Error::new(error)));
                    }
                };
                if truncated {
                    let why = format!("{} printed or wrote more than {OUTPUT_LIMIT} bytes", driver.name());
                    return Findings { raw, ..Findings::failed(FailureCause::Tool, why) };
                }
                let output = Output { stdout: finished.stdout, files: finished.files };
                let (findings, latencies) =
                    Findings::of_tool(driver, &cell.params, code, signal, &output, &finished.stderr);
                match latencies.map(|latencies| self.store_latencies(at, cell, &latencies)).transpose() {
                    Ok(histogram) => Findings { counters: Some(counters), raw, histogram, ..findings },
                    Err(error) => Findings::failed(FailureCause::Harness, format!("{error:#}")),
                }
            }
            (TaskResult::Failed { cause, why }, _) => Findings::failed(cause, model::text::printable(&why, 2000)),
            (TaskResult::Cancelled, _) => Findings::of(Outcome::Cancelled),
            (other, _) => Findings::failed(FailureCause::Pipe, format!("The agent answered out of turn: {other:?}")),
        }
    }

    /// Stores the latencies, which are too many for the journal. Returns their place in the study folder.
    fn store_latencies(&self, at: &Turn, cell: &Cell, latencies: &Histogram) -> anyhow::Result<String> {
        let name = store::raw_name(at.round, at.attempt, &at.machine, &cell.benchmark, "latencies.json");
        Ok(self.folder.borrow().write_raw(&name, &serde_json::to_vec(latencies)?)?)
    }

    /// The declared metrics of a workload's values: each there, finite and positive. A guest may say anything.
    fn checked(&self, id: &str, mut values: BTreeMap<String, f64>) -> Outcome {
        let metrics = self.benchmark(id).map(|b| b.metrics.as_slice()).unwrap_or_default();
        values.retain(|key, _| metrics.iter().any(|m| m.id == *key));
        let wrong = metrics.iter().find(|m| !values.get(&m.id).is_some_and(|v| v.is_finite() && *v > 0.0));
        match wrong {
            None => Outcome::Measured { values },
            Some(metric) => Outcome::Failed {
                cause: FailureCause::Parse,
                why: format!("'{}' is missing from the workload's values, or is no positive number", metric.id),
            },
        }
    }

    /// One short discarded run of the disk, because the first seconds of disk work after a boot are slower than the rest.
    fn warm_up(&mut self) -> Result<(), Findings> {
        let disk = |cell: &&Cell| self.benchmark(&cell.benchmark).is_some_and(|b| b.area == Area::Disk);
        let Some(cell) = self.cells.iter().find(disk) else { return Ok(()) };
        let mut cell = cell.clone();
        for key in ["time", "ramp"] {
            cell.params.set(key, model::ParamValue::Number(WARM_UP_SECONDS));
        }
        let Ok((task, _)) = self.task(GUEST, &cell) else { return Ok(()) };
        let deadline = self.deadline(2.0 * WARM_UP_SECONDS);
        let stop = self.stop;
        self.send(GUEST, task, deadline, &mut Watch::new(None, stop)).map(drop)
    }
}

impl Lab for RealLab<'_> {
    fn start_round(&mut self, round: u32, attempt: u32) -> Result<Vec<Event>, RoundFailure> {
        (self.round, self.attempt) = (round, attempt);
        let stop = self.stop;
        let workshop = self.workshop;
        let local =
            Local::start(&workshop.nursery, &workshop.program, self.scratch, &self.recipe.cpu_set, &workshop.build);
        self.local = Some(local.map_err(failure)?);
        let name = workshop.guest_name(&format!("r{round}a{attempt}"));
        let mut guest = Guest::boot(&workshop.nursery, &name, &self.recipe, crate::trial::PATIENCE, &|| stop.asked())
            .map_err(failure)?;
        let offset = guest.agent.clock_offset();
        let offset = offset.map_err(|error| RoundFailure { why: guest.autopsy(Some(&error)) })?;
        let event = Event::Booted {
            machine: GUEST.to_owned(),
            round,
            attempt,
            ready_seconds: guest.ready_seconds,
            clock_uncertainty_seconds: Some(offset.uncertainty_seconds),
            clock_offset_seconds: Some(offset.offset_seconds),
        };
        guest.pause().map_err(failure)?;
        self.guest = Some(guest);
        self.warm_up().map_err(|findings| match findings.outcome {
            Outcome::Failed { why, .. } => RoundFailure { why: format!("While the disk was warmed up: {why}") },
            _ => RoundFailure { why: "Stopped".to_owned() },
        })?;
        Ok(vec![event])
    }

    fn run(&mut self, at: &Turn, cell: &Cell) -> RunRecord {
        let start = Instant::now();
        let stop = self.stop;
        let qemu = (at.machine == GUEST).then(|| self.guest.as_ref().map(Guest::pid)).flatten();
        let mut watch = Watch::new(qemu, stop);
        let mut argv = Vec::new();
        let findings = match self.task(&at.machine, cell) {
            Err(why) => Findings::failed(FailureCause::Harness, why),
            Ok((task, driver)) => {
                if let Task::Tool { argv: words, .. } = &task {
                    argv.clone_from(words);
                }
                match self.send(&at.machine, task, self.deadline(cell.needs.seconds), &mut watch) {
                    Ok(finished) => self.judge(at, cell, finished, driver),
                    Err(findings) => findings,
                }
            }
        };
        let host_cost = match at.machine.as_str() {
            HOST => findings.counters.as_ref().map(|c| own_cost(c, watch.seconds)),
            _ => watch.cost,
        };
        RunRecord {
            round: at.round,
            attempt: at.attempt,
            block: at.block,
            turn: at.turn,
            machine: at.machine.clone(),
            benchmark: cell.benchmark.clone(),
            outcome: findings.outcome,
            counters: findings.counters,
            host_cost,
            controller_seconds: watch.seconds,
            total_seconds: start.elapsed().as_secs_f64(),
            argv,
            raw: findings.raw,
            remarks: findings.remarks,
            work: findings.work,
            series: findings.series,
            histogram: findings.histogram,
            surroundings: None,
            checks: Vec::new(),
        }
    }

    fn end_round(&mut self) {
        if let Some(guest) = self.guest.take() {
            let name = store::raw_name(self.round, self.attempt, GUEST, "console", "txt");
            let console = guest.console();
            // Evidence, and no figure: a disk that cannot take it will be told by the journal.
            if !console.is_empty() {
                let _ = self.folder.borrow().write_raw(&name, console.as_bytes());
            }
        }
        self.local = None;
    }
}

fn failure(error: impl std::error::Error + Send + Sync + 'static) -> RoundFailure {
    RoundFailure { why: format!("{:#}", anyhow::Error::new(error)) }
}

//! The real lab: carries out on this host and on real guests what the study's loop decides.

mod findings;
mod station;
mod watch;

use crate::signals::Stop;
use crate::workshop::Workshop;
use drivers::{Driver, Output, Target};
use findings::{Findings, NoAnswer};
use machines::data_file::DataFile;
use machines::guest::{Guest, Recipe};
use machines::local::Local;
use machines::pipe::Finished;
use model::evidence::Idle;
use model::messages::{Task, TaskResult};
use model::plan::Cell;
use model::record::{Event, GUEST, HOST, Histogram, RunRecord};
use model::{Area, Benchmark, Check, FailureCause, Manifest, Outcome, Params, Runner};
use probes::allocation::Allocation;
use station::Station;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use store::StudyWriter;
use study::{Lab, RoundFailure, Turn};
use validity::run::RunContext;
use watch::{Watch, own_cost};

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
    /// The machines of the study, by name and kind.
    pub machines: &'a [(String, Kind)],
    /// Those of the round that live.
    pub stations: BTreeMap<String, Station>,
    /// How long to watch every machine before the first block of a round, seconds.
    pub idle_seconds: f64,
    /// The round.
    pub round: u32,
    /// The attempt at it.
    pub attempt: u32,
    /// The plan, and what is known of the machines.
    pub manifest: &'a Manifest,
    /// Parameters that are other than the cell's on some machines, by name of the machine.
    pub overrides: BTreeMap<String, Params>,
    /// The data disk.
    pub data: DataPaths,
    /// The data file on this host.
    pub data_file: Option<&'a DataFile>,
    /// What was seen on each machine before the first block of the round.
    pub idle: BTreeMap<String, Idle>,
    /// Paths of tools by machine and name.
    pub tools: BTreeMap<(String, String), String>,
    /// Longest time for one run, if the user named one, seconds.
    pub run_timeout: Option<f64>,
    /// The user's wish to stop.
    pub stop: &'a Stop,
}

/// What a machine of a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An agent on this host.
    Host,
    /// A guest.
    Guest,
}

impl<'a> RealLab<'a> {
    fn benchmark(&self, id: &str) -> Option<&Benchmark> {
        self.manifest.benchmarks.iter().find(|b| b.id == id)
    }

    fn target(&self, machine: &str) -> Target {
        Target { data: if machine == GUEST { self.data.guest.clone() } else { self.data.host.clone() } }
    }

    /// The parameters of a workload on a machine.
    fn params(&self, machine: &str, cell: &Cell) -> Params {
        let mut params = cell.params.clone();
        params.0.extend(self.overrides.get(machine).cloned().unwrap_or_default().0);
        params
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
                    params: self.params(machine, cell),
                    isa: self.manifest.isa,
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

    /// What the run shows by itself.
    fn checks(&self, cell: &Cell, is_guest: bool, record: &RunRecord) -> Vec<Check> {
        let Some(benchmark) = self.benchmark(&cell.benchmark) else { return Vec::new() };
        let (own, other) = if is_guest { (GUEST, HOST) } else { (HOST, GUEST) };
        let Some(facts) = self.manifest.machines.get(own) else { return Vec::new() };
        let context = RunContext {
            limits: &self.manifest.plan.limits,
            benchmark,
            cell,
            accelerator: self.manifest.accelerator,
            disk: &self.manifest.plan.machine.disk,
            is_guest,
            facts,
            other: self.manifest.machines.get(other),
            idle: self.idle.get(&record.machine),
        };
        validity::run::checks(&context, record)
    }

    /// The data file, for runs that use it.
    fn data_path(&self, cell: &Cell) -> Option<&'a Path> {
        self.data_file.filter(|_| cell.needs.disk > 0).map(DataFile::path)
    }

    /// Fills the data file where somebody cut holes into it since it was made: such rounds would be rejected one after the other.
    fn keep_whole(&self) -> Result<(), RoundFailure> {
        let Some(file) = self.data_file else { return Ok(()) };
        let allocated = Allocation::of_path(file.path()).ok().and_then(|a| a.at_most());
        if allocated.is_none_or(|share| share >= 1.0) {
            return Ok(());
        }
        file.refill(&self.stop.flag()).map_err(failure)
    }

    /// Sends a task to a machine, under watch.
    fn send(
        &mut self,
        machine: &str,
        task: Task,
        deadline: Duration,
        watch: &mut Watch<'_>,
    ) -> Result<Finished, NoAnswer> {
        match self.stations.get_mut(machine) {
            Some(station) => station.run(task, deadline, watch),
            None => Err(NoAnswer::Failed { cause: FailureCause::Pipe, why: format!("{machine} is gone") }),
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
    fn warm_up(&mut self) -> Result<(), NoAnswer> {
        let disk = |cell: &&Cell| self.benchmark(&cell.benchmark).is_some_and(|b| b.area == Area::Disk);
        let Some(cell) = self.manifest.plan.cells.iter().find(disk) else { return Ok(()) };
        let mut cell = cell.clone();
        for key in ["time", "ramp"] {
            cell.params.set(key, model::ParamValue::Number(WARM_UP_SECONDS));
        }
        let Ok((task, _)) = self.task(GUEST, &cell) else { return Ok(()) };
        let deadline = self.deadline(2.0 * WARM_UP_SECONDS);
        let mut watch = Watch::new(None, true, &[], None, self.stop);
        self.send(GUEST, task, deadline, &mut watch).map(drop)
    }
}

impl RealLab<'_> {
    /// Boots one machine; a guest is left stopped.
    fn boot(&mut self, name: &str, kind: Kind) -> Result<Option<Event>, RoundFailure> {
        let (stop, workshop) = (self.stop, self.workshop);
        if kind == Kind::Host {
            let cpus = &self.recipe.cpu_set;
            let local = Local::start(&workshop.nursery, &workshop.program, self.scratch, cpus, &workshop.build);
            self.stations.insert(name.to_owned(), Station::Host(local.map_err(failure)?));
            return Ok(None);
        }
        // One image cannot be open twice: the disk is the first guest's.
        let data = self.recipe.data.clone().filter(|_| name == GUEST);
        let recipe = Recipe { data, ..self.recipe.clone() };
        let process = workshop.guest_name(&format!("{name}-r{}a{}", self.round, self.attempt));
        let mut guest = Guest::boot(&workshop.nursery, &process, &recipe, crate::trial::PATIENCE, &|| stop.asked())
            .map_err(failure)?;
        let offset = guest.agent.clock_offset();
        let offset = offset.map_err(|error| RoundFailure { why: guest.autopsy(Some(&error)) })?;
        let kvm = guest.kvm_enabled().map_err(failure)?;
        guest.pause().map_err(failure)?;
        let event = Event::Booted {
            machine: name.to_owned(),
            round: self.round,
            attempt: self.attempt,
            ready_seconds: guest.ready_seconds,
            clock_uncertainty_seconds: Some(offset.uncertainty_seconds),
            clock_offset_seconds: Some(offset.offset_seconds),
        };
        self.stations.insert(name.to_owned(), Station::Guest { guest: Box::new(guest), kvm });
        Ok(Some(event))
    }

    /// Looks at every machine: before the first block also at what others do there.
    fn visit(&mut self, leaving: bool) -> Result<Vec<Event>, NoAnswer> {
        let mut events = Vec::new();
        for (name, _) in self.machines {
            let mut idle = None;
            if let Some(station) = self.stations.get_mut(name).filter(|_| !leaving) {
                idle = Some(station.idle(self.idle_seconds)?);
                self.idle.insert(name.clone(), idle.unwrap_or_default());
            }
            let canary_seconds = self.canary(name)?;
            let (round, attempt, machine) = (self.round, self.attempt, name.clone());
            events.push(Event::Visited { machine, round, attempt, leaving, idle, canary_seconds });
        }
        Ok(events)
    }

    /// The spin loop on one machine; none where it did not work, which its runs will tell better.
    fn canary(&mut self, machine: &str) -> Result<Option<f64>, NoAnswer> {
        let Some(canary) = workloads::find("canary") else { return Ok(None) };
        let specs: Vec<_> = canary.benchmarks().into_iter().flat_map(|benchmark| benchmark.params).collect();
        let task = Task::Workload {
            name: canary.name().to_owned(),
            version: canary.version(),
            params: Params::defaults(&specs),
            isa: self.manifest.isa,
        };
        let mut watch = Watch::new(None, true, &[], None, self.stop);
        let finished = self.send(machine, task, self.deadline(1.0), &mut watch)?;
        Ok(match finished.result {
            TaskResult::Values { values, .. } => values.get("time").copied().filter(|s| s.is_finite() && *s > 0.0),
            _ => None,
        })
    }
}

impl Lab for RealLab<'_> {
    fn start_round(&mut self, round: u32, attempt: u32) -> Result<Vec<Event>, RoundFailure> {
        (self.round, self.attempt) = (round, attempt);
        self.keep_whole()?;
        let mut events = Vec::new();
        for (name, kind) in self.machines {
            events.extend(self.boot(name, *kind)?);
        }
        let while_ = |what: &'static str| {
            move |lost: NoAnswer| match lost {
                NoAnswer::Failed { why, .. } => RoundFailure { why: format!("While {what}: {why}") },
                NoAnswer::Cancelled => RoundFailure { why: "Stopped".to_owned() },
            }
        };
        self.warm_up().map_err(while_("the disk was warmed up"))?;
        events.extend(self.visit(false).map_err(while_("the machines were looked at"))?);
        Ok(events)
    }

    fn run(&mut self, at: &Turn, cell: &Cell) -> RunRecord {
        let start = Instant::now();
        let process = self.stations.get(&at.machine).map(|station| (station.pid(), station.is_guest()));
        let is_guest = process.is_some_and(|(_, is_guest)| is_guest);
        let cpus = self.recipe.cpu_set.clone();
        let mut watch = Watch::new(process.map(|p| p.0), is_guest, &cpus, self.data_path(cell), self.stop);
        let mut argv = Vec::new();
        let findings = match self.task(&at.machine, cell) {
            Err(why) => Findings::failed(FailureCause::Harness, why),
            Ok((task, driver)) => {
                if let Task::Tool { argv: words, .. } = &task {
                    argv.clone_from(words);
                }
                match self.send(&at.machine, task, self.deadline(cell.needs.seconds), &mut watch) {
                    Ok(finished) => self.judge(at, cell, finished, driver),
                    Err(lost) => lost.into(),
                }
            }
        };
        if let Some(counters) = findings.counters.as_ref().filter(|_| !is_guest) {
            watch.subtract_own(counters);
        }
        let host_cost = if is_guest {
            watch.cost
        } else {
            findings.counters.as_ref().map(|counters| own_cost(counters, watch.seconds))
        };
        let mut record = RunRecord {
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
            surroundings: Some(watch.surroundings),
            checks: Vec::new(),
        };
        record.checks = self.checks(cell, is_guest, &record);
        record
    }

    fn leave_round(&mut self) -> Vec<Event> {
        // Every figure of the round is in the journal already: a machine that dies now costs nothing but this look.
        self.visit(true).unwrap_or_default()
    }

    fn end_round(&mut self) {
        for (name, station) in std::mem::take(&mut self.stations) {
            let Station::Guest { guest, .. } = station else { continue };
            let file = store::raw_name(self.round, self.attempt, &name, "console", "txt");
            let console = guest.console();
            // Evidence, and no figure: a disk that cannot take it will be told by the journal.
            if !console.is_empty() {
                let _ = self.folder.borrow().write_raw(&file, console.as_bytes());
            }
        }
    }
}

fn failure(error: impl std::error::Error + Send + Sync + 'static) -> RoundFailure {
    RoundFailure { why: format!("{:#}", anyhow::Error::new(error)) }
}

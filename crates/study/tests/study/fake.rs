//! A lab, a journal, a clock and a user from a script. The lab insists on what the loop promises it.

use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::evidence::Idle;
use model::outcome::{FailureCause, Outcome};
use model::params::{ParamError, Params};
use model::plan::{Cell, Located, Plan, Request};
use model::record::{Event, GUEST, HOST, Line, RunRecord};
use model::{Accelerator, Catalog, Unit};
use std::cell::{Cell as Slot, RefCell};
use std::collections::BTreeMap;
use vmtax_study::{
    Clock, Conclusion, Costs, Journal, JournalError, Lab, Progress, RoundFailure, Step, StopReason, StudyError, Turn,
    Watcher, World, run_study,
};

pub const BENCHMARKS: [&str; 4] = ["cpu.a", "memory.b", "disk.c", "disk.d"];

struct Loads;

impl Load for Loads {
    fn benchmarks(&self) -> Vec<Benchmark> {
        let one = |id: &str| Benchmark {
            id: id.to_owned(),
            title: String::new(),
            doc: String::new(),
            area: Area::Cpu,
            runner: Runner::Workload { name: id.to_owned(), version: 1 },
            params: Vec::new(),
            metrics: vec![
                Metric::new("rate", "", Unit::PerSecond, ("/s", 1.0), Direction::Higher).primary(),
                Metric::new("latency", "", Unit::Seconds, ("s", 1.0), Direction::Lower),
            ],
            kernel_bound: false,
        };
        BENCHMARKS.map(one).to_vec()
    }

    fn needs(&self, _: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { seconds: 5.0, ..Needs::default() })
    }
}

pub fn benchmarks() -> Vec<Benchmark> {
    Loads.benchmarks()
}

pub fn plan(rounds: u32) -> Plan {
    let request = Request {
        benchmarks: BENCHMARKS.map(|id| Located::flag("--bench", id.to_owned())).to_vec(),
        rounds: Some(Located::flag("--rounds", rounds.to_string())),
        ..Request::default()
    };
    Plan::resolve(&request, &Catalog::new([&Loads as &dyn Load], &[]), 2, 7).unwrap()
}

pub fn machines() -> Vec<String> {
    [HOST, GUEST].map(str::to_owned).to_vec()
}

pub fn measured() -> Outcome {
    Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), 1.0)]) }
}

pub fn failed(cause: FailureCause) -> Outcome {
    Outcome::Failed { cause, why: format!("{cause:?} it was") }
}

/// What comes of a run.
type OutcomeOf = Box<dyn Fn(&Turn, &Cell) -> Outcome>;

/// What happens.
pub struct Script {
    pub plan: Plan,
    pub outcome: OutcomeOf,
    pub start: Box<dyn Fn(u32, u32) -> Result<(), RoundFailure>>,
    /// By the number of lines in the journal.
    pub stop: Box<dyn Fn(usize) -> Option<StopReason>>,
    pub boot_seconds: f64,
    pub run_seconds: Box<dyn Fn(&Turn) -> f64>,
    /// The last word on a record.
    pub record: Box<dyn Fn(&mut RunRecord)>,
    /// The journal's disk is full from this line on.
    pub room_for_lines: usize,
}

/// A study in which everything goes well, with rounds of 3 + 4 * 2 * 5 = 43 seconds.
pub fn script(rounds: u32) -> Script {
    Script {
        plan: plan(rounds),
        outcome: Box::new(|_, _| measured()),
        start: Box::new(|_, _| Ok(())),
        stop: Box::new(|_| None),
        boot_seconds: 3.0,
        run_seconds: Box::new(|_| 5.0),
        record: Box::new(|_| ()),
        room_for_lines: usize::MAX,
    }
}

/// What the loop said and did.
pub struct Seen {
    pub end: Result<Conclusion, StudyError>,
    /// The whole journal.
    pub lines: Vec<Line>,
    /// Steps in words, with elapsed and remaining seconds.
    pub steps: Vec<(String, f64, f64)>,
    pub seconds: f64,
}

impl Seen {
    pub fn runs(&self) -> Vec<&RunRecord> {
        self.lines
            .iter()
            .filter_map(|line| if let Event::Run(run) = &line.event { Some(&**run) } else { None })
            .collect()
    }

    /// (round, attempt, complete) of all rounds that were ended.
    pub fn ended_rounds(&self) -> Vec<(u32, u32, bool)> {
        let ended = |line: &Line| match line.event {
            Event::RoundEnded { round, attempt, complete, .. } => Some((round, attempt, complete)),
            _ => None,
        };
        self.lines.iter().filter_map(ended).collect()
    }
}

impl Script {
    /// Plays the script after `history`, a thousand seconds later.
    pub fn play(&self, history: &[Line]) -> Seen {
        let stage = Stage {
            script: self,
            now: Slot::new(0.0),
            since: history.last().map_or(0.0, |line| line.at + 1000.0),
            lines: RefCell::new(history.to_vec()),
            alive: Slot::new(None),
            lines_due: Slot::new(0),
        };
        let opened = Event::Opened { vmtax: String::new(), build: String::new() };
        let mut journal = &stage;
        journal.append(&opened).unwrap();
        let history = stage.lines.borrow().clone();
        let mut steps = Steps(Vec::new());
        let end = run_study(
            &self.plan,
            &benchmarks(),
            &machines(),
            Costs::typical(Accelerator::Kvm),
            &history,
            World {
                lab: &mut &stage,
                journal: &mut journal,
                clock: &&stage,
                watcher: &mut steps,
                stop: &|| (self.stop)(stage.lines.borrow().len()),
            },
        );
        assert_eq!(stage.alive.get(), None, "every round that was begun is unmade");
        Seen { end, seconds: stage.now.get(), lines: stage.lines.into_inner(), steps: steps.0 }
    }
}

struct Stage<'a> {
    script: &'a Script,
    now: Slot<f64>,
    since: f64,
    lines: RefCell<Vec<Line>>,
    /// The attempt whose guests live.
    alive: Slot<Option<(u32, u32)>>,
    /// Lines that the journal must have before the lab is asked again.
    lines_due: Slot<usize>,
}

impl Stage<'_> {
    fn pass(&self, seconds: f64) {
        self.now.set(self.now.get() + seconds);
    }
}

impl Lab for &Stage<'_> {
    fn start_round(&mut self, round: u32, attempt: u32) -> Result<Vec<Event>, RoundFailure> {
        assert_eq!(self.alive.get(), None, "the round before was unmade");
        assert!(matches!(self.lines.borrow().last().unwrap().event, Event::RoundStarted { .. }));
        self.alive.set(Some((round, attempt)));
        self.pass(self.script.boot_seconds);
        (self.script.start)(round, attempt)?;
        self.lines_due.set(self.lines.borrow().len() + 1);
        Ok(vec![Event::Booted {
            machine: GUEST.to_owned(),
            round,
            attempt,
            ready_seconds: self.script.boot_seconds,
            clock_uncertainty_seconds: None,
            clock_offset_seconds: None,
        }])
    }

    fn run(&mut self, at: &Turn, cell: &Cell) -> RunRecord {
        assert_eq!(self.alive.get(), Some((at.round, at.attempt)), "runs belong to the round whose guests live");
        assert!(self.lines.borrow().len() >= self.lines_due.get(), "what came before is in the journal");
        self.lines_due.set(self.lines.borrow().len() + 1);
        let seconds = (self.script.run_seconds)(at);
        self.pass(seconds);
        let mut record = at.record(&cell.benchmark, (self.script.outcome)(at, cell));
        record.total_seconds = seconds;
        (self.script.record)(&mut record);
        record
    }

    fn leave_round(&mut self) -> Vec<Event> {
        let (round, attempt) = self.alive.get().unwrap();
        let idle = Some(Idle::default());
        [HOST, GUEST]
            .map(|machine| Event::Visited {
                machine: machine.to_owned(),
                round,
                attempt,
                leaving: true,
                idle,
                canary_seconds: None,
            })
            .to_vec()
    }

    fn end_round(&mut self) {
        assert!(self.alive.take().is_some(), "a round is unmade once");
    }
}

impl Journal for &Stage<'_> {
    fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        let mut lines = self.lines.borrow_mut();
        if lines.len() >= self.script.room_for_lines {
            return Err("no space left".into());
        }
        lines.push(Line { at: self.since + self.now.get(), event: event.clone() });
        Ok(())
    }
}

impl Clock for &Stage<'_> {
    fn now(&self) -> f64 {
        self.now.get()
    }
}

struct Steps(Vec<(String, f64, f64)>);

impl Watcher for Steps {
    fn event(&mut self, progress: &Progress<'_>) {
        let Progress { round, rounds, open: _, attempt, blocks_done, blocks, step, elapsed_seconds, left_seconds } =
            *progress;
        let step = match step {
            Step::Booting => "boot".to_owned(),
            Step::Running { machine, benchmark } => format!("{benchmark} on {machine}"),
            Step::Ran(record) => format!("ran {} on {}", record.benchmark, record.machine),
            Step::RoundOver { why } => format!("over {}", why.unwrap_or("complete")),
        };
        let words = format!("round {round}/{rounds}.{attempt} block {blocks_done}/{blocks} {step}");
        self.0.push((words, elapsed_seconds, left_seconds));
    }
}

//! Runs in which everything is as it should be, to be bent by tests.

use crate::run::{RunContext, checks};
use model::benchmark::Runner;
use model::check::{Check, Status, Threat};
use model::evidence::{ClockRate, Idle};
use model::facts::{ClockFacts, CpuFacts, HypervisorFacts};
use model::machine::{Aio, CacheMode};
use model::plan::{AcceleratorChoice, Cell};
use model::record::{Event, FileFact, GUEST, HOST, Line, ToolFact};
use model::{
    Accelerator, Area, Benchmark, Counters, Direction, DiskSpec, Facts, HostCost, Limits, Manifest, Metric, Needs,
    Outcome, ParamSpec, Params, Plan, RunRecord, Series, Surroundings, Unit, Work,
};
use std::collections::BTreeMap;

/// One run with all that it is judged by.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub limits: Limits,
    pub benchmark: Benchmark,
    pub cell: Cell,
    pub accelerator: Accelerator,
    pub disk: DiskSpec,
    pub is_guest: bool,
    pub facts: Facts,
    pub other: Option<Facts>,
    pub idle: Option<Idle>,
    pub record: RunRecord,
}

impl Scene {
    /// A run on the physical host.
    pub fn host(area: Area) -> Self {
        let mut scene = Scene::guest(area);
        scene.is_guest = false;
        scene.record.machine = HOST.to_owned();
        scene.other = Some(std::mem::replace(&mut scene.facts, facts(16 << 30)));
        let surroundings = scene.surroundings();
        (surroundings.kvm, surroundings.clock, surroundings.descriptor_direct) = (None, None, None);
        scene.judge();
        scene
    }

    /// A guest's run under KVM.
    pub fn guest(area: Area) -> Self {
        let benchmark = benchmark(area);
        let disk = area == Area::Disk;
        let needs = Needs {
            memory: if area == Area::Memory { 256 << 20 } else { 1 << 20 },
            disk: if disk { 1 << 30 } else { 0 },
            ..Needs::default()
        };
        let cell = Cell { benchmark: benchmark.id.clone(), params: Params::defaults(&benchmark.params), needs };
        let mut scene = Scene {
            limits: Limits::default(),
            record: record(&benchmark),
            benchmark,
            cell,
            accelerator: Accelerator::Kvm,
            disk: DiskSpec { cache: CacheMode::None, aio: Aio::Native, queues: 1, iothread: false },
            is_guest: true,
            facts: facts(1 << 30),
            other: Some(facts(16 << 30)),
            idle: Some(Idle {
                seconds: 2.0,
                cpu_share: Some(0.0),
                io_share: Some(0.0),
                memory_share: Some(0.0),
                busy_share: Some(0.01),
            }),
        };
        scene.judge();
        scene
    }

    /// Takes away everything that checks are made from.
    pub fn forget(&mut self) {
        let record = &mut self.record;
        (record.counters, record.host_cost, record.controller_seconds) = (None, None, None);
        (record.work, record.series, record.surroundings) = (None, None, None);
        (self.facts, self.other, self.idle) = (Facts::default(), None, None);
    }

    pub fn surroundings(&mut self) -> &mut Surroundings {
        self.record.surroundings.as_mut().unwrap()
    }

    pub fn counters(&mut self) -> &mut Counters {
        self.record.counters.as_mut().unwrap()
    }

    pub fn checks(&self) -> Vec<Check> {
        let context = RunContext {
            limits: &self.limits,
            benchmark: &self.benchmark,
            cell: &self.cell,
            accelerator: self.accelerator,
            disk: &self.disk,
            is_guest: self.is_guest,
            facts: &self.facts,
            other: self.other.as_ref(),
            idle: self.idle.as_ref(),
        };
        checks(&context, &self.record)
    }

    /// Writes the checks into the record, as the loop does.
    pub fn judge(&mut self) {
        self.record.checks = self.checks();
    }

    pub fn status(&self, threat: Threat) -> Option<Status> {
        status(&self.checks(), threat)
    }
}

pub(crate) fn status(checks: &[Check], threat: Threat) -> Option<Status> {
    checks.iter().find(|check| check.threat == threat).map(|check| check.status)
}

/// A series of one sample a second, for the metric of [`benchmark`].
pub(crate) fn level_series(samples: Vec<f64>) -> Series {
    Series { metrics: vec!["rate".to_owned()], step_seconds: 1.0, samples }
}

pub(crate) fn benchmark(area: Area) -> Benchmark {
    let metric = |id: &str, direction| Metric::new(id, id, Unit::PerSecond, ("x", 1.0), direction);
    let disk = area == Area::Disk;
    Benchmark {
        id: format!("{}.sample", area.name()),
        title: "Sample".to_owned(),
        doc: String::new(),
        area,
        runner: if disk {
            Runner::Tool { driver: "fio".to_owned() }
        } else {
            Runner::Workload { name: "sample".to_owned(), version: 1 }
        },
        params: vec![ParamSpec::duration("time", 10.0, "")],
        metrics: vec![
            metric("rate", Direction::Higher).primary(),
            metric("latency-mean", Direction::Lower),
            metric("latency-p99", Direction::Lower),
        ],
        kernel_bound: false,
    }
}

/// A run of ten seconds, with two seconds of load before where it is one of the disk.
fn record(benchmark: &Benchmark) -> RunRecord {
    let disk = benchmark.area == Area::Disk;
    let seconds = if disk { 12.0 } else { 10.0 };
    let (steady, device) = (1000u64 << 20, 1200u64 << 20);
    let values = [("rate", 100.0), ("latency-mean", 1e-4), ("latency-p99", 1e-3)];
    RunRecord {
        round: 1,
        attempt: 1,
        block: 0,
        turn: 0,
        machine: GUEST.to_owned(),
        benchmark: benchmark.id.clone(),
        outcome: Outcome::Measured { values: BTreeMap::from(values.map(|(id, value)| (id.to_owned(), value))) },
        counters: Some(Counters {
            wall_seconds: seconds,
            user_seconds: 9.0,
            system_seconds: 0.5,
            steal_seconds: Some(0.0),
            cpu_capacity_seconds: Some(2.0 * seconds),
            anon_huge_bytes: Some(256 << 20),
            context_switches: Some(100),
            read_bytes: Some(device),
            write_bytes: Some(0),
            run_queue_wait_seconds: Some(0.01),
            throttled_seconds: Some(0.0),
            swapped_pages: Some(0),
            oom_kills: Some(0),
        }),
        host_cost: Some(HostCost {
            vcpu_seconds: 9.6,
            read_bytes: device,
            wall_seconds: seconds + 0.01,
            vcpu_wait_seconds: Some(0.01),
            ..HostCost::default()
        }),
        controller_seconds: Some(seconds + 0.01),
        total_seconds: seconds + 1.0,
        argv: Vec::new(),
        raw: None,
        remarks: Vec::new(),
        work: disk.then(|| Work {
            bytes: Some(steady as f64),
            read_bytes: Some(steady as f64),
            steady_seconds: 10.0,
            ramp_seconds: 2.0,
            direct: Some(true),
            span_bytes: Some(1 << 30),
            latency_samples: Some(256_000),
            ..Work::default()
        }),
        series: disk.then(|| level_series((0..60).map(|t| 100.0 + f64::from(t * 7 % 11) / 10.0).collect())),
        histogram: None,
        surroundings: Some(Surroundings {
            steal_share: Some(0.0),
            others_seconds: None,
            thermal_events: Some(0),
            thermal_seconds: Some(0.0),
            frequency_hertz: Some(3e9),
            swapped_pages: Some(0),
            oom_kills: Some(0),
            merged_pages: Some(0),
            throttled_seconds: Some(0.0),
            descriptor_direct: Some(true),
            allocated_share: Some(1.0),
            huge_share: Some(1.0),
            clock: Some(ClockRate { rate: 1.00001, uncertainty: 5e-5 }),
            kvm: Some(true),
        }),
        checks: Vec::new(),
    }
}

fn facts(memory: u64) -> Facts {
    Facts {
        kernel_release: "6.1.0".to_owned(),
        thp_enabled: Some("madvise".to_owned()),
        memory_total: memory,
        cpu: CpuFacts { online: 2, hypervisor: Some("KVMKVMKVM".to_owned()), ..CpuFacts::default() },
        clock: ClockFacts { source: Some("kvm-clock".to_owned()), read_seconds: Some(3e-8), ..ClockFacts::default() },
        ..Facts::default()
    }
}

/// Both arms of one round, judged.
pub(crate) fn arms(area: Area) -> [Scene; 2] {
    [Scene::host(area), Scene::guest(area)]
}

/// A study under KVM on two machines that are alike.
pub(crate) fn manifest() -> Manifest {
    let (machine, configuration) = model::settings::configure(2, []).unwrap();
    let machines = [(HOST, 16 << 30), (GUEST, 16 << 30)].map(|(name, memory)| (name.to_owned(), facts(memory)));
    let mut machines = BTreeMap::from(machines);
    machines.get_mut(HOST).unwrap().product = Some("PowerEdge R650".to_owned());
    Manifest {
        format: 1,
        vmtax: "0.1.0".to_owned(),
        build: "b".to_owned(),
        created: 0.0,
        command: Vec::new(),
        plan: Plan {
            suites: Vec::new(),
            cells: Vec::new(),
            configuration,
            machine,
            rounds: 8,
            precision: None,
            limits: Limits::default(),
            seed: 1,
            budget_seconds: None,
            accelerator: AcceleratorChoice::Kvm,
        },
        benchmarks: Vec::new(),
        accelerator: Accelerator::Kvm,
        accelerator_note: None,
        isa: model::InstructionSet::default(),
        machines,
        hypervisor: HypervisorFacts { version: "QEMU 9.2".to_owned(), kvm: true, ..HypervisorFacts::default() },
        observed: BTreeMap::new(),
        kernel: FileFact { path: String::new(), sha256: String::new(), what: String::new() },
        toolbox: None,
        tools: vec![ToolFact {
            name: "fio".to_owned(),
            path: "/usr/bin/fio".to_owned(),
            version: "fio-3.33".to_owned(),
            sha256: String::new(),
        }],
        cpu_set: Vec::new(),
        data_file: None,
        data_file_system: None,
        notes: Vec::new(),
    }
}

/// A journal line that tells of a visit.
pub(crate) fn visit(machine: &str, round: u32, leaving: bool, canary_seconds: f64) -> Line {
    let event = Event::Visited {
        machine: machine.to_owned(),
        round,
        attempt: 1,
        leaving,
        idle: None,
        canary_seconds: Some(canary_seconds),
    };
    Line { at: 0.0, event }
}

//! Studies as they come out of a run: realistic in shape and size, with noise that is the same in every build.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod dress;

use model::facts::{BlockDevice, ClockFacts, CpuFacts, HypervisorFacts, OpenDisk};
use model::plan::{AcceleratorChoice, Cell};
use model::record::{Ending, FileFact, GUEST, HOST, Line, ToolFact};
use model::*;
use std::collections::BTreeMap;

pub const KIB: f64 = 1024.0;
pub const MIB: f64 = 1_048_576.0;

/// A study that can be bent before it is analysed.
pub struct Study {
    pub manifest: Manifest,
    pub lines: Vec<Line>,
    at: f64,
    noise: u64,
    /// The guest's cost as a multiple of the host's, by area.
    pub slowdown: [f64; 3],
    /// Standard size of the noise of one run, as a fraction.
    pub spread: f64,
}

struct Kind {
    id: &'static str,
    title: &'static str,
    area: Area,
    metric: (&'static str, &'static str, Unit, &'static str, f64),
    host: f64,
}

const KINDS: &[Kind] = &[
    Kind {
        id: "cpu.dhrystone",
        title: "Dhrystone 2",
        area: Area::Cpu,
        metric: ("rate", "Loops", Unit::PerSecond, "lps", 1.0),
        host: 55.4e6,
    },
    Kind {
        id: "cpu.whetstone",
        title: "Whetstone (double)",
        area: Area::Cpu,
        metric: ("rate", "Speed", Unit::WhetstonePerSecond, "MWIPS", 1e6),
        host: 9.051e9,
    },
    Kind {
        id: "cpu.file-copy-4k",
        title: "File copy 4096/8000",
        area: Area::Cpu,
        metric: ("rate", "Copied", Unit::BytesPerSecond, "KBps", KIB),
        host: 1.9e9,
    },
    Kind {
        id: "memory.memcpy",
        title: "MEMCPY",
        area: Area::Memory,
        metric: ("rate", "Copied", Unit::BytesPerSecond, "MiB/s", MIB),
        host: 11.3e9,
    },
    Kind {
        id: "memory.dumb",
        title: "DUMB",
        area: Area::Memory,
        metric: ("rate", "Copied", Unit::BytesPerSecond, "MiB/s", MIB),
        host: 9.8e9,
    },
    Kind {
        id: "memory.mcblock",
        title: "MCBLOCK",
        area: Area::Memory,
        metric: ("rate", "Copied", Unit::BytesPerSecond, "MiB/s", MIB),
        host: 12.1e9,
    },
    Kind {
        id: "disk.randread-4k",
        title: "4k random read",
        area: Area::Disk,
        metric: ("iops", "IOPS", Unit::PerSecond, "IOPS", 1.0),
        host: 64_400.0,
    },
    Kind {
        id: "disk.randwrite-4k",
        title: "4k random write",
        area: Area::Disk,
        metric: ("iops", "IOPS", Unit::PerSecond, "IOPS", 1.0),
        host: 41_200.0,
    },
    Kind {
        id: "disk.read-4k",
        title: "4k sequential read",
        area: Area::Disk,
        metric: ("iops", "IOPS", Unit::PerSecond, "IOPS", 1.0),
        host: 88_100.0,
    },
    Kind {
        id: "disk.write-4k",
        title: "4k sequential write",
        area: Area::Disk,
        metric: ("iops", "IOPS", Unit::PerSecond, "IOPS", 1.0),
        host: 52_700.0,
    },
    Kind {
        id: "disk.read-1m",
        title: "1m sequential read",
        area: Area::Disk,
        metric: ("bandwidth", "Bandwidth", Unit::BytesPerSecond, "MiB/s", MIB),
        host: 2.31e9,
    },
    Kind {
        id: "disk.write-1m",
        title: "1m sequential write",
        area: Area::Disk,
        metric: ("bandwidth", "Bandwidth", Unit::BytesPerSecond, "MiB/s", MIB),
        host: 1.12e9,
    },
];

/// Seconds of fio's load, ramp included.
pub const LOAD: f64 = 6.0;

impl Study {
    /// The quick suite, planned for so many rounds, under emulation inside a VM; nothing measured yet.
    pub fn emulated(rounds: u32) -> Self {
        Study {
            manifest: manifest(rounds),
            lines: Vec::new(),
            at: 1_795_294_260.0,
            noise: 7,
            slowdown: [17.2, 6.4, 2.9],
            spread: 0.03,
        }
    }

    /// The same under KVM on bare metal, with what KVM usually costs.
    pub fn kvm(rounds: u32) -> Self {
        let mut study = Study::emulated(rounds);
        study.slowdown = [1.012, 1.034, 1.31];
        study.spread = 0.008;
        study.manifest.accelerator = Accelerator::Kvm;
        study.manifest.accelerator_note = None;
        study.manifest.hypervisor.kvm = true;
        study.manifest.observed.insert("vm.cpu-model".to_owned(), "host".to_owned());
        if let Some(host) = study.manifest.machines.get_mut(HOST) {
            host.cpu.hypervisor = None;
        }
        if let Some(guest) = study.manifest.machines.get_mut(GUEST) {
            guest.cpu.hypervisor = Some("KVMKVMKVM".to_owned());
        }
        study
    }

    /// Keeps only the benchmarks of these areas.
    pub fn only(mut self, areas: &[Area]) -> Self {
        self.manifest.benchmarks.retain(|b| areas.contains(&b.area));
        let ids: Vec<String> = self.manifest.benchmarks.iter().map(|b| b.id.clone()).collect();
        self.manifest.plan.cells.retain(|c| ids.contains(&c.benchmark));
        self
    }

    /// Measures so many rounds and ends the study.
    pub fn measured(mut self, rounds: u32) -> Self {
        for round in 1..=rounds {
            self.round(round, 1);
        }
        self.end();
        self
    }

    /// 120,000 outcomes: 60 benchmarks in 1,000 rounds.
    pub fn large() -> Self {
        let mut study = Study::kvm(1000).measured(1000);
        let runs: Vec<_> = study.lines.iter().filter(|l| matches!(l.event, Event::Run(_))).cloned().collect();
        let (benchmarks, cells) = (study.manifest.benchmarks.clone(), study.manifest.plan.cells.clone());
        for copy in 1..=4 {
            let rename = |id: &str| format!("{id}-{copy}");
            study.manifest.benchmarks.extend(benchmarks.iter().cloned().map(|mut b| {
                b.id = rename(&b.id);
                b
            }));
            study.manifest.plan.cells.extend(cells.iter().cloned().map(|mut c| {
                c.benchmark = rename(&c.benchmark);
                c
            }));
            for line in &mut study.lines {
                if let Event::RoundStarted { order, .. } = &mut line.event {
                    order.extend(benchmarks.iter().map(|b| rename(&b.id)));
                }
            }
            study.lines.extend(runs.iter().cloned().map(|mut line| {
                if let Event::Run(run) = &mut line.event {
                    run.benchmark = rename(&run.benchmark);
                }
                line
            }));
        }
        study
    }

    pub fn end(&mut self) {
        self.log(Event::Ended { how: Ending::Finished, why: "All rounds of the plan were made.".to_owned() });
    }

    pub fn analyse(&self) -> vmtax_report::Analysis {
        vmtax_report::analyse(&self.manifest, &self.lines, &|name| Err(format!("{name} is not there")))
    }

    /// One complete round with every benchmark of the plan.
    pub fn round(&mut self, round: u32, attempt: u32) {
        self.start(round, attempt);
        for block in 0..self.manifest.benchmarks.len() {
            let guest_first = self.unit() < 0.5;
            for turn in 0..2 {
                let machine = if (turn == 1) == guest_first { HOST } else { GUEST };
                let run = self.run(round, attempt, block, turn, machine);
                self.log(Event::Run(Box::new(run)));
            }
        }
        self.close(round, attempt, true, None);
    }

    pub fn start(&mut self, round: u32, attempt: u32) {
        let mut order: Vec<String> = self.manifest.benchmarks.iter().map(|b| b.id.clone()).collect();
        let by = round as usize % order.len().max(1);
        order.rotate_left(by);
        self.log(Event::RoundStarted { round, attempt, order });
        let ready_seconds = 2.1 + 0.4 * self.unit();
        self.log(Event::Booted {
            machine: GUEST.to_owned(),
            round,
            attempt,
            ready_seconds,
            clock_uncertainty_seconds: Some(3e-5),
            clock_offset_seconds: Some(12.5),
        });
    }

    pub fn close(&mut self, round: u32, attempt: u32, complete: bool, why: Option<&str>) {
        self.log(Event::RoundEnded { round, attempt, complete, why: why.map(str::to_owned) });
    }

    pub fn log(&mut self, event: Event) {
        self.at += 3.7;
        self.lines.push(Line { at: self.at, event });
    }

    /// Changes every run that was logged.
    pub fn each_run(&mut self, mut change: impl FnMut(&mut RunRecord)) {
        for line in &mut self.lines {
            if let Event::Run(run) = &mut line.event {
                change(run);
            }
        }
    }

    /// A plausible run.
    pub fn run(&mut self, round: u32, attempt: u32, block: usize, turn: u32, machine: &str) -> RunRecord {
        let benchmark = self.manifest.benchmarks[block].clone();
        let kind = KINDS.iter().find(|k| k.id == benchmark.id).unwrap_or(&KINDS[0]);
        let guest = machine == GUEST;
        let slow = if guest { self.slowdown[benchmark.area as usize] } else { 1.0 };
        let value = kind.host / slow * (1.0 + self.spread * self.gauss());
        let disk = benchmark.area == Area::Disk;
        let mut values = BTreeMap::from([(kind.metric.0.to_owned(), value)]);
        let block_bytes = if benchmark.id.ends_with("1m") { MIB } else { 4096.0 };
        let mut bytes = value;
        if disk {
            let (iops, bandwidth) =
                if kind.metric.0 == "iops" { (value, value * block_bytes) } else { (value / block_bytes, value) };
            bytes = bandwidth;
            let mean = 16.0 / iops;
            for (id, figure) in [
                ("iops", iops),
                ("bandwidth", bandwidth),
                ("latency-mean", mean),
                ("latency-p50", 0.8 * mean),
                ("latency-p99", 3.1 * mean),
            ] {
                values.insert(id.to_owned(), figure);
            }
        }
        let wall = if disk { LOAD + 1.2 } else { 5.0 };
        let busy = if disk { 2.2 * if guest { 1.4 } else { 1.0 } } else { 4.99 };
        let moved = if disk { (bytes * LOAD) as u64 } else { 0 };
        let write = benchmark.id.contains("write");
        let noise = 1.0 + 0.01 * self.gauss();
        RunRecord {
            round,
            attempt,
            block: block as u32,
            turn,
            machine: machine.to_owned(),
            benchmark: benchmark.id.clone(),
            outcome: Outcome::Measured { values },
            counters: Some(Counters {
                wall_seconds: wall,
                user_seconds: 0.7 * busy * noise,
                system_seconds: 0.3 * busy * noise,
                steal_seconds: Some(0.01 * wall),
                cpu_capacity_seconds: Some(2.0 * wall),
                anon_huge_bytes: Some(64 << 20),
                context_switches: Some(1200),
                ..Counters::default()
            }),
            host_cost: Some(HostCost {
                vcpu_seconds: busy * noise * if guest { 1.02 } else { 1.0 },
                io_seconds: if guest && disk { 0.9 * noise } else { 0.0 },
                other_seconds: if guest { 0.08 * noise } else { 0.0 },
                read_bytes: if write { 0 } else { moved },
                write_bytes: if write { moved } else { 0 },
                resident_bytes: if guest { 412 << 20 } else { 38 << 20 },
                context_switches: 5200,
                wall_seconds: wall + 0.01,
                ..HostCost::default()
            }),
            controller_seconds: Some(wall + 0.004),
            total_seconds: wall + 0.3,
            argv: if disk { fio_argv(&benchmark.id, guest) } else { Vec::new() },
            raw: disk.then(|| format!("raw/{round}-{attempt}-{}-{machine}.json", benchmark.id)),
            remarks: Vec::new(),
            work: None,
            series: None,
            histogram: None,
            surroundings: None,
            checks: Vec::new(),
        }
    }

    /// Uniform in 0..1 (an LCG of Knuth's).
    fn unit(&mut self) -> f64 {
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About standard normal.
    fn gauss(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

fn fio_argv(id: &str, guest: bool) -> Vec<String> {
    let target = if guest { "/dev/vda" } else { "/var/tmp/vmtax/data.raw" };
    let (rw, bs) = id.trim_start_matches("disk.").rsplit_once('-').unwrap_or(("read", "4k"));
    let bs = if bs == "1m" { 1 << 20 } else { 4096 };
    ["fio", "--output-format=json+", "--name=vmtax"]
        .into_iter()
        .map(str::to_owned)
        .chain([format!("--filename={target}"), format!("--rw={rw}"), format!("--bs={bs}")])
        .chain(
            ["--iodepth=16", "--ioengine=io_uring", "--direct=1", "--runtime=5000ms", "--ramp_time=1000ms"]
                .map(str::to_owned),
        )
        .collect()
}

fn benchmarks() -> Vec<Benchmark> {
    KINDS
        .iter()
        .map(|kind| {
            let (id, title, unit, symbol, factor) = kind.metric;
            let mut metrics = vec![Metric::new(id, title, unit, (symbol, factor), Direction::Higher).primary()];
            if kind.area == Area::Disk {
                if id == "iops" {
                    metrics.push(Metric::new(
                        "bandwidth",
                        "Bandwidth",
                        Unit::BytesPerSecond,
                        ("MiB/s", MIB),
                        Direction::Higher,
                    ));
                } else {
                    metrics.push(Metric::new("iops", "IOPS", Unit::PerSecond, ("IOPS", 1.0), Direction::Higher));
                }
                for (id, title) in [
                    ("latency-mean", "Completion latency, mean"),
                    ("latency-p50", "Completion latency, median"),
                    ("latency-p99", "Completion latency, 99th percentile"),
                ] {
                    metrics.push(Metric::new(id, title, Unit::Seconds, ("µs", 1e-6), Direction::Lower));
                }
            }
            Benchmark {
                id: kind.id.to_owned(),
                title: kind.title.to_owned(),
                doc: format!("{}: what is measured, and whose definition it is.", kind.title),
                area: kind.area,
                runner: if kind.area == Area::Disk {
                    Runner::Tool { driver: "fio".to_owned() }
                } else {
                    Runner::Workload { name: kind.id.to_owned(), version: 1 }
                },
                params: if kind.area == Area::Disk {
                    vec![
                        ParamSpec::duration("time", 5.0, "Measured time."),
                        ParamSpec::duration("ramp", 1.0, "Load before it."),
                    ]
                } else {
                    vec![ParamSpec::duration("time", 5.0, "Measured time.")]
                },
                metrics,
                kernel_bound: kind.id.contains("file-copy"),
            }
        })
        .collect()
}

fn manifest(rounds: u32) -> Manifest {
    let benchmarks = benchmarks();
    let (machine, configuration) = settings::configure(2, []).expect("the reference guest is valid");
    let cells = benchmarks
        .iter()
        .map(|b| Cell { benchmark: b.id.clone(), params: Params::defaults(&b.params), needs: Needs::default() })
        .collect();
    let observed = [
        ("vm.cpus", "2"),
        ("vm.cpu-model", "max"),
        ("vm.memory", "1010827264"),
        ("vm.machine", "q35"),
        ("disk.cache", "none"),
        ("disk.aio", "native"),
        ("disk.queues", "1"),
        ("disk.iothread", "off"),
    ];
    Manifest {
        format: 1,
        vmtax: "0.1.0".to_owned(),
        build: "9f2c41d07be8a35516e0c4".repeat(3)[..64].to_owned(),
        created: 1_795_294_260.0,
        command: ["vmtax", "run", "--suite", "quick", "--rounds"].into_iter().map(str::to_owned).chain([rounds.to_string()]).collect(),
        plan: Plan {
            suites: vec!["quick".to_owned()],
            cells,
            configuration,
            machine,
            rounds,
            precision: None,
            limits: Limits::default(),
            seed: 20_260_621,
            budget_seconds: None,
            accelerator: AcceleratorChoice::Auto,
        },
        benchmarks,
        accelerator: Accelerator::Tcg,
        accelerator_note: Some("/dev/kvm opens, and a guest did not boot with it within 8 s.".to_owned()),
        isa: InstructionSet::V3,
        machines: BTreeMap::from([(HOST.to_owned(), host()), (GUEST.to_owned(), guest())]),
        hypervisor: HypervisorFacts {
            version: "QEMU emulator version 7.2.9 (Debian 1:7.2+dfsg-7+deb12u5)".to_owned(),
            kvm: false,
            command_line: "qemu-system-x86_64 -M q35 -cpu max -smp 2 -m 1024 -nodefaults -display none -drive file=/var/tmp/vmtax/data.raw,if=none,id=data,cache=none,aio=native -append".split(' ').map(str::to_owned).chain(["console=hvc0 quiet".to_owned()]).collect(),
            disks: vec![OpenDisk { node: "data".to_owned(), cache_direct: true, write_cache: true, aio: Some("native".to_owned()), descriptor_direct: Some(true), ..OpenDisk::default() }],
            cpus_allowed: vec![0, 1],
            ..HypervisorFacts::default()
        },
        observed: observed.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        kernel: FileFact { path: "/boot/vmlinuz-6.1.0-18-cloud-amd64".to_owned(), sha256: "ab".repeat(32), what: "6.1.0-18-cloud-amd64".to_owned() },
        toolbox: Some(FileFact { path: "/var/cache/vmtax/toolbox-1f3a.img".to_owned(), sha256: "cd".repeat(32), what: "fio and 62 libraries".to_owned() }),
        tools: vec![ToolFact { name: "fio".to_owned(), path: "/usr/bin/fio".to_owned(), version: "fio-3.33".to_owned(), sha256: "ef".repeat(32) }],
        cpu_set: vec![0, 1],
        data_file: Some("/var/tmp/vmtax/data.raw".to_owned()),
        data_file_system: Some("ext4".to_owned()),
        notes: Vec::new(),
    }
}

fn host() -> Facts {
    Facts {
        hostname: "bench-01".to_owned(),
        kernel_release: "6.12.8".to_owned(),
        kernel_version: "#1 SMP PREEMPT_DYNAMIC".to_owned(),
        architecture: "x86_64".to_owned(),
        os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel_command_line: Some("root=/dev/vda1 ro quiet".to_owned()),
        cpu: CpuFacts {
            vendor: "GenuineIntel".to_owned(),
            model: "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz".to_owned(),
            online: 2,
            cores: Some(1),
            nodes: Some(1),
            isa: InstructionSet::V4,
            last_level_cache: Some(105 << 20),
            hypervisor: Some("KVMKVMKVM".to_owned()),
            flags: ["aes", "avx", "avx2", "avx512f", "fma", "sse4_2"].map(str::to_owned).into(),
            governor: None,
        },
        memory_total: 8_216_000_000,
        memory_available: 6_900_000_000,
        clock: ClockFacts {
            source: Some("tsc".to_owned()),
            available: vec!["tsc".to_owned(), "kvm-clock".to_owned()],
            read_seconds: Some(2.3e-8),
        },
        thp_enabled: Some("madvise".to_owned()),
        thp_defrag: Some("madvise".to_owned()),
        io_uring: Some(true),
        vulnerabilities: BTreeMap::from([
            ("meltdown".to_owned(), "Not affected".to_owned()),
            ("spectre_v2".to_owned(), "Mitigation: Enhanced IBRS".to_owned()),
        ]),
        disks: vec![BlockDevice {
            name: "vda".to_owned(),
            serial: None,
            bytes: 64 << 30,
            scheduler: Some("none".to_owned()),
            read_ahead: Some(131_072),
            rotational: Some(false),
            queues: Some(2),
        }],
        product: Some("Standard PC".to_owned()),
        load_average: Some(0.21),
    }
}

fn guest() -> Facts {
    let mut facts = host();
    facts.hostname = "vmtax-guest".to_owned();
    facts.kernel_release = "6.1.0-18-cloud-amd64".to_owned();
    facts.os = None;
    facts.kernel_command_line = Some("console=hvc0 quiet".to_owned());
    facts.cpu.model = "QEMU TCG CPU version 2.5+".to_owned();
    facts.cpu.vendor = "AuthenticAMD".to_owned();
    facts.cpu.isa = InstructionSet::V3;
    facts.cpu.hypervisor = Some("TCGTCGTCGTCG".to_owned());
    facts.cpu.flags.retain(|f| f != "avx512f");
    facts.memory_total = 1_010_827_264;
    facts.clock = ClockFacts {
        source: Some("hpet".to_owned()),
        available: vec!["hpet".to_owned(), "acpi_pm".to_owned()],
        read_seconds: Some(1.9e-6),
    };
    facts.disks = vec![BlockDevice {
        name: "vda".to_owned(),
        serial: Some("vmtax-data".to_owned()),
        bytes: 1 << 30,
        scheduler: Some("none".to_owned()),
        read_ahead: Some(131_072),
        rotational: Some(false),
        queues: Some(1),
    }];
    facts
}

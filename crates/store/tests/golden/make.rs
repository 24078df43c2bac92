//! The study of the golden folder: eight rounds under emulation with everything that can happen to a study in them.
//!
//! The figures are invented (a base value and noise from SplitMix64); the fio output is real.

#![allow(clippy::needless_update, reason = "facts and counters may grow without a new format")]

use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::facts::{BlockDevice, ClockFacts, CpuFacts, Facts, HypervisorFacts, OpenDisk};
use model::outcome::{Counters, FailureCause, HostCost, Outcome};
use model::params::{ParamError, ParamSpec, Params};
use model::plan::{Located, Request};
use model::record::{Ending, Event, FORMAT, FileFact, GUEST, HOST, Manifest, RunRecord, ToolFact};
use model::{Accelerator, Catalog, InstructionSet, Plan, Unit};
use std::collections::BTreeMap;
use std::path::Path;
use vmtax_store::{StudyFolder, StudyWriter, raw_name};

const FIO_OUTPUT: &[u8] = include_bytes!("fio-3.33-randread-4k.json");
const CREATED: f64 = 1795294800.25;
const BUILD: &str = "5f0c2d4e8a9b7c6d1e3f50617283940a5b6c7d8e9f001122334455667788990a";
const CPU: &str = "cpu.dhrystone";
const MEMORY: &str = "memory.memcpy";
const DISK: &str = "disk.randread-4k";
const WRITE: &str = "disk.randwrite-4k";

struct Loads;

impl Load for Loads {
    fn benchmarks(&self) -> Vec<Benchmark> {
        let one = |id: &str, title: &str, area, runner, params, metrics| Benchmark {
            id: id.to_owned(),
            title: title.to_owned(),
            doc: format!("{title}, as the golden study has it."),
            area,
            runner,
            params,
            metrics,
            kernel_bound: false,
        };
        let workload = |name: &str| Runner::Workload { name: name.to_owned(), version: 1 };
        let fio = || Runner::Tool { driver: "fio".to_owned() };
        let time = || ParamSpec::duration("time", 5.0, "How long it is timed.");
        let size = || ParamSpec::size("size", 256 << 20, "Bytes of the data file.");
        let loops = Metric::new("lps", "Loops", Unit::PerSecond, ("Mlps", 1e6), Direction::Higher).primary();
        let bytes =
            Metric::new("bandwidth", "Bandwidth", Unit::BytesPerSecond, ("MiB/s", 1048576.0), Direction::Higher);
        let iops = || Metric::new("iops", "IOPS", Unit::PerSecond, ("IOPS", 1.0), Direction::Higher).primary();
        let p99 = || Metric::new("p99", "99 % latency", Unit::Seconds, ("µs", 1e-6), Direction::Lower);
        vec![
            one(CPU, "Dhrystone 2", Area::Cpu, workload("dhrystone"), vec![time()], vec![loops]),
            one(MEMORY, "MEMCPY", Area::Memory, workload("memcpy"), vec![time(), size()], vec![bytes.primary()]),
            one(DISK, "4k random read", Area::Disk, fio(), vec![time(), size()], vec![iops(), p99()]),
            one(WRITE, "4k random write", Area::Disk, fio(), vec![time(), size()], vec![iops(), p99()]),
        ]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { memory: 8 << 20, cpus: 1, seconds: params.seconds("time")? + 0.5, ..Needs::default() })
    }
}

fn manifest() -> Manifest {
    let catalog = Catalog::new([&Loads as &dyn Load], &[]);
    let request = Request {
        benchmarks: [CPU, MEMORY, DISK, WRITE].map(|id| Located::flag("--bench", id.to_owned())).to_vec(),
        budget: Some(Located::flag("--budget", "30m".to_owned())),
        ..Request::default()
    };
    let mut plan = Plan::resolve(&request, &catalog, 2, 20261121).unwrap();
    for cell in &mut plan.cells {
        if cell.benchmark.starts_with("disk.") {
            cell.needs = Needs { tools: vec!["fio".to_owned()], disk: 256 << 20, ..cell.needs.clone() };
        }
    }
    let facts = |hostname: &str, kernel: &str, hypervisor: Option<&str>, disk: &str| Facts {
        hostname: hostname.to_owned(),
        kernel_release: kernel.to_owned(),
        kernel_version: "#1 SMP PREEMPT_DYNAMIC".to_owned(),
        architecture: "x86_64".to_owned(),
        os: (hostname == "bench-1").then(|| "Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel_command_line: Some("console=ttyS0 quiet".to_owned()),
        cpu: CpuFacts {
            vendor: "GenuineIntel".to_owned(),
            model: if hypervisor.is_some() { "QEMU TCG CPU version 2.5+" } else { "Intel(R) Xeon(R) Gold 6338" }
                .to_owned(),
            online: 2,
            cores: Some(2),
            nodes: Some(1),
            isa: InstructionSet::V3,
            last_level_cache: hypervisor.is_none().then_some(48 << 20),
            hypervisor: hypervisor.map(str::to_owned),
            flags: ["avx2", "fma", "sse2"].map(str::to_owned).to_vec(),
            governor: None,
        },
        memory_total: if hypervisor.is_some() { 1 << 30 } else { 16 << 30 },
        memory_available: if hypervisor.is_some() { 900 << 20 } else { 14 << 30 },
        clock: ClockFacts {
            source: Some(if hypervisor.is_some() { "hpet" } else { "tsc" }.to_owned()),
            available: ["tsc", "hpet"].map(str::to_owned).to_vec(),
            read_seconds: Some(if hypervisor.is_some() { 2.31e-6 } else { 2.4e-8 }),
        },
        thp_enabled: Some("madvise".to_owned()),
        thp_defrag: Some("madvise".to_owned()),
        io_uring: Some(true),
        vulnerabilities: BTreeMap::from([("meltdown".to_owned(), "Not affected".to_owned())]),
        disks: vec![BlockDevice {
            name: disk.to_owned(),
            serial: hypervisor.map(|_| "vmtax-data".to_owned()),
            bytes: 256 << 20,
            scheduler: Some("none".to_owned()),
            read_ahead: Some(131072),
            rotational: Some(false),
            queues: Some(1),
        }],
        product: None,
        load_average: Some(0.07),
        ..Facts::default()
    };
    Manifest {
        format: FORMAT,
        vmtax: "0.1.0".to_owned(),
        build: BUILD.to_owned(),
        created: CREATED,
        command: ["vmtax", "run", "--bench", "disk.rand*", "--budget", "30m"].map(str::to_owned).to_vec(),
        observed: plan.configuration.settings.clone().into_iter().collect(),
        plan,
        benchmarks: Loads.benchmarks(),
        accelerator: Accelerator::Tcg,
        accelerator_note: Some("/dev/kvm is there, but no guest booted with it within 10 s".to_owned()),
        isa: InstructionSet::V3,
        machines: BTreeMap::from([
            (HOST.to_owned(), facts("bench-1", "6.1.0-27-amd64", None, "nvme0n1")),
            (GUEST.to_owned(), facts("(none)", "6.1.0-27-cloud-amd64", Some("TCGTCGTCGTCG"), "vda")),
        ]),
        hypervisor: HypervisorFacts {
            version: "QEMU emulator version 7.2.15 (Debian 1:7.2+dfsg-7+deb12u12)".to_owned(),
            kvm: false,
            command_line: ["qemu-system-x86_64", "-machine", "q35,accel=tcg", "-m", "1024"].map(str::to_owned).to_vec(),
            disks: vec![OpenDisk {
                node: "data".to_owned(),
                cache_direct: true,
                cache_no_flush: false,
                write_cache: true,
                aio: Some("native".to_owned()),
                iothread: false,
                descriptor_direct: Some(true),
                ..OpenDisk::default()
            }],
            cpus_allowed: vec![0, 1],
            ..HypervisorFacts::default()
        },
        kernel: FileFact {
            path: "/boot/vmlinuz-6.1.0-27-cloud-amd64".to_owned(),
            sha256: BUILD.chars().rev().collect(),
            what: "6.1.0-27-cloud-amd64".to_owned(),
        },
        toolbox: Some(FileFact {
            path: "/root/.cache/vmtax/toolbox-8c1d.img".to_owned(),
            sha256: BUILD.replace('5', "7"),
            what: "fio and 62 libraries".to_owned(),
        }),
        tools: vec![ToolFact {
            name: "fio".to_owned(),
            path: "/usr/bin/fio".to_owned(),
            version: "fio-3.33".to_owned(),
            sha256: BUILD.replace('0', "3"),
        }],
        cpu_set: vec![0, 1],
        data_file: Some("/var/tmp/vmtax-data.raw".to_owned()),
        data_file_system: Some("ext4".to_owned()),
        notes: vec!["This host is itself a virtual machine.".to_owned()],
    }
}

/// The study as it is told: a clock, noise and the writer.
struct Story {
    writer: StudyWriter,
    at: f64,
    noise: u64,
}

impl Story {
    /// Uniform in -1..1 (SplitMix64; Steele, Lea and Flood 2014).
    fn noise(&mut self) -> f64 {
        self.noise = self.noise.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.noise;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn tell(&mut self, seconds: f64, event: &Event) {
        self.at += seconds;
        self.writer.append(self.at, event).unwrap();
    }

    fn measured(&mut self, benchmark: &str, guest: bool) -> Outcome {
        let mut value = |host: f64, slower: f64| host / if guest { slower } else { 1.0 } * (1.0 + 0.02 * self.noise());
        let values = match benchmark {
            CPU => vec![("lps", value(52.4e6, 11.5))],
            MEMORY => vec![("bandwidth", value(11.8e9, 1.6))],
            _ => vec![("iops", value(53533.466533, 2.9)), ("p99", value(428.032e-6, 0.31))],
        };
        Outcome::Measured { values: values.into_iter().map(|(metric, v)| (metric.to_owned(), v)).collect() }
    }

    fn run(&mut self, place: [u32; 4], machine: &str, benchmark: &str, outcome: Outcome) {
        let [round, attempt, block, turn] = place;
        let guest = machine == GUEST;
        let mut record = RunRecord {
            round,
            attempt,
            block,
            turn,
            machine: machine.to_owned(),
            benchmark: benchmark.to_owned(),
            outcome,
            counters: None,
            host_cost: None,
            controller_seconds: None,
            total_seconds: 0.0,
            argv: Vec::new(),
            raw: None,
            remarks: Vec::new(),
            work: None,
            series: None,
            histogram: None,
            surroundings: None,
            checks: Vec::new(),
        };
        if matches!(record.outcome, Outcome::Measured { .. }) {
            let wall = 5.0 + 0.01 * self.noise().abs();
            record.total_seconds = wall + if guest { 1.7 } else { 0.3 };
            record.controller_seconds = Some(wall + 0.0004);
            record.counters = Some(Counters {
                wall_seconds: wall,
                user_seconds: 4.9,
                system_seconds: 0.04,
                steal_seconds: Some(0.0),
                cpu_capacity_seconds: Some(2.0 * wall),
                anon_huge_bytes: (benchmark == MEMORY).then_some(8 << 20),
                read_bytes: Some(if benchmark == DISK { 219492352 } else { 0 }),
                write_bytes: Some(0),
                context_switches: Some(71),
                ..Counters::default()
            });
            record.host_cost = Some(HostCost {
                vcpu_seconds: 4.94,
                io_seconds: if guest { 0.21 } else { 0.0 },
                other_seconds: if guest { 0.07 } else { 0.0 },
                read_bytes: if benchmark == DISK { 219492352 } else { 0 },
                write_bytes: 0,
                resident_bytes: if guest { 412 << 20 } else { 12 << 20 },
                context_switches: 913,
                wall_seconds: record.total_seconds,
                ..HostCost::default()
            });
        }
        if benchmark == DISK && matches!(record.outcome, Outcome::Measured { .. } | Outcome::Failed { .. }) {
            record.argv = ["fio", "--name=disk.randread-4k", "--rw=randread", "--bs=4096"].map(str::to_owned).to_vec();
            record.remarks =
                vec!["fio used libaio on both sides, because io_uring is disabled on the host.".to_owned()];
            if round == 1 {
                let name = raw_name(round, attempt, machine, benchmark, "json");
                record.raw = Some(self.writer.write_raw(&name, FIO_OUTPUT).unwrap());
            }
        }
        let seconds = record.total_seconds + 0.1;
        self.tell(seconds, &Event::Run(Box::new(record)));
    }

    /// A round up to, and without, its end.
    fn round(&mut self, round: u32, attempt: u32, order: &[&str], what: impl Fn(&str, &str) -> Option<Outcome>) {
        let order_words = order.iter().map(|b| (*b).to_owned()).collect();
        self.tell(0.2, &Event::RoundStarted { round, attempt, order: order_words });
        let ready_seconds = 2.1 + 0.1 * self.noise();
        let offset = 1234.5 + self.noise();
        let booted = Event::Booted {
            machine: GUEST.to_owned(),
            round,
            attempt,
            ready_seconds,
            clock_uncertainty_seconds: Some(0.00021),
            clock_offset_seconds: Some(offset),
        };
        self.tell(ready_seconds + 1.0, &booted);
        for (block, benchmark) in (0u32..).zip(order) {
            let machines = if (round + block).is_multiple_of(2) { [HOST, GUEST] } else { [GUEST, HOST] };
            for (turn, machine) in (0u32..).zip(machines) {
                let outcome = match what(benchmark, machine) {
                    Some(outcome) => outcome,
                    None => self.measured(benchmark, machine == GUEST),
                };
                let last = matches!(outcome, Outcome::Cancelled)
                    || matches!(&outcome, Outcome::Failed { cause, .. } if cause.ends_the_round());
                self.run([round, attempt, block, turn], machine, benchmark, outcome);
                if last {
                    return;
                }
            }
        }
    }

    fn end_round(&mut self, round: u32, attempt: u32, why: Option<&str>) {
        let why = why.map(str::to_owned);
        self.tell(0.3, &Event::RoundEnded { round, attempt, complete: why.is_none(), why });
    }
}

/// Writes the golden study to a new folder.
pub fn make(path: &Path) {
    let opened = Event::Opened { vmtax: "0.1.0".to_owned(), build: BUILD.to_owned() };
    let mut story = Story { writer: StudyFolder::create(path).unwrap(), at: CREATED, noise: 1 };
    story.writer.write_manifest(&manifest()).unwrap();
    story.tell(0.0, &opened);
    let failed = |cause, why: &str| Some(Outcome::Failed { cause, why: why.to_owned() });

    story.round(1, 1, &[WRITE, CPU, DISK, MEMORY], |benchmark, _| {
        let why = "The file system of the data file is nearly full.".to_owned();
        (benchmark == WRITE).then_some(Outcome::Skipped { why })
    });
    story.end_round(1, 1, None);
    story.round(2, 1, &[DISK, MEMORY, CPU], |_, _| None);
    story.end_round(2, 1, None);

    let panic = "The guest 'guest' stopped answering; its console ends with:\n[   14.2] Kernel panic - not syncing: Fatal exception";
    story.round(3, 1, &[MEMORY, CPU, DISK], |benchmark, machine| {
        if benchmark == CPU && machine == GUEST { failed(FailureCause::Guest, panic) } else { None }
    });
    let console =
        "[    0.0] Linux version 6.1.0-27-cloud-amd64\r\n[   14.2] Kernel panic - not syncing: Fatal exception\r\n";
    story.writer.write_raw(&raw_name(3, 1, GUEST, "console", "txt"), console.as_bytes()).unwrap();
    story.end_round(3, 1, Some(panic));
    story.round(3, 2, &[CPU, DISK, MEMORY], |_, _| None);
    story.end_round(3, 2, None);

    story.round(4, 1, &[DISK, CPU, MEMORY], |benchmark, machine| {
        let why = "fio on guest: jobs[0].error is 5 (Input/output error)";
        if benchmark == DISK && machine == GUEST { failed(FailureCause::Tool, why) } else { None }
    });
    story.end_round(4, 1, None);

    story.round(5, 1, &[CPU, MEMORY, DISK], |benchmark, _| (benchmark == MEMORY).then_some(Outcome::Cancelled));
    story.end_round(5, 1, Some("Stopped by Ctrl-C"));
    story.tell(0.1, &Event::Ended { how: Ending::Interrupted, why: "Stopped by Ctrl-C".to_owned() });
    story.tell(600.0, &opened);
    story.round(5, 2, &[MEMORY, DISK, CPU], |_, _| None);
    story.end_round(5, 2, None);

    // Killed in the middle of a line, taken up again by a newer vmtax that knows more kinds of events.
    story.round(6, 1, &[DISK, MEMORY], |_, _| None);
    let Story { writer, at, noise } = story;
    drop(writer);
    let journal = path.join("journal.jsonl");
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text.truncate(text.len() - 40);
    std::fs::write(&journal, &text).unwrap();
    let mut story = Story { writer: StudyFolder::open_for_writing(path).unwrap(), at, noise };
    story.tell(60.0, &opened);
    text = std::fs::read_to_string(&journal).unwrap();
    text.push_str("{\"at\":1795296000.0,\"event\":\"coffee\",\"cups\":2}\n");
    std::fs::write(&journal, &text).unwrap();

    story.round(6, 2, &[DISK, CPU, MEMORY], |_, _| None);
    story.end_round(6, 2, None);
    for round in 7..=8 {
        story.round(round, 1, &[MEMORY, DISK, CPU], |_, _| None);
        story.end_round(round, 1, None);
    }
    story.tell(0.1, &Event::Ended { how: Ending::Finished, why: "All 8 rounds were made".to_owned() });
    drop(story);
    // Git and a reader need no lock file.
    std::fs::remove_file(path.join("lock")).unwrap();
}

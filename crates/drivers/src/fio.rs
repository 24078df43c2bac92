//! fio: block I/O as published disk studies measure it (random and sequential, 4 KiB at depth 16 and 1 MiB at depth 1, always
//! around the page cache, time based). PURE: builds the command line and reads the JSON.
//!
//! fio's HOWTO is the contract for every option; what was found by running fio 3.33 beside it is said where it matters.

mod output;

use crate::{Command, Driver, DriverError, Parsed, Target};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, ParamValue, Params};
use model::units::Unit;
use std::collections::BTreeMap;

/// The driver of fio.
pub struct Fio;

/// I/O patterns, in fio's words.
const PATTERNS: &[&str] = &["randread", "randwrite", "read", "write"];
/// Engines; `auto` is resolved by the controller, so that host and guest get the same.
const ENGINES: &[&str] = &["auto", "io_uring", "libaio", "posixaio", "psync"];
/// The same offsets in every run, on every machine.
const SEED: u64 = 20_260_621;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What distinguishes one benchmark from another; everything else is a parameter with one default.
struct Preset {
    id: &'static str,
    title: &'static str,
    rw: &'static str,
    block: u64,
    depth: u64,
}

const PRESETS: &[Preset] = &[
    Preset { id: "disk.randread-4k", title: "4k random read", rw: "randread", block: 4 * KIB, depth: 16 },
    Preset { id: "disk.randwrite-4k", title: "4k random write", rw: "randwrite", block: 4 * KIB, depth: 16 },
    Preset { id: "disk.read-4k", title: "4k sequential read", rw: "read", block: 4 * KIB, depth: 16 },
    Preset { id: "disk.write-4k", title: "4k sequential write", rw: "write", block: 4 * KIB, depth: 16 },
    Preset { id: "disk.read-1m", title: "1m sequential read", rw: "read", block: MIB, depth: 1 },
    Preset { id: "disk.write-1m", title: "1m sequential write", rw: "write", block: MIB, depth: 1 },
];

impl Preset {
    fn params(&self) -> Vec<ParamSpec> {
        vec![
            ParamSpec::choice("rw", PATTERNS, "I/O pattern.").with_default(ParamValue::Text(self.rw.to_owned())),
            ParamSpec::size("bs", self.block, "Bytes of one I/O."),
            ParamSpec::count("iodepth", self.depth, "I/Os that each job keeps in flight."),
            ParamSpec::count(
                "numjobs",
                1,
                "Jobs; each has its own slice of the region. To load several queues, use at least as many.",
            ),
            ParamSpec::size("size", GIB, "Bytes of the region of the data disk that is read or written."),
            ParamSpec::duration("time", 5.0, "Measured time."),
            ParamSpec::duration("ramp", 1.0, "Load before the measured time, not counted."),
            ParamSpec::choice(
                "engine",
                ENGINES,
                "How I/O is submitted: auto takes io_uring where every machine allows it, else libaio; posixaio is there to repeat old studies.",
            ),
        ]
    }

    /// 4k rows are about operations, 1m rows about bytes; the other figure stands beside it.
    fn metrics(&self) -> Vec<Metric> {
        let iops = Metric::new("iops", "IOPS", Unit::PerSecond, ("IOPS", 1.0), Direction::Higher);
        let bandwidth =
            Metric::new("bandwidth", "Bandwidth", Unit::BytesPerSecond, ("MiB/s", MIB as f64), Direction::Higher);
        let latency = |id, title| Metric::new(id, title, Unit::Seconds, ("µs", 1e-6), Direction::Lower);
        let rates = if self.block >= MIB { [bandwidth.primary(), iops] } else { [iops.primary(), bandwidth] };
        rates
            .into_iter()
            .chain([
                latency("latency-mean", "Completion latency, mean"),
                latency("latency-p50", "Completion latency, median"),
                latency("latency-p99", "Completion latency, 99th percentile"),
            ])
            .collect()
    }

    fn benchmark(&self) -> Benchmark {
        let end = if self.rw.ends_with("write") { "; the final fsync is part of the time" } else { "" };
        Benchmark {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            doc: format!(
                "fio {} in blocks of {} bytes at depth {} on the data disk, O_DIRECT, time based{end}. The scenario of \
                 private-cloud test steps (row P1.disk), with io_uring or libaio in place of posixaio.",
                self.rw, self.block, self.depth
            ),
            area: Area::Disk,
            runner: Runner::Tool { driver: Fio.name().to_owned() },
            params: self.params(),
            metrics: self.metrics(),
            kernel_bound: false,
        }
    }
}

impl Load for Fio {
    fn benchmarks(&self) -> Vec<Benchmark> {
        PRESETS.iter().map(Preset::benchmark).collect()
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        let job = Job::read(params)?;
        let buffers = job.block.saturating_mul(job.depth).saturating_mul(job.jobs);
        Ok(Needs {
            tools: vec![self.name().to_owned()],
            // fio 3.33 itself stays under 40 MiB resident with one job.
            memory: buffers.saturating_add(64 * MIB),
            disk: job.size,
            cpus: 1,
            // 1.5 s: its start and end, as seen in a guest.
            seconds: job.time + job.ramp + 1.5,
        })
    }
}

/// The parameters, read.
struct Job<'a> {
    pattern: &'a str,
    block: u64,
    depth: u64,
    jobs: u64,
    size: u64,
    time: f64,
    ramp: f64,
    engine: &'a str,
}

impl<'a> Job<'a> {
    fn read(params: &'a Params) -> Result<Self, ParamError> {
        let job = Job {
            pattern: params.text("rw")?,
            block: params.integer("bs")?,
            depth: params.integer("iodepth")?,
            jobs: params.integer("numjobs")?,
            size: params.integer("size")?,
            time: params.seconds("time")?,
            ramp: params.seconds("ramp")?,
            engine: params.text("engine")?,
        };
        let least = job.block.saturating_mul(job.jobs);
        if job.block == 0 || job.jobs == 0 || job.size < least {
            return Err(ParamError::Choice {
                key: "size".to_owned(),
                value: job.size.to_string(),
                words: format!("the sizes from {least} bytes (bs × numjobs) up"),
                hint: String::new(),
            });
        }
        Ok(job)
    }

    fn writes(&self) -> bool {
        self.pattern.ends_with("write")
    }

    /// Bytes of one job's slice: whole blocks, so that no I/O is cut short at its end.
    fn slice(&self) -> u64 {
        self.size / self.jobs / self.block * self.block
    }

    /// What must come back in `job options`, or another job was run than the one that was asked for.
    fn promises(&self) -> [(&'static str, String); 4] {
        [
            ("rw", self.pattern.to_owned()),
            ("bs", self.block.to_string()),
            ("iodepth", self.depth.to_string()),
            ("ioengine", self.engine.to_owned()),
        ]
    }

    /// What a reader must know about this job whatever it printed.
    fn remarks(&self) -> Option<String> {
        let why = match self.engine {
            "posixaio" => {
                "glibc's POSIX AIO serves one file descriptor one request at a time, and fio's own depth figures hide it"
            }
            "psync" => "psync is synchronous",
            _ => return None,
        };
        (self.depth > 1).then(|| {
            format!(
                "{} at iodepth {} is really queue depth 1 for each job ({why}): this is a latency figure, and host and \
                 guest may hide behind the same ceiling. Use engine=io_uring or libaio to measure the disk.",
                self.engine, self.depth
            )
        })
    }
}

/// Seconds as fio reads them exactly: whole milliseconds, and never zero, which fio takes for "no limit".
fn milliseconds(seconds: f64) -> String {
    format!("{}ms", (seconds * 1e3).round().max(1.0) as u64)
}

impl Driver for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    /// One job, every choice spelled out. The reasons for what is not plain:
    ///
    /// - All sizes are bytes: with fio's default `kb_base` "4k" and "4kb" mean the same in ways that surprise.
    /// - `allow_file_create=0`, `create_on_open=1`: a target that is missing must be an error, not a new file (a guest without its
    ///   disk would measure its own /dev). Without `create_on_open`, fio *deletes* a file that is shorter than `size` before it
    ///   would create it anew. With it, reads past the end come back empty and fast; [`Driver::parse`] refuses such a run.
    /// - `allow_mounted_write=0`: fio itself refuses to write to a mounted device.
    /// - `clocksource=clock_gettime`: fio's own choice depends on the machine (it calibrates the TSC and trusts it where it can), so
    ///   host and guest could be timed by different clocks. What a clock read costs is recorded in the facts of each machine, because
    ///   fio reads it several times per I/O.
    /// - Buffers are filled with random bytes once (fio's default) and scrambled a little per I/O, so that nothing below can drop
    ///   zeros, compress or deduplicate them; refilling them for each I/O would measure the random generator.
    /// - The seed is fixed: every run visits the same offsets in the same order.
    /// - `ramp_time` and `runtime` in milliseconds: plain numbers are seconds there.
    fn command(&self, params: &Params, target: &Target) -> Result<Command, ParamError> {
        let job = Job::read(params)?;
        if job.engine == ENGINES[0] {
            return Err(ParamError::Choice {
                key: "engine".to_owned(),
                value: job.engine.to_owned(),
                words: ENGINES[1..].join(", "),
                hint: " (auto is resolved before a run, to what all machines have)".to_owned(),
            });
        }
        let data = target.data.as_deref().ok_or_else(|| ParamError::Missing("data disk".to_owned()))?;

        let slice = job.slice().to_string();
        let mut options: Vec<(&str, String)> = vec![
            ("output-format", "json+".to_owned()),
            ("eta", "never".to_owned()),
            // First of the job's options: what stands before it would be global, and echoed elsewhere.
            ("name", "vmtax".to_owned()),
            // A colon separates file names for fio, unless it is escaped.
            ("filename", data.replace('\\', "\\\\").replace(':', "\\:")),
        ];
        options.extend(job.promises());
        options.extend([
            ("numjobs", job.jobs.to_string()),
            ("size", slice.clone()),
            ("offset_increment", slice),
            ("direct", "1".to_owned()),
            ("time_based", "1".to_owned()),
            ("runtime", milliseconds(job.time)),
            ("ramp_time", milliseconds(job.ramp)),
            ("randrepeat", "1".to_owned()),
            ("randseed", SEED.to_string()),
            ("norandommap", "0".to_owned()),
            ("zero_buffers", "0".to_owned()),
            ("refill_buffers", "0".to_owned()),
            ("scramble_buffers", "1".to_owned()),
            ("clocksource", "clock_gettime".to_owned()),
            ("gtod_reduce", "0".to_owned()),
            ("allow_file_create", "0".to_owned()),
            ("create_on_open", "1".to_owned()),
            ("allow_mounted_write", "0".to_owned()),
            ("thread", "1".to_owned()),
            ("group_reporting", "1".to_owned()),
        ]);
        if job.writes() {
            options.push(("end_fsync", "1".to_owned()));
        }
        let arguments = options.into_iter().map(|(key, value)| format!("--{key}={value}"));
        Ok(Command { argv: std::iter::once(self.name().to_owned()).chain(arguments).collect(), env: BTreeMap::new() })
    }

    fn parse(&self, params: &Params, stdout: &[u8]) -> Result<Parsed, DriverError> {
        output::parse(&Job::read(params)?, stdout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(id: &str) -> Params {
        let benchmark = Fio.benchmarks().into_iter().find(|b| b.id == id).unwrap();
        let mut params = Params::defaults(&benchmark.params);
        params.set("engine", ParamValue::Text("libaio".to_owned()));
        params
    }

    fn argv(params: &Params) -> Vec<String> {
        Fio.command(params, &Target { data: Some("/dev/vdb".to_owned()) }).unwrap().argv
    }

    #[test]
    fn presets_are_the_six_published_scenarios() {
        let shapes: Vec<_> = Fio
            .benchmarks()
            .iter()
            .map(|b| {
                let p = Params::defaults(&b.params);
                let shape = (p.text("rw").unwrap().to_owned(), p.integer("bs").unwrap(), p.integer("iodepth").unwrap());
                (b.id.clone(), shape.0, shape.1, shape.2, b.primary_metrics().next().unwrap().id.clone())
            })
            .collect();
        let expected = [
            ("disk.randread-4k", "randread", 4096, 16, "iops"),
            ("disk.randwrite-4k", "randwrite", 4096, 16, "iops"),
            ("disk.read-4k", "read", 4096, 16, "iops"),
            ("disk.write-4k", "write", 4096, 16, "iops"),
            ("disk.read-1m", "read", 1 << 20, 1, "bandwidth"),
            ("disk.write-1m", "write", 1 << 20, 1, "bandwidth"),
        ]
        .map(|(id, rw, bs, depth, primary)| (id.to_owned(), rw.to_owned(), bs, depth, primary.to_owned()));
        assert_eq!(shapes, expected);
    }

    #[test]
    fn the_command_line_spells_out_every_choice_in_plain_bytes_and_milliseconds() {
        let mut params = params("disk.randread-4k");
        params.set("ramp", ParamValue::Number(0.25));
        let line = argv(&params).join(" ");
        assert_eq!(
            line,
            "fio --output-format=json+ --eta=never --name=vmtax --filename=/dev/vdb --rw=randread --bs=4096 --iodepth=16 \
             --ioengine=libaio --numjobs=1 --size=1073741824 --offset_increment=1073741824 --direct=1 --time_based=1 \
             --runtime=5000ms --ramp_time=250ms --randrepeat=1 --randseed=20260621 --norandommap=0 --zero_buffers=0 \
             --refill_buffers=0 --scramble_buffers=1 --clocksource=clock_gettime --gtod_reduce=0 --allow_file_create=0 \
             --create_on_open=1 --allow_mounted_write=0 --thread=1 --group_reporting=1"
        );
    }

    #[test]
    fn only_writes_end_with_an_fsync() {
        for (id, fsync) in [("disk.write-1m", true), ("disk.randwrite-4k", true), ("disk.read-1m", false)] {
            assert_eq!(argv(&params(id)).contains(&"--end_fsync=1".to_owned()), fsync, "{id}");
        }
    }

    #[test]
    fn jobs_share_the_region_in_slices_of_whole_blocks() {
        let mut params = params("disk.write-4k");
        params.set("size", ParamValue::Integer(100_000));
        params.set("numjobs", ParamValue::Integer(3));
        let argv = argv(&params);
        // 3 slices of 8 blocks: 98304 bytes, inside the 100000 that were allowed.
        assert!(argv.contains(&"--size=32768".to_owned()) && argv.contains(&"--offset_increment=32768".to_owned()));
        params.set("size", ParamValue::Integer(3 * 4096 - 1));
        let error = Fio.command(&params, &Target { data: Some("/d".to_owned()) }).unwrap_err().to_string();
        assert_eq!(error, "size cannot be '12287': it is one of the sizes from 12288 bytes (bs × numjobs) up");
    }

    #[test]
    fn an_unresolved_engine_or_a_missing_disk_is_refused() {
        let mut auto = params("disk.read-1m");
        assert!(Fio.command(&auto, &Target::default()).is_err());
        auto.set("engine", ParamValue::Text("auto".to_owned()));
        let error = Fio.command(&auto, &Target { data: Some("/d".to_owned()) }).unwrap_err().to_string();
        assert!(error.contains("engine cannot be 'auto': it is one of io_uring, libaio"), "{error}");
    }

    #[test]
    fn needs_follow_the_parameters() {
        let mut params = params("disk.read-1m");
        params.set("size", ParamValue::Integer(64 << 20));
        let needs = Fio.needs(&params).unwrap();
        assert_eq!((needs.tools, needs.disk, needs.seconds), (vec!["fio".to_owned()], 64 << 20, 7.5));
        assert!(needs.memory < 128 << 20);
    }

    #[test]
    fn a_duration_never_becomes_fios_zero() {
        assert_eq!((milliseconds(1e-9), milliseconds(0.7)), ("1ms".to_owned(), "700ms".to_owned()));
    }
}

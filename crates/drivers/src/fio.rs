//! fio: block I/O as published disk studies measure it (random and sequential, 4 KiB at depth 16 and 1 MiB at depth 1, always
//! around the page cache, time based). PURE: builds the command line and reads the JSON.
//!
//! fio's HOWTO is the contract for every option; what was found by running fio 3.33 beside it is said where it matters.

mod bandwidth_log;
mod output;
#[cfg(test)]
mod tests;

use crate::{Command, Driver, DriverError, Output, Parsed, Target};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::check::SERIES_LIMIT;
use model::params::{ParamError, ParamSpec, ParamValue, Params};
use model::units::Unit;
use std::collections::BTreeMap;

/// The driver of fio.
pub struct Fio;

/// I/O patterns, in fio's words.
const PATTERNS: &[&str] = &["randread", "randwrite", "read", "write"];
/// Engines; `auto` is resolved by the controller, so that host and guest get the same.
const ENGINES: &[&str] = &["auto", "io_uring", "libaio", "posixaio", "psync"];
/// What fio 3.33 takes on a host beside ramp and measured time, seconds (medians of six sets of 12 to 80 runs: 0.26 to 0.38).
/// What a guest adds is the study's to know.
const START_SECONDS: f64 = 0.3;
/// The same offsets in every run, on every machine.
const SEED: u64 = 20_260_621;

/// What fio calls its log of the bandwidth, which it names after the prefix that it is given.
const LOG_PREFIX: &str = "vmtax";
const LOG_FILE: &str = "vmtax_bw.log";
/// Steps of the log, milliseconds: one of these, or as many as keep a long run within [`SERIES_LIMIT`].
const LOG_STEP: u64 = 100;

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
            ParamSpec::limit(
                "rate",
                "I/Os per second of each job, evenly spaced; 0: as many as it can make. A job that falls behind catches up, and fio \
                 counts a latency from the real start of an I/O, not from the intended one.",
            ),
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
            seconds: job.time + job.ramp + START_SECONDS,
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
    /// I/Os per second of each job; 0: as many as it can make.
    rate: u64,
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
            rate: params.integer("rate")?,
            engine: params.text("engine")?,
        };
        let least = job.block.saturating_mul(job.jobs);
        if job.block == 0 || job.jobs == 0 || job.size < least {
            let why = format!("{} jobs in blocks of {} bytes need at least {least} bytes", job.jobs, job.block);
            return Err(ParamError::Unfit { key: "size".to_owned(), value: job.size.to_string(), why });
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

    /// Milliseconds from one sample of the bandwidth to the next.
    fn log_step(&self) -> u64 {
        let time = (self.time * 1e3).ceil() as u64;
        LOG_STEP.saturating_mul(time.div_ceil(LOG_STEP.saturating_mul(SERIES_LIMIT as u64)).max(1))
    }

    /// What must come back in `job options`, or another job was run than the one that was asked for. What is promised as `None`
    /// must not come back at all.
    ///
    /// A rate is a cap: fio sleeps until the next I/O is due, and starts late ones at once. A latency counts from the real start
    /// and not from the intended one: of the 100 I/Os that were due while fio 3.33 was stopped for 200 ms, at most two took more
    /// than 10 ms by its own account (four runs, linear and poisson). `io_submit_mode=offload`, which would keep slow I/Os from
    /// delaying others, cannot be used there: io_uring refuses it, libaio never ended in two runs of four, and took 34 latencies
    /// of 501 in another.
    fn promises(&self) -> [(&'static str, Option<String>); 6] {
        let paced = self.rate > 0;
        [
            ("rw", Some(self.pattern.to_owned())),
            ("bs", Some(self.block.to_string())),
            ("iodepth", Some(self.depth.to_string())),
            ("ioengine", Some(self.engine.to_owned())),
            ("rate_iops", paced.then(|| self.rate.to_string())),
            ("rate_process", paced.then(|| "linear".to_owned())),
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
    /// - The bandwidth is logged in steps by fio's timer thread, which reads the jobs' counters; no I/O waits for it. The ramp is
    ///   not in the log. `per_job_logs=0` makes one file of all jobs' logs, one after the other; fio appends to it if it is there.
    fn command(&self, params: &Params, target: &Target) -> Result<Command, ParamError> {
        let job = Job::read(params)?;
        if job.engine == ENGINES[0] {
            let why = format!("before a run it must become what all machines have, of {}", ENGINES[1..].join(", "));
            return Err(ParamError::Unfit { key: "engine".to_owned(), value: job.engine.to_owned(), why });
        }
        let data = target.data.as_deref().ok_or(ParamError::NoDisk)?;

        let slice = job.slice().to_string();
        let mut options: Vec<(&str, String)> = vec![
            ("output-format", "json+".to_owned()),
            ("eta", "never".to_owned()),
            // First of the job's options: what stands before it would be global, and echoed elsewhere.
            ("name", "vmtax".to_owned()),
            // A colon separates file names for fio, unless it is escaped.
            ("filename", data.replace('\\', "\\\\").replace(':', "\\:")),
        ];
        options.extend(job.promises().into_iter().filter_map(|(key, value)| Some((key, value?))));
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
            ("write_bw_log", LOG_PREFIX.to_owned()),
            ("log_avg_msec", job.log_step().to_string()),
            ("per_job_logs", "0".to_owned()),
        ]);
        if job.writes() {
            options.push(("end_fsync", "1".to_owned()));
        }
        let arguments = options.into_iter().map(|(key, value)| format!("--{key}={value}"));
        let argv = std::iter::once(self.name().to_owned()).chain(arguments).collect();
        Ok(Command { argv, env: BTreeMap::new(), files: vec![LOG_FILE.to_owned()] })
    }

    fn parse(&self, params: &Params, output: &Output) -> Result<Parsed, DriverError> {
        let job = Job::read(params)?;
        let mut parsed = output::parse(&job, &output.stdout)?;
        match bandwidth_log::series(&job, output.files.get(LOG_FILE).map_or(&[], Vec::as_slice)) {
            Ok(series) => parsed.series = series,
            Err(why) => parsed.remarks.push(format!("fio's log of the bandwidth over time cannot be used: {why}.")),
        }
        Ok(parsed)
    }
}

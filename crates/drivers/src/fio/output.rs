//! fio's JSON: the few fields that are used, and the many ways in which a run can turn out to be no measurement.

use super::Job;
use crate::{DriverError, Parsed};
use model::quantity::parse_size;
use model::text::printable;
use serde::Deserialize;
use std::collections::BTreeMap;

/// More than any run prints (about 100 kB with all histogram bins of one direction).
const LIMIT: usize = 16 << 20;
/// Lines beside the JSON that are kept.
const LINES: usize = 5;

#[derive(Deserialize)]
struct Output {
    #[serde(rename = "fio version")]
    version: String,
    jobs: Vec<Group>,
}

/// One entry of `jobs`: with `group_reporting`, all jobs together.
#[derive(Deserialize)]
struct Group {
    error: i64,
    #[serde(rename = "job options")]
    options: BTreeMap<String, String>,
    read: Side,
    write: Side,
}

/// Figures of one direction.
#[derive(Deserialize)]
struct Side {
    io_bytes: u64,
    total_ios: u64,
    /// Milliseconds.
    runtime: u64,
    iops: f64,
    /// Bytes per second. (`bw` beside it is KiB/s.)
    bw_bytes: f64,
    clat_ns: Latency,
}

/// Completion latencies, nanoseconds.
#[derive(Deserialize)]
struct Latency {
    mean: f64,
    #[serde(rename = "N", default)]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

impl Latency {
    /// The percentile `percent`, seconds; none where fewer than ten I/Os lie above it, so that it would be noise
    /// (statistics.md section 6).
    fn percentile(&self, percent: f64) -> Option<f64> {
        let beyond = self.count as f64 * (1.0 - percent / 100.0);
        let key = format!("{percent:.6}");
        self.percentile.get(&key).copied().filter(|_| beyond >= 10.0 - 1e-6).and_then(seconds)
    }
}

/// Nanoseconds as seconds, where they are a measurement.
fn seconds(nanoseconds: f64) -> Option<f64> {
    (nanoseconds.is_finite() && nanoseconds > 0.0).then_some(nanoseconds * 1e-9)
}

pub(super) fn parse(job: &Job, stdout: &[u8]) -> Result<Parsed, DriverError> {
    let unreadable = |path: &str, message: &str| DriverError::Unreadable {
        tool: "fio".to_owned(),
        path: printable(path, 100),
        message: printable(message, 300),
    };
    if stdout.len() > LIMIT {
        let message = format!("{} bytes are more than a run can print ({LIMIT})", stdout.len());
        return Err(unreadable("its end", &message));
    }
    // fio says some things on standard output before the JSON, whatever its exit code.
    let start = json_start(stdout);
    let said = lines(&stdout[..start.unwrap_or(stdout.len())]);
    let Some(start) = start else {
        let said = if said.is_empty() { "nothing".to_owned() } else { format!("'{}'", said.join("; ")) };
        return Err(unreadable("its start", &format!("expected JSON, found {said}")));
    };
    let mut json = serde_json::Deserializer::from_slice(&stdout[start..]);
    let output: Output = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| unreadable(&error.path().to_string(), &error.inner().to_string()))?;

    let tool = printable(&output.version, 40).replacen('-', " ", 1);
    let no_work = |message: String| DriverError::NoWork { tool: tool.clone(), message: printable(&message, 600) };
    let side = work_of(job, &output.jobs, &said).map_err(no_work)?;
    let values = [
        ("iops", Some(side.iops)),
        ("bandwidth", Some(side.bw_bytes)),
        ("latency-mean", seconds(side.clat_ns.mean)),
        ("latency-p50", side.clat_ns.percentile(50.0)),
        ("latency-p99", side.clat_ns.percentile(99.0)),
    ];
    Ok(Parsed {
        values: values.into_iter().filter_map(|(id, value)| Some((id.to_owned(), value?))).collect(),
        version: Some(printable(&output.version, 40)),
        remarks: job.remarks().into_iter().chain(said.iter().map(|line| format!("fio said: {line}"))).collect(),
    })
}

/// The direction that was asked for, where it is certain that it did the work that was asked for; or why it is not.
fn work_of<'a>(job: &Job, groups: &'a [Group], said: &[String]) -> Result<&'a Side, String> {
    let [group] = groups else {
        return Err(format!("it reported {} groups of jobs instead of one", groups.len()));
    };
    if group.error != 0 {
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
        return Err(format!("its job ended with error {}{said}", group.error));
    }
    for (key, asked) in job.promises() {
        let ran = group.options.get(key).map_or("nothing", String::as_str);
        let same = ran == asked || (key == "bs" && parse_size(ran) == Ok(job.block));
        if !same {
            return Err(format!("it ran with {key}={ran} where {key}={asked} was asked for"));
        }
    }
    let side = if job.writes() { &group.write } else { &group.read };
    let (ios, bytes) = (side.total_ios, side.io_bytes);
    if ios == 0 || bytes == 0 || side.runtime == 0 {
        return Err(format!("it did no work: {ios} I/Os, {bytes} bytes in {} ms", side.runtime));
    }
    // Reads past the end of a short file count as I/Os and move nothing, at twice the speed of real ones. What was in flight at the
    // end of the ramp is counted once on one side and not on the other.
    let expected = ios as f64 * job.block as f64;
    let slack = job.block as f64 * (2.0 * job.depth as f64 * job.jobs as f64).max(0.01 * ios as f64);
    if (bytes as f64 - expected).abs() > slack {
        return Err(format!(
            "{ios} I/Os of {} bytes moved {bytes} bytes: is the data disk smaller than size={}?",
            job.block, job.size
        ));
    }
    if !(side.iops.is_finite() && side.iops > 0.0 && side.bw_bytes.is_finite() && side.bw_bytes > 0.0) {
        return Err(format!("impossible figures: {} IOPS, {} bytes/s", side.iops, side.bw_bytes));
    }
    Ok(side)
}

/// Where the JSON begins: at a brace that begins a line, because error messages can hold braces.
fn json_start(stdout: &[u8]) -> Option<usize> {
    (0..stdout.len()).find(|&i| stdout[i] == b'{' && (i == 0 || stdout[i - 1] == b'\n'))
}

/// The last non-empty lines of `bytes`, fit to be shown.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    all[all.len().saturating_sub(LINES)..].iter().map(|line| printable(line, 200)).collect()
}

#[cfg(test)]
mod tests {
    use crate::fio::Fio;
    use crate::{Driver, DriverError, Parsed};
    use model::{Load, ParamValue, Params};
    use proptest::prelude::*;

    macro_rules! sample {
        ($name:literal) => {
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/fio/", $name))
        };
    }

    const RANDREAD: &[u8] = sample!("3.33-io_uring-randread-4k.json");

    fn params(id: &str, engine: &str) -> Params {
        let benchmark = Fio.benchmarks().into_iter().find(|b| b.id == id).unwrap();
        let mut params = Params::defaults(&benchmark.params);
        params.set("engine", ParamValue::Text(engine.to_owned()));
        params
    }

    fn parse(id: &str, engine: &str, output: &[u8]) -> Result<Parsed, DriverError> {
        Fio.parse(&params(id, engine), output)
    }

    fn refusal(id: &str, engine: &str, output: &[u8]) -> String {
        parse(id, engine, output).unwrap_err().to_string()
    }

    /// The sample with the first `from` replaced by `to`.
    fn edited(from: &str, to: &str) -> Vec<u8> {
        let text = std::str::from_utf8(RANDREAD).unwrap();
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    }

    #[test]
    fn figures_are_in_base_units() {
        let parsed = parse("disk.randread-4k", "io_uring", RANDREAD).unwrap();
        assert_eq!(parsed.values["iops"], 57913.907285);
        assert_eq!(parsed.values["bandwidth"], 237649377.0);
        let close = |id: &str, expected: f64| assert!((parsed.values[id] - expected).abs() < 1e-15, "{id}");
        close("latency-mean", 267.992613242e-6);
        close("latency-p50", 264.192e-6);
        close("latency-p99", 358.4e-6);
        assert_eq!((parsed.version.as_deref(), parsed.remarks.len()), (Some("fio-3.33"), 0));
    }

    #[test]
    fn the_direction_that_was_asked_for_is_read() {
        let parsed = parse("disk.randwrite-4k", "io_uring", sample!("3.33-io_uring-randwrite-4k.json")).unwrap();
        assert_eq!(parsed.values["iops"], 92562.913907);
        let parsed = parse("disk.write-1m", "libaio", sample!("3.33-libaio-write-1m.json")).unwrap();
        assert_eq!(parsed.values["bandwidth"], 4166527152.0);
    }

    #[test]
    fn a_percentile_with_fewer_than_ten_ios_beyond_it_is_absent() {
        // 172 I/Os: the median stands on 86 of them, the 99th percentile on 2.
        let parsed = parse("disk.read-1m", "io_uring", sample!("3.33-io_uring-read-1m.json")).unwrap();
        assert!(parsed.values.contains_key("latency-p50") && !parsed.values.contains_key("latency-p99"));
        let enough = edited("\"N\" : 8760", "\"N\" : 1000");
        assert!(enough != RANDREAD && parse("disk.randread-4k", "io_uring", &enough).unwrap().values.len() == 5);
        let few = edited("\"N\" : 8760", "\"N\" : 999");
        assert_eq!(parse("disk.randread-4k", "io_uring", &few).unwrap().values.len(), 4);
    }

    #[test]
    fn sizes_with_suffixes_in_the_echo_are_understood() {
        assert!(parse("disk.randread-4k", "libaio", sample!("3.33-libaio-randread-direct.json")).is_ok());
    }

    #[test]
    fn engines_that_ignore_the_depth_are_remarked_upon() {
        let parsed = parse("disk.randread-4k", "posixaio", sample!("3.33-posixaio-iodepth16.json")).unwrap();
        assert!(parsed.remarks[0].contains("really queue depth 1 for each job (glibc"), "{:?}", parsed.remarks);
    }

    #[test]
    fn what_fio_says_before_its_json_becomes_a_remark() {
        let parsed = parse("disk.randread-4k", "psync", sample!("3.33-psync-depth-16.txt")).unwrap();
        assert!(parsed.remarks[0].contains("psync is synchronous"));
        assert!(parsed.remarks[1].starts_with("fio said: note: both iodepth >= 1"), "{:?}", parsed.remarks);
    }

    #[test]
    fn a_job_that_failed_is_no_measurement_and_says_why() {
        let missing = refusal("disk.randread-4k", "libaio", sample!("3.33-missing-file.txt"));
        assert!(missing.starts_with("fio 3.33: its job ended with error 2: fio: pid=18658"), "{missing}");
        assert!(missing.ends_with("error=No such file or directory"), "{missing}");
        // 272 writes were done before the disk was full.
        let full = refusal("disk.randwrite-4k", "libaio", sample!("3.33-disk-full.txt"));
        assert!(full.contains("error 28") && full.contains("No space left on device"), "{full}");
    }

    #[test]
    fn reads_past_the_end_of_a_short_file_are_no_measurement() {
        let error = refusal("disk.randread-4k", "libaio", sample!("3.33-short-file.json"));
        assert!(error.contains("18675 I/Os of 4096 bytes moved 38133760 bytes"), "{error}");
    }

    #[test]
    fn a_run_without_work_is_no_measurement() {
        let idle = edited("\"total_ios\" : 8745", "\"total_ios\" : 0");
        assert!(refusal("disk.randread-4k", "io_uring", &idle).contains("it did no work: 0 I/Os"));
        let instant = edited("\"runtime\" : 151", "\"runtime\" : 0");
        assert!(refusal("disk.randread-4k", "io_uring", &instant).contains("in 0 ms"));
        let stuck = edited("\"iops\" : 57913.907285", "\"iops\" : 0.0");
        assert!(refusal("disk.randread-4k", "io_uring", &stuck).contains("impossible figures"));
        let negative = edited("\"bw_bytes\" : 237649377", "\"bw_bytes\" : -1");
        assert!(refusal("disk.randread-4k", "io_uring", &negative).contains("impossible figures"));
        let jobless = refusal("disk.read-1m", "io_uring", br#"{"fio version": "fio-3.33", "jobs": []}"#);
        assert_eq!(jobless, "fio 3.33: it reported 0 groups of jobs instead of one");
    }

    #[test]
    fn another_job_than_the_one_that_was_asked_for_is_refused() {
        for (id, engine, expected) in [
            ("disk.read-4k", "io_uring", "rw=randread where rw=read"),
            ("disk.randread-4k", "libaio", "ioengine=io_uring where ioengine=libaio"),
        ] {
            let error = refusal(id, engine, RANDREAD);
            assert!(error.contains(expected), "{error}");
        }
        let silent = refusal("disk.randread-4k", "io_uring", &edited("\"iodepth\"", "\"depth\""));
        assert_eq!(silent, "fio 3.33: it ran with iodepth=nothing where iodepth=16 was asked for");
        for (key, value) in [("bs", 8192), ("iodepth", 1)] {
            let mut params = params("disk.randread-4k", "io_uring");
            params.set(key, ParamValue::Integer(value));
            let error = Fio.parse(&params, RANDREAD).unwrap_err().to_string();
            assert!(error.contains(&format!("{key}={value} was asked for")), "{error}");
        }
    }

    #[test]
    fn unreadable_output_names_the_place() {
        let cut = refusal("disk.randread-4k", "io_uring", &RANDREAD[..2000]);
        assert!(
            cut.starts_with("fio: cannot read its output at jobs[0].read.clat_ns.") && cut.contains("EOF"),
            "{cut}"
        );
        let wrong =
            refusal("disk.randread-4k", "io_uring", &edited("\"total_ios\" : 8745", "\"total_ios\" : \"many\""));
        assert!(wrong.contains("at jobs[0].read.total_ios: invalid type: string \"many\", expected u64"), "{wrong}");
        // fio prints figures that it could not compute as nan, which is no JSON.
        let nan = refusal("disk.randread-4k", "io_uring", &edited("\"iops\" : 57913.907285", "\"iops\" : nan"));
        assert!(nan.contains("at jobs[0].read.iops"), "{nan}");
        let nothing = refusal("disk.randread-4k", "io_uring", b"");
        assert_eq!(nothing, "fio: cannot read its output at its start: expected JSON, found nothing");
        let words = refusal("disk.randread-4k", "io_uring", b"fio: engine x not loadable {\n");
        assert!(words.contains("found 'fio: engine x not loadable {'"), "{words}");
        let endless = vec![b' '; super::LIMIT + 1];
        assert!(refusal("disk.randread-4k", "io_uring", &endless).contains("more than a run can print"));
    }

    #[test]
    fn escape_codes_do_not_pass() {
        let mut output = b"\x1b[2Jboo\n".to_vec();
        output.extend(edited("fio-3.33", "fio-\\u001b[31m"));
        let parsed = parse("disk.randread-4k", "io_uring", &output).unwrap();
        assert!(!format!("{}{:?}", parsed.remarks[0], parsed.version).contains('\u{1b}'));
        assert!(!refusal("disk.read-4k", "io_uring", &output).contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse("disk.randread-4k", "io_uring", &bytes);
        }

        #[test]
        fn no_mutation_of_a_real_output_panics_or_yields_nonsense(
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
            cuts in any::<bool>(),
        ) {
            let mut output = RANDREAD.to_vec();
            for (at, byte) in edits {
                let at = at.index(output.len());
                // Digits most of all: they keep the JSON whole and change the figures.
                output[at] = if output[at].is_ascii_digit() { b'0' + byte % 10 } else { byte };
            }
            if cuts {
                output.truncate(cut.index(RANDREAD.len()));
            }
            if let Ok(parsed) = parse("disk.randread-4k", "io_uring", &output) {
                prop_assert!(parsed.values.values().all(|v| v.is_finite() && *v > 0.0));
            }
        }
    }
}

//! fio's JSON: the few fields that are used, and the many ways in which a run can turn out to be no measurement.

#[cfg(test)]
mod tests;

use super::Job;
use crate::{DriverError, Parsed};
use model::evidence::Work;
use model::quantity::parse_size;
use model::record::Histogram;
use model::text::printable;
use serde::Deserialize;
use std::collections::BTreeMap;

/// More than any run prints (about 100 kB with all histogram bins of one direction).
const LIMIT: usize = 16 << 20;
/// Where the last bin of fio 3.33 begins, nanoseconds: it holds 17.05 s and everything beyond (29 groups of 64 bins; fio's issue
/// 1668).
const SATURATED: u64 = (1 << 33) + 63 * (1 << 27);
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
    /// Errors after which it went on, where it was allowed to.
    #[serde(default)]
    total_err: u64,
    #[serde(default)]
    first_error: i64,
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
    max: f64,
    #[serde(rename = "N", default)]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
    /// Latency in the middle of the bin, and how many were in it.
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
}

impl Latency {
    /// The percentile `percent`, seconds; none where fewer than ten I/Os lie above it, so that it would be noise
    /// (statistics.md section 6).
    fn percentile(&self, percent: f64) -> Option<f64> {
        let beyond = self.count as f64 * (1.0 - percent / 100.0);
        let key = format!("{percent:.6}");
        self.percentile.get(&key).copied().filter(|_| beyond >= 10.0 - 1e-6).and_then(seconds)
    }

    /// All of them; none where fio was not asked for its bins.
    fn histogram(&self) -> Option<Histogram> {
        let bins: Vec<_> =
            self.bins.iter().map(|(&bin, &count)| (bin, count)).filter(|(_, count)| *count > 0).collect();
        let (longest, _) = *bins.last()?;
        // A fio with more bins than the one that is known here says so by using them.
        let known = longest <= SATURATED + (1 << 26);
        Some(Histogram { saturated_at: known.then_some(SATURATED), bins })
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
    let (group, side) = work_of(job, &output.jobs, &said).map_err(no_work)?;
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
        work: Some(work(job, group, side)),
        series: None,
        histogram: side.clat_ns.histogram(),
    })
}

/// What fio says it did.
fn work(job: &Job, group: &Group, side: &Side) -> Work {
    let paced = job.rate > 0;
    let bytes = side.io_bytes as f64;
    Work {
        bytes: Some(bytes),
        read_bytes: Some(if job.writes() { 0.0 } else { bytes }),
        steady_seconds: side.runtime as f64 * 1e-3,
        ramp_seconds: job.ramp,
        direct: Some(group.options.get("direct").is_some_and(|direct| direct == "1")),
        span_bytes: Some(job.slice().saturating_mul(job.jobs)),
        latency_samples: Some(side.clat_ns.count),
        target_rate: paced.then_some(job.rate as f64 * job.jobs as f64),
        achieved_rate: paced.then_some(side.iops),
        longest_seconds: seconds(side.clat_ns.max),
        from_intended_start: paced.then_some(false),
    }
}

/// The direction that was asked for, where it is certain that it did the work that was asked for; or why it is not.
fn work_of<'a>(job: &Job, groups: &'a [Group], said: &[String]) -> Result<(&'a Group, &'a Side), String> {
    let [group] = groups else {
        return Err(format!("it reported {} groups of jobs instead of one", groups.len()));
    };
    if group.error != 0 {
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
        return Err(format!("its job ended with error {}{said}", group.error));
    }
    if group.total_err > 0 {
        return Err(format!("{} of its I/Os failed, the first with error {}", group.total_err, group.first_error));
    }
    for (key, asked) in job.promises() {
        let ran = group.options.get(key);
        let same = ran == asked.as_ref() || (key == "bs" && ran.map(|bs| parse_size(bs)) == Some(Ok(job.block)));
        if !same {
            let word = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
            let (ran, asked) = (word(ran), word(asked.as_ref()));
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
    let slack = (2.0 * job.depth as f64 * job.jobs as f64).max(0.01 * ios as f64);
    if (bytes as f64 - expected).abs() > slack * job.block as f64 {
        return Err(format!(
            "{ios} I/Os of {} bytes moved {bytes} bytes: is the data disk smaller than size={}?",
            job.block, job.size
        ));
    }
    let latencies = side.clat_ns.count;
    if latencies == 0 || (latencies as f64 - ios as f64).abs() > slack {
        return Err(format!("it took {latencies} latencies of {ios} I/Os"));
    }
    let binned = side.clat_ns.bins.values().fold(0u64, |sum, count| sum.saturating_add(*count));
    if binned != latencies && !side.clat_ns.bins.is_empty() {
        return Err(format!("its histogram holds {binned} of {latencies} latencies"));
    }
    if !(side.iops.is_finite() && side.iops > 0.0 && side.bw_bytes.is_finite() && side.bw_bytes > 0.0) {
        return Err(format!("impossible figures: {} IOPS, {} bytes/s", side.iops, side.bw_bytes));
    }
    Ok((group, side))
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

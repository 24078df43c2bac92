use crate::fio::{Fio, Job};
use crate::{DriverError, Parsed};
use model::evidence::Work;
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
    super::parse(&Job::read(&params(id, engine))?, output)
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
    let latency = |count| super::Latency {
        mean: 1.0,
        max: 1.0,
        count,
        percentile: [("99.000000".to_owned(), 1.0)].into(),
        bins: Default::default(),
    };
    assert!(latency(1000).percentile(99.0).is_some() && latency(999).percentile(99.0).is_none());
}

#[test]
fn what_the_run_did_is_told_in_base_units() {
    let mut asked = params("disk.randread-4k", "io_uring");
    asked.set("size", ParamValue::Integer(4 << 20));
    let work = super::parse(&Job::read(&asked).unwrap(), RANDREAD).unwrap().work.unwrap();
    let expected = Work {
        bytes: Some(35885056.0),
        read_bytes: Some(35885056.0),
        steady_seconds: 0.151,
        ramp_seconds: 1.0,
        direct: Some(true),
        span_bytes: Some(4 << 20),
        latency_samples: Some(8760),
        longest_seconds: work.longest_seconds,
        ..Work::default()
    };
    assert_eq!(work, expected);
    assert!((work.longest_seconds.unwrap() - 0.000668547).abs() < 1e-12, "{:?}", work.longest_seconds);
    let written = parse("disk.write-1m", "libaio", sample!("3.33-libaio-write-1m.json")).unwrap().work.unwrap();
    assert!(written.read_bytes == Some(0.0) && written.bytes.unwrap() > 0.0);
    let buffered = edited("\"direct\" : \"1\"", "\"direct\" : \"0\"");
    assert_eq!(parse("disk.randread-4k", "io_uring", &buffered).unwrap().work.unwrap().direct, Some(false));
}

#[test]
fn a_fixed_rate_is_told_with_what_came_of_it_and_that_waiting_is_not_counted() {
    let mut asked = params("disk.randread-4k", "libaio");
    asked.set("rate", ParamValue::Integer(500));
    let paced = sample!("3.33-libaio-randread-rate-500.json");
    let work = super::parse(&Job::read(&asked).unwrap(), paced).unwrap().work.unwrap();
    assert_eq!((work.target_rate, work.from_intended_start), (Some(500.0), Some(false)));
    assert!((work.achieved_rate.unwrap() - 500.0).abs() < 5.0, "{:?}", work.achieved_rate);
    // Asked for another rate, or for none.
    asked.set("rate", ParamValue::Integer(400));
    let other = super::parse(&Job::read(&asked).unwrap(), paced).unwrap_err().to_string();
    assert_eq!(other, "fio 3.33: it ran with rate_iops=500 where rate_iops=400 was asked for");
    let capped = refusal("disk.randread-4k", "libaio", paced);
    assert_eq!(capped, "fio 3.33: it ran with rate_iops=500 where rate_iops=nothing was asked for");
    let uncapped = super::parse(&Job::read(&asked).unwrap(), sample!("3.33-libaio-randread-direct.json")).unwrap_err();
    assert!(uncapped.to_string().contains("rate_iops=nothing where rate_iops=400"), "{uncapped}");
}

#[test]
fn the_histogram_holds_every_latency_and_agrees_with_fios_own_percentiles() {
    for (id, engine, output) in [
        ("disk.randread-4k", "io_uring", RANDREAD),
        ("disk.randread-4k", "libaio", sample!("3.33-libaio-randread-direct.json")),
        ("disk.randwrite-4k", "io_uring", sample!("3.33-io_uring-randwrite-4k.json")),
        ("disk.read-1m", "io_uring", sample!("3.33-io_uring-read-1m.json")),
    ] {
        let parsed = parse(id, engine, output).unwrap();
        let histogram = parsed.histogram.unwrap();
        let total: u64 = histogram.bins.iter().map(|(_, count)| count).sum();
        assert_eq!(Some(total), parsed.work.unwrap().latency_samples);
        assert!(histogram.bins.is_sorted_by(|a, b| a.0 < b.0) && histogram.bins.iter().all(|(_, count)| *count > 0));
        assert_eq!(histogram.saturated_at, Some(17_045_651_456));
        // fio's rule: the first bin at which the share is reached.
        for (percent, metric) in [(50, "latency-p50"), (99, "latency-p99")] {
            let mut below = 0;
            let at = histogram.bins.iter().find(|(_, count)| {
                below += count;
                100 * below >= percent * total
            });
            let Some(said) = parsed.values.get(metric) else { continue };
            assert!((at.unwrap().0 as f64 * 1e-9 - said).abs() < 1e-12, "{metric}: {at:?} {said}");
        }
    }
}

#[test]
fn a_fio_with_longer_bins_is_not_said_to_be_saturated() {
    let bins = |last| super::Latency {
        mean: 1.0,
        max: 1.0,
        count: 2,
        percentile: Default::default(),
        bins: [(1000, 1), (2000, 0), (last, 1)].into(),
    };
    let known = bins(17_112_760_320).histogram().unwrap();
    assert_eq!((known.bins.len(), known.saturated_at), (2, Some(17_045_651_456)));
    assert_eq!(bins(17_246_978_048).histogram().unwrap().saturated_at, None);
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
fn a_job_that_went_on_after_an_error_is_no_measurement() {
    let sample = sample!("3.33-continued-after-an-error.txt");
    let mut asked = params("disk.randwrite-4k", "psync");
    asked.set("iodepth", ParamValue::Integer(1));
    let refusal = |output: &[u8]| super::parse(&Job::read(&asked).unwrap(), output).unwrap_err().to_string();
    assert!(refusal(sample).contains("its job ended with error 27: fio: pid="), "{}", refusal(sample));
    // What it looks like where fio forgives the error and exits with 0.
    let forgiven = std::str::from_utf8(sample).unwrap().replacen("\"error\" : 27", "\"error\" : 0", 1);
    assert_eq!(refusal(forgiven.as_bytes()), "fio 3.33: 1 of its I/Os failed, the first with error 27");
}

#[test]
fn a_run_that_took_no_latencies_or_lost_some_is_no_measurement() {
    // One I/O was under way when the ramp ended. fio exits with 0.
    let mut asked = params("disk.randread-4k", "libaio");
    asked.set("rate", ParamValue::Integer(1));
    let error = super::parse(&Job::read(&asked).unwrap(), sample!("3.33-no-latency.json")).unwrap_err().to_string();
    assert_eq!(error, "fio 3.33: it took 0 latencies of 1 I/Os");
    let few = refusal("disk.randread-4k", "io_uring", &edited("\"N\" : 8760", "\"N\" : 34"));
    assert_eq!(few, "fio 3.33: it took 34 latencies of 8745 I/Os");
    let lost = refusal("disk.randread-4k", "io_uring", &edited("\"N\" : 8760", "\"N\" : 8761"));
    assert_eq!(lost, "fio 3.33: its histogram holds 8760 of 8761 latencies");
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
        let error = super::parse(&Job::read(&params).unwrap(), RANDREAD).unwrap_err().to_string();
        assert!(error.contains(&format!("{key}={value} was asked for")), "{error}");
    }
}

#[test]
fn unreadable_output_names_the_place() {
    let cut = refusal("disk.randread-4k", "io_uring", &RANDREAD[..2000]);
    assert!(cut.starts_with("fio: cannot read its output at jobs[0].read.clat_ns.") && cut.contains("EOF"), "{cut}");
    let wrong = refusal("disk.randread-4k", "io_uring", &edited("\"total_ios\" : 8745", "\"total_ios\" : \"many\""));
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
            let (work, histogram) = (parsed.work.unwrap(), parsed.histogram.unwrap_or_default());
            prop_assert!(work.steady_seconds > 0.0 && work.longest_seconds.is_none_or(|s| s.is_finite() && s > 0.0));
            prop_assert_eq!(histogram.bins.iter().map(|(_, n)| n).sum::<u64>(), work.latency_samples.unwrap());
        }
    }
}

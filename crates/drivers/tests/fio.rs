//! The fio that is installed here does what the driver asks for, and its words are understood.

#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but does not see that these functions only serve tests
use model::{Load, ParamValue, Params};
use std::path::Path;
use vmtax_drivers::{Driver, Output, Parsed, Target, fio::Fio};

const SIZE: u64 = 4 << 20;

fn params(id: &str, engine: &str) -> Params {
    let benchmark = Fio.benchmarks().into_iter().find(|b| b.id == id).unwrap();
    let mut params = Params::defaults(&benchmark.params);
    params.set("engine", ParamValue::Text(engine.to_owned()));
    params.set("size", ParamValue::Integer(SIZE));
    params.set("time", ParamValue::Number(0.3));
    params.set("ramp", ParamValue::Number(0.1));
    params
}

/// Runs the driver's command on `data`, in an empty folder. True where it exited with 0.
fn run(params: &Params, data: &Path) -> (bool, Output) {
    let target = Target { data: Some(data.to_str().unwrap().to_owned()) };
    let command = Fio.command(params, &target).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(&command.argv[0])
        .args(&command.argv[1..])
        .current_dir(folder.path())
        .output()
        .expect("fio must be installed to test its driver: apt-get install fio");
    let file = |name: &String| (name.clone(), std::fs::read(folder.path().join(name)).unwrap_or_default());
    let files = command.files.iter().map(file).collect();
    for left in std::fs::read_dir(folder.path()).unwrap() {
        let left = left.unwrap().file_name().into_string().unwrap();
        assert!(command.files.contains(&left), "{left} is left by fio and not named by the driver");
    }
    (output.status.success(), Output { stdout: output.stdout, files })
}

/// A folder on the disk that holds the build (a temporary folder may be tmpfs), with a data file of `bytes`.
fn data(bytes: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("data: 1");
    std::fs::write(&path, (0..bytes).map(|i| ((i * 2_654_435_761) >> 7) as u8).collect::<Vec<_>>()).unwrap();
    (folder, path)
}

fn measured(id: &str, engine: &str) -> Parsed {
    let (_folder, path) = data(SIZE);
    measured_with(&params(id, engine), &path)
}

fn measured_with(params: &Params, path: &Path) -> Parsed {
    let (success, output) = run(params, path);
    assert!(success);
    assert_eq!(std::fs::metadata(path).unwrap().len(), SIZE, "fio must stay inside the region");
    Fio.parse(params, &output).unwrap()
}

#[test]
fn every_benchmark_runs_and_its_two_rates_agree() {
    for benchmark in Fio.benchmarks() {
        let parsed = measured(&benchmark.id, "libaio");
        let block = Params::defaults(&benchmark.params).integer("bs").unwrap() as f64;
        let ratio = parsed.values["bandwidth"] / (parsed.values["iops"] * block);
        assert!((0.8..1.25).contains(&ratio), "{}: {ratio}", benchmark.id);
        assert!(parsed.values["latency-mean"] > 0.0 && parsed.values.keys().all(|k| benchmark.metric(k).is_some()));
        assert!(parsed.version.unwrap().starts_with("fio-"));
        let work = parsed.work.unwrap();
        assert!(work.direct == Some(true) && (0.3..5.0).contains(&work.steady_seconds), "{}: {work:?}", benchmark.id);
        assert!(work.longest_seconds.unwrap() >= parsed.values["latency-mean"]);
        let latencies: u64 = parsed.histogram.unwrap().bins.iter().map(|(_, count)| count).sum();
        assert_eq!(Some(latencies), work.latency_samples, "{}", benchmark.id);
    }
}

#[test]
fn the_series_of_several_jobs_tells_the_same_bandwidth_as_the_whole_run() {
    let (_folder, path) = data(SIZE);
    for (jobs, engine) in [(1, "psync"), (3, "libaio")] {
        let mut params = params("disk.randread-4k", engine);
        params.set("numjobs", ParamValue::Integer(jobs));
        params.set("time", ParamValue::Number(1.5));
        // A cap that any disk keeps, so that the last part of the run, which is not in the series, is like the rest.
        params.set("rate", ParamValue::Integer(200));
        let parsed = measured_with(&params, &path);
        let series = parsed.series.unwrap_or_else(|| panic!("{:?}", parsed.remarks));
        assert!(series.is_sound() && series.samples.len() >= 8, "{series:?}");
        let mean = series.samples.iter().sum::<f64>() / series.samples.len() as f64;
        assert!((mean / parsed.values["bandwidth"] - 1.0).abs() < 0.1, "{mean} {}", parsed.values["bandwidth"]);
    }
}

#[test]
fn a_fixed_rate_is_kept() {
    let (_folder, path) = data(SIZE);
    for engine in ["libaio", "psync"] {
        let mut params = params("disk.randread-4k", engine);
        params.set("numjobs", ParamValue::Integer(2));
        params.set("time", ParamValue::Number(1.0));
        params.set("rate", ParamValue::Integer(100));
        let work = measured_with(&params, &path).work.unwrap();
        assert_eq!((work.target_rate, work.from_intended_start), (Some(200.0), Some(false)));
        assert!((work.achieved_rate.unwrap() / 200.0 - 1.0).abs() < 0.1, "{engine}: {:?}", work.achieved_rate);
    }
}

#[test]
fn posixaio_is_measured_with_a_warning_about_its_depth() {
    let parsed = measured("disk.randread-4k", "posixaio");
    assert!(parsed.remarks.iter().any(|r| r.contains("really queue depth 1")), "{:?}", parsed.remarks);
}

#[test]
fn a_data_disk_that_is_too_short_is_neither_measured_nor_deleted() {
    let (_folder, path) = data(SIZE / 2);
    let params = params("disk.randread-4k", "libaio");
    let (_, output) = run(&params, &path);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE / 2);
    let error = Fio.parse(&params, &output).unwrap_err().to_string();
    assert!(error.contains("is the data disk smaller than size=4194304?"), "{error}");
}

#[test]
fn a_data_disk_that_is_missing_is_an_error_and_is_not_created() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("none");
    for id in ["disk.randread-4k", "disk.write-1m"] {
        let params = params(id, "libaio");
        let (success, output) = run(&params, &path);
        assert!(!path.exists() && !success);
        let error = Fio.parse(&params, &output).unwrap_err().to_string();
        assert!(error.contains("its job ended with error 2: fio: pid="), "{error}");
    }
}

#[test]
fn an_engine_that_fio_does_not_have_is_unreadable_output_not_a_figure() {
    let (_folder, path) = data(SIZE);
    let params = params("disk.randread-4k", "no-such-engine");
    let (success, output) = run(&params, &path);
    assert!(!success);
    assert!(Fio.parse(&params, &output).is_err());
}

#[test]
fn several_jobs_write_only_inside_the_region() {
    let (_folder, path) = data(SIZE + 4096);
    let before = std::fs::read(&path).unwrap();
    let mut params = params("disk.write-4k", "libaio");
    params.set("numjobs", ParamValue::Integer(3));
    let (_, output) = run(&params, &path);
    Fio.parse(&params, &output).unwrap();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.len(), before.len());
    let end = SIZE as usize;
    assert!(after[end..] == before[end..] && after[..end] != before[..end]);
    assert!(!after[..end - 4096].chunks(512).any(|sector| sector.iter().all(|b| *b == 0)), "zeros invite compression");
}

//! The fio that is installed here does what the driver asks for, and its words are understood.

#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but does not see that these functions only serve tests
use model::{Load, ParamValue, Params};
use std::path::Path;
use std::process::Output;
use vmtax_drivers::{Driver, Parsed, Target, fio::Fio};

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

/// Runs the driver's command on `data`.
fn run(params: &Params, data: &Path) -> Output {
    let target = Target { data: Some(data.to_str().unwrap().to_owned()) };
    let command = Fio.command(params, &target).unwrap();
    std::process::Command::new(&command.argv[0])
        .args(&command.argv[1..])
        .output()
        .expect("fio must be installed to test its driver: apt-get install fio")
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
    let params = params(id, engine);
    let output = run(&params, &path);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE, "fio must stay inside the region");
    Fio.parse(&params, &output.stdout).unwrap()
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
    let output = run(&params, &path);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE / 2);
    let error = Fio.parse(&params, &output.stdout).unwrap_err().to_string();
    assert!(error.contains("is the data disk smaller than size=4194304?"), "{error}");
}

#[test]
fn a_data_disk_that_is_missing_is_an_error_and_is_not_created() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("none");
    for id in ["disk.randread-4k", "disk.write-1m"] {
        let params = params(id, "libaio");
        let output = run(&params, &path);
        assert!(!path.exists() && !output.status.success());
        let error = Fio.parse(&params, &output.stdout).unwrap_err().to_string();
        assert!(error.contains("its job ended with error 2: fio: pid="), "{error}");
    }
}

#[test]
fn an_engine_that_fio_does_not_have_is_unreadable_output_not_a_figure() {
    let (_folder, path) = data(SIZE);
    let params = params("disk.randread-4k", "no-such-engine");
    let output = run(&params, &path);
    assert!(!output.status.success());
    assert!(Fio.parse(&params, &output.stdout).is_err());
}

#[test]
fn several_jobs_write_only_inside_the_region() {
    let (_folder, path) = data(SIZE + 4096);
    let before = std::fs::read(&path).unwrap();
    let mut params = params("disk.write-4k", "libaio");
    params.set("numjobs", ParamValue::Integer(3));
    let output = run(&params, &path);
    Fio.parse(&params, &output.stdout).unwrap();
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after.len(), before.len());
    let end = SIZE as usize;
    assert!(after[end..] == before[end..] && after[..end] != before[..end]);
    assert!(!after[..end - 4096].chunks(512).any(|sector| sector.iter().all(|b| *b == 0)), "zeros invite compression");
}

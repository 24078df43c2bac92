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
         --create_on_open=1 --allow_mounted_write=0 --thread=1 --group_reporting=1 --write_bw_log=vmtax --log_avg_msec=100 \
         --per_job_logs=0"
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
    assert_eq!(error, "size=12287 does not fit: 3 jobs in blocks of 4096 bytes need at least 12288 bytes");
}

#[test]
fn an_unresolved_engine_or_a_missing_disk_is_refused() {
    let mut auto = params("disk.read-1m");
    assert_eq!(Fio.command(&auto, &Target::default()), Err(ParamError::NoDisk));
    auto.set("engine", ParamValue::Text("auto".to_owned()));
    let error = Fio.command(&auto, &Target { data: Some("/d".to_owned()) }).unwrap_err().to_string();
    assert!(error.starts_with("engine=auto does not fit: ") && error.contains("of io_uring, libaio"), "{error}");
}

#[test]
fn needs_follow_the_parameters() {
    let mut params = params("disk.read-1m");
    params.set("size", ParamValue::Integer(64 << 20));
    let needs = Fio.needs(&params).unwrap();
    assert_eq!((needs.tools, needs.disk, needs.seconds), (vec!["fio".to_owned()], 64 << 20, 6.0 + START_SECONDS));
    assert!(needs.memory < 128 << 20);
}

#[test]
fn a_rate_is_asked_for_only_where_there_is_one() {
    let mut params = params("disk.randread-4k");
    assert!(!argv(&params).iter().any(|word| word.starts_with("--rate")));
    params.set("rate", ParamValue::Integer(500));
    let line = argv(&params).join(" ");
    assert!(line.contains(" --rate_iops=500 --rate_process=linear "), "{line}");
}

#[test]
fn a_long_run_is_logged_in_longer_steps() {
    let mut params = params("disk.randread-4k");
    for (time, step) in [(0.3, 100), (100.0, 100), (100.1, 200), (3600.0, 3600), (3601.0, 3700)] {
        params.set("time", ParamValue::Number(time));
        let step = format!("--log_avg_msec={step}");
        assert!(argv(&params).contains(&step), "{time} s: {step}");
        assert_eq!(Fio.command(&params, &Target { data: Some("/d".to_owned()) }).unwrap().files, [LOG_FILE]);
    }
}

#[test]
fn a_duration_never_becomes_fios_zero() {
    assert_eq!((milliseconds(1e-9), milliseconds(0.7)), ("1ms".to_owned(), "700ms".to_owned()));
}

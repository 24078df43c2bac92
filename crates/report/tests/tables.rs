//! CSV, Markdown and JSON: their form, and that they say the same.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod sample;

use model::check::{Check, Status, Threat};
use model::record::{GUEST, HOST, Histogram, Look, LookDecision};
use model::{Area, Event, FailureCause, Outcome};
use proptest::prelude::*;
use sample::Study;
use vmtax_report::{Analysis, JSON_SCHEMA, Lang, Words, analyse, csv, json, markdown};

/// A study that has everything: failures, checks, looks, histograms, a rejected benchmark.
fn rich() -> Study {
    let mut study = Study::emulated(10).measured(10);
    study.start(11, 1);
    let mut dead = study.run(11, 1, 0, 0, GUEST);
    dead.outcome = Outcome::Failed { cause: FailureCause::Guest, why: "Kernel panic".to_owned() };
    study.log(Event::Run(Box::new(dead)));
    study.close(11, 1, false, Some("the guest died"));
    study.each_run(|run| {
        if run.benchmark == "disk.write-1m" && run.round == 2 && run.machine == GUEST {
            run.outcome = Outcome::Skipped { why: "The data disk is too small.".to_owned() };
        }
        run.checks
            .push(Check::new(Threat::Steal, Status::Warn).with("steal-share", 0.013).with("source", "/proc/stat"));
        run.checks.push(Check::new(Threat::Thermal, Status::Pass));
        if run.benchmark == "memory.dumb" && run.round <= 3 && run.machine == HOST {
            run.checks.push(Check::new(Threat::Contention, Status::Invalid));
        }
        if run.benchmark == "disk.randread-4k" {
            run.histogram = Some(format!("raw/{}-{}.json", run.round, run.machine));
        }
        run.remarks = vec!["A remark.".to_owned()];
    });
    study.log(Event::Look(Look {
        round: 8,
        benchmark: "cpu.whetstone".to_owned(),
        metric: "rate".to_owned(),
        blocks: 8,
        typical_log: 0.01,
        half_width_log: 0.02,
        target_log: 0.0296,
        decision: LookDecision::MoreRounds,
        forecast: Some(12),
    }));
    study.end();
    study
}

fn histogram(name: &str) -> Result<Vec<u8>, String> {
    if name.contains("/3-") {
        return Err("it is not there".to_owned());
    }
    let bins = (1..200).map(|i| (i * 10_000, 1000 / i)).collect();
    serde_json::to_vec(&Histogram { bins, saturated_at: None }).map_err(|e| e.to_string())
}

fn analysed(study: &Study) -> Analysis {
    analyse(&study.manifest, &study.lines, &histogram)
}

fn records(table: &str) -> Vec<Vec<String>> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(false).from_reader(table.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn json_reports_are_as_the_schema_says() {
    let schema = serde_json::from_str(JSON_SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut point = Study::kvm(1).only(&[Area::Disk]).measured(1);
    point.manifest.machines.clear();
    for study in [Study::kvm(8), Study::kvm(8).measured(8), Study::emulated(3).measured(3), rich(), point] {
        let report = serde_json::from_str(&json(&analysed(&study)).unwrap()).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let validator = jsonschema::draft202012::new(&serde_json::from_str(JSON_SCHEMA).unwrap()).unwrap();
    let whole: serde_json::Value = serde_json::from_str(&json(&analysed(&rich())).unwrap()).unwrap();
    assert!(validator.is_valid(&whole));
    let bent = |bend: &dyn Fn(&mut serde_json::Value)| {
        let mut report = whole.clone();
        bend(&mut report);
        validator.is_valid(&report)
    };
    assert!(!bent(&|r| r["schema"] = 1.into()));
    assert!(!bent(&|r| r["more"] = 1.into()));
    assert!(!bent(&|r| r["benchmarks"][0]["metrics"][0]["unit"] = "furlong".into()));
    assert!(!bent(&|r| r["benchmarks"][0]["metrics"][0]["points"][0]["more"] = 1.into()));
    assert!(!bent(&|r| r["areas"][0]["verdict"] = "GOOD".into()));
    assert!(!bent(&|r| {
        r["course"].as_object_mut().unwrap().remove("runs");
    }));
    assert!(bent(&|r| r["manifest"]["more"] = 1.into()), "the manifest is another format");
}

#[test]
fn every_row_of_the_csv_is_a_value_of_the_json() {
    let analysis = analysed(&rich());
    let table = csv(&analysis);
    assert!(table.ends_with("\r\n") && table.lines().all(|line| !line.is_empty()));
    let records = records(&table);
    let column = |name: &str| records[0].iter().position(|c| c == name).unwrap();
    let [benchmark, metric, round, host, ratio, counted, why] =
        ["benchmark", "metric", "round", "host", "log_cost_ratio", "counted", "why"].map(column);
    let of = |id: &str, name: &str| -> Vec<&Vec<String>> {
        records.iter().filter(|r| r[benchmark] == id && r[metric] == name).collect()
    };
    let comparison = &analysis.benchmarks.iter().find(|b| b.id == "cpu.whetstone").unwrap().metrics[0];
    let rows = of("cpu.whetstone", "rate");
    assert_eq!(rows.len(), comparison.points.len());
    for (row, point) in rows.iter().zip(&comparison.points) {
        assert_eq!(row[host].parse(), Ok(point.host));
        assert_eq!(row[ratio].parse().ok(), point.log_cost_ratio);
        assert_eq!((row[round].parse(), row[counted].as_str(), row[why].as_str()), (Ok(point.round), "true", ""));
    }
    let rows = of("memory.dumb", "rate");
    assert_eq!(rows.len(), 10);
    assert_eq!((rows[0][counted].as_str(), rows[0][why].as_str()), ("false", "rejected: contention"));
    assert!(!rows[0][host].is_empty() && rows[3][counted] == "true");
    let rows = of("disk.write-1m", "latency-p99");
    assert_eq!(rows[1][why], "not measured: guest skipped, host measured");
    assert!(rows[1][host].is_empty());
    assert!(records[1..].iter().all(|r| r[0] == "tcg"), "every row says that it was emulated");
}

#[test]
fn hostile_words_stay_one_field_and_no_formula() {
    let mut study = Study::kvm(3).measured(3);
    let evil = "=cmd|' /C calc'!A0\",\r\n\u{1b}[2J`|<script>";
    study.manifest.benchmarks[0].id = evil.to_owned();
    study.manifest.benchmarks[0].title = evil.to_owned();
    study.manifest.benchmarks[1].metrics[0].shown.symbol = evil.to_owned();
    let first = study.lines.iter().find_map(|line| match &line.event {
        Event::Run(run) if run.benchmark.starts_with("cpu.d") => Some(run.benchmark.clone()),
        _ => None,
    });
    study.each_run(|run| {
        run.checks.push(Check::new(Threat::Steal, Status::Warn).with(evil, evil));
        if Some(&run.benchmark) == first.as_ref() {
            run.benchmark = evil.to_owned();
        }
    });
    let analysis = analysed(&study);
    let table = csv(&analysis);
    assert!(!table.contains('\u{1b}'));
    let records = records(&table);
    assert!(records.iter().flatten().all(|field| !field.starts_with('=')));
    assert!(records.iter().any(|r| r[1].starts_with("'=cmd|")));
    let page = markdown(&analysis, &Words::new(Lang::En));
    assert!(!page.contains('\u{1b}') && !page.contains("<script") && page.contains("&lt;script"));
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert!([8, 6].contains(&bars), "{line}");
    }
}

#[test]
fn a_markdown_report_of_a_study_with_everything() {
    insta::assert_snapshot!(markdown(&analysed(&rich()), &Words::new(Lang::En)));
}

#[test]
fn a_markdown_report_in_chinese() {
    insta::assert_snapshot!(markdown(
        &analysed(&Study::emulated(3).only(&[Area::Cpu]).measured(3)),
        &Words::new(Lang::Zh)
    ));
}

#[test]
fn the_same_study_gives_the_same_tables() {
    let all = |study: &Study| {
        let analysis = analysed(study);
        [json(&analysis).unwrap(), csv(&analysis), markdown(&analysis, &Words::new(Lang::En))]
    };
    assert_eq!(all(&rich()), all(&rich()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_journal_breaks_a_table(
        picks in proptest::collection::vec((0usize..600, 0u32..4, 0usize..5), 0..60),
        values in proptest::collection::vec(prop_oneof![Just(0.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY),
            Just(1e308), Just(5e-324), 0.1f64..1e9], 5),
    ) {
        let whole = rich();
        let mut study = Study::emulated(3);
        for (line, round, value) in picks {
            let mut line = whole.lines[line % whole.lines.len()].clone();
            match &mut line.event {
                Event::Run(run) => {
                    run.round = round;
                    if let Outcome::Measured { values: all } = &mut run.outcome {
                        all.values_mut().for_each(|v| *v = values[value]);
                    }
                }
                Event::RoundEnded { round: r, .. } => *r = round,
                _ => {}
            }
            study.lines.push(line);
        }
        let analysis = analysed(&study);
        prop_assert!(!records(&csv(&analysis)).is_empty());
        let page = markdown(&analysis, &Words::new(Lang::En));
        prop_assert!(!page.contains("NaN") && !page.contains("inf"));
        let validator = jsonschema::draft202012::new(&serde_json::from_str(JSON_SCHEMA).unwrap()).unwrap();
        let report = serde_json::from_str(&json(&analysis).unwrap()).unwrap();
        prop_assert!(validator.is_valid(&report), "{:?}", validator.iter_errors(&report).next().map(|e| e.to_string()));
    }
}

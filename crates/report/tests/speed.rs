//! Large studies: `cargo test -p vmtax-report --test speed -- --ignored --nocapture` prints what 100,000 outcomes take.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod sample;

use model::{Event, record::Line};
use sample::Study;
use vmtax_report::{Lang, Style, Words, analyse, csv, json, markdown, text};

/// A journal as text, with so many outcomes; twelve benchmarks, so at most 1000 rounds of them and then copies of these
/// benchmarks under other names.
fn journal(rounds: u32, copies: usize) -> (Study, String) {
    let mut study = Study::kvm(rounds).measured(rounds);
    let runs: Vec<Line> = study.lines.iter().filter(|l| matches!(l.event, Event::Run(_))).cloned().collect();
    let (benchmarks, cells) = (study.manifest.benchmarks.clone(), study.manifest.plan.cells.clone());
    for copy in 1..copies {
        let rename = |id: &str| format!("{id}-{copy}");
        study.manifest.benchmarks.extend(benchmarks.iter().cloned().map(|mut b| {
            b.id = rename(&b.id);
            b
        }));
        study.manifest.plan.cells.extend(cells.iter().cloned().map(|mut c| {
            c.benchmark = rename(&c.benchmark);
            c
        }));
        study.lines.extend(runs.iter().cloned().map(|mut line| {
            if let Event::Run(run) = &mut line.event {
                run.benchmark = rename(&run.benchmark);
            }
            line
        }));
    }
    let mut text = String::new();
    for line in study.lines.drain(..) {
        text.push_str(&serde_json::to_string(&line).unwrap());
        text.push('\n');
    }
    (study, text)
}

/// Seconds of processor time that this thread has used: the machine may be busy with other things.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    told.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// Processor time of every stage from the journal's text on. What a report no longer needs is let go, as the binary does.
fn stages(study: &Study, journal: String) -> Vec<(&'static str, f64)> {
    let mut stages = Vec::new();
    let mut from = processor_seconds();
    let mut stage = |name| {
        let now = processor_seconds();
        stages.push((name, now - from));
        from = now;
    };
    let lines: Vec<Line> = journal.lines().map(|line| Line::parse(line.as_bytes()).unwrap()).collect();
    drop(journal);
    stage("parse");
    let analysis = analyse(&study.manifest, &lines, &|name| Err(name.to_owned()));
    drop(lines);
    stage("analyse");
    assert!(text(&analysis, &Style { width: 80, color: false }, &Words::new(Lang::En)).len() > 1000);
    stage("text");
    assert!(json(&analysis).unwrap().len() > 1000);
    stage("json");
    assert!(csv(&analysis).len() > 1000);
    stage("csv");
    assert!(markdown(&analysis, &Words::new(Lang::En)).len() > 1000);
    stage("markdown");
    stages
}

/// Peak memory of this process, bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

#[test]
fn ten_thousand_outcomes_take_no_noticeable_time() {
    let (study, journal) = journal(417, 1);
    let total: f64 = stages(&study, journal).iter().map(|(_, seconds)| seconds).sum();
    assert!(total < 2.0, "{total} s");
}

#[test]
#[ignore = "it takes some seconds; see the head of this file"]
fn a_hundred_thousand_outcomes_are_analysed_and_told_in_two_seconds_and_300_mb() {
    let (study, journal) = journal(834, 5);
    let size = journal.len() >> 20;
    // What it took to make the journal is not the report's.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let stages = stages(&study, journal);
    for (name, seconds) in &stages {
        println!("{name:>8} {seconds:6.3} s");
    }
    // Reading the journal is the store's part.
    let total: f64 = stages.iter().filter(|(name, _)| *name != "parse").map(|(_, seconds)| seconds).sum();
    println!("all but parsing {total:6.3} s, from a journal of {size} MB");
    if let Some(peak) = peak() {
        println!("    peak {:6} MB", peak >> 20);
        assert!(peak < 300 << 20, "{} MB", peak >> 20);
    }
    assert!(total < 2.0, "{total} s");
}

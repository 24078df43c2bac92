//! What the time of a study goes to, read from its journal.

use model::plan::Cell;
use model::record::{Event, GUEST, HOST, Line, RunRecord};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;
use store::StudyFolder;

/// Rounds, and the minutes that a quick study of so many may take under TCG on two cores.
const LIMITS: [(u32, f64); 2] = [(8, 20.0), (3, 8.0)];

/// Prints where the time of `study` went, or of a new study of one round of the quick suite.
pub fn measure(study: Option<&Path>) -> anyhow::Result<()> {
    if let Some(study) = study {
        return tell(study, None);
    }
    let (mut command, folder) = crate::command()?;
    let study = folder.path().join("study");
    command.args(["run", "--busy-host", "--suite", "quick", "--rounds", "1", "--output"]).arg(&study);
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    // One round is too few for an interval, which the exit code says.
    anyhow::ensure!(matches!(status.code(), Some(0 | 3)), "vmtax run ended with {status}");
    tell(&study, Some(start.elapsed().as_secs_f64()))
}

/// One complete round.
struct Round<'a> {
    seconds: f64,
    boot: f64,
    runs: Vec<&'a RunRecord>,
}

fn rounds(lines: &[Line]) -> Vec<Round<'_>> {
    let mut found = Vec::new();
    let (mut began, mut boot, mut runs) = (0.0, 0.0, Vec::new());
    for line in lines {
        match &line.event {
            Event::RoundStarted { .. } => (began, boot, runs) = (line.at, 0.0, Vec::new()),
            Event::Booted { ready_seconds, .. } => boot += ready_seconds,
            Event::Run(run) => runs.push(&**run),
            Event::RoundEnded { complete: true, .. } => {
                found.push(Round { seconds: line.at - began, boot, runs: std::mem::take(&mut runs) });
            }
            _ => {}
        }
    }
    found
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = values.fold((0, 0.0), |(n, sum), value| (n + 1, sum + value));
    sum / f64::from(n)
}

/// Mean seconds of a cell on a machine: timed, and in all.
fn seconds(rounds: &[Round<'_>], cell: &Cell, machine: &str) -> (f64, f64) {
    let runs = || rounds.iter().flat_map(|r| &r.runs).filter(|r| r.benchmark == cell.benchmark && r.machine == machine);
    (mean(runs().filter_map(|r| r.controller_seconds)), mean(runs().map(|r| r.total_seconds)))
}

/// `whole` is the time of the command, where it was measured.
fn tell(study: &Path, whole: Option<f64>) -> anyhow::Result<()> {
    let folder = StudyFolder::open(study)?;
    let (manifest, journal) = (folder.manifest()?, folder.journal()?);
    let rounds = rounds(&journal.lines);
    anyhow::ensure!(!rounds.is_empty(), "{} has no complete round", study.display());
    println!("Time of a round: seconds, mean of {} ({})", rounds.len(), manifest.accelerator.name());
    println!("  {:<24} {:>8}  {:>8} {:>8}  {:>8} {:>8}", "", "planned", "host", "of that", "guest", "of that");
    println!("  {:<24} {:>8}  {:>8} {:>8}  {:>8} {:>8}", "", "a run", "in all", "timed", "in all", "timed");
    let mut sums = [0.0; 5];
    let row = |name: &str, values: [f64; 5]| {
        let [planned, host, host_timed, guest, guest_timed] = values;
        println!("  {name:<24} {planned:>8.1}  {host:>8.1} {host_timed:>8.1}  {guest:>8.1} {guest_timed:>8.1}");
    };
    for cell in &manifest.plan.cells {
        let ((host_timed, host), (guest_timed, guest)) = (seconds(&rounds, cell, HOST), seconds(&rounds, cell, GUEST));
        let values = [cell.needs.seconds, host, host_timed, guest, guest_timed];
        row(&cell.benchmark, values);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    row("all", sums);
    let round = mean(rounds.iter().map(|r| r.seconds));
    let boot = mean(rounds.iter().map(|r| r.boot));
    let between = round - boot - sums[1] - sums[3];
    println!("  a round {round:.1}: runs {:.1}, boot {boot:.1}, between them {between:.1}", sums[1] + sums[3]);
    let outside = whole.map(|whole| whole - rounds.iter().map(|r| r.seconds).sum::<f64>());
    if let Some(outside) = outside {
        println!("  before and after the rounds {outside:.1}");
    }
    for (n, limit) in LIMITS {
        let minutes = (f64::from(n) * round + outside.unwrap_or(0.0)) / 60.0;
        println!("  so {n} rounds take {minutes:.1} min, limit {limit} for the quick suite under TCG on two cores");
    }
    println!();
    Ok(())
}

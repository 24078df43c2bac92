//! The CPU time that vmtax itself uses while a workload runs, on the host and in a guest.

use anyhow::Context;
use model::record::{Event, HOST};
use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::StudyFolder;

/// Share of one core that controller and agent may use together.
const LIMIT_PERCENT: f64 = 1.0;
/// Runs on each side, and intervals in the guest.
const ROUNDS: usize = 5;
/// Seconds of workload in each run.
const SECONDS: f64 = 10.0;
/// Seconds at each end of a run that are left out: processes are started and results written there.
const MARGIN: f64 = 0.5;
const PAUSE: Duration = Duration::from_millis(100);

/// CPU time of vmtax's processes at one moment.
struct Reading {
    /// Seconds since 1970, as in a journal.
    at: f64,
    /// Seconds used so far, by role (controller, keeper, agent) and process.
    used: BTreeMap<(String, u32), f64>,
}

/// Runs a workload on both sides, then one in a guest under the eyes of a shell there, and prints what vmtax used.
pub fn measure() -> anyhow::Result<()> {
    let (readings, runs) = study()?;
    println!(
        "CPU that vmtax uses while a workload runs: % of one core, median and range of {ROUNDS} runs of {SECONDS} s, \
         limit {LIMIT_PERCENT}"
    );
    for host in [true, false] {
        let windows = runs.iter().filter(|run| run.on_host == host);
        let shares: Vec<BTreeMap<String, f64>> = windows.filter_map(|run| shares(&readings, run)).collect();
        anyhow::ensure!(!shares.is_empty(), "No run was long enough to be looked at");
        let all: Vec<f64> = shares.iter().map(|share| share.values().sum()).collect();
        let parts: Vec<String> = ["controller", "agent", "keeper"]
            .iter()
            .map(|role| {
                format!("{role} {}", spread(&shares.iter().filter_map(|s| s.get(*role)).copied().collect::<Vec<_>>()))
            })
            .collect();
        let place = if host { "on the host " } else { "in the guest" };
        println!("  {place}  {}: {} (host's processes)", spread(&all), parts.join(", "));
    }
    println!("  in the guest  {} (the agent in it)", spread(&guest_agent()?));
    println!();
    Ok(())
}

fn spread(values: &[f64]) -> String {
    crate::spread(values, 3)
}

/// One run of the study, without its ends.
struct Window {
    on_host: bool,
    from: f64,
    to: f64,
}

/// A study of a CPU workload, its vmtax watched from outside.
fn study() -> anyhow::Result<(Vec<Reading>, Vec<Window>)> {
    let (mut command, folder) = crate::command()?;
    let study = folder.path().join("study");
    command.args(["run", "--busy-host", "--bench", "cpu.dhrystone", "--param", &format!("time={SECONDS}s")]);
    command.args(["--rounds", &ROUNDS.to_string(), "--output"]).arg(&study);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut controller = command.spawn().context("Could not start vmtax")?;
    let mut readings = Vec::new();
    let status = loop {
        readings.push(Reading::take(controller.id()));
        if let Some(status) = controller.try_wait()? {
            break status;
        }
        std::thread::sleep(PAUSE);
    };
    anyhow::ensure!(status.success(), "vmtax run ended with {status}");
    let window = |line: &model::record::Line| match &line.event {
        Event::Run(run) => Some(Window {
            on_host: run.machine == HOST,
            from: line.at - run.total_seconds + MARGIN,
            to: line.at - MARGIN,
        }),
        _ => None,
    };
    let windows = StudyFolder::open(&study)?.journal()?.lines.iter().filter_map(window).collect();
    Ok((readings, windows))
}

impl Reading {
    fn take(controller: u32) -> Self {
        let mut used = BTreeMap::new();
        // What vmtax starts is a child of its spawning thread; a workload is a child of the agent and not looked at.
        let children = fs::read_dir(format!("/proc/{controller}/task")).into_iter().flatten().flatten();
        let children = children.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let children: Vec<u32> = children.flat_map(|text| numbers(&text)).collect();
        for pid in children.into_iter().chain([controller]) {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let subcommand = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
            let role = match subcommand {
                b"run" => "controller",
                b"agent" => "agent",
                b"keeper" => "keeper",
                _ => continue,
            };
            if let Some(seconds) = cpu_seconds(pid) {
                used.insert((role.to_owned(), pid), seconds);
            }
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        Reading { at, used }
    }
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// CPU time of all threads by the scheduler's own count (Documentation/scheduler/sched-stats.rst), in nanoseconds:
/// the ticks of /proc/PID/stat would miss a thread that always sleeps again before the next one.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let lines = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
    Some(lines.filter_map(|line| numbers::<f64>(&line).first().copied()).sum::<f64>() * 1e-9)
}

/// Percent of one core by role within a window.
fn shares(readings: &[Reading], window: &Window) -> Option<BTreeMap<String, f64>> {
    let mut inside = readings.iter().filter(|reading| (window.from..=window.to).contains(&reading.at));
    let (first, last) = (inside.next()?, inside.next_back()?);
    let mut shares = BTreeMap::new();
    for ((role, pid), before) in &first.used {
        let after = last.used.get(&(role.clone(), *pid))?;
        *shares.entry(role.clone()).or_default() += 100.0 * (after - before) / (last.at - first.at);
    }
    Some(shares)
}

/// Percent of one guest core that the agent in a guest uses while a command, of which it is the parent, keeps one busy.
fn guest_agent() -> anyhow::Result<Vec<f64>> {
    let (mut command, _folder) = crate::command()?;
    let script = format!(
        "while :; do :; done & for i in {}; do cat /proc/uptime /proc/$PPID/task/*/schedstat; echo; sleep {SECONDS}; \
         done",
        ["."; ROUNDS + 1].join(" ")
    );
    let output = command.args(["vm", "--busy-host", "--", "sh", "-c", &script]).output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "vmtax vm ended with {}: {why}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let moments: Vec<(f64, f64)> = text.split_terminator("\n\n").filter_map(moment).collect();
    let share = |pair: &[(f64, f64)]| 100.0 * (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
    Ok(moments.windows(2).map(share).collect())
}

/// The guest's clock and the CPU time of the agent's threads, in seconds.
fn moment(text: &str) -> Option<(f64, f64)> {
    let (uptime, threads) = text.split_once('\n')?;
    let nanoseconds: f64 = threads.lines().filter_map(|line| numbers::<f64>(line).first().copied()).sum();
    Some((*numbers(uptime).first()?, nanoseconds * 1e-9))
}

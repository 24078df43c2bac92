//! Measures vmtax itself, on the binary of this build:
//! `cargo bench --profile dev -p vmtax --bench harness -- [boot] [cpu] [time]`.
//!
//! - `boot`: how much longer a guest takes to answer than the same kernel takes to reach an init that does nothing;
//! - `cpu`: the CPU time that controller, keeper and agents use up while a workload runs;
//! - `time`: what the time of a study goes to (`--study DIR` reads one that is there, absolute path).
//!
//! Each figure comes from one run of this program, with its spread. Needs root, QEMU, fio and a kernel for guests, as
//! vmtax does.

mod boot;
mod cpu;
mod idle_init;
mod time;

use anyhow::Context;
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Boot,
    Cpu,
    Time,
}

#[derive(Debug, Parser)]
struct Args {
    /// What to measure [default: all]
    parts: Vec<Part>,
    /// Boots of each kind
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// Study whose time is looked at; without it one round of the quick suite is made
    #[arg(long)]
    study: Option<PathBuf>,
    /// Given by `cargo bench`; `cargo test --all-targets` starts benches too, without it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if !args.bench {
        return Ok(());
    }
    anyhow::ensure!(rustix::process::geteuid().is_root(), "Guests are booted: run this as root");
    let asked = |part| args.parts.is_empty() || args.parts.contains(&part);
    if asked(Part::Boot) {
        boot::measure(args.rounds)?;
    }
    if asked(Part::Cpu) {
        cpu::measure()?;
    }
    if asked(Part::Time) {
        time::measure(args.study.as_deref())?;
    }
    Ok(())
}

/// The vmtax of this build.
fn vmtax() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_vmtax"))
}

/// A command of the vmtax of this build, and a folder on a disk for what it writes.
fn command() -> anyhow::Result<(Command, tempfile::TempDir)> {
    let folder = tempfile::Builder::new()
        .prefix("vmtax-bench-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .context("Could not make a folder for studies")?;
    let mut command = Command::new(vmtax());
    command.current_dir(folder.path());
    Ok((command, folder))
}

/// Median, and lowest to highest.
fn spread(values: &[f64], digits: usize) -> String {
    let at = |p| stats::quantile(values, p).unwrap_or(f64::NAN);
    format!("{:.*} [{:.*}, {:.*}]", digits, at(0.5), digits, at(0.0), digits, at(1.0))
}

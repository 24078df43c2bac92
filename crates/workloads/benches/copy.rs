//! MEMCPY against glibc's memcpy and Debian's mbw: `cargo bench -p vmtax-workloads`.
//!
//! Each figure comes from a process of its own, the contenders take turns in an order that rotates, and what is printed is
//! the ratio within a round: median, and lowest to highest; and, for busy machines, the ratio of the best rounds. All arrays are on huge pages but those of mbw as it is; mbw is
//! also run with glibc's tunable that advises malloc's maps to use them.

use model::isa::InstructionSet;
use model::params::{ParamValue, Params};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use vmtax_workloads::{Place, find};

const ROUNDS: usize = 21;
const MIB: u64 = 1 << 20;
/// Sizes in MiB, and copies per process.
const SIZES: [(u64, u64); 3] = [(1, 2000), (128, 20), (256, 10)];
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

/// Whose copy.
enum Contender {
    Own(InstructionSet),
    Glibc(PathBuf),
    Mbw { huge_pages: bool },
}

impl Contender {
    fn name(&self) -> String {
        match self {
            Contender::Own(isa) => format!("vmtax {isa}"),
            Contender::Glibc(_) => "glibc memcpy".to_owned(),
            Contender::Mbw { huge_pages: false } => "mbw".to_owned(),
            Contender::Mbw { huge_pages: true } => "mbw, huge pages".to_owned(),
        }
    }

    /// Bytes per second in a new process.
    fn measure(&self, mib: u64, passes: u64) -> Result<f64, Box<dyn Error>> {
        let (size, passes) = ((mib * MIB).to_string(), passes.to_string());
        match self {
            Contender::Own(isa) => {
                let own = std::env::current_exe()?;
                Ok(output(Command::new(own).args(["--one", isa.name(), &size, &passes]))?.trim().parse()?)
            }
            Contender::Glibc(program) => Ok(output(Command::new(program).args([&size, &passes]))?.trim().parse()?),
            Contender::Mbw { huge_pages } => {
                let mut command = Command::new("mbw");
                command.args(["-q", "-t0", "-n", &passes, &mib.to_string()]);
                if *huge_pages {
                    command.env(HUGE_PAGES.0, HUGE_PAGES.1);
                }
                let text = output(&mut command)?;
                let average = text.lines().find(|line| line.starts_with("AVG")).ok_or("mbw printed no AVG line")?;
                let figure = average.split_whitespace().rev().nth(1).ok_or("mbw's AVG line has no figure")?;
                Ok(figure.parse::<f64>()? * MIB as f64)
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[1..] {
        ["--one", isa, size, passes] => one(isa, size.parse()?, passes.parse()?),
        // `cargo test --all-targets` starts benches too, without this word.
        _ if words.contains(&"--bench") => compare(),
        _ => Ok(()),
    }
}

/// Bytes per second of the MEMCPY workload, in this process.
fn one(isa: &str, size: u64, passes: u64) -> Result<(), Box<dyn Error>> {
    let levels = [InstructionSet::Baseline, InstructionSet::V2, InstructionSet::V3, InstructionSet::V4];
    let isa = levels.into_iter().find(|level| level.name() == isa).ok_or("no such instruction set")?;
    let params = Params(BTreeMap::from([
        ("size".to_owned(), ParamValue::Integer(size)),
        ("passes".to_owned(), ParamValue::Integer(passes)),
        // As many passes as the others are given, and not one more.
        ("time".to_owned(), ParamValue::Number(f64::MIN_POSITIVE)),
    ]));
    let place = Place { isa, scratch: Path::new("/nowhere") };
    let values = find("memcpy").ok_or("no such workload")?.prepare(&params, &place)?.run()?;
    println!("{:.0}", values["rate"]);
    Ok(())
}

fn compare() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("glibc_copy");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/glibc_copy.c");
    output(Command::new("cc").args(["-O2", "-o"]).arg(&program).arg(source))?;

    let contenders = [
        Contender::Own(native()),
        Contender::Own(InstructionSet::Baseline),
        Contender::Glibc(program),
        Contender::Mbw { huge_pages: false },
        Contender::Mbw { huge_pages: true },
    ];
    for (mib, passes) in SIZES {
        // One row per contender, one figure per round.
        let mut rates = vec![Vec::with_capacity(ROUNDS); contenders.len()];
        for round in 0..ROUNDS {
            for turn in 0..contenders.len() {
                let i = (round + turn) % contenders.len();
                rates[i].push(contenders[i].measure(mib, passes)?);
            }
        }
        println!("MEMCPY, {mib} MiB, {ROUNDS} rounds of {passes} copies");
        for (contender, rates_of) in contenders.iter().zip(&rates) {
            let rates = Spread::of(rates_of.iter().map(|rate| rate / MIB as f64).collect());
            println!("  {:<18} {:7.0} MiB/s ({:.0} to {:.0})", contender.name(), rates.median, rates.low, rates.high);
        }
        let foreign = 2..contenders.len();
        for i in foreign.clone() {
            println!("  {} / {:<16} {}", contenders[0].name(), contenders[i].name(), ratio(&rates[0], &rates[i]));
        }
        let median = |i: &usize| Spread::of(rates[*i].clone()).median;
        if let Some(best) = foreign.max_by(|a, b| median(a).total_cmp(&median(b))) {
            println!(
                "  against the better of them ({}): {}\n",
                contenders[best].name(),
                ratio(&rates[0], &rates[best])
            );
        }
    }
    Ok(())
}

/// The highest level that this CPU has.
fn native() -> InstructionSet {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512bw") {
        return InstructionSet::V4;
    } else if std::arch::is_x86_feature_detected!("avx2") {
        return InstructionSet::V3;
    }
    InstructionSet::Baseline
}

fn ratio(ours: &[f64], theirs: &[f64]) -> String {
    let spread = Spread::of(ours.iter().zip(theirs).map(|(a, b)| a / b).collect());
    let best = Spread::of(ours.to_vec()).high / Spread::of(theirs.to_vec()).high;
    format!("{:.3} ({:.3} to {:.3}), best round to best round {best:.3}", spread.median, spread.low, spread.high)
}

struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

impl Spread {
    /// Of an odd number of figures.
    fn of(mut figures: Vec<f64>) -> Spread {
        figures.sort_by(f64::total_cmp);
        Spread { low: figures[0], median: figures[figures.len() / 2], high: figures[figures.len() - 1] }
    }
}

/// What the command prints.
fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output().map_err(|e| format!("Could not start {command:?}: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{command:?} failed: {}{}", output.status, String::from_utf8_lossy(&output.stderr)).into())
    }
}

//! `vmtax selftest`: measures vmtax itself on this machine, through the whole pipeline.

use super::report::language;
use crate::cli::{Selftest, SelftestFormat};
use crate::exit::{self, Usage};
use crate::lab::Kind;
use crate::progress::Teller;
use crate::session::{Order, Session, check_host, machines};
use crate::signals::Stop;
use crate::{catalog, host};
use anyhow::Context;
use model::plan::{AcceleratorChoice, Located, MAX_ROUNDS, Request};
use model::quantity::show_duration;
use model::record::{Ending, GUEST, HOST, Manifest};
use model::{Accelerator, Catalog, Plan};
use report::Words;
use report::selftest::{GROUP, GUEST_B, HOST_B, Judgement, LEAST_GROUPS, evaluate, padded};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::StudyFolder;
use study::{Conclusion, Costs, estimate_seconds};

/// Rounds where the user names no number.
const ROUNDS: u32 = 64;
/// Greatest overhead that is injected, percent.
const MOST_PERCENT: u64 = 1000;
/// What is measured where the user names nothing: every builtin kernel.
const BENCHMARKS: [&str; 2] = ["cpu", "memory"];
/// Runs are short: many rounds in little time, and a noise floor that longer runs can only lower.
const SHORT: [(&str, &str); 3] = [("time", "150ms"), ("size", "4m"), ("passes", "3")];
/// What stands as the suite's name in the study.
const SUITE: &str = "self-test";

/// Plans, measures, judges.
pub fn selftest(args: &Selftest) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.study {
        return conclude(&StudyFolder::open(path)?, args);
    }
    let (plan, machines) = plan(args)?;
    if args.dry_run {
        super::print(&describe(&plan, &machines))?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.output.clone().unwrap_or_else(default_folder);
    measure(args, plan, &machines, &path)
}

/// Makes the study.
fn measure(args: &Selftest, plan: Plan, planned: &[(String, Kind)], path: &Path) -> anyhow::Result<ExitCode> {
    let guests = planned.iter().filter(|(_, kind)| *kind == Kind::Guest).count() as u64;
    host::require_memory(plan.machine.memory * guests.max(1))?;
    let order = Order { plan, sources: &args.machine.sources, work_dir: path, busy_host: args.machine.busy_host };
    check_host(&order)?;
    let teller = Teller::new();
    teller.say(describe(&order.plan, planned).trim_end());
    let stop = Stop::install()?;
    let prepared = Session::prepare(order, &stop, &teller);
    teller.turn(false);
    let mut session = prepared.inspect_err(|_| teller.done())?;
    take_part(&mut session.manifest, planned);
    session.costs = costs(planned, session.manifest.accelerator);
    // Nothing was measured before, and an empty study would only be in the way.
    let writer = StudyFolder::create(path)?;
    writer.write_manifest(&session.manifest)?;
    let writer = RefCell::new(writer);
    let conclusion = session.conduct(&machines(&session.manifest), &writer, &[], None, &stop, &teller);
    drop(session);
    let writer = writer.into_inner();
    let folder = path.display();
    let resume = format!("Go on with it: vmtax resume {folder}, and then vmtax selftest --study {folder}");
    let Conclusion { how, why, complete_rounds } = conclusion.with_context(|| resume.clone())?;
    let judged = conclude(writer.folder(), args)?;
    eprintln!("Study folder: {folder}");
    Ok(match how {
        Ending::Interrupted | Ending::Failed => {
            eprintln!("{why}; {complete_rounds} complete rounds are kept. {resume}");
            ExitCode::from(if how == Ending::Interrupted { exit::INTERRUPTED } else { exit::FAILED })
        }
        Ending::Finished | Ending::Budget => judged,
    })
}

/// Writes the machines into the manifest: every one is a twin of the host or of the guest, and has its facts.
fn take_part(manifest: &mut Manifest, planned: &[(String, Kind)]) {
    for (name, kind) in planned {
        let twin = if *kind == Kind::Guest { GUEST } else { HOST };
        let facts = manifest.machines.get(twin).cloned().unwrap_or_default();
        manifest.machines.entry(name.clone()).or_insert(facts);
    }
}

/// Prints what a study's folder says and chooses the exit code.
fn conclude(folder: &StudyFolder, args: &Selftest) -> anyhow::Result<ExitCode> {
    let manifest = folder.manifest()?;
    let journal = folder.journal()?;
    for skipped in &journal.skipped {
        eprintln!("Line {} of the journal is left out: {}", skipped.line_number, skipped.why);
    }
    let test = evaluate(&manifest, &journal.lines).with_context(|| {
        format!("{} is not the study of a self-test; show it with vmtax report", folder.path().display())
    })?;
    super::print(&match args.format {
        SelftestFormat::Text => report::selftest::text(&test, &Words::new(language(args.lang))),
        SelftestFormat::Json => report::selftest::json(&test)?,
    })?;
    Ok(ExitCode::from(match test.head().judgement {
        Judgement::Pass => exit::DONE,
        Judgement::Fail | Judgement::TooFewRounds => exit::INCOMPLETE,
    }))
}

/// The plan and the machines.
fn plan(args: &Selftest) -> anyhow::Result<(Plan, Vec<(String, Kind)>)> {
    let catalog = catalog::catalog();
    let host = || (HOST.to_owned(), Kind::Host);
    let (patterns, machines) = match &args.injected {
        Some(list) => {
            let padded = percentages(list)?.into_iter().map(|percent| (padded(percent), Kind::Host));
            (vec!["cpu.canary".to_owned()], std::iter::once(host()).chain(padded).collect())
        }
        None => {
            let twins = [(HOST_B, Kind::Host), (GUEST, Kind::Guest), (GUEST_B, Kind::Guest)];
            let twins = twins.map(|(name, kind)| (name.to_owned(), kind));
            let patterns =
                if args.bench.is_empty() { BENCHMARKS.map(str::to_owned).to_vec() } else { args.bench.clone() };
            (patterns, std::iter::once(host()).chain(twins).collect())
        }
    };
    let word = |flag: &'static str, text: &Option<String>| text.clone().map(|value| Located::flag(flag, value));
    let request = Request {
        params: short(&catalog, &patterns),
        benchmarks: patterns.into_iter().map(|pattern| Located::flag("--bench", pattern)).collect(),
        settings: super::pairs("--set", &args.machine.settings)?,
        rounds: Some(Located::flag("--rounds", rounds(args.rounds.as_deref())?.to_string())),
        seed: word("--seed", &args.seed),
        accel: word("--accel", &args.machine.accel),
        ..Request::default()
    };
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut seed = [0; 8];
    rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty()).context("Could not draw a seed")?;
    let mut plan = Plan::resolve(&request, &catalog, cpus, u64::from_le_bytes(seed))?;
    if let Some(cell) = plan.cells.iter().find(|cell| cell.needs.disk > 0 || !cell.needs.tools.is_empty()) {
        let why = "a self-test measures builtin workloads only, for its second guest has no data disk and no tools";
        return Err(Usage(format!("--bench: {} cannot take part: {why}", cell.benchmark)).into());
    }
    plan.suites = vec![SUITE.to_owned()];
    Ok((plan, machines))
}

/// A number of rounds that makes whole groups.
fn rounds(text: Option<&str>) -> Result<u32, Usage> {
    let Some(text) = text else { return Ok(ROUNDS) };
    match text.parse::<u32>() {
        Ok(n) if n > 0 && n <= MAX_ROUNDS && (n as usize).is_multiple_of(GROUP) => Ok(n),
        _ => Err(Usage(format!(
            "--rounds cannot be '{text}': rounds are judged in groups of eight, so it is a multiple of {GROUP} up to {MAX_ROUNDS}"
        ))),
    }
}

/// A list of whole percentages, each once.
fn percentages(list: &str) -> Result<Vec<u64>, Usage> {
    let wrong = |word: &str| {
        Usage(format!(
            "--injected: '{word}' is not a whole number of percent from 1 to {MOST_PERCENT}, as in 1,3,10,50"
        ))
    };
    let number = |word: &str| {
        let percent = word.trim().parse().ok().filter(|percent| (1..=MOST_PERCENT).contains(percent));
        percent.ok_or_else(|| wrong(word))
    };
    let mut all = list.split(',').map(number).collect::<Result<Vec<u64>, Usage>>()?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The parameters that make runs short, for those benchmarks that have them. A pattern that names none is told by the plan.
fn short(catalog: &Catalog, patterns: &[String]) -> Vec<Located<(String, String)>> {
    let chosen = patterns.iter().filter_map(|pattern| catalog.select(pattern).ok()).flatten();
    chosen
        .flat_map(|benchmark| {
            let has = |key: &str| benchmark.params.iter().any(|param| param.key == key);
            let short = SHORT.iter().filter(move |(key, _)| has(key));
            short.map(|(key, value)| Located::flag("--bench", (format!("{}:{key}", benchmark.id), (*value).to_owned())))
        })
        .collect()
}

/// What will be done and how long it will take.
fn describe(plan: &Plan, machines: &[(String, Kind)]) -> String {
    let names: Vec<String> = machines.iter().map(|(name, _)| name.clone()).collect();
    let likely = match plan.accelerator {
        AcceleratorChoice::Tcg => Accelerator::Tcg,
        _ => Accelerator::Kvm,
    };
    let estimate = estimate_seconds(plan, &names, costs(machines, likely));
    let [all, round] = [estimate.most, estimate.per_round].map(show_duration);
    let benchmarks = plan.cells.len();
    let mut text = format!(
        "Self-test: {benchmarks} benchmark{} x {} rounds on {}\nAbout {all} ({round} a round), seed {}\n",
        if benchmarks == 1 { "" } else { "s" },
        plan.rounds,
        names.join(", "),
        plan.seed
    );
    if (plan.rounds as usize) < LEAST_GROUPS * GROUP {
        text.push_str(&format!("Too few rounds to judge: that takes {}\n", LEAST_GROUPS * GROUP));
    }
    text
}

/// What a round costs beside its runs: without tools and disk, and with more or fewer guests than one, it is not what is typical.
fn costs(machines: &[(String, Kind)], accelerator: Accelerator) -> Costs {
    let guests = machines.iter().filter(|(_, kind)| *kind == Kind::Guest).count() as f64;
    let (boot, guest_run_seconds) = match accelerator {
        Accelerator::Kvm => (1.5, 0.02),
        Accelerator::Tcg => (3.0, 0.1),
    };
    // Every machine is watched for half a second, and asked for its canary twice.
    let round_seconds = guests * boot + machines.len() as f64 * 1.2;
    Costs { round_seconds, guest_run_seconds: if guests > 0.0 { guest_run_seconds } else { 0.0 } }
}

fn default_folder() -> PathBuf {
    PathBuf::from(format!("vmtax-selftest-{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S")))
}

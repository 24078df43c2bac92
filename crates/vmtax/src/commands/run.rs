//! `vmtax run`: from a request to a report.

use crate::catalog;
use crate::cli::Run;
use crate::exit::{self, Usage};
use crate::progress::Teller;
use crate::session::{Order, Session, check_host, host_and_guest, work_dir};
use crate::signals::Stop;
use anyhow::Context;
use model::plan::{AcceleratorChoice, FIRST_LOOK, Located, Request};
use model::quantity::{parse_duration, show_duration, show_size};
use model::record::{Ending, GUEST, HOST};
use model::{Accelerator, Plan};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{StudyFolder, StudyWriter};
use study::{Conclusion, Costs, estimate_seconds};

/// Plans, prepares, measures, reports.
pub fn run(args: &Run) -> anyhow::Result<ExitCode> {
    let plan = plan(args)?;
    let run_timeout = timeout(args.run_timeout.as_deref())?;
    if args.dry_run {
        super::print(&describe(&plan))?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.output.clone().unwrap_or_else(default_folder);
    let order = Order {
        work_dir: &work_dir(args.work_dir.as_ref(), &path),
        busy_host: args.machine.busy_host,
        sources: &args.machine.sources,
        plan,
    };
    check_host(&order)?;
    let teller = Teller::new();
    teller.say(&describe(&order.plan));

    let stop = Stop::install()?;
    let writer = StudyFolder::create(&path)?;
    let session = match Session::prepare(order, &stop, &teller) {
        Ok(session) => session,
        Err(error) => {
            teller.done();
            // Nothing was measured: an empty study would only be in the way.
            drop(writer);
            discard(&path);
            return Err(error);
        }
    };
    writer.write_manifest(&session.manifest)?;
    if session.manifest.accelerator == Accelerator::Tcg {
        let why = session.manifest.accelerator_note.as_deref().unwrap_or("as asked for");
        teller.say(&format!("Emulated (TCG), not what KVM would cost: {why}"));
    }
    for note in &session.manifest.notes {
        teller.say(note);
    }
    let writer = RefCell::new(writer);
    let conclusion = session.conduct(&host_and_guest(), &writer, &[], run_timeout, &stop, &teller);
    drop(session);
    finish(&writer.into_inner(), conclusion)
}

/// The longest time for one run, seconds.
pub fn timeout(text: Option<&str>) -> anyhow::Result<Option<f64>> {
    text.map(parse_duration).transpose().map_err(|e| Usage(format!("--run-timeout: {e}")).into())
}

/// Reports what there is, also after a failure, and chooses the exit code.
pub fn finish(writer: &StudyWriter, conclusion: anyhow::Result<Conclusion>) -> anyhow::Result<ExitCode> {
    let folder = writer.folder();
    let reported = super::report::conclude(folder);
    let resume = format!("Go on with it: vmtax resume {}", folder.path().display());
    // What ended the study says more than what then could not be written.
    let Conclusion { how, why, complete_rounds } = conclusion.with_context(|| resume.clone())?;
    let complete = reported?;
    Ok(ExitCode::from(match how {
        Ending::Interrupted => {
            eprintln!("{why}; {complete_rounds} complete rounds are kept. {resume}");
            exit::INTERRUPTED
        }
        Ending::Failed => {
            eprintln!("The study could not go on: {why}. {complete_rounds} complete rounds are kept. {resume}");
            exit::FAILED
        }
        Ending::Budget | Ending::Finished if complete => exit::DONE,
        Ending::Budget | Ending::Finished => exit::INCOMPLETE,
    }))
}

fn plan(args: &Run) -> anyhow::Result<Plan> {
    let file = match &args.plan {
        None => Request::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Usage(format!("Could not read the plan {}: {e}", path.display())))?;
            Request::from_toml(&text, &path.display().to_string())?
        }
    };
    let word = |flag: &'static str, text: &Option<String>| text.clone().map(|value| Located::flag(flag, value));
    let words = |flag: &'static str, all: &[String]| all.iter().map(|w| Located::flag(flag, w.clone())).collect();
    let flags = Request {
        suites: words("--suite", &args.suite),
        benchmarks: words("--bench", &args.bench),
        settings: super::pairs("--set", &args.machine.settings)?,
        params: super::pairs("--param", &args.params)?,
        limits: super::pairs("--limit", &args.limits)?,
        rounds: word("--rounds", &args.rounds),
        max_rounds: word("--max-rounds", &args.max_rounds),
        precision: word("--precision", &args.precision),
        seed: word("--seed", &args.seed),
        budget: word("--budget", &args.budget),
        accel: word("--accel", &args.machine.accel),
    };
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let mut seed = [0; 8];
    rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty()).context("Could not draw a seed")?;
    Ok(Plan::resolve(&file.overlaid(flags), &catalog::catalog(), cpus, u64::from_le_bytes(seed))?)
}

/// What will be done and how long it will take, before anything is.
fn describe(plan: &Plan) -> String {
    let machines = [HOST.to_owned(), GUEST.to_owned()];
    let likely = match plan.accelerator {
        AcceleratorChoice::Tcg => Accelerator::Tcg,
        _ => Accelerator::Kvm,
    };
    let estimate = estimate_seconds(plan, &machines, Costs::typical(likely));
    let rounds = match plan.precision {
        None => plan.rounds.to_string(),
        Some(_) => format!("{FIRST_LOOK} to {}", plan.rounds),
    };
    let mut text = format!(
        "{} benchmarks x {rounds} rounds, host against a guest of {} vCPU{}, {}",
        plan.cells.len(),
        plan.machine.cpus,
        if plan.machine.cpus == 1 { "" } else { "s" },
        show_size(plan.machine.memory),
    );
    text.push_str(&match plan.configuration.name.as_str() {
        "reference" => " (reference)\n".to_owned(),
        name => format!("\n  with {name}\n"),
    });
    let [least, most, round] = [estimate.least, estimate.most, estimate.per_round].map(show_duration);
    text.push_str(&match plan.precision {
        None => format!("About {most} ({round} a round"),
        Some(_) => format!("About {least}, at most {most} ({round} a round; what is precise enough leaves"),
    });
    if let Some(budget) = plan.budget_seconds {
        text.push_str(&format!("; the budget is {}", show_duration(budget)));
        if estimate.per_round > budget {
            text.push_str(", too little for one round");
        }
    }
    text.push_str(&format!("), seed {}", plan.seed));
    if plan.disk_bytes() > 0 {
        text.push_str(&format!(", {} of disk", show_size(plan.disk_bytes())));
    }
    text.push('\n');
    text
}

fn default_folder() -> PathBuf {
    PathBuf::from(format!("vmtax-{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S")))
}

/// Removes a study folder in which nothing was measured; whatever vmtax did not make stays, and so does the folder then.
fn discard(path: &Path) {
    for file in ["lock", "journal.jsonl"] {
        let _ = std::fs::remove_file(path.join(file));
    }
    for folder in [path.join("raw"), path.to_owned()] {
        let _ = std::fs::remove_dir(folder);
    }
}

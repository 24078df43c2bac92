//! `vmtax vm -- CMD`: boots a guest, runs one command with the host's tools in it, shows its output.

use crate::cli::Vm;
use crate::exit::Interrupted;
use crate::signals::Stop;
use crate::trial;
use crate::workshop::Workshop;
use crate::{exit, host};
use anyhow::Context;
use machines::pipe::{Observer, PipeError};
use model::Accelerator;
use model::messages::{Task, TaskResult};
use model::plan::{AcceleratorChoice, Located, PlanError, Request};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Programs that are carried into the guest beside the command, where the host has them: a shell and what one looks around with.
const COMPANY: &[&str] = &[
    "sh", "cat", "ls", "echo", "grep", "sed", "head", "tail", "wc", "sort", "uname", "mount", "df", "free", "ps",
    "dmesg", "lscpu", "lsblk", "lspci", "ip", "dd", "sleep", "env", "id", "true", "false", "test", "date", "uptime",
    "nproc", "sync",
];
/// Bytes of output that are kept of each stream.
const LIMIT: u64 = 32 << 20;

struct Waiting<'a>(&'a Stop);

impl Observer for Waiting<'_> {
    fn begin(&mut self) {}
    fn end(&mut self) {}
    fn stop(&self) -> bool {
        self.0.asked()
    }
}

/// Boots, runs, shows; the exit code is the command's.
pub fn vm(args: &Vm) -> anyhow::Result<ExitCode> {
    let stop = Stop::install()?;
    let timeout = model::quantity::parse_duration(&args.timeout).map_err(|e| exit::Usage(format!("--timeout: {e}")))?;
    let choice = accelerator(args.machine.accel.as_deref())?;
    let settings = super::pairs("--set", &args.machine.settings)?;
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let chosen = settings.iter().map(|s| (s.value.0.as_str(), s.value.1.as_str()));
    let (spec, _) = model::settings::configure(cpus, chosen).map_err(|e| exit::Usage(format!("--set: {e}")))?;
    host::require_root()?;
    host::require_memory(spec.memory)?;

    let workshop = Workshop::open(&args.machine.sources)?;
    let mut programs = vec![args.command[0].clone()];
    programs.extend(args.with.iter().cloned());
    programs.extend(
        COMPANY.iter().filter(|name| machines::elf::find_program(name).is_some()).map(|name| (*name).to_owned()),
    );
    let toolbox = workshop.toolbox(&programs)?;
    let mut recipe = workshop.recipe(&spec, Accelerator::Tcg, &host::cpu_set(spec.cpus)?);
    recipe.toolbox = Some(toolbox.image);
    recipe.kernel_words = "vmtax.toolbox".to_owned();
    let mut trial = trial::boot(&workshop, &mut recipe, choice, &stop)?;
    if let Some(note) = &trial.note {
        eprintln!("Emulated (TCG): {note}");
    }

    let task = Task::Tool { argv: args.command.clone(), env: BTreeMap::new(), limit: LIMIT, files: Vec::new() };
    let outcome = trial.guest.agent.run(task, Duration::from_secs_f64(timeout), &mut Waiting(&stop));
    if args.console {
        eprintln!("{}", model::text::printable(&trial.guest.console(), usize::MAX));
    }
    let finished = match outcome {
        Ok(finished) => finished,
        Err(PipeError::Stopped) => return Err(Interrupted.into()),
        Err(error) => {
            let autopsy = trial.guest.autopsy(Some(&error));
            return Err(anyhow::anyhow!(autopsy)).context("The command did not come to its end");
        }
    };
    std::io::stdout().write_all(&finished.stdout)?;
    std::io::stderr().write_all(&finished.stderr)?;
    let code = match finished.result {
        TaskResult::Exited { code: Some(code), .. } => code as u8,
        TaskResult::Exited { signal: Some(signal), .. } => 128 + signal as u8,
        TaskResult::Failed { why, .. } => anyhow::bail!("In the guest: {}", model::text::printable(&why, 500)),
        other => anyhow::bail!("The guest answered out of turn: {other:?}"),
    };
    Ok(ExitCode::from(code))
}

fn accelerator(word: Option<&str>) -> Result<AcceleratorChoice, PlanError> {
    let request = Request { accel: word.map(|w| Located::flag("--accel", w.to_owned())), ..Request::default() };
    request.accelerator()
}

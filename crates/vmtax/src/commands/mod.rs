//! One file per subcommand.

mod clean;
mod compare;
mod doctor;
mod hidden;
mod list;
mod report;
mod resume;
mod run;
mod selftest;
mod vm;

use crate::cli::{Cli, Command};
use crate::exit::Usage;
use std::process::ExitCode;

/// Does what the command line says.
pub fn dispatch(args: Cli) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Selftest(args) => selftest::selftest(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::List(args) => list::list(&args),
        Command::Vm(args) => vm::vm(&args),
        Command::Clean(args) => clean::clean(&args),
        Command::GuestKernel { unpack, cache } => hidden::guest_kernel(unpack.as_deref(), cache),
        Command::Agent { scratch } => hidden::agent(&scratch),
        Command::Worker => hidden::worker(),
        Command::Keeper { lease } => hidden::keeper(&lease),
    }
}

/// Splits `KEY=VALUE` words of a repeatable flag.
fn pairs(flag: &'static str, words: &[String]) -> anyhow::Result<Vec<model::plan::Located<(String, String)>>> {
    words
        .iter()
        .map(|word| match word.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                Ok(model::plan::Located::flag(flag, (key.to_owned(), value.to_owned())))
            }
            _ => Err(Usage(format!("{flag}: '{word}' is not of the form KEY=VALUE")).into()),
        })
        .collect()
}

/// Writes to standard output; a reader that hangs up (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

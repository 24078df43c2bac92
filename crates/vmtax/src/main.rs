//! vmtax: what does virtualization cost on this machine, where does the cost go, and which VM settings make it smaller?
//!
//! One static binary: the command line, the agent in every machine under test, and process 1 of the guests that it boots.

mod bits;
mod catalog;
mod cli;
mod commands;
mod exit;
mod findings;
mod host;
mod lab;
mod progress;
mod session;
mod signals;
mod trial;
mod workshop;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // As /init it is process 1 of a guest, and no command line is meant for it.
    if rustix::process::getpid().is_init() && std::env::args_os().next().is_some_and(|name| name == "/init") {
        agent::init::run();
        return ExitCode::FAILURE;
    }
    let args = cli::Cli::parse();
    match commands::dispatch(args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("Error: {error:#}");
            exit::code_of(&error)
        }
    }
}

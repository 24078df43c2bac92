//! `vmtax report`: the report of a study, from its folder alone.

use crate::cli::{Format, Report};
use anyhow::Context;
use report::{Analysis, Style};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use store::StudyFolder;

/// Largest histogram that is read, bytes. fio's own have some 30 kB.
const LARGEST_RAW: u64 = 16 << 20;
/// Columns where the terminal does not say.
const COLUMNS: usize = 80;

/// Prints or writes one format.
pub fn report(args: &Report) -> anyhow::Result<ExitCode> {
    let analysis = analyse(&StudyFolder::open(&args.study)?)?;
    let text = match args.format {
        Format::Text => report::text(&analysis, &style(args.output.is_none())),
        Format::Html => report::html(&analysis)?,
        Format::Json => report::json(&analysis)?,
    };
    match &args.output {
        // Never over something that is there: vmtax runs as root, and the name may be a device's.
        Some(path) => File::create_new(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("Could not write {}; name a file that is not there yet", path.display()))?,
        None => super::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a study; damaged journal lines are told on standard error.
pub fn analyse(folder: &StudyFolder) -> anyhow::Result<Analysis> {
    let manifest = folder.manifest()?;
    let journal = folder.journal()?;
    for skipped in &journal.skipped {
        eprintln!("Line {} of the journal is left out: {}", skipped.line_number, skipped.why);
    }
    let raws = |name: &str| folder.read_raw_within(name, LARGEST_RAW).map_err(|e| e.to_string());
    Ok(report::analyse(&manifest, &journal.lines, &raws))
}

/// How the terminal wants its text.
fn style(to_terminal: bool) -> Style {
    let terminal = to_terminal && std::io::stdout().is_terminal();
    let width = if terminal {
        rustix::termios::tcgetwinsize(std::io::stdout()).map(|s| usize::from(s.ws_col)).ok()
    } else {
        None
    };
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
    Style { width: width.filter(|w| *w > 0).unwrap_or(COLUMNS), color: terminal && wanted }
}

/// At the end of a study: the table on standard output, the page in the study folder. Returns whether all cells are there.
pub fn conclude(folder: &StudyFolder) -> anyhow::Result<bool> {
    let mut analysis = analyse(folder)?;
    analysis.folder = Some(folder.path().display().to_string());
    let page = folder.path().join("report.html");
    write_whole(&page, &report::html(&analysis)?)?;
    super::print(&report::text(&analysis, &style(true)))?;
    super::print(&format!("\nReport: {}\n", page.display()))?;
    Ok(analysis.benchmarks.iter().all(|b| b.blocks > 0 && b.blocks_dropped == 0 && !b.is_refused()))
}

/// Replaces a file in one step. What a killed vmtax left half written is written anew.
fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let part = path.with_extension("html.part");
    let write = || {
        let _ = std::fs::remove_file(&part);
        File::create_new(&part)?.write_all(text.as_bytes())?;
        std::fs::rename(&part, path)
    };
    write().with_context(|| format!("Could not write {}", path.display()))
}

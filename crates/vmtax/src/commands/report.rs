//! `vmtax report`: the report of a study, from its folder alone.

use crate::cli::{Format, Language, Report};
use anyhow::Context;
use report::{Analysis, Lang, Style, Words};
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
    let words = Words::new(language(args.lang));
    let text = match args.format {
        Format::Text => report::text(&analysis, &style(args.output.is_none()), &words),
        Format::Html => report::html(&analysis, &words)?,
        Format::Markdown => report::markdown(&analysis, &words),
        Format::Csv => report::csv(&analysis),
        Format::Json => report::json(&analysis)?,
        Format::Schema => report::JSON_SCHEMA.to_owned(),
    };
    put(&text, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a text, or writes it to a file: never over something that is there, since vmtax runs as root and the name may be a device's.
pub fn put(text: &str, output: Option<&Path>) -> anyhow::Result<()> {
    match output {
        Some(path) => File::create_new(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("Could not write {}; name a file that is not there yet", path.display())),
        None => super::print(text),
    }
}

/// The language asked for, else that of the locale (POSIX: the first of these variables that is set and not empty).
pub fn language(asked: Option<Language>) -> Lang {
    let locale = || {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
        set.into_iter().find(|value| !value.is_empty())
    };
    match asked {
        Some(Language::En) => Lang::En,
        Some(Language::Zh) => Lang::Zh,
        None => locale().map_or(Lang::En, |name| Lang::of_locale(&name)),
    }
}

/// Reads a study; damaged journal lines are told on standard error.
pub fn analyse(folder: &StudyFolder) -> anyhow::Result<Analysis> {
    let manifest = folder.manifest()?;
    let journal = folder.journal()?;
    for skipped in &journal.skipped {
        let folder = folder.path().display();
        eprintln!("Line {} of the journal of {folder} is left out: {}", skipped.line_number, skipped.why);
    }
    let raws = |name: &str| folder.read_raw_within(name, LARGEST_RAW).map_err(|e| e.to_string());
    Ok(report::analyse(&manifest, &journal.lines, &raws))
}

/// How the terminal wants its text.
pub fn style(to_terminal: bool) -> Style {
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
    let words = Words::new(language(None));
    write_whole(&page, &report::html(&analysis, &words)?)?;
    super::print(&report::text(&analysis, &style(true), &words))?;
    super::print(&format!("\nReport: {}\n", page.display()))?;
    Ok(analysis.benchmarks.iter().all(|b| b.blocks > 0 && b.blocks_dropped == 0 && !b.invalid))
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

//! A journal that anybody may have damaged: every line is read or told of, and every report can be made of it, without a
//! byte of it becoming markup or a terminal's command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::record::Manifest;
use std::sync::LazyLock;
use store::Journal;

static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
    let golden = include_str!("../../crates/store/tests/golden/format-1/manifest.json");
    serde_json::from_str(golden).expect("the golden manifest")
});

fuzz_target!(|bytes: &[u8]| {
    let journal = Journal::parse(bytes);
    let filled = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    assert_eq!(journal.lines.len() + journal.skipped.len(), filled);
    let analysis = report::analyse(&MANIFEST, &journal.lines, &|name| Err(format!("{name} is not there")));
    let text = report::text(&analysis, &report::Style { width: 80, color: false });
    assert!(!text.contains('\u{1b}'), "an escape code reached the terminal");
    let html = report::html(&analysis).expect("a page");
    assert!(!html.contains('\u{1b}'), "an escape code reached the page");
    report::json(&analysis).expect("a JSON report");
    let tables = [report::csv(&analysis), report::markdown(&analysis, &report::Words::new(report::Lang::En))];
    assert!(tables.iter().all(|table| !table.contains('\u{1b}')), "an escape code reached a table");
});

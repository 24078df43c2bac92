//! `vmtax list`: the benchmarks, settings and suites of this build.

use crate::catalog::{SUITES, catalog};
use crate::cli::{List, Topic};
use model::params::{ParamKind, ParamSpec};
use model::quantity::{show_duration, show_size};
use model::{Benchmark, ParamValue, settings};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Prints what was asked for.
pub fn list(args: &List) -> anyhow::Result<ExitCode> {
    let wanted = |topic| args.topic.is_none_or(|t| t == topic);
    if args.json {
        let mut all = serde_json::Map::new();
        if wanted(Topic::Benchmarks) {
            all.insert("benchmarks".to_owned(), serde_json::to_value(catalog().benchmarks().collect::<Vec<_>>())?);
        }
        if wanted(Topic::Settings) {
            all.insert("settings".to_owned(), settings_json());
        }
        if wanted(Topic::Suites) {
            let suites: Vec<Value> =
                SUITES.iter().map(|s| json!({ "name": s.name, "doc": s.doc, "benchmarks": s.benchmarks })).collect();
            all.insert("suites".to_owned(), Value::Array(suites));
        }
        super::print(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    if wanted(Topic::Suites) {
        text.push_str("Suites (--suite)\n");
        for suite in SUITES {
            entry(&mut text, suite.name, suite.doc);
        }
        text.push('\n');
    }
    if wanted(Topic::Benchmarks) {
        text.push_str("Benchmarks (--bench), with their parameters (--param [BENCH:]KEY=VALUE)\n");
        for benchmark in catalog().benchmarks() {
            entry(&mut text, &benchmark.id, &benchmark.doc);
            paragraph(&mut text, &metrics(benchmark));
            paragraph(&mut text, &benchmark.params.iter().map(param).collect::<Vec<_>>().join(", "));
        }
        text.push('\n');
    }
    if wanted(Topic::Settings) {
        text.push_str("Settings of the guest (--set KEY=VALUE)\n");
        for setting in settings::ALL {
            entry(&mut text, setting.key(), &format!("{} Takes: {}.", setting.doc(), setting.values()));
        }
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn settings_json() -> Value {
    let reference = settings::reference(u32::MAX);
    let all = settings::ALL.iter().map(
        |s| json!({ "key": s.key(), "doc": s.doc(), "takes": s.values().to_string(), "default": s.read(&reference) }),
    );
    Value::Array(all.collect())
}

fn metrics(benchmark: &Benchmark) -> String {
    let all =
        benchmark.metrics.iter().map(|m| format!("{} [{}]{}", m.id, m.shown.symbol, if m.primary { "*" } else { "" }));
    format!("yields {} (* primary)", all.collect::<Vec<_>>().join(", "))
}

fn param(spec: &ParamSpec) -> String {
    let value = match (&spec.kind, &spec.default) {
        (ParamKind::Size, ParamValue::Integer(bytes)) => show_size(*bytes).replace(' ', ""),
        (ParamKind::Duration, ParamValue::Number(seconds)) => show_duration(*seconds).replace(' ', ""),
        (ParamKind::Choice(words), _) => words.join("|"),
        (_, value) => value.to_string(),
    };
    format!("{}={value}", spec.key)
}

fn entry(text: &mut String, name: &str, doc: &str) {
    text.push_str(&format!("  {name}\n"));
    paragraph(text, doc);
}

fn paragraph(text: &mut String, words: &str) {
    for line in wrap(words, 74).iter().filter(|line| !line.is_empty()) {
        text.push_str(&format!("      {line}\n"));
    }
}

/// Breaks at spaces so that no line is wider than `width` where its words allow.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines
}

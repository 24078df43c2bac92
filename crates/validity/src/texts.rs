//! Docs and texts keep step with the rules: what can be seen has a sentence in every language, and a row in the docs.

use crate::fixture::Scene;
use crate::soundness::{all_checks, scene};
use model::check::{Check, Fact, Threat};
use model::{Area, Limits};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stats::Interval;
use std::collections::{BTreeMap, BTreeSet};

const ENGLISH: &str = include_str!("../../report/locales/en/checks.ftl");
const CHINESE: &str = include_str!("../../report/locales/zh/checks.ftl");
const DOCS: &str = include_str!("../../../docs/checks.md");
const SOURCES: &[&str] = &[
    include_str!("block.rs"),
    include_str!("course.rs"),
    include_str!("machines/mod.rs"),
    include_str!("machines/canary.rs"),
    include_str!("run/mod.rs"),
    include_str!("run/clock.rs"),
    include_str!("run/contention.rs"),
    include_str!("run/disk.rs"),
    include_str!("run/latency.rs"),
    include_str!("run/length.rs"),
    include_str!("run/memory.rs"),
];

/// Messages of a Fluent file with the variables that they use.
fn messages(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some((key, _)) = line.split_once(" = ").filter(|(key, _)| key.starts_with("check-")) {
            current = Some(key);
            found.insert(key, BTreeSet::new());
        }
        let Some(variables) = current.and_then(|key| found.get_mut(key)) else { continue };
        for part in line.split('$').skip(1) {
            let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(part.len());
            variables.insert(part[..end].trim_end_matches('-'));
        }
    }
    found
}

/// The key of a check's sentence, as reports choose it.
fn sentence(check: &Check) -> String {
    match check.evidence.get("shape") {
        Some(Fact::Word(shape)) => format!("check-{}-evidence-{shape}", check.threat.key()),
        _ => format!("check-{}-evidence", check.threat.key()),
    }
}

#[test]
fn whatever_is_seen_has_a_sentence_and_every_variable_of_it() {
    let texts = [messages(ENGLISH), messages(CHINESE)];
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut sentences = BTreeSet::new();
    for turn in 0..400 {
        let high = [-0.5, 0.5][turn % 2];
        let interval = Interval { estimate: high, low: high, high, level: 0.95, n: 8 };
        let mut scenes: Vec<Scene> = (0..16).map(|_| scene().new_tree(&mut runner).unwrap().current()).collect();
        scenes.extend([Scene::host(Area::Disk), Scene::guest(Area::Disk)]);
        for check in all_checks(&scenes, 0.05, &interval) {
            let key = sentence(&check);
            for text in &texts {
                let variables = text.get(key.as_str()).unwrap_or_else(|| panic!("no text {key}"));
                let missing: Vec<_> = variables.iter().filter(|name| !check.evidence.contains_key(**name)).collect();
                assert!(missing.is_empty(), "{key}: {missing:?} are not in {:?}", check.evidence);
            }
            sentences.insert(key);
        }
    }
    assert!(sentences.len() > 60, "too few of the sentences were tried: {sentences:?}");
}

#[test]
fn every_shape_of_the_texts_is_one_that_the_rules_can_see_and_the_reverse() {
    let code: String = SOURCES.iter().map(|text| text.split("#[cfg(test)]").next().unwrap_or_default()).collect();
    let english = messages(ENGLISH);
    let mut shapes = BTreeSet::new();
    for key in english.keys() {
        if let Some((_, shape)) = key.split_once("-evidence-").filter(|(_, shape)| *shape != "unknown") {
            assert!(code.contains(&format!("\"{shape}\"")), "nothing sees {key}");
            shapes.insert(shape);
        }
    }
    assert!(shapes.len() > 40);
}

#[test]
fn every_threat_has_a_title_advice_and_a_word_for_what_could_not_be_read() {
    for text in [messages(ENGLISH), messages(CHINESE)] {
        for threat in Threat::ALL.iter().chain([&Threat::Unknown]) {
            for part in ["title", "advice", "evidence-unknown"] {
                let key = format!("check-{}-{part}", threat.key());
                assert!(text.contains_key(key.as_str()), "{key}");
            }
        }
    }
}

#[test]
fn the_docs_have_a_row_for_every_threat_and_name_every_limit_with_its_default() {
    let rows: Vec<&str> = DOCS.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let (threats, limits): (Vec<&str>, Vec<&str>) =
        rows.iter().partition(|key| Threat::ALL.iter().any(|threat| threat.key() == **key));
    assert_eq!(threats, Threat::ALL.iter().map(|threat| threat.key()).collect::<Vec<_>>(), "the table of threats");
    assert_eq!(limits, Limits::ALL.iter().map(|(key, ..)| *key).collect::<Vec<_>>(), "the table of limits");
    let (table, list) = DOCS.split_once("| limit |").expect("the table of limits");
    for (key, default, _) in Limits::ALL {
        assert!(table.contains(&format!("`{key}`")), "no threat names the limit {key}");
        let row = list.lines().find(|line| line.starts_with(&format!("| `{key}` |"))).unwrap();
        assert!(row.contains(&format!("| {default} |")), "{row}");
    }
}

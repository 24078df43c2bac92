//! Texts: what they look like, that they parse, and what must never get through.

use crate::{gate, named, sample::Study, study};
use model::Area;
use model::record::HOST;
use unicode_width::UnicodeWidthStr;
use vmtax_report::compare::{Gate, compare, json, junit, markdown, text};
use vmtax_report::{Lang, Style, Words};

const PLAIN: Style = Style { width: 80, color: false };

/// A comparison that has a bit of everything.
fn mixed() -> Gate {
    let a = study(1, 8, 1.0);
    let mut b = study(2, 8, 1.06);
    b.manifest.hypervisor.version = "QEMU emulator version 10.1.0 (Debian 1:10.1.0+ds-1)".to_owned();
    b.manifest.machines.get_mut(HOST).unwrap().kernel_release = "6.14.1".to_owned();
    b.manifest.plan.cells[3].params.set("time", model::ParamValue::Number(2.0));
    let mut c = study(3, 8, 1.06);
    c.manifest = model::Manifest { created: c.manifest.created, ..b.manifest.clone() };
    c.each_run(|run| {
        if let ("cpu.dhrystone", model::Outcome::Measured { values }, "guest") =
            (run.benchmark.as_str(), &mut run.outcome, run.machine.as_str())
        {
            values.values_mut().for_each(|value| *value *= 1.06);
        }
    });
    compare(&named(&a, "studies/linux-6.12"), &named(&b, "studies/linux-6.14"), Some(&named(&c, "studies/again")), None)
        .unwrap()
}

fn all(gate: &Gate) -> Vec<String> {
    let mut texts = vec![json(gate).unwrap()];
    for words in Lang::ALL.map(Words::new) {
        texts.extend([text(gate, &PLAIN, &words), markdown(gate, &words), junit(gate, &words).unwrap()]);
    }
    texts
}

#[test]
fn a_comparison_in_80_columns() {
    insta::assert_snapshot!(text(&mixed(), &PLAIN, &Words::new(Lang::En)));
}

#[test]
fn a_comparison_in_chinese() {
    insta::assert_snapshot!(text(&mixed(), &PLAIN, &Words::new(Lang::Zh)));
}

#[test]
fn a_comparison_as_markdown() {
    insta::assert_snapshot!(markdown(&mixed(), &Words::new(Lang::En)));
}

#[test]
fn no_line_is_wider_than_80_columns_and_colours_change_no_letter() {
    let many = gate(&study(1, 3, 1.0), &study(2, 3, 40.0));
    for gate in [mixed(), many] {
        for words in Lang::ALL.map(Words::new) {
            let plain = text(&gate, &PLAIN, &words);
            assert!(plain.lines().all(|line| line.width() <= 80), "{plain}");
            let mut coloured = text(&gate, &Style { color: true, ..PLAIN }, &words);
            assert_ne!(plain, coloured);
            for code in ["0", "1", "2", "32", "33"] {
                coloured = coloured.replace(&format!("\u{1b}[{code}m"), "");
            }
            assert_eq!(plain, coloured);
        }
    }
}

#[test]
fn the_same_studies_give_the_same_bytes() {
    assert_eq!(all(&mixed()), all(&mixed()));
}

#[test]
fn every_message_that_is_used_is_there_in_both_languages() {
    let few = gate(&study(1, 3, 1.0), &study(2, 3, 1.0));
    let gone =
        compare(&study(1, 8, 1.0).analyse(), &study(2, 8, 1.2).analyse(), Some(&study(3, 3, 1.0).analyse()), None);
    for gate in [mixed(), few, gone.unwrap(), gate(&study(1, 8, 1.0), &study(2, 8, 1.0))] {
        for text in &all(&gate)[1..] {
            let holes = ["compare-", "{ $", "{$"].map(|hole| text.match_indices(hole).next());
            assert_eq!(holes, [None; 3], "{text}");
        }
    }
}

#[test]
fn each_metric_is_a_test_case_and_a_regression_a_failure() {
    let gate = mixed();
    let xml = junit(&gate, &Words::new(Lang::En)).unwrap();
    let parsed = roxmltree::Document::parse(&xml).unwrap();
    let suite = parsed.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    let outcome = |name: &str| {
        let case = cases.iter().find(|case| case.attribute("name") == Some(name)).unwrap();
        ["failure", "skipped"].into_iter().find(|kind| case.children().any(|node| node.has_tag_name(*kind)))
    };
    assert_eq!(cases.len(), gate.primary().count() + gate.left_out.len());
    assert_eq!(outcome("cpu.whetstone rate"), Some("failure"));
    assert_eq!(outcome("cpu.dhrystone rate"), None, "C refutes it");
    assert_eq!(outcome("memory.memcpy"), Some("skipped"));
    let failures = cases.iter().filter(|case| case.children().any(|node| node.has_tag_name("failure"))).count();
    assert_eq!(suite.attribute("failures"), Some(failures.to_string().as_str()));
    assert_eq!(suite.attribute("tests"), Some(cases.len().to_string().as_str()));
    assert!(!xml.contains("timestamp"));

    let few = junit(&crate::gate(&study(1, 3, 1.0), &study(2, 3, 1.0)), &Words::new(Lang::Zh)).unwrap();
    let parsed = roxmltree::Document::parse(&few).unwrap();
    assert_eq!(parsed.root_element().attribute("skipped"), Some("12"));
}

/// Text from a machine that wants to be more than text.
fn hostile() -> Gate {
    const NASTY: &str = "</script>\u{1b}[31m\u{0}\u{202e}]]>&amp; | **b** `c` \"'\n\n# x";
    let bend = |mut study: Study, tail: &str| {
        let name = format!("{NASTY}{tail}");
        study.manifest.hypervisor.version = name.clone();
        study.manifest.plan.configuration.name = name.clone();
        study.manifest.plan.configuration.settings.insert(NASTY.to_owned(), name.clone());
        study.manifest.tools[0].version = name.clone();
        study.manifest.benchmarks[0].title = NASTY.to_owned();
        study.manifest.machines.get_mut(HOST).unwrap().kernel_release = name;
        study.only(&[Area::Cpu, Area::Disk])
    };
    let (a, b) = (bend(study(1, 8, 1.0), "a"), bend(study(2, 8, 1.0), "b"));
    compare(&named(&a, NASTY), &named(&b, "after"), None, None).unwrap()
}

#[test]
fn hostile_text_stays_text() {
    let gate = hostile();
    for words in Lang::ALL.map(Words::new) {
        let (terminal, page) = (text(&gate, &PLAIN, &words), markdown(&gate, &words));
        for text in [&terminal, &page] {
            assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']), "{text}");
        }
        assert!(!page.contains("</script>") && !page.contains("**b**") && !page.contains("\n# x"), "{page}");
        let xml = junit(&gate, &words).unwrap();
        assert!(roxmltree::Document::parse(&xml).is_ok(), "{xml}");
    }
    let back: serde_json::Value = serde_json::from_str(&json(&gate).unwrap()).unwrap();
    assert_eq!(back["decision"], "no_regression");
}

//! The comparison as JUnit XML, which CI systems show test by test: one test case for each primary metric.

use super::{Change, Gate, Verdict, sentences};
use crate::ReportError;
use crate::figures::percent;
use crate::locale::Words;
use model::text::printable;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Most characters of one text.
const LONGEST: usize = 2000;

/// JUnit XML. A regression is a failure; what could not be decided for want of rounds, of equal cells or of an answer from C is
/// skipped. No times are in it: the same studies give the same bytes.
pub fn junit(gate: &Gate, words: &Words) -> Result<String, ReportError> {
    let mut suite = TestSuite::new("vmtax compare");
    for study in &gate.studies {
        suite.add_property((format!("study.{}", study.which.letter()), shown(&study.name)));
    }
    for difference in &gate.differences {
        let [a, b] = sentences::values(difference, words);
        let of = difference.of.as_ref().map_or(String::new(), |of| format!(".{of}"));
        suite.add_property((shown(&format!("{}{of}", difference.key)), shown(&format!("{a} → {b}"))));
    }
    for change in gate.primary() {
        suite.add_test_case(case(gate, change, words));
    }
    for left in &gate.left_out {
        let mut status = TestCaseStatus::skipped();
        status.set_message(shown(&sentences::left_out(left, words)));
        let metric = left.metric.as_ref().map_or(String::new(), |metric| format!(" {metric}"));
        let mut case = TestCase::new(shown(&format!("{}{metric}", left.benchmark)), status);
        case.set_classname("vmtax.compare");
        suite.add_test_case(case);
    }
    suite.set_system_out(shown(&sentences::answer(gate, words)));
    let mut report = Report::new("vmtax compare");
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

fn case(gate: &Gate, change: &Change, words: &Words) -> TestCase {
    let figures = figures(change, words);
    let unanswered = change.confirmation.as_ref().is_some_and(|again| again.shown.is_none());
    let verdict = change.verdict.unwrap_or(Verdict::Unclear);
    let mut status = match verdict {
        Verdict::Regression => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::TooFew => TestCaseStatus::skipped(),
        Verdict::NotConfirmed if unanswered => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    };
    status.set_type(verdict.word());
    status.set_message(shown(&figures));
    let mut case = TestCase::new(shown(&sentences::name(change)), status);
    case.set_classname(format!("vmtax.compare.{}", change.area.name()));
    let meaning = sentences::meaning(verdict, gate, words);
    case.set_system_out(shown(&format!("{}: {meaning}\n{figures}", verdict.word())));
    case
}

/// The figures of a metric in a line.
fn figures(change: &Change, words: &Words) -> String {
    let nothing = || words.get("compare-nothing");
    let overhead = |value: Option<f64>| value.map_or_else(nothing, percent);
    let mut text = format!(
        "{}: A {}, B {}; {} {}",
        words.get("compare-overhead"),
        overhead(change.a.overhead_percent),
        overhead(change.b.overhead_percent),
        words.get("compare-change"),
        change.shift.as_ref().map_or_else(nothing, sentences::shift),
    );
    if let Some(again) = sentences::confirmation(change, words) {
        text.push_str(&format!("; {}: {again}", words.get("compare-confirmation")));
    }
    text
}

fn shown(text: &str) -> String {
    printable(text, LONGEST)
}

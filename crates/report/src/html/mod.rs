//! The HTML report: one self-contained file.

mod about;
mod costs;
mod details;
mod environment;
pub(crate) mod escape;
mod forest;
mod latency;
mod rounds;
mod scale;
mod tables;
mod validity;

use crate::analysis::{Analysis, Verdict};
use crate::answer::answer_in;
use crate::figures::shell;
use crate::wording::VERDICTS;
use crate::{ReportError, Words};
use askama::Template;

/// The report as one HTML page that needs nothing else: no network, no other file. In the language of `words`.
///
/// # Errors
/// When the template cannot be rendered, which only a formatting error can cause.
pub fn html(analysis: &Analysis, words: &Words) -> Result<String, ReportError> {
    Ok(Page::new(analysis, words).render()?)
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    css: &'static str,
    js: &'static str,
    a: &'a Analysis,
    w: &'a Words,
    title: String,
    answer: String,
    facts: Vec<(String, String)>,
    forest: Option<forest::Forest>,
    verdicts: Vec<(&'static str, String)>,
    margins: String,
    left_out: Vec<String>,
    metrics: Vec<tables::MetricRow>,
    details: Vec<details::Detail>,
    latencies: Vec<latency::Section>,
    latencies_left_out: Option<String>,
    costs: Vec<costs::Row>,
    steal: bool,
    validity: validity::Validity,
    method: Vec<(String, String)>,
    attempts: Vec<tables::AttemptRow>,
    attempts_left_out: Option<String>,
    troubles: Vec<tables::TroubleRow>,
    troubles_left_out: Option<String>,
    differences: Vec<environment::Row>,
    environment: Vec<environment::Row>,
    settings: Vec<tables::SettingRow>,
    files: Vec<tables::FileRow>,
    command: String,
    qemu: String,
    cite: String,
}

impl<'a> Page<'a> {
    fn new(a: &'a Analysis, w: &'a Words) -> Self {
        let (attempts, attempts_left_out) = tables::attempts(a, w);
        let (troubles, troubles_left_out) = tables::troubles(a, w);
        let (latencies, latencies_left_out) = latency::sections(a, w);
        let this = w.get("this-machine");
        let name = a.host().map_or(this.as_str(), |host| host.hostname.as_str());
        let refused = a.has_invalid();
        let costs = costs::rows(a, w);
        Page {
            css: include_str!("../../templates/report.css"),
            js: include_str!("../../templates/report.js"),
            title: w.say("page-title", &[("host", name.into())]),
            answer: answer_in(w, &a.manifest, &a.areas, refused),
            facts: about::facts(a, w),
            forest: forest::forest(a, w),
            verdicts: verdicts(a, w),
            margins: w.margins(a),
            left_out: left_out(a, w),
            metrics: tables::metrics(a, w),
            details: details::details(a, w),
            latencies,
            latencies_left_out,
            steal: costs.iter().any(|row| !row.stolen.is_empty()),
            costs,
            validity: validity::Validity::new(a, w),
            method: about::method(a, w),
            attempts,
            attempts_left_out,
            troubles,
            troubles_left_out,
            differences: environment::differences(a, w),
            environment: environment::rows(a, w),
            settings: tables::settings(a, w),
            files: tables::files(a, w),
            command: about::reproduce(a),
            qemu: shell(&a.manifest.hypervisor.command_line),
            cite: about::cite(a, w),
            a,
            w,
        }
    }
}

/// The class that colours a verdict.
fn verdict_class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Overhead | Verdict::Invalid => "bad",
        Verdict::Equivalent => "good",
        Verdict::FasterThanHost | Verdict::Small | Verdict::Inconclusive | Verdict::Imprecise => "open",
    }
}

/// The verdicts that occur, with what they mean.
fn verdicts(a: &Analysis, w: &Words) -> Vec<(&'static str, String)> {
    let of_metrics = a.benchmarks.iter().flat_map(|b| b.metrics.iter().filter_map(|c| c.verdict));
    let found: Vec<Verdict> = of_metrics.chain(a.areas.iter().filter_map(|area| area.verdict)).collect();
    VERDICTS.into_iter().filter(|v| found.contains(v)).map(|v| (v.word(), w.meaning(v))).collect()
}

/// What is not in the summaries.
fn left_out(a: &Analysis, w: &Words) -> Vec<String> {
    let areas = a.areas.iter().filter(|area| !area.left_out.is_empty());
    let said = areas.map(|area| {
        w.say(
            "left-out",
            &[
                ("left", area.left_out.len().into()),
                ("all", (area.left_out.len() + area.benchmarks.len()).into()),
                ("area", w.area(area.area).into()),
                ("which", area.left_out.join(", ").into()),
            ],
        )
    });
    said.collect()
}

//! Every value of a study as a table for spreadsheets and data frames (RFC 4180).

use crate::analysis::{Analysis, BenchmarkReport, Comparison, DroppedBlock, Point, Reason};
use ::csv::{Terminator, WriterBuilder};
use model::record::Manifest;
use model::text::printable;
use model::{Benchmark, Direction, Metric};

/// Most characters of one field.
const LONGEST: usize = 1000;

const HEAD: [&str; 13] = [
    "accelerator",
    "benchmark",
    "metric",
    "unit",
    "better",
    "round",
    "attempt",
    "place",
    "host",
    "guest",
    "log_cost_ratio",
    "counted",
    "why",
];

/// One row for each metric of each benchmark in each complete round, in time order: values in the metric's base unit,
/// `log_cost_ratio` as ln(cost in the guest / cost on the host), `counted` `true` where the row has a part in the figures, and
/// where it has none `why`. What is not known is empty.
pub fn csv(analysis: &Analysis) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    // Writing to memory does not fail, and every record is as long as the head.
    let _ = writer.write_record(HEAD);
    for report in &analysis.benchmarks {
        let declared = analysis.manifest.benchmarks.iter().find(|b| b.id == report.id);
        for row in declared.into_iter().flat_map(|benchmark| rows(&analysis.manifest, benchmark, report)) {
            let _ = writer.write_record(row);
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn rows(manifest: &Manifest, benchmark: &Benchmark, report: &BenchmarkReport) -> Vec<[String; HEAD.len()]> {
    let mut rows = Vec::new();
    for metric in &benchmark.metrics {
        let comparison = report.metrics.iter().find(|c| c.metric.id == metric.id);
        let mut of_metric: Vec<(usize, [String; HEAD.len()])> =
            comparison.into_iter().flat_map(|c| counted(manifest, benchmark, c)).collect();
        of_metric.extend(report.dropped.iter().map(|block| {
            let [host, guest] = block.values.get(&metric.id).map_or([None; 2], |values| values.map(Some));
            (block.place, row(manifest, benchmark, metric, block.into(), [host, guest, None], Some(&why(block))))
        }));
        of_metric.sort_by_key(|(place, _)| *place);
        rows.extend(of_metric.into_iter().map(|(_, row)| row));
    }
    rows
}

fn counted<'a>(
    manifest: &'a Manifest,
    benchmark: &'a Benchmark,
    comparison: &'a Comparison,
) -> impl Iterator<Item = (usize, [String; HEAD.len()])> + 'a {
    comparison.points.iter().map(move |point| {
        let why = point.log_cost_ratio.is_none().then_some("no ratio: a value is zero or negative");
        let numbers = [Some(point.host), Some(point.guest), point.log_cost_ratio];
        (point.place, row(manifest, benchmark, &comparison.metric, point.into(), numbers, why))
    })
}

/// A round, an attempt and its place in time.
struct When(u32, u32, usize);

impl From<&Point> for When {
    fn from(point: &Point) -> Self {
        When(point.round, point.attempt, point.place)
    }
}

impl From<&DroppedBlock> for When {
    fn from(block: &DroppedBlock) -> Self {
        When(block.round, block.attempt, block.place)
    }
}

/// Counted where there is nothing to say against it.
fn row(
    manifest: &Manifest,
    benchmark: &Benchmark,
    metric: &Metric,
    When(round, attempt, place): When,
    numbers: [Option<f64>; 3],
    why: Option<&str>,
) -> [String; HEAD.len()] {
    let [host, guest, ratio] = numbers.map(|n| n.map_or(String::new(), |n| format!("{n:?}")));
    let better = match metric.direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
    };
    [
        manifest.accelerator.name().to_owned(),
        cell(&benchmark.id),
        cell(&metric.id),
        metric.unit.symbol().to_owned(),
        better.to_owned(),
        round.to_string(),
        attempt.to_string(),
        place.to_string(),
        host,
        guest,
        ratio,
        why.is_none().to_string(),
        cell(why.unwrap_or_default()),
    ]
}

fn why(block: &DroppedBlock) -> String {
    match block.reason {
        Reason::Rejected => {
            let threats: Vec<&str> = block.threats.iter().map(|threat| threat.key()).collect();
            format!("rejected: {}", threats.join(" "))
        }
        Reason::NotMeasured => {
            let told = block.outcomes.iter().map(|(machine, outcome)| format!("{machine} {}", outcome.word()));
            format!("not measured: {}", told.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Text that no spreadsheet takes for a formula (OWASP, "CSV Injection").
fn cell(text: &str) -> String {
    let text = printable(text, LONGEST);
    if text.starts_with(['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠']) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\n=1", "＝1"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        assert_eq!(cell("disk.read-4k"), "disk.read-4k");
        assert_eq!(cell("\r=1"), "\\r=1");
    }
}

//! Every value of a study as a table for spreadsheets and data frames (RFC 4180).

use crate::analysis::{Analysis, BenchmarkReport, DroppedBlock, Point, Reason};
use ::csv::{Terminator, WriterBuilder};
use model::Direction;
use model::text::printable;

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
    let accelerator = analysis.manifest.accelerator.name();
    for report in &analysis.benchmarks {
        let declared = analysis.manifest.benchmarks.iter().find(|b| b.id == report.id);
        for metric in declared.iter().flat_map(|benchmark| &benchmark.metrics) {
            let (benchmark, name) = (cell(&report.id), cell(&metric.id));
            let better = match metric.direction {
                Direction::Higher => "higher",
                Direction::Lower => "lower",
            };
            let head = [accelerator, &benchmark, &name, metric.unit.symbol(), better];
            for row in rows(report, &metric.id) {
                let _ = writer.write_record(head.into_iter().chain(row.iter().map(String::as_str)));
            }
        }
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// What follows a row's head, in time order.
fn rows(report: &BenchmarkReport, metric: &str) -> Vec<[String; 8]> {
    // The points of an INVALID benchmark are shown in other reports although their blocks were dropped.
    let is_dropped = |point: &&Point| report.dropped.iter().any(|block| block.place == point.place);
    let points = report.metrics.iter().filter(|c| c.metric.id == metric).flat_map(|c| &c.points);
    let points = points.filter(|point| !is_dropped(point));
    let counted = points.map(|point| {
        let why = point.log_cost_ratio.is_none().then(|| "no ratio: a value is zero or negative".to_owned());
        let numbers = [Some(point.host), Some(point.guest), point.log_cost_ratio];
        (point.place, row(point.round, point.attempt, point.place, numbers, why))
    });
    let dropped = report.dropped.iter().map(|block| {
        let [host, guest] = block.values.get(metric).map_or([None; 2], |values| values.map(Some));
        (block.place, row(block.round, block.attempt, block.place, [host, guest, None], Some(why(block))))
    });
    let mut all: Vec<(usize, [String; 8])> = counted.chain(dropped).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, row)| row).collect()
}

/// Counted where there is nothing to say against it.
fn row(round: u32, attempt: u32, place: usize, numbers: [Option<f64>; 3], why: Option<String>) -> [String; 8] {
    let [host, guest, ratio] = numbers.map(|n| n.map_or(String::new(), |n| format!("{n:?}")));
    let counted = why.is_none().to_string();
    [round.to_string(), attempt.to_string(), place.to_string(), host, guest, ratio, counted, why.unwrap_or_default()]
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

//! How far the figures can be trusted, and where the tax goes, in a few lines each.

use super::grid::{Align, Cell, Grid};
use super::{Page, Tone};
use crate::analysis::{Analysis, HostCostReport};
use crate::figures::{factor, plus_minus, share};
use crate::findings::{Finding, dropped, findings, precisions};
use model::{Area, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Most lines for each grade of findings, and most metrics that are told by name.
const LINES: usize = 4;

impl Page<'_> {
    /// Blocks that were dropped and why, and what a reader must know; what passed is only counted.
    pub(super) fn validity(&mut self, analysis: &Analysis) {
        let found = findings(analysis);
        let [lost, all] = dropped(analysis);
        if found.is_empty() && lost == 0 {
            return;
        }
        self.title("text-validity");
        if lost > 0 {
            let text = self.words.say("blocks-dropped", &[("dropped", lost.into()), ("all", all.into())]);
            self.say(Tone::Bad, "  ", &text);
        }
        for status in [Status::Invalid, Status::Warn] {
            let of_status: Vec<&Finding<'_>> = found.iter().filter(|f| f.status == status).collect();
            for finding in of_status.iter().take(LINES) {
                let tone = if status == Status::Invalid { Tone::Bad } else { Tone::Plain };
                self.say(tone, &format!("  {:<8} ", status.word()), &self.finding(finding));
            }
            self.more(of_status.len(), LINES);
        }
        let count = |status| found.iter().filter(|f| f.status == status).count();
        let (passed, unknown) = (count(Status::Pass), count(Status::Unknown));
        if passed + unknown > 0 {
            let text = self.words.say("checks-passed", &[("passed", passed.into()), ("unknown", unknown.into())]);
            self.say(Tone::Faint, "  ", &text);
        }
    }

    /// One threat: what, where, what was seen at the first of the worst places.
    fn finding(&self, finding: &Finding<'_>) -> String {
        let words = self.words;
        // A threat is looked for on both machines.
        let benchmarks: BTreeSet<&str> = finding.worst().filter_map(|p| p.benchmark).map(|b| b.id.as_str()).collect();
        let benchmarks: Vec<&str> = benchmarks.into_iter().collect();
        let place = match benchmarks.as_slice() {
            [] => String::new(),
            few if few.len() <= 2 => words.say("finding-where", &[("where", few.join(", ").into())]),
            many => words.say("finding-where", &[("where", words.count("count-benchmarks", many.len()).into())]),
        };
        let evidence = finding.worst().next().map_or(String::new(), |p| words.evidence(p.check));
        words.say(
            "finding",
            &[("title", words.threat(finding.threat).into()), ("where", place.into()), ("evidence", evidence.into())],
        )
    }

    /// How many metrics are as precise as was asked for, and which are not.
    pub(super) fn precision(&mut self, analysis: &Analysis) {
        let all = precisions(analysis);
        if all.is_empty() {
            return;
        }
        let words = self.words;
        let open: Vec<_> = all.iter().filter(|(.., precision)| !precision.reached).collect();
        self.title("text-precision");
        let text =
            words.say("precision-reached", &[("reached", (all.len() - open.len()).into()), ("all", all.len().into())]);
        self.say(Tone::Plain, "  ", &text);
        for (benchmark, comparison, precision) in open.iter().take(LINES) {
            let text = words.say(
                if precision.forecast.is_some() { "precision-forecast" } else { "precision-open" },
                &[
                    ("what", self.short_row(benchmark, comparison).into()),
                    ("half", plus_minus(precision.half_width_percent).into()),
                    ("target", plus_minus(precision.target_percent).into()),
                    ("forecast", precision.forecast.unwrap_or_default().into()),
                ],
            );
            self.say(Tone::Plain, "  ", &text);
        }
        self.more(open.len(), LINES);
    }

    /// One line for each area: CPU time of the guest's work by that of the host's, and who in QEMU spent it.
    pub(super) fn cost(&mut self, analysis: &Analysis) {
        let mut areas: BTreeMap<Area, Vec<&HostCostReport>> = BTreeMap::new();
        for benchmark in &analysis.benchmarks {
            if let Some(cost) = &benchmark.host_cost {
                areas.entry(benchmark.area).or_default().push(cost);
            }
        }
        if areas.is_empty() {
            return;
        }
        self.title("text-tax");
        let mut grid = Grid::new(vec![
            self.column("", Align::Left, 0),
            self.column("tax-factor", Align::Right, 2),
            self.column("tax-vcpu", Align::Right, 2),
            self.column("tax-io", Align::Right, 2),
            self.column("tax-other", Align::Right, 2),
        ]);
        for (area, costs) in areas {
            let factors = || costs.iter().filter_map(|cost| cost.factor);
            let (least, most) = (factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max));
            let (low, high) = (factor(least), factor(most));
            let range = match (least <= most, low == high) {
                (false, _) => "–".to_owned(),
                (true, true) => high,
                (true, false) => format!("{}–{high}", low.trim_end_matches(" ×")),
            };
            let mut cells =
                vec![Cell::new(format!("  {}", self.words.area(area))), Cell::new(range).tone(Tone::Strong)];
            let parts: [fn(&HostCostReport) -> f64; 3] =
                [|c| c.guest.vcpu_seconds, |c| c.guest.io_seconds, |c| c.guest.other_seconds];
            cells.extend(parts.map(|part| {
                let shares: f64 = costs.iter().map(|cost| part(cost) / cost.guest.cpu_seconds).sum();
                Cell::new(share(shares / costs.len() as f64)).tone(Tone::Faint)
            }));
            grid.push(cells);
        }
        self.out.push_str(&grid.render(&self.style));
    }
}

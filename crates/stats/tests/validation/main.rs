//! How often the intervals contain the truth, in simulated experiments with fixed seeds; that false alarms are rare;
//! and that these simulations would notice methods that are wrong.
//!
//! `cargo test` runs a part of the cells. All of them, with a table (docs/statistics.md), take a minute:
//! `cargo test -p vmtax-stats --test validation -- --ignored --nocapture`

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cell;
mod controls;
mod intervals;
mod noise;
mod random;
mod series;
mod studies;

use cell::Cell;

fn cells() -> Vec<Cell> {
    let mut cells = intervals::cells();
    cells.extend(studies::cells());
    cells.extend(series::cells());
    cells.extend(controls::cells());
    cells
}

/// Runs the cells and prints their table; fails if one of them does.
fn validate<'a>(cells: impl Iterator<Item = &'a Cell>) {
    let mut group = "";
    let mut failed = Vec::new();
    for cell in cells {
        if cell.group != group {
            group = cell.group;
            println!("\n### {group}\n");
            println!("| cell | experiments | nominal | measured | accepted | verdict | mean rounds |");
            println!("|---|--:|--:|--:|--:|---|--:|");
        }
        let row = cell.run();
        println!("{}", row.text);
        if row.failed {
            failed.push(format!("{group}: {}", row.text));
        }
    }
    assert!(failed.is_empty(), "outside of what is accepted:\n{}", failed.join("\n"));
}

#[test]
fn a_choice_of_cells_lies_in_its_bands() {
    validate(cells().iter().filter(|cell| cell.fast));
}

#[test]
#[ignore = "takes a minute: make test-statistics"]
fn every_cell_lies_in_its_band() {
    validate(cells().iter());
}

#[test]
fn every_cell_has_a_name_of_its_own() {
    let cells = cells();
    let names: std::collections::BTreeSet<_> = cells.iter().map(|cell| (cell.group, &cell.name)).collect();
    assert_eq!(names.len(), cells.len());
}

//! The reports as texts: what they look like, what they must say, and what must never get through.

mod sample;

use model::record::{GUEST, HOST};
use model::units::significant;
use model::{Area, Event, FailureCause, Outcome};
use proptest::prelude::*;
use sample::Study;
use vmtax_report::{Analysis, Lang, Style, Words, json};

const PLAIN: Style = Style { width: 80, color: false };
const WIDE: Style = Style { width: 120, color: false };

fn text(analysis: &Analysis, style: &Style) -> String {
    vmtax_report::text(analysis, style, &Words::new(Lang::En))
}

fn html(analysis: &Analysis) -> String {
    vmtax_report::html(analysis, &Words::new(Lang::En)).expect("a page")
}

fn all(study: &Study) -> [String; 3] {
    let analysis = study.analyse();
    [text(&analysis, &PLAIN), html(&analysis), json(&analysis).expect("JSON")]
}

/// Text and page in the other language.
fn chinese(analysis: &Analysis) -> [String; 2] {
    let words = Words::new(Lang::Zh);
    [vmtax_report::text(analysis, &PLAIN, &words), vmtax_report::html(analysis, &words).expect("a page")]
}

/// A study with something of everything.
fn whole() -> Analysis {
    let mut analysis = Study::kvm(8).measured(8).analyse();
    sample::dress::dress(&mut analysis);
    analysis
}

/// A study in which most things went wrong.
fn troubled() -> Study {
    let mut study = Study::emulated(3);
    study.round(1, 1);
    study.start(2, 1);
    let mut dead = study.run(2, 1, 0, 0, GUEST);
    dead.outcome = Outcome::Failed {
        cause: FailureCause::Guest,
        why: "The guest closed its pipe. Its console ended with:\n[ 12.3] Kernel panic - not syncing: Attempted to kill init!\n[ 12.4] CPU: 0 PID: 1 Comm: init".to_owned(),
    };
    study.log(Event::Run(Box::new(dead)));
    study.close(2, 1, false, Some("the guest died in cpu.dhrystone"));
    study.round(2, 2);
    study.each_run(|run| {
        if run.benchmark == "disk.write-1m" {
            run.outcome = Outcome::Skipped { why: "The data disk is smaller than the file.".to_owned() };
        }
        if run.benchmark == "disk.randread-4k" {
            run.remarks = vec!["posixaio at iodepth 16 is really queue depth 1 for each job.".to_owned()];
        }
    });
    study.log(Event::Ended { how: model::record::Ending::Interrupted, why: "The user stopped the study.".to_owned() });
    study
}

#[test]
fn a_quick_emulated_study_in_80_columns() {
    insta::assert_snapshot!(text(&Study::emulated(3).measured(3).analyse(), &PLAIN));
}

#[test]
fn a_full_study_in_80_columns() {
    insta::assert_snapshot!(text(&Study::kvm(8).measured(8).analyse(), &PLAIN));
}

#[test]
fn a_full_study_in_120_columns() {
    insta::assert_snapshot!(text(&Study::kvm(8).measured(8).analyse(), &WIDE));
}

#[test]
fn a_study_with_failures_in_80_columns() {
    let mut analysis = troubled().analyse();
    analysis.folder = Some("/root/vmtax/2026-11-21-quick".to_owned());
    insta::assert_snapshot!(text(&analysis, &PLAIN));
}

#[test]
fn a_disk_only_study_of_one_round_in_80_columns() {
    insta::assert_snapshot!(text(&Study::kvm(1).only(&[Area::Disk]).measured(1).analyse(), &PLAIN));
}

#[test]
fn a_study_with_checks_and_precision_in_80_columns() {
    insta::assert_snapshot!(text(&whole(), &PLAIN));
}

#[test]
fn a_study_with_checks_and_precision_in_chinese() {
    insta::assert_snapshot!(chinese(&whole())[0]);
}

#[test]
fn an_emulated_study_with_failures_in_chinese() {
    insta::assert_snapshot!(chinese(&troubled().analyse())[0]);
}

#[test]
fn an_empty_study_in_80_columns() {
    insta::assert_snapshot!(text(&Study::kvm(8).analyse(), &PLAIN));
}

#[test]
fn every_output_of_an_emulated_study_says_so() {
    let [terminal, page] = chinese(&Study::emulated(1).measured(1).analyse());
    assert!([terminal, page].iter().all(|output| output.contains("模拟执行（TCG）：不代表使用 KVM 时的开销")));
    for output in all(&Study::emulated(1).measured(1)) {
        assert!(output.contains("emulated (TCG): not what KVM would cost"));
    }
    for output in all(&Study::kvm(1).measured(1)) {
        assert!(!output.contains("emulated (TCG)"));
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut study = troubled();
    study.manifest.machines.get_mut(HOST).unwrap().cpu.model = "虚拟化 ".repeat(60);
    study.manifest.benchmarks[2].title = "A benchmark with a title that is longer than any table can be".to_owned();
    study.manifest.notes.push("x".repeat(300));
    let mut analysis = study.analyse();
    sample::dress::dress(&mut analysis);
    for (width, lang) in [0, 80, 81, 97, 120, 200].into_iter().flat_map(|width| Lang::ALL.map(|lang| (width, lang))) {
        for line in vmtax_report::text(&analysis, &Style { width, color: false }, &Words::new(lang)).lines() {
            let columns = unicode_width::UnicodeWidthStr::width(line);
            assert!(columns <= width.max(80), "{columns} columns of {width}: {line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}

#[test]
fn colours_change_nothing_but_the_colours() {
    let analysis = troubled().analyse();
    let coloured = text(&analysis, &Style { width: 80, color: true });
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    for (i, piece) in coloured.split('\u{1b}').enumerate() {
        plain.push_str(if i == 0 { piece } else { piece.split_once('m').unwrap().1 });
    }
    assert_eq!(plain, text(&analysis, &PLAIN));
}

#[test]
fn figures_on_the_page_are_those_of_the_json() {
    let [_, page, json] = all(&Study::kvm(8).measured(8));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let signed = |value: &serde_json::Value| {
        let value = value.as_f64().unwrap();
        let text = if value.abs() < 99.95 { format!("{:.1}", value.abs()) } else { format!("{:.0}", value.abs()) };
        let sign = if text == "0.0" {
            ""
        } else if value < 0.0 {
            "−"
        } else {
            "+"
        };
        format!("{sign}{text}")
    };
    let mut compared = 0;
    for benchmark in json["benchmarks"].as_array().unwrap() {
        let link = format!("<a href=\"#d-{}\">", benchmark["id"].as_str().unwrap());
        let rows: Vec<&str> = page.split(&link).skip(1).map(|rest| rest.split("</tr>").next().unwrap()).collect();
        for metric in benchmark["metrics"].as_array().unwrap().iter().filter(|m| m["primary"] == true) {
            let factor = metric["shown"]["factor"].as_f64().unwrap();
            let overhead = &metric["overhead"];
            let interval = &overhead["interval"];
            let expected = [
                format!(">{}<", significant(metric["host"]["median"].as_f64().unwrap() / factor)),
                format!(">{}<", significant(metric["guest"]["median"].as_f64().unwrap() / factor)),
                format!(">{} %<", signed(&overhead["percent"])),
                format!(">[{}, {}]<", signed(&interval["low_percent"]), signed(&interval["high_percent"])),
                format!(">{} %<", signed(&overhead["geometric_mean_percent"])),
                format!(">{}<", metric["verdict"].as_str().unwrap()),
            ];
            let row = rows.iter().find(|row| row.contains(&expected[0])).unwrap_or_else(|| panic!("no {expected:?}"));
            for figure in &expected {
                assert!(row.contains(figure.as_str()), "{figure} is not in {row}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 12 * 6);
}

#[test]
fn hostile_text_never_reaches_a_page_or_a_terminal_raw() {
    const EVIL: &str = "<script>alert(1)</script>\"onload='x'\u{1b}[2J\u{202e}</svg>&lt;";
    let mut study = troubled();
    for facts in study.manifest.machines.values_mut() {
        facts.hostname = EVIL.to_owned();
        facts.cpu.model = EVIL.to_owned();
        facts.os = Some(EVIL.to_owned());
        facts.kernel_release.push_str(EVIL);
        facts.cpu.hypervisor = Some(EVIL.to_owned());
        facts.cpu.flags.push(EVIL.to_owned());
        facts.vulnerabilities.insert(EVIL.to_owned(), EVIL.to_owned());
        facts.disks[0].name = EVIL.to_owned();
    }
    study.manifest.hypervisor.command_line.push(EVIL.to_owned());
    study.manifest.hypervisor.version = EVIL.to_owned();
    study.manifest.observed.insert("disk.aio".to_owned(), EVIL.to_owned());
    study.manifest.tools[0].version = EVIL.to_owned();
    study.manifest.notes.push(EVIL.to_owned());
    study.manifest.command.push(EVIL.to_owned());
    study.manifest.data_file = Some(EVIL.to_owned());
    // A benchmark that no language has a title for.
    study.manifest.benchmarks[2].title = EVIL.to_owned();
    study.manifest.benchmarks[2].metrics[0].title = EVIL.to_owned();
    study.manifest.benchmarks[2].metrics[0].shown.symbol = EVIL.to_owned();
    study.each_run(|run| {
        run.remarks.push(EVIL.to_owned());
        run.argv.push(EVIL.to_owned());
        match &mut run.outcome {
            Outcome::Failed { why, .. } | Outcome::Skipped { why } => why.push_str(EVIL),
            _ => {}
        }
    });
    for line in &mut study.lines {
        match &mut line.event {
            Event::RoundEnded { why: Some(why), .. } => why.push_str(EVIL),
            Event::RoundStarted { order, .. } => order.push(EVIL.to_owned()),
            Event::Ended { why, .. } => why.push_str(EVIL),
            _ => {}
        }
    }
    let mut analysis = study.analyse();
    sample::dress::dress(&mut analysis);
    for check in analysis.benchmarks.iter_mut().flat_map(|b| &mut b.checks).chain(&mut analysis.checks) {
        check.evidence.insert(EVIL.to_owned(), EVIL.into());
        check.machine = Some(EVIL.to_owned());
    }
    analysis.differences[0].key = EVIL.to_owned();
    analysis.differences[1].host = EVIL.to_owned();
    for latency in analysis.benchmarks.iter_mut().filter_map(|b| b.latency.as_mut()) {
        latency.missing = vec![EVIL.to_owned()];
        let distribution = latency.machines[HOST].clone();
        latency.machines.insert(EVIL.to_owned(), distribution);
    }
    let [terminal_zh, page_zh] = chinese(&analysis);
    let json = json(&analysis).unwrap();
    for (terminal, page) in [(text(&analysis, &PLAIN), html(&analysis)), (terminal_zh, page_zh)] {
        unharmed(&terminal, &page, &json);
    }
}

fn unharmed(terminal: &str, page: &str, json: &str) {
    for output in [terminal, page, json] {
        assert!(!output.chars().any(|c| c.is_control() && c != '\n'), "a control character came through");
    }
    assert!(!terminal.contains('\u{202e}') && !page.contains('\u{202e}'));
    assert!(!page.contains("<script>alert") && !page.contains("\"onload") && !page.contains("'x'"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload=&#39;x&#39;\\u{1b}[2J"));
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn a_page_is_one_small_file_without_network() {
    let page = html(&Study::kvm(64).measured(64).analyse());
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for foreign in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for (open, close) in
        [("<table", "</table>"), ("<details", "</details>"), ("<section", "</section>"), ("<div", "</div>")]
    {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
}

#[test]
fn a_page_of_a_hundred_thousand_outcomes_is_small_and_says_what_it_leaves_out() {
    let mut analysis = Study::large().analyse();
    assert_eq!(analysis.course.runs.measured, 120_000);
    sample::dress::dress(&mut analysis);
    for page in [html(&analysis), chinese(&analysis)[1].clone()] {
        assert!(page.len() < 1_500_000, "{} bytes", page.len());
    }
    let page = html(&analysis);
    assert!(page.contains("of 1000 rounds are drawn, evenly spread"));
    assert!(page.matches("more are in the JSON report").count() > analysis.benchmarks.len());
}

#[test]
fn a_dropped_block_is_marked_in_its_place_with_why() {
    let mut study = Study::kvm(8).only(&[Area::Disk]).measured(8);
    study.each_run(|run| {
        if run.benchmark == "disk.read-1m" && run.machine == HOST && run.round == 5 {
            run.outcome = Outcome::Failed { cause: FailureCause::Tool, why: "No space left on device".to_owned() };
        }
    });
    let page = html(&study.analyse());
    assert_eq!(page.matches("class=\"dropped\"").count(), 1);
    assert!(page.contains("<title>Round 5 was dropped: host: tool failed</title>"));
    let row = "<td class=\"num\">5</td><td class=\"num\">1</td><td class=\"num\">–</td><td class=\"num\">–</td>\
               <td class=\"num\">–</td><td>host: tool failed</td>";
    assert!(page.contains(row), "neither host nor guest nor overhead, and why");
}

#[test]
fn every_link_of_the_page_has_its_target() {
    for page in [html(&troubled().analyse()), html(&whole())] {
        for link in page.split("href=\"#").skip(1) {
            let target = link.split('"').next().unwrap();
            assert_eq!(page.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
        }
    }
}

#[test]
fn the_same_study_gives_the_same_bytes() {
    assert_eq!(all(&troubled()), all(&troubled()));
    assert_eq!((html(&whole()), chinese(&whole())), (html(&whole()), chinese(&whole())));
}

#[test]
fn a_refused_row_says_why_wherever_it_stands() {
    let mut study = Study::kvm(8).only(&[Area::Disk]).measured(8);
    study.each_run(|run| {
        if let Some(cost) = run.host_cost.as_mut().filter(|_| run.benchmark == "disk.read-1m") {
            cost.read_bytes /= 10;
        }
    });
    for output in all(&study) {
        assert!(output.contains("host page cache") || output.contains("host_page_cache"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_journal_panics(
        picks in proptest::collection::vec((0usize..200, 0usize..9, 0u32..4), 0..40),
        values in proptest::collection::vec(prop_oneof![Just(0.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY),
            Just(1e308), Just(5e-324), 0.1f64..1e9], 9),
    ) {
        let whole = Study::emulated(3).measured(3);
        let mut study = Study::emulated(3);
        for (line, value, round) in picks {
            let mut line = whole.lines[line % whole.lines.len()].clone();
            match &mut line.event {
                Event::Run(run) => {
                    run.round = round;
                    if let Outcome::Measured { values: all } = &mut run.outcome {
                        all.values_mut().for_each(|v| *v = values[value]);
                    }
                    if let Some(counters) = &mut run.counters {
                        counters.wall_seconds = values[value];
                    }
                    if let Some(cost) = &mut run.host_cost {
                        cost.vcpu_seconds = values[value];
                    }
                }
                Event::RoundEnded { round: r, .. } => *r = round,
                _ => {}
            }
            study.lines.push(line);
        }
        let [terminal, page, _] = all(&study);
        prop_assert!(!terminal.contains("NaN") && !page.contains("NaN") && !page.contains("inf\""));
    }
}

//! The page in a real browser: headless Chromium, driven by its DevTools protocol over a pipe.
//!
//! Chromium is a dependency of the tests (`./setup.sh test`). Where there is none, these tests fail, unless
//! VMTAX_WITHOUT_CHROMIUM is set.

mod browser;
mod sample;

use browser::{Browser, View};
use model::units::significant;
use sample::Study;
use serde_json::Value;
use vmtax_report::{Analysis, Lang, Words, html, json};

/// A study with something of everything.
fn whole() -> Analysis {
    let mut analysis = Study::kvm(8).measured(8).analyse();
    sample::dress::dress(&mut analysis);
    analysis
}

fn page(analysis: &Analysis, lang: Lang) -> String {
    html(analysis, &Words::new(lang)).expect("a page")
}

#[test]
fn a_page_opens_without_complaints_and_fits_every_width_in_every_language_and_light() {
    let Some(mut browser) = Browser::start() else { return };
    let studies = [whole(), Study::emulated(3).measured(3).analyse(), Study::kvm(8).analyse()];
    for (analysis, lang) in studies.iter().flat_map(|a| Lang::ALL.map(|lang| (a, lang))) {
        for (width, dark) in [(400, false), (400, true), (1600, false), (1600, true)] {
            browser.open(&page(analysis, lang), View { width, dark });
            let seen = browser.evaluate(
                "(() => {
                   document.querySelectorAll('details').forEach((d) => { d.open = true; });
                   const sizes = [...document.querySelectorAll('body *')]
                     .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
                     .filter((e) => !['SCRIPT', 'STYLE', 'TITLE'].includes(e.tagName.toUpperCase()))
                     .map((e) => parseFloat(getComputedStyle(e).fontSize));
                   const luminance = (color) => color.match(/[0-9.]+/g).slice(0, 3)
                     .reduce((sum, c) => sum + Number(c) / 765, 0);
                   const style = getComputedStyle(document.body);
                   return {
                     lang: document.documentElement.lang,
                     overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                     smallest: Math.min(...sizes), texts: sizes.length,
                     page: luminance(style.backgroundColor), ink: luminance(style.color),
                   };
                 })()",
            );
            let case = format!("{} at {width} px, dark: {dark}: {seen}", lang.tag());
            assert_eq!(seen["lang"], lang.tag(), "{case}");
            assert_eq!(seen["overflow"], 0, "the page is wider than its window: {case}");
            assert!(seen["smallest"].as_f64().unwrap() >= 11.0 && seen["texts"].as_f64().unwrap() > 50.0, "{case}");
            let (page, ink) = (seen["page"].as_f64().unwrap(), seen["ink"].as_f64().unwrap());
            assert!(if dark { ink - page > 0.6 } else { page - ink > 0.6 }, "too little contrast: {case}");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{case}");
        }
    }
}

#[test]
fn complaints_of_a_page_are_noticed() {
    let Some(mut browser) = Browser::start() else { return };
    let page = page(&whole(), Lang::En);
    for (what, fault) in [
        ("an error", "<script>undefined.x</script>"),
        ("a message", "<script>console.error('no')</script>"),
        ("a breach of the policy", "<img src='file:///nothing.png'>"),
    ] {
        browser.open(&page.replace("</main>", &format!("{fault}</main>")), View { width: 1600, dark: false });
        assert!(!browser.complaints().is_empty(), "{what} went unnoticed");
    }
}

#[test]
fn the_figures_that_the_browser_shows_are_those_of_the_json() {
    let Some(mut browser) = Browser::start() else { return };
    let analysis = whole();
    let report: Value = serde_json::from_str(&json(&analysis).unwrap()).unwrap();
    for lang in Lang::ALL {
        browser.open(&page(&analysis, lang), View { width: 1600, dark: false });
        let shown = browser.evaluate(
            "[...document.querySelectorAll('tr[data-benchmark]')].map((row) => {
               const figures = [...row.querySelectorAll('[data-figure]')].map((cell) => {
                 const text = [...cell.childNodes].filter((n) => n.nodeName !== 'SMALL').map((n) => n.textContent).join('');
                 return [cell.dataset.figure, text];
               });
               return { benchmark: row.dataset.benchmark, metric: row.dataset.metric, ...Object.fromEntries(figures) };
             })",
        );
        let mut compared = 0;
        for benchmark in report["benchmarks"].as_array().unwrap() {
            for metric in benchmark["metrics"].as_array().unwrap() {
                let row = shown
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|row| row["benchmark"] == benchmark["id"] && row["metric"] == metric["id"]);
                let row = row.unwrap_or_else(|| panic!("no row of {} {}", benchmark["id"], metric["id"]));
                let number = |value: &Value| value.as_f64().unwrap();
                let median =
                    |arm: &str| significant(number(&metric[arm]["median"]) / number(&metric["shown"]["factor"]));
                assert_eq!([&row["host"], &row["guest"]], [&median("host"), &median("guest")]);
                let overhead = &metric["overhead"];
                let interval = &overhead["interval"];
                let known = [&overhead["percent"], &overhead["geometric_mean_percent"]].map(number);
                for (text, known) in [&row["overhead"], &row["mean"]].into_iter().zip(known) {
                    assert!((read(text)[0] - known).abs() <= 0.05 + 1e-9, "{text} is not {known}");
                }
                let ends = read(&row["interval"]);
                for (end, known) in ends.iter().zip([&interval["low_percent"], &interval["high_percent"]].map(number)) {
                    assert!((end - known).abs() <= 0.05 + 1e-9, "{end} is not {known}");
                }
                assert_eq!((ends.len(), &row["verdict"]), (2, &metric["verdict"]));
                assert_eq!(row["rounds"], metric["points"].as_array().unwrap().len().to_string());
                compared += 1;
            }
        }
        assert_eq!((compared, shown.as_array().unwrap().len()), (36, 36));
    }
}

/// The numbers in a text of the page.
fn read(text: &Value) -> Vec<f64> {
    let text = text.as_str().unwrap_or_default().replace('−', "-");
    let digits = |c: char| c.is_ascii_digit() || ".-".contains(c);
    text.split(|c| !digits(c)).filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn every_part_can_be_reached_by_keyboard_and_a_link_opens_what_is_folded() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page(&whole(), Lang::En), View { width: 1600, dark: false });
    let seen = browser.evaluate(
        "(async () => {
           document.querySelector('.forest a').click();
           await new Promise((done) => setTimeout(done, 100));
           const fold = document.getElementById(decodeURIComponent(location.hash.slice(1))).closest('details');
           const scrolling = [...document.querySelectorAll('.scroll')];
           return { opened: fold.open, unreachable: scrolling.filter((s) => s.tabIndex !== 0).length, of: scrolling.length };
         })()",
    );
    assert_eq!((&seen["opened"], &seen["unreachable"]), (&Value::Bool(true), &Value::from(0)), "{seen}");
    assert!(seen["of"].as_u64().unwrap() > 20, "{seen}");
}

#[test]
fn a_page_prints_with_everything_unfolded() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&page(&whole(), Lang::En), View { width: 1600, dark: true });
    let pages = browser.printed_pages();
    assert!((8..=60).contains(&pages), "{pages} pages");
    let folded = browser.evaluate("document.querySelectorAll('details:not([open])').length");
    assert_eq!(folded, 0, "folded parts are not printed");
}

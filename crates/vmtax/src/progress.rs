//! Live progress: one line that is redrawn on a terminal; elsewhere one line a round.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// What is going on, told on standard error.
#[derive(Debug)]
pub struct Teller {
    bar: Option<ProgressBar>,
}

impl Teller {
    /// A teller for this process's standard error.
    pub fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Teller { bar: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        // A template that does not parse would be a bug of this line only; the default style then shows the message too.
        if let Ok(style) = ProgressStyle::with_template("{spinner:.dim} {wide_msg}") {
            bar.set_style(style);
        }
        Teller { bar: Some(bar) }
    }

    /// Something that will be replaced by the next thing.
    pub fn now(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
            bar.tick();
        }
    }

    /// A line that stays.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Keeps the spinner turning while the controller waits and nothing is timed.
    pub fn turn(&self, on: bool) {
        if let Some(bar) = &self.bar {
            if on { bar.enable_steady_tick(Duration::from_millis(250)) } else { bar.disable_steady_tick() }
        }
    }

    /// Takes the live line away.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

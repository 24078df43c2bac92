//! Ctrl-C, SIGTERM and SIGHUP: the first asks the study to end cleanly, the second ends at once (the keeper then cleans up).

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use study::StopReason;

/// What the first signal sets.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Takes the signals over.
    pub fn install() -> std::io::Result<Self> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal only sets the flag, the second finds it set.
            signal_hook::flag::register_conditional_shutdown(signal, crate::exit::INTERRUPTED.into(), stop.flag())?;
            signal_hook::flag::register_usize(signal, Arc::clone(&stop.signal), signal as usize)?;
            signal_hook::flag::register(signal, stop.flag())?;
        }
        Ok(stop)
    }

    /// True after the first signal.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag itself, for rooms that take one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// As the study's loop wants it.
    pub fn reason(&self) -> Option<StopReason> {
        self.asked().then(|| match self.signal.load(Ordering::Relaxed) as i32 {
            SIGTERM => StopReason::Terminate,
            SIGHUP => StopReason::Hangup,
            _ => StopReason::Interrupt,
        })
    }
}

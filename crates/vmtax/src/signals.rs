//! Ctrl-C and SIGTERM: the first asks the study to end cleanly, the second ends at once (the keeper then cleans up).

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first signal.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Takes over SIGINT and SIGTERM.
    pub fn install() -> std::io::Result<Self> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal only sets the flag, the second finds it set.
            signal_hook::flag::register_conditional_shutdown(signal, crate::exit::INTERRUPTED.into(), stop.flag())?;
            signal_hook::flag::register(signal, stop.flag())?;
        }
        Ok(stop)
    }

    /// True after the first signal.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for rooms that take one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

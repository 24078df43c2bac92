//! Facts and counters of a machine, from /proc, /sys and CPUID. READ-ONLY: nothing here changes what it looks at.
//!
//! Every reader takes a [`Root`], so that the tests can hand it a made-up machine. What cannot be read is `None` (or an error),
//! never zero: a counter that reads zero and one that is not there lead to different verdicts.

pub mod cpu_times;
#[cfg(target_arch = "x86_64")]
mod cpuid;
pub mod facts;
pub mod file_system;
pub mod memory;
pub mod open_files;
pub mod pressure;
pub mod process;
pub mod qemu_cost;
mod root;
mod text;
pub mod topology;
pub mod virtual_machines;

#[cfg(test)]
mod fixture;

pub use facts::facts;
pub use root::Root;

//! Facts and counters of a machine, from /proc, /sys and CPUID. READ-ONLY: nothing here changes what it looks at.
//!
//! Every reader takes a [`Root`], so that the tests can hand it a made-up machine. What cannot be read is `None` (or an error),
//! never zero: a counter that reads zero and one that is not there lead to different verdicts.

#[cfg(target_os = "linux")]
pub mod allocation;
pub mod backing;
pub mod block_devices;
mod control_groups;
pub mod cpu_times;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod difference;
pub mod facts;
pub mod file_system;
pub mod frequency;
pub mod memory;
pub mod open_files;
pub mod paging;
pub mod pressure;
pub mod process;
pub mod qemu_cost;
mod root;
pub mod run_queue;
mod text;
pub mod thermal;
pub mod throttling;
pub mod topology;
pub mod virtual_machines;
pub mod watch;

#[cfg(test)]
mod fixture;

pub use facts::facts;
pub use root::Root;

//! Makes and unmakes machines: the local host, guests under QEMU, and the files that they need.
//!
//! What is started here is owned by a keeper process ([`keeper`]) that dies with the controller; what is made outside it is
//! written down in a lease ([`lease`]) before it is made.

pub mod cache;
pub mod cpio;
pub mod data_file;
pub mod elf;
pub mod file_error;
pub mod guest;
pub mod initramfs;
pub mod keeper;
pub mod kernel;
pub mod lease;
pub mod local;
pub mod modules;
pub mod pipe;
pub mod qemu;
pub mod qmp;
pub mod toolbox;

//! Makes and unmakes machines: the local host, guests under QEMU, disks.

//! Facts and counters of a machine. Read-only; every reader takes a root path.

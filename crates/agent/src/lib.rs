//! The side inside a machine: PID 1 duties, then messages in and bytes out.

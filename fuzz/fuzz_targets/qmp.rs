//! A QEMU that says anything on its monitor.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::qmp::Qmp;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

fuzz_target!(|bytes: &[u8]| {
    // Nobody reads while this is written, so it must fit into the socket.
    if bytes.len() > 64 << 10 {
        return;
    }
    let (ours, mut qemu) = UnixStream::pair().expect("a socket pair");
    // A good greeting first: without one there is no session.
    qemu.write_all(b"{\"QMP\": {}}\n{\"return\": {}}\n").expect("room in the socket");
    qemu.write_all(bytes).expect("room in the socket");
    qemu.shutdown(Shutdown::Write).expect("an open socket");
    let mut qmp = Qmp::open(ours, Duration::from_secs(1)).expect("a good greeting");
    while qmp.ask("stop", &serde_json::Value::Null).is_ok() {}
});

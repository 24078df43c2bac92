//! A guest that says anything, against the controller's end of its pipe: greeting, facts, clocks, then a run.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::pipe::{AgentPipe, Observer};
use model::messages::Task;
use model::wire;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

struct Deaf;

impl Observer for Deaf {
    fn begin(&mut self) {}
    fn end(&mut self) {}
    fn stop(&self) -> bool {
        false
    }
}

/// Whole frames of these payloads; the first bit says of which kind each is. Libfuzzer seldom guesses a length.
fn frames(payloads: &[(bool, &[u8])]) -> Vec<u8> {
    let mut stream = Vec::new();
    for (json, payload) in payloads {
        let mut frame = wire::encode_bytes(payload).unwrap_or_default();
        if let (true, Some(kind)) = (*json, frame.get_mut(4)) {
            *kind = 1;
        }
        stream.extend(frame);
    }
    stream
}

fuzz_target!(|payloads: Vec<(bool, &[u8])>| {
    let stream = frames(&payloads);
    // Nobody reads while this is written, so it must fit into the socket.
    if stream.len() > 64 << 10 {
        return;
    }
    let (ours, mut guest) = UnixStream::pair().expect("a socket pair");
    guest.write_all(&stream).expect("room in the socket");
    guest.shutdown(Shutdown::Write).expect("an open socket");
    let mut pipe = AgentPipe::new("guest", ours).expect("a socket");
    let patience = Duration::from_secs(1);
    let _ = pipe.hello("n", "b", patience, &mut || false);
    let _ = pipe.facts();
    let files = vec!["log".to_owned()];
    let task = Task::Tool { argv: vec!["true".to_owned()], env: BTreeMap::new(), limit: 1, files };
    let _ = pipe.run(task, patience, &mut Deaf);
    let _ = pipe.clock_offset();
});

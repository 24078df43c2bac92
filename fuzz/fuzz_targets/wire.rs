//! Frames and messages, however the pipe cuts them: what is read is what was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::messages::{Reply, Request};
use model::wire::{Decoder, Frame, WireError, encode};
use std::fmt::Debug;

fn reread<T: PartialEq + Debug>(
    message: Result<T, WireError>,
    encoded: impl Fn(&T) -> Result<Vec<u8>, WireError>,
    read: impl Fn(&Frame) -> Result<T, WireError>,
) {
    // A message may grow past the limit when defaults are written out.
    let Ok(message) = message else { return };
    let Ok(bytes) = encoded(&message) else { return };
    let mut decoder = Decoder::default();
    decoder.push(&bytes);
    let frame = decoder.next_frame().expect("our own frame").expect("a whole frame");
    assert_eq!(read(&frame).expect("our own message"), message);
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let mut decoder = Decoder::default();
    for chunk in bytes.chunks(usize::from(cut) + 1) {
        decoder.push(chunk);
        loop {
            match decoder.next_frame() {
                Err(_) => return,
                Ok(None) => break,
                Ok(Some(frame)) => {
                    reread(frame.message::<Request>(), encode, Frame::message);
                    reread(frame.message::<Reply>(), encode, Frame::message);
                }
            }
        }
    }
});

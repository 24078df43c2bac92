//! Frames over a byte pipe: length (u32, little-endian, of the payload), kind (one byte), payload.
//!
//! Pure: bytes in, frames out. A length is checked against the bound of its kind before anything is kept, so that a guest
//! that lies about it costs nothing.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Largest JSON payload, bytes.
pub const MAX_JSON: usize = 1 << 20;
/// Largest raw payload, bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// Bytes before the payload.
pub const HEADER: usize = 5;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A message.
    Json(Vec<u8>),
    /// Raw bytes that belong to the message before them.
    Bytes(Vec<u8>),
}

/// Why a pipe is not to be trusted any more.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A frame of a kind that does not exist: whatever writes is no agent.
    #[error("The other side sent a frame of unknown kind {0}")]
    Kind(u8),
    /// A frame over its bound.
    #[error("The other side announced a frame of {length} bytes, over the limit of {limit}")]
    TooLong {
        /// Announced length.
        length: usize,
        /// The bound.
        limit: usize,
    },
    /// A message that is none.
    #[error("The other side sent a message that cannot be read at {path}: {message}")]
    Message {
        /// Path in the JSON.
        path: String,
        /// The parser's words.
        message: String,
    },
    /// Raw bytes where a message was due, or the other way round.
    #[error("The other side sent {got} where {want} was due")]
    Unexpected {
        /// What came.
        got: &'static str,
        /// What was due.
        want: &'static str,
    },
}

fn limit(kind: u8) -> Result<usize, WireError> {
    match kind {
        1 => Ok(MAX_JSON),
        2 => Ok(MAX_BYTES),
        other => Err(WireError::Kind(other)),
    }
}

/// A message as a frame, ready to be written.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, WireError> {
    let payload =
        serde_json::to_vec(message).map_err(|e| WireError::Message { path: ".".to_owned(), message: e.to_string() })?;
    frame(1, &payload)
}

/// Raw bytes as a frame, ready to be written.
pub fn encode_bytes(payload: &[u8]) -> Result<Vec<u8>, WireError> {
    frame(2, payload)
}

fn frame(kind: u8, payload: &[u8]) -> Result<Vec<u8>, WireError> {
    let limit = limit(kind)?;
    if payload.len() > limit {
        return Err(WireError::TooLong { length: payload.len(), limit });
    }
    let mut out = Vec::with_capacity(HEADER + payload.len());
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.push(kind);
    out.extend_from_slice(payload);
    Ok(out)
}

/// Collects bytes as they arrive and gives whole frames.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
}

impl Decoder {
    /// Bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, if there is one. After an error the pipe must be given up.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, WireError> {
        let Some((header, rest)) = self.buffer.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = header[4];
        let limit = limit(kind)?;
        if length > limit {
            return Err(WireError::TooLong { length, limit });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let tail = rest[length..].to_vec();
        let mut payload = std::mem::replace(&mut self.buffer, tail);
        payload.truncate(HEADER + length);
        payload.drain(..HEADER);
        Ok(Some(if kind == 1 { Frame::Json(payload) } else { Frame::Bytes(payload) }))
    }
}

impl Frame {
    /// This frame as a message.
    pub fn message<T: DeserializeOwned>(&self) -> Result<T, WireError> {
        match self {
            Frame::Json(payload) => {
                let mut reader = serde_json::Deserializer::from_slice(payload);
                serde_path_to_error::deserialize(&mut reader).map_err(|e| WireError::Message {
                    path: e.path().to_string(),
                    message: crate::text::printable(&e.inner().to_string(), 300),
                })
            }
            Frame::Bytes(_) => Err(WireError::Unexpected { got: "raw bytes", want: "a message" }),
        }
    }

    /// This frame as raw bytes.
    pub fn bytes(self) -> Result<Vec<u8>, WireError> {
        match self {
            Frame::Bytes(payload) => Ok(payload),
            Frame::Json(_) => Err(WireError::Unexpected { got: "a message", want: "raw bytes" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Reply, Request};
    use proptest::prelude::*;

    #[test]
    fn an_over_long_frame_is_refused_before_its_payload_arrives() {
        let mut decoder = Decoder::default();
        decoder.push(&[0xff, 0xff, 0xff, 0xff, 1]);
        assert!(matches!(decoder.next_frame(), Err(WireError::TooLong { .. })));
        let mut decoder = Decoder::default();
        decoder.push(&[1, 0, 0, 0, 9]);
        assert!(matches!(decoder.next_frame(), Err(WireError::Kind(9))));
    }

    #[test]
    fn nan_is_no_json_and_names_its_place() {
        let text = br#"{"reply":"hello","nonce":"n","build":"b","uptime_seconds":NaN}"#;
        let error = Frame::Json(text.to_vec()).message::<Reply>().unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }

    proptest! {
        #[test]
        fn frames_survive_any_cutting(payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..8), cut in 1usize..17) {
            let mut stream = Vec::new();
            for payload in &payloads { stream.extend(encode_bytes(payload).unwrap()); }
            let mut decoder = Decoder::default();
            let mut seen = Vec::new();
            for chunk in stream.chunks(cut) {
                decoder.push(chunk);
                while let Some(frame) = decoder.next_frame().unwrap() { seen.push(frame.bytes().unwrap()); }
            }
            prop_assert_eq!(seen, payloads);
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut decoder = Decoder::default();
            decoder.push(&bytes);
            while let Ok(Some(frame)) = decoder.next_frame() { let _ = frame.message::<Request>(); }
        }
    }
}

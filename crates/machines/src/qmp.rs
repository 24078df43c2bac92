//! QEMU's machine protocol: one JSON object a line (QEMU's docs/interop/qmp-spec). Commands wait for their answer; events that come
//! in between are passed over.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longest line that is read, bytes.
const MAX_LINE: u64 = 4 << 20;
/// Lines of events that are passed over while one answer is awaited.
const MAX_EVENTS: usize = 1000;

/// Why QEMU could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum QmpError {
    /// The socket broke or was silent too long.
    #[error("QEMU did not answer '{command}'")]
    Io {
        /// What was asked.
        command: String,
        /// The kernel's answer.
        #[source]
        source: std::io::Error,
    },
    /// Not an answer.
    #[error("QEMU answered '{command}' with something that is no QMP: {got}")]
    Nonsense {
        /// What was asked.
        command: String,
        /// What came.
        got: String,
    },
    /// QEMU refused.
    #[error("QEMU refused '{command}': {why}")]
    Refused {
        /// What was asked.
        command: String,
        /// Its words.
        why: String,
    },
}

/// A QMP session.
#[derive(Debug)]
pub struct Qmp {
    reader: BufReader<UnixStream>,
}

impl Qmp {
    /// Negotiates on a fresh socket.
    pub fn open(stream: UnixStream, patience: Duration) -> Result<Self, QmpError> {
        let io = |source| QmpError::Io { command: "greeting".to_owned(), source };
        stream.set_read_timeout(Some(patience)).map_err(io)?;
        stream.set_write_timeout(Some(patience)).map_err(io)?;
        let mut qmp = Qmp { reader: BufReader::new(stream) };
        let greeting = qmp.line("greeting")?;
        if greeting.get("QMP").is_none() {
            return Err(QmpError::Nonsense { command: "greeting".to_owned(), got: show(&greeting) });
        }
        qmp.ask("qmp_capabilities", &Value::Null)?;
        Ok(qmp)
    }

    /// Runs `command` and gives its `return`. `arguments` is an object or null.
    pub fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value, QmpError> {
        let mut request = json!({ "execute": command });
        if !arguments.is_null() {
            request["arguments"] = arguments.clone();
        }
        let text = format!("{request}\n");
        self.reader
            .get_mut()
            .write_all(text.as_bytes())
            .map_err(|source| QmpError::Io { command: command.to_owned(), source })?;
        for _ in 0..MAX_EVENTS {
            let mut answer = self.line(command)?;
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(error) = answer.get("error") {
                let why = error.get("desc").and_then(Value::as_str).unwrap_or("no reason given");
                return Err(QmpError::Refused { command: command.to_owned(), why: model::text::printable(why, 300) });
            }
            if answer.get("event").is_none() {
                return Err(QmpError::Nonsense { command: command.to_owned(), got: show(&answer) });
            }
        }
        Err(QmpError::Nonsense { command: command.to_owned(), got: "events without end".to_owned() })
    }

    fn line(&mut self, command: &str) -> Result<Value, QmpError> {
        let io = |source| QmpError::Io { command: command.to_owned(), source };
        let mut line = Vec::new();
        let n = (&mut self.reader).take(MAX_LINE).read_until(b'\n', &mut line).map_err(io)?;
        if n == 0 {
            return Err(io(std::io::ErrorKind::UnexpectedEof.into()));
        }
        serde_json::from_slice(&line)
            .map_err(|e| QmpError::Nonsense { command: command.to_owned(), got: e.to_string() })
    }
}

fn show(value: &Value) -> String {
    model::text::printable(&value.to_string(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(script: &str) -> Result<Qmp, QmpError> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(script.as_bytes()).unwrap();
        std::mem::forget(theirs);
        Qmp::open(ours, Duration::from_millis(200))
    }

    #[test]
    fn events_are_passed_over_and_refusals_are_told() {
        let script = "{\"QMP\": {}}\n{\"event\": \"RESET\"}\n{\"return\": {}}\n{\"event\": \"STOP\"}\n{\"return\": {\"enabled\": true}}\n{\"error\": {\"desc\": \"no such node\"}}\n";
        let mut qmp = session(script).unwrap();
        assert_eq!(qmp.ask("query-kvm", &Value::Null).unwrap()["enabled"], true);
        assert!(qmp.ask("x", &Value::Null).unwrap_err().to_string().contains("no such node"));
        assert!(matches!(qmp.ask("y", &Value::Null), Err(QmpError::Io { .. })));
    }

    #[test]
    fn nonsense_is_no_session() {
        assert!(matches!(session("hello\n"), Err(QmpError::Nonsense { .. })));
        assert!(matches!(session("{}\n"), Err(QmpError::Nonsense { .. })));
    }
}

//! Just enough of the DevTools protocol (<https://chromedevtools.github.io/devtools-protocol/>) to look at a page.

use base64::Engine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long Chromium may take for one answer.
const PATIENCE: Duration = Duration::from_secs(60);
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A running Chromium with one page. It dies with this value.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    asked: u64,
    complaints: Vec<String>,
    folder: tempfile::TempDir,
}

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct View {
    /// Width of the window, pixels.
    pub width: u32,
    /// The reader prefers dark pages.
    pub dark: bool,
}

impl Browser {
    /// None where there is no Chromium and the tests were told to do without.
    pub fn start() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let Some(program) = PROGRAMS.into_iter().find(|name| found(name)) else {
            assert!(
                std::env::var_os("VMTAX_WITHOUT_CHROMIUM").is_some(),
                "There is no chromium in PATH. Install it (./setup.sh test), or set VMTAX_WITHOUT_CHROMIUM to do without."
            );
            eprintln!("Skipped: there is no chromium, and VMTAX_WITHOUT_CHROMIUM is set.");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        // The pipe's ends are descriptors 3 and 4 of Chromium: a shell puts them there.
        let mut process = Command::new("sh")
            // Chromium leaves its lock's folder there when it is ended from outside.
            .env("TMPDIR", folder.path())
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#,
                program,
                "--headless",
                "--no-sandbox",
            ])
            .args(["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let input = process.stdin.take().expect("a pipe");
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let parsed = serde_json::from_slice(&message).expect("JSON");
                message.clear();
                if sender.send(parsed).is_err() {
                    break;
                }
            }
        });
        let mut browser =
            Browser { process, input, answers, session: String::new(), asked: 0, complaints: Vec::new(), folder };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Opens a page from a file, as a reader does, and waits until it is loaded. Earlier complaints are forgotten.
    pub fn open(&mut self, page: &str, view: View) {
        let file = self.folder.path().join("report.html");
        std::fs::write(&file, page).expect("a file");
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": false }),
        );
        let scheme = if view.dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
        self.complaints.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        while self.next()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", &parameters);
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }

    /// What the page made the browser complain about since it was opened: errors, console messages, breaches of its content
    /// security policy, and anything that it fetched beside itself.
    pub fn complaints(&mut self) -> Vec<String> {
        // What was said before an answer is read before it.
        self.evaluate("0");
        self.complaints.clone()
    }

    /// Pages of the page as PDF.
    pub fn printed_pages(&mut self) -> usize {
        let data = self.call("Page.printToPDF", &json!({}))["data"].as_str().expect("a PDF").to_owned();
        let pdf = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
        // Leaves of the page tree; Chromium writes it uncompressed.
        let text: String = pdf.iter().map(|byte| char::from(*byte)).collect();
        text.matches("/Type /Page\n").count()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("Chromium reads");
        loop {
            let answer = self.next();
            if answer["id"] == self.asked {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
        }
    }

    /// The next message; complaints are noted on the way.
    fn next(&mut self) -> Value {
        let message = self.answers.recv_timeout(PATIENCE).expect("Chromium answers in time");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(parameters.to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                if !url.ends_with("/report.html") && !url.starts_with("data:") {
                    self.complaints.push(format!("fetched {url}"));
                }
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! A headless Chromium, driven through chromedriver as the W3C has it and by Chromium's own protocol for what that lacks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing in the browser is waited for longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one page; it ends with this.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one.
    pub fn start() -> Self {
        let mut command = Command::new("chromedriver");
        let mut driver =
            command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        let mut browser = Self { driver, port: port.unwrap(), session: String::new() };
        let options =
            json!({ "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"] });
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" } });
        let session = browser.call("POST", "", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!("/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    /// Calls a command of the session.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection.set_read_timeout(Some(3 * PATIENCE)).unwrap();
        let (path, body) = (format!("/session{}{path}", self.session), body.to_string());
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n", body.len());
        write!(connection, "{head}connection: close\r\n\r\n{body}").unwrap();
        let value = reply(&mut BufReader::new(connection));
        assert!(value["value"]["error"].is_null(), "{method} {path}: {value}");
        value["value"].clone()
    }

    /// A command of Chromium's own protocol.
    fn chromium(&self, command: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Goes to a page.
    pub fn go(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// What a script's expression is on the page.
    pub fn value(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The text of the elements that a selector selects.
    pub fn text(&self, selector: &str) -> String {
        let text = self.value(&format!(
            "[...document.querySelectorAll({selector:?})].map((element) => element.innerText).join('|')"
        ));
        text.as_str().unwrap().to_owned()
    }

    /// Waits until the expression is true on the page, but not for ever.
    #[track_caller]
    pub fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            assert!(begun.elapsed() < PATIENCE, "waited too long until {expression}: {}", self.text("body"));
            sleep(Duration::from_millis(20));
        }
    }

    /// What the browser complained of since it was asked last: errors of scripts, and what the policy forbids.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.call("POST", "/se/log", &json!({ "type": "browser" }));
        entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["message"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Shows pages so wide, dark or light.
    pub fn looks(&self, width: u32, is_dark: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.chromium("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.chromium("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// A picture of the whole page, as a PNG in the digits of base 64.
    pub fn picture(&self) -> String {
        let size =
            self.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]");
        let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1 });
        let parameters = json!({ "captureBeyondViewport": true, "clip": clip });
        self.chromium("Page.captureScreenshot", &parameters)["data"].as_str().unwrap().to_owned()
    }
}

/// The JSON of a reply: chromedriver keeps the connection open after it.
fn reply(connection: &mut BufReader<TcpStream>) -> Value {
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

impl Drop for Browser {
    fn drop(&mut self) {
        let closing = format!("DELETE /session{} HTTP/1.1\r\nhost: localhost\r\n\r\n", self.session);
        if let Ok(mut connection) = TcpStream::connect(("127.0.0.1", self.port)) {
            connection.set_read_timeout(Some(PATIENCE)).ok();
            connection.write_all(closing.as_bytes()).ok();
            connection.read_exact(&mut [0; 12]).ok();
        }
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

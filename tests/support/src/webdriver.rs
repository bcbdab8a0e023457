//! A headless Chromium, driven through chromedriver, or by Chromium's own commands where chromedriver has
//! none.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

/// The longest time that a test waits for the page.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one page; dropping it ends the browser.
pub struct Browser {
    driver: Child,
    client: Client,
    runtime: Runtime,
}

impl Browser {
    /// Starts a browser.
    pub fn start() -> Self {
        let mut command = Command::new("chromedriver");
        let mut driver =
            command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port: u16 = lines
            .find_map(|line| {
                line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
            })
            .unwrap();
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions":
                { "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"] },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let runtime = Runtime::new().unwrap();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(wanted.as_object().unwrap().clone());
        let client = runtime.block_on(builder.connect(&format!("http://127.0.0.1:{port}"))).unwrap();
        Self { driver, client, runtime }
    }

    #[track_caller]
    fn wait<T>(&self, command: impl Future<Output = Result<T, CmdError>>) -> T {
        self.runtime.block_on(command).unwrap()
    }

    /// Calls a command of Chromium's own protocol.
    fn chromium(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.wait(self.client.issue_cmd(Extension { path: "goog/cdp/execute", body }));
    }

    /// Goes to a page.
    pub fn go(&self, url: &str) {
        self.wait(self.client.goto(url));
    }

    /// The value of a script's expression on the page.
    #[track_caller]
    pub fn value(&self, expression: &str) -> Value {
        self.wait(self.client.execute(&format!("return ({expression});"), Vec::new()))
    }

    /// The text of the elements that a selector selects.
    pub fn text(&self, selector: &str) -> String {
        let text = self.value(&format!(
            "[...document.querySelectorAll({selector:?})].map((element) => element.innerText).join('|')"
        ));
        text.as_str().unwrap().to_owned()
    }

    /// Waits until the expression is true on the page.
    #[track_caller]
    pub fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            assert!(begun.elapsed() < PATIENCE, "waited too long until {expression}: {}", self.text("body"));
            sleep(Duration::from_millis(20));
        }
    }

    /// The browser's log since the last call: errors of scripts, and violations of the page's policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = Extension { path: "se/log", body: json!({ "type": "browser" }) };
        let entries = self.wait(self.client.issue_cmd(log));
        let entries = entries.as_array().unwrap().iter();
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Shows pages in this width, dark or light.
    pub fn looks(&self, width: u32, is_dark: bool) {
        self.size(width, 900);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.chromium("Emulation.setEmulatedMedia", json!({ "media": "", "features": features }));
    }

    /// Lays pages out as on paper of this width.
    pub fn prints(&self, width: u32) {
        self.size(width, 1100);
        self.chromium("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// Makes the screen one that is touched.
    pub fn is_touched(&self, width: u32) {
        self.size(width, 900);
        self.chromium("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
    }

    fn size(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.chromium("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// A picture of the whole page as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let [width, height] = ["clientWidth", "scrollHeight"]
            .map(|side| self.value(&format!("document.documentElement.{side}")).as_u64().unwrap() as u32);
        self.size(width, height);
        self.wait(self.client.screenshot())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.runtime.block_on(self.client.clone().close()).ok();
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

/// A command that chromedriver has in addition to the standard ones.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

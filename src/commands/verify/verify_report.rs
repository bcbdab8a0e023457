//! The output of `diadem verify`.

use serde_json::{Map, Value, json};

use crate::exit;
use crate::output::{on_stdout, print, sentence};

/// The results so far: printed at once as text, or at the end as one JSON object.
pub struct VerifyReport {
    json: Option<Map<String, Value>>,
    has_run: bool,
}

impl VerifyReport {
    /// For a run, or for a certificate alone.
    pub fn new(in_json: bool, has_run: bool) -> Self {
        Self { json: in_json.then(Map::new), has_run }
    }

    /// Adds what was found, in words and by the name that it has in the object.
    pub fn add(&mut self, words: &str, name: &str, value: Value) -> anyhow::Result<()> {
        match &mut self.json {
            Some(object) => {
                object.insert(name.to_owned(), value);
                Ok(())
            }
            None => print(&on_stdout(words)),
        }
    }

    /// Prints the JSON object, if requested.
    pub fn end(self, verified: &anyhow::Result<()>, way_on: Option<&str>) -> anyhow::Result<()> {
        let Some(mut object) = self.json else { return Ok(()) };
        let sound = match verified {
            // A certificate alone may be signed by anybody.
            Ok(()) => self.has_run.then_some(true),
            // A run that could not be read is neither sound nor unsound, as the exit code shows.
            Err(error) => exit::is_unsound(error).then_some(false),
        };
        sound.map(|sound| object.insert("sound".into(), json!(sound)));
        if let Err(error) = verified {
            object.insert("wrong".into(), json!(sentence(error)));
            way_on.map(|way_on| object.insert("way_on".into(), json!(way_on)));
        }
        print(&Value::Object(object).to_string())
    }
}

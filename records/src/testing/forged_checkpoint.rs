use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::checkpoint::rewrite;
use crate::run_directory::secret::lease_key;

/// Changes the JSON of one entry of a run's checkpoint, and seals it again with the run's key. An entry that is missing is null, and
/// one that becomes null is removed.
pub fn forge_checkpoint(run: &Path, entry: &str, change: impl FnOnce(&mut Value)) {
    let key = lease_key(run).unwrap();
    rewrite(&run.join("checkpoint"), &key, Duration::from_mins(1), |entries| {
        let kept = entries.remove(entry.as_bytes());
        let mut value = kept.map_or(Value::Null, |kept| serde_json::from_slice(&kept).unwrap());
        change(&mut value);
        if !value.is_null() {
            entries.insert(entry.as_bytes().to_vec(), serde_json::to_vec(&value).unwrap());
        }
    });
}

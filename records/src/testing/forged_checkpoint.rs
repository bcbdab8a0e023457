use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::checkpoint::cut_line;
use crate::run_directory::secret::lease_key;

/// Changes what the checkpoint of a run says, and seals it again with the run's key.
pub fn forge_checkpoint(run: &Path, change: impl FnOnce(&mut Value)) {
    let (path, key) = (run.join("checkpoint"), lease_key(run).unwrap());
    let bytes = fs::read(&path).unwrap();
    let (head, marks) = cut_line(cut_line(&bytes).unwrap().1).unwrap();
    let mut head = serde_json::from_slice(head).unwrap();
    change(&mut head);
    let content = [&serde_json::to_vec(&head).unwrap()[..], b"\n", marks].concat();
    fs::write(path, [key.seal(&content).to_string().as_bytes(), b"\n", &content].concat()).unwrap();
}

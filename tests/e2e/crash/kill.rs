//! SIGKILL at random moments: nothing acknowledged is lost, nothing is counted twice.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::harness::{Folder, published, until};

#[test]
fn count_killed_ten_times_is_exact_and_skips_units() {
    let folder = Folder::new();
    let mut random = StdRng::seed_from_u64(17);
    let mut on_record = 0;
    for kill in 0..10 {
        // A kernel slow enough that ten sessions of any machine do not come to the end.
        let slow = "count 18 --method search --isa portable --threads 1 --quiet";
        let mut running = folder.start(slow, "log");
        until("a new record is durable", || folder.counts("diadem-18") > on_record || running.has_ended());
        std::thread::sleep(Duration::from_millis(random.random_range(0..150)));
        assert!(!running.has_ended(), "kill {kill} comes before the end");
        running.kill();
        let now = folder.counts("diadem-18");
        assert!(now > on_record, "kill {kill}: each session adds to what was there");
        on_record = now;
    }
    let answer = folder.run("count 18 --json").json();
    assert_eq!(answer["total"], published(18));
    assert_eq!(answer["known"], "agrees");
    assert_eq!(
        folder.counts("diadem-18") as u64,
        answer["units"].as_u64().unwrap(),
        "one record for each unit"
    );
}

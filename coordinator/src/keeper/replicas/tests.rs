//! When reports are answered, and what is said while they are not.

use super::*;
use domain::{TakenBack, Verdict};
use tokio::sync::oneshot::{self, error::TryRecvError};

type Awaited = oneshot::Receiver<Result<Vec<Verdict>, CallError>>;

fn report(replicas: &mut Replication, now: u64, records: u64) -> Awaited {
    let (reply, answer) = oneshot::channel();
    replicas.wait(
        Duration::from_secs(now),
        records,
        Answer::Report { verdicts: vec![Verdict::Recorded], reply },
    );
    answer
}

fn is_waiting(answer: &mut Awaited) -> bool {
    matches!(answer.try_recv(), Err(TryRecvError::Empty))
}

#[test]
fn without_followers_to_wait_for_an_answer_comes_at_once() {
    let mut replicas = Replication::new(Some(0));
    let mut answer = report(&mut replicas, 0, 7);
    replicas.answer(Duration::ZERO, 7);
    assert_eq!(answer.try_recv().unwrap(), Ok(vec![Verdict::Recorded]));
    assert_eq!(replicas.trouble(7), None);
}

#[test]
fn an_answer_waits_until_as_many_followers_as_are_needed_have_its_records() {
    let mut replicas = Replication::new(Some(2));
    replicas.join(1, 10, 5);
    replicas.join(2, 11, 5);
    let mut answer = report(&mut replicas, 0, 7);
    for (follower, call, records) in [(1, 10, 7), (1, 10, 9), (2, 11, 6), (2, 99, 7), (3, 10, 7)] {
        replicas.have(follower, call, records);
        replicas.answer(Duration::ZERO, 7);
        assert!(is_waiting(&mut answer), "{follower} {call} {records}");
    }
    replicas.have(2, 11, 7);
    replicas.answer(Duration::ZERO, 7);
    assert_eq!(answer.try_recv().unwrap(), Ok(vec![Verdict::Recorded]));
    assert!(replicas.have_all(7) && !replicas.have_all(8));
}

#[test]
fn an_operator_hears_how_many_followers_have_it_when_enough_do_or_after_a_while_or_where_too_few_are_there() {
    let mut replicas = Replication::new(Some(2));
    let taken_back = |replicas: &mut Replication| {
        let (reply, answer) = oneshot::channel();
        replicas.wait(Duration::ZERO, 7, Answer::Retraction { units: 3, reply });
        replicas.answer(Duration::ZERO, 7);
        answer
    };
    let heard = |answer: &mut oneshot::Receiver<Result<TakenBack, CallError>>| {
        answer.try_recv().map(|taken| (taken.as_ref().unwrap().units, taken.unwrap().copies))
    };
    let of_two = |followers| Ok((3, Copies { followers, replicas: 2 }));
    replicas.join(1, 10, 7);
    assert_eq!(heard(&mut taken_back(&mut replicas)), of_two(1), "nobody is waited for who is not there");
    replicas.join(2, 11, 6);
    let mut late = taken_back(&mut replicas);
    assert_eq!(heard(&mut late), Err(TryRecvError::Empty));
    replicas.answer(PATIENCE, 7);
    assert_eq!(heard(&mut late), of_two(1));
    let mut in_time = taken_back(&mut replicas);
    assert_eq!(heard(&mut in_time), Err(TryRecvError::Empty));
    replicas.have(2, 11, 7);
    replicas.answer(Duration::ZERO, 7);
    assert_eq!(heard(&mut in_time), of_two(2));
}

#[test]
fn a_follower_that_calls_twice_is_one() {
    let mut replicas = Replication::new(Some(2));
    replicas.join(1, 10, 7);
    replicas.join(1, 11, 7);
    assert_eq!(replicas.there(), 1);
    assert!(!replicas.have_all(7));
    replicas.leave(1, 10);
    assert_eq!(replicas.there(), 1, "that was its former call");
    replicas.leave(1, 11);
    assert_eq!(replicas.there(), 0);
}

#[test]
fn where_all_is_counted_it_is_said_that_the_answer_waits_and_how_to_go_on() {
    let mut replicas = Replication::new(Some(1));
    replicas.expect_end(Duration::from_secs(1), true);
    let trouble = replicas.trouble(7).unwrap();
    for said in [
        "the answer waits",
        "0 of 1 followers",
        "see what the log of diadem follow says, or start it again",
        "diadem policy URL --replicas K --reason TEXT, with --keys keys/admin where the run has keys",
    ] {
        assert!(trouble.contains(said), "{trouble}");
    }
    // One that is there has its time to take the last records.
    replicas.join(1, 10, 5);
    for (now, is_late) in [(1, false), (5, false), (6, true)] {
        replicas.expect_end(Duration::from_secs(now), true);
        replicas.answer(Duration::from_secs(now), 7);
        assert_eq!(replicas.trouble(7).is_some(), is_late, "after {now} s");
    }
    let trouble = replicas.trouble(7).unwrap();
    assert!(trouble.contains("the answer waits") && trouble.contains("--replicas"), "{trouble}");
    replicas.have(1, 10, 7);
    assert_eq!(replicas.trouble(7), None);
    // A unit was taken back: there is more to count.
    replicas.expect_end(Duration::from_secs(7), false);
    replicas.leave(1, 10);
    assert!(replicas.trouble(8).unwrap().starts_with("nothing is acknowledged: 0 of 1"));
}

#[test]
fn what_has_waited_for_too_long_is_refused_and_the_trouble_ends_with_the_next_answer() {
    let mut replicas = Replication::new(Some(1));
    assert!(replicas.trouble(7).unwrap().contains("0 of 1 followers"));
    replicas.join(1, 10, 5);
    assert_eq!(replicas.trouble(7), None);
    let mut answer = report(&mut replicas, 0, 7);
    replicas.answer(Duration::from_secs(4), 7);
    assert!(is_waiting(&mut answer));
    replicas.answer(Duration::from_secs(5), 7);
    assert!(matches!(answer.try_recv().unwrap(), Err(CallError::NotRecorded(_))));
    assert!(replicas.trouble(7).unwrap().contains("fewer than 1 of 1 followers"));
    let mut again = report(&mut replicas, 6, 7);
    replicas.have(1, 10, 7);
    replicas.answer(Duration::from_secs(6), 7);
    assert!(again.try_recv().unwrap().is_ok());
    assert_eq!(replicas.trouble(7), None);
}

#[test]
fn a_folder_that_was_copied_with_its_number_is_the_same_follower_and_takes_nothing_from_it() {
    let mut replicas = Replication::new(Some(1));
    replicas.join(1, 10, 7);
    replicas.join(1, 11, 3);
    assert_eq!((replicas.there(), replicas.have_all(7)), (1, true));
    replicas.have(1, 10, 8);
    assert!(replicas.have_all(8), "what the first says still counts");
    assert!(!replicas.leave(1, 11), "it is still there");
    assert_eq!((replicas.there(), replicas.have_all(8), replicas.away(9)), (1, true, 0));
    assert!(replicas.leave(1, 10));
    assert_eq!((replicas.there(), replicas.have_all(1), replicas.away(9)), (0, false, 1));
    replicas.need(2);
    replicas.join(1, 12, 8);
    replicas.join(1, 13, 8);
    assert!(!replicas.have_all(8), "two calls of one are no two followers");
}

#[test]
fn what_a_follower_had_is_what_any_of_its_calls_said_whichever_ends_last() {
    for last in [10, 11] {
        let mut replicas = Replication::new(Some(1));
        replicas.join(1, 10, 5);
        replicas.join(1, 11, 8);
        assert!(!replicas.leave(1, 21 - last), "one call of two is left");
        assert_eq!(replicas.away(9), 0, "it is there");
        assert!(replicas.leave(1, last));
        assert_eq!((replicas.away(8), replicas.away(9)), (0, 1), "where {last} ends last");
    }
}

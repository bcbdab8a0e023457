//! When reports are answered, and the message while they wait.

use super::*;
use domain::{TakenBack, Verdict};
use records::Extent;
use tokio::sync::oneshot::{self, error::TryRecvError};

type Awaited = oneshot::Receiver<Result<Vec<Verdict>, CallError>>;

fn report(followers: &mut Followers, now: u64, records: u64) -> Awaited {
    let (reply, answer) = oneshot::channel();
    followers.wait(
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
fn answer_without_needed_followers_comes_at_once() {
    let mut followers = Followers::new(Some(0));
    let mut answer = report(&mut followers, 0, 7);
    followers.answer(Duration::ZERO);
    assert_eq!(answer.try_recv().unwrap(), Ok(vec![Verdict::Recorded]));
    assert_eq!(followers.trouble(), None);
}

#[test]
fn answer_waits_until_enough_followers_have_it() {
    let mut followers = Followers::new(Some(2));
    followers.join(1, 10, 5);
    followers.join(2, 11, 5);
    let mut answer = report(&mut followers, 0, 7);
    for (follower, call, records) in [(1, 10, 7), (1, 10, 9), (2, 11, 6), (2, 99, 7), (3, 10, 7)] {
        followers.have(follower, call, records);
        followers.answer(Duration::ZERO);
        assert!(is_waiting(&mut answer), "{follower} {call} {records}");
    }
    followers.have(2, 11, 7);
    followers.answer(Duration::ZERO);
    assert_eq!(answer.try_recv().unwrap(), Ok(vec![Verdict::Recorded]));
    assert!(followers.have_all(7) && !followers.have_all(8));
}

#[test]
fn operator_hears_how_many_followers_have_it() {
    let mut followers = Followers::new(Some(2));
    let taken_back = |followers: &mut Followers| {
        let (reply, answer) = oneshot::channel();
        followers.wait(
            Duration::ZERO,
            7,
            Answer::Retraction { extent: Extent { units: 3, share: 0.5 }, reply },
        );
        followers.answer(Duration::ZERO);
        answer
    };
    let heard = |answer: &mut oneshot::Receiver<Result<TakenBack, CallError>>| {
        answer.try_recv().map(|taken| (taken.as_ref().unwrap().units, taken.unwrap().copies))
    };
    let of_two = |followers| Ok((3, Copies { followers, replicas: 2 }));
    followers.join(1, 10, 7);
    assert_eq!(heard(&mut taken_back(&mut followers)), of_two(1), "nobody is waited for who is not there");
    followers.join(2, 11, 6);
    let mut late = taken_back(&mut followers);
    assert_eq!(heard(&mut late), Err(TryRecvError::Empty));
    followers.answer(LONGEST_WAIT);
    assert_eq!(heard(&mut late), of_two(1));
    let mut in_time = taken_back(&mut followers);
    assert_eq!(heard(&mut in_time), Err(TryRecvError::Empty));
    followers.have(2, 11, 7);
    followers.answer(Duration::ZERO);
    assert_eq!(heard(&mut in_time), of_two(2));
}

#[test]
fn follower_that_calls_twice_counts_once() {
    let mut followers = Followers::new(Some(2));
    followers.join(1, 10, 7);
    followers.join(1, 11, 7);
    assert_eq!(followers.connected(), 1);
    assert!(!followers.have_all(7));
    assert!(!followers.leave(1, 10));
    assert_eq!(followers.connected(), 1, "that was its former call");
    assert!(followers.leave(1, 11));
    assert_eq!(followers.connected(), 0);
}

#[test]
fn report_that_waits_too_long_is_refused() {
    let mut followers = Followers::new(Some(1));
    assert!(followers.trouble().unwrap().contains("0 of 1 followers"));
    followers.join(1, 10, 5);
    assert_eq!(followers.trouble(), None);
    let mut answer = report(&mut followers, 0, 7);
    followers.answer(Duration::from_secs(4));
    assert!(is_waiting(&mut answer));
    followers.answer(Duration::from_secs(5));
    assert!(matches!(answer.try_recv().unwrap(), Err(CallError::NotRecorded(_))));
    assert!(followers.trouble().unwrap().contains("fewer than 1 of 1 followers"));
    let mut again = report(&mut followers, 6, 7);
    followers.have(1, 10, 7);
    followers.answer(Duration::from_secs(6));
    assert!(again.try_recv().unwrap().is_ok());
    assert_eq!(followers.trouble(), None);
}

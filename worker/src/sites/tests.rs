use super::*;
use domain::CoordinatorId;

const RUN: RunId = RunId(7);

fn sites(count: usize) -> Sites {
    Sites::new((0..count).map(|site| format!("http://site-{site}:1")).collect())
}

fn unavailable() -> CoordinatorError {
    CoordinatorError::Unavailable("cut".into())
}

fn refused() -> CoordinatorError {
    CoordinatorError::Refused("no".into())
}

fn term(number: u64, coordinator: u128) -> Term {
    Term { number, coordinator: CoordinatorId(coordinator), proof: 1 }
}

#[test]
fn the_next_one_is_called_when_the_one_that_is_called_fails_and_not_for_calls_of_before() {
    let sites = sites(3);
    assert_eq!(sites.current(), 0);
    sites.failed(0, unavailable());
    assert_eq!(sites.current(), 1);
    sites.failed(0, unavailable());
    assert_eq!(sites.current(), 1);
    sites.failed(1, CoordinatorError::Unregistered);
    assert_eq!(sites.current(), 1);
    sites.failed(1, unavailable());
    sites.failed(2, unavailable());
    assert_eq!(sites.current(), 0);
}

#[test]
fn a_refusal_is_for_good_when_all_refuse() {
    let two = sites(2);
    assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
    two.answered(0);
    assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
    assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
    assert!(matches!(sites(1).failed(0, refused()), CoordinatorError::Refused(_)));
}

#[test]
fn refusals_are_forgotten_when_one_of_them_has_taken_the_worker_in() {
    let two = sites(2);
    assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
    two.taken_in();
    assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
    assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
}

#[test]
fn a_refusal_that_may_pass_is_one_until_one_of_them_has_taken_the_worker_in() {
    let one = sites(1);
    let beside = one.beside();
    let for_now = |sites: &Sites| sites.refused_for_now(0, "the clock".into());
    assert!(matches!(for_now(&one), CoordinatorError::Refused(_)));
    one.taken_in();
    assert!(
        [&one, &beside].into_iter().all(|sites| matches!(for_now(sites), CoordinatorError::Unavailable(_)))
    );
    assert!(matches!(one.failed(0, refused()), CoordinatorError::Refused(_)), "that is meant for good");
    let two = sites(2);
    two.taken_in();
    two.failed(0, refused());
    for_now(&two);
    assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)), "the other one may pass");
}

#[test]
fn a_refusal_is_news_once_though_the_site_answers_in_between_until_one_has_taken_the_worker_in() {
    let two = sites(2);
    let is_news = |why: &str| two.choice.lock().note(1, Refusal { why: why.into(), is_lasting: false });
    assert!(is_news("another run"));
    two.answered(1);
    assert!(!is_news("another run"));
    two.answered(1);
    assert!(is_news("too many workers"));
    two.taken_in();
    assert!(is_news("too many workers"));
}

#[test]
fn who_says_what_is_not_understood_is_not_called_again_and_ends_the_worker_only_where_no_other_is_left() {
    let three = sites(3);
    assert_eq!(three.give_up_on(0, "99".into()), CoordinatorError::Unavailable("99".into()));
    assert_eq!(three.current(), 1);
    three.failed(1, unavailable());
    three.failed(2, unavailable());
    assert_eq!(three.current(), 1, "it passes over that one");
    three.answered(0);
    three.taken_in();
    assert!(matches!(three.give_up_on(1, "99".into()), CoordinatorError::Unavailable(_)));
    three.failed(2, unavailable());
    assert_eq!(three.current(), 2, "it is the only one that is left");
    assert!(matches!(three.failed(2, refused()), CoordinatorError::Refused(_)));
    assert!(matches!(sites(1).give_up_on(0, "99".into()), CoordinatorError::Refused(_)));
}

#[test]
fn worker_begins_with_the_highest_term_and_tells_it_to_others() {
    let sites = sites(3);
    sites.begin_with(2, RUN, term(1003, 2));
    assert_eq!((sites.current(), sites.highest_term()), (2, Some(term(1003, 2))));
    sites.meet(0, term(3, 1));
    assert_eq!(sites.term_against(&term(3, 1)), Some(term(1003, 2)));
    assert_eq!(sites.term_against(&term(1003, 2)), None);
}

#[test]
fn workers_of_one_process_change_address_alone_and_share_terms() {
    let one = sites(3);
    one.begin_with(1, RUN, term(3, 1));
    let other = one.beside();
    assert_eq!((other.current(), other.highest_term()), (1, Some(term(3, 1))));
    assert!(matches!(one.failed(1, refused()), CoordinatorError::Unavailable(_)));
    assert_eq!((one.current(), other.current()), (2, 1), "the refusal of one is not the other's");
    one.meet(2, term(1003, 2));
    assert_eq!(other.term_against(&term(3, 1)), Some(term(1003, 2)), "it knows what the other has met");
}

#[test]
fn a_run_that_takes_the_place_of_another_brings_its_own_terms_and_what_is_held_of_that_one_is_given_up() {
    let (one, [before, after]) = (sites(2), [RunId(1), RunId(2)]);
    let other = one.beside();
    for sites in [&one, &other] {
        sites.meet(0, term(3, 1));
        sites.joined(0, before);
        assert!(sites.other_than(before).is_none() && !sites.gives_up_units(before));
    }
    assert_eq!(one.other_than(after), Some(before));
    assert!(one.is_home(0) && !one.is_home(1));
    one.go_over(0, RunId(2));
    assert_eq!(other.highest_term(), None);
    for sites in [&one, &other] {
        assert_eq!(sites.other_than(after), None);
        assert!(sites.gives_up_units(after) && !sites.gives_up_units(after), "once");
        sites.meet(0, term(1, 2));
    }
    assert_eq!(one.other_than(before), Some(after), "it does not go back");
    assert!(matches!(one.leave_run_alone(0, RunId(1)), CoordinatorError::Unavailable(_)));
    assert_eq!(one.current(), 1);
}

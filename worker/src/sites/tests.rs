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
fn who_is_told_the_highest_term_before_it_has_met_one_begins_there_and_deals_with_no_lower_one() {
    let sites = sites(3);
    sites.begin_with(2, RUN, term(1003, 2));
    assert_eq!((sites.current(), sites.met()), (2, Some(term(1003, 2))));
    assert!(sites.meet(0, term(3, 1)).is_err());
    assert!(sites.meet(2, term(1003, 2)).is_ok());
    // Later it knows for itself.
    sites.begin_with(0, RUN, term(3, 1));
    assert_eq!((sites.current(), sites.met()), (2, Some(term(1003, 2))));
}

#[test]
fn workers_of_a_process_go_from_address_to_address_each_for_itself_and_know_the_same_terms() {
    let one = sites(3);
    one.begin_with(1, RUN, term(3, 1));
    let other = one.beside();
    assert_eq!((other.current(), other.met()), (1, Some(term(3, 1))));
    assert!(matches!(one.failed(1, refused()), CoordinatorError::Unavailable(_)));
    assert_eq!((one.current(), other.current()), (2, 1), "the refusal of one is not the other's");
    assert!(one.meet(2, term(1003, 2)).is_ok());
    assert!(other.meet(1, term(3, 1)).is_err(), "it knows what the other has met");
    assert!(one.meet_again(1, term(3, 1)).is_err(), "that one has heard why");
}

#[test]
fn of_two_terms_the_younger_one_counts_and_no_other_of_its_number() {
    let sites = sites(2);
    assert!(sites.meet(0, term(3, 1)).is_ok());
    assert!(sites.meet(1, term(1003, 2)).is_ok());
    assert_eq!(sites.current(), 0);
    for other in [term(3, 1), term(4, 1), term(1003, 3)] {
        assert!(matches!(sites.meet(0, other), Err(CoordinatorError::Unavailable(_))));
        assert_eq!(sites.met(), Some(term(1003, 2)));
    }
    assert_eq!(sites.current(), 1);
    assert!(sites.meet(1, term(1003, 2)).is_ok());
}

#[test]
fn a_term_that_is_too_far_to_be_true_binds_nobody_and_the_old_ones_stay_left_alone() {
    for absurd in [Term::TOO_FAR + 3, Term::END - 1].map(|number| term(number, 9)) {
        let fresh = sites(2);
        assert!(fresh.meet_again(0, absurd).is_err(), "nobody registers there");
        assert!(fresh.meet(0, absurd).is_err());
        assert_eq!((fresh.current(), fresh.met()), (1, None));
        assert!(fresh.meet(1, term(3, 1)).is_ok());
        let Err(CoordinatorError::Unavailable(why)) = fresh.meet(0, absurd) else { panic!("it was met") };
        assert!(why.contains("too far past what was met before (term 3 of coordinator 00000000)"), "{why}");
        assert!(fresh.meet(1, term(1_000_003, 2)).is_ok());
        assert!(fresh.meet(0, term(3, 1)).is_err());
        assert_eq!(fresh.met(), Some(term(1_000_003, 2)));
    }
}

#[test]
fn who_was_left_alone_once_is_not_registered_with_again() {
    let sites = sites(2);
    assert!(sites.meet(1, term(1003, 2)).is_ok());
    for other in [term(3, 1), term(1003, 3)] {
        assert!(sites.meet_again(0, other).is_ok(), "it must hear what the worker has met");
        assert!(sites.meet(0, other).is_err());
        assert!(sites.meet_again(0, other).is_err());
    }
    assert!(sites.meet_again(1, term(1003, 2)).is_ok());
}

#[test]
fn a_run_that_takes_the_place_of_another_brings_its_own_terms_and_what_is_held_of_that_one_is_given_up() {
    let (one, [before, after]) = (sites(2), [RunId(1), RunId(2)]);
    let other = one.beside();
    for sites in [&one, &other] {
        assert!(sites.meet(0, term(3, 1)).is_ok());
        sites.joined(0, before);
        assert!(sites.other_than(before).is_none() && !sites.gives_up_units(before));
    }
    assert_eq!(one.other_than(after), Some(before));
    assert!(one.is_home(0) && !one.is_home(1));
    one.go_over(0, RunId(2));
    assert_eq!(other.met(), None);
    for sites in [&one, &other] {
        assert_eq!(sites.other_than(after), None);
        assert!(sites.gives_up_units(after) && !sites.gives_up_units(after), "once");
        assert!(sites.meet(0, term(1, 2)).is_ok());
    }
    assert_eq!(one.other_than(before), Some(after), "it does not go back");
    assert!(matches!(one.leave_run_alone(0, RunId(1)), CoordinatorError::Unavailable(_)));
    assert_eq!(one.current(), 1);
}

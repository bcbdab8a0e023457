//! Every message with valid values survives encoding and decoding. Whatever bytes arrive, a decoded message survives
//! another round trip.

use std::fmt::Debug;

use domain::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use prost::Message;
use queens::kernel::{Isa, Method};
use queens::plan::Scheme;
use queens::{Board, Totals, UnitId};

use super::*;

/// Sends a value and reads what arrives.
fn sent<W, D>(value: &D) -> D
where
    W: Message + Default + From<D> + TryInto<D>,
    W::Error: Debug,
    D: Clone,
{
    let bytes = W::from(value.clone()).encode_to_vec();
    W::decode(&bytes[..]).unwrap().try_into().expect("what was sent is understood")
}

/// Times are sent in milliseconds, microseconds, or seconds as a binary fraction: these all keep the 512th of a second.
fn time() -> impl Strategy<Value = Duration> {
    (0..1_u64 << 30, 0..512_u32).prop_map(|(seconds, part)| Duration::new(seconds, part * 1_953_125))
}

fn whole_millis() -> impl Strategy<Value = Duration> {
    (1..u64::MAX).prop_map(Duration::from_millis)
}

fn whole_micros() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_micros)
}

fn unit() -> impl Strategy<Value = UnitId> {
    any::<u64>().prop_map(UnitId)
}

fn lease() -> impl Strategy<Value = Lease> {
    let variant = prop::sample::select(Variant::ALL.to_vec());
    (unit(), any::<u64>(), variant).prop_map(|(unit, token, variant)| Lease {
        unit,
        token: Token(token),
        variant,
    })
}

fn kernel() -> impl Strategy<Value = KernelName> {
    let (methods, isas) = (Method::ALL.to_vec(), Isa::ALL.to_vec());
    (prop::sample::select(methods), prop::sample::select(isas))
        .prop_map(|(method, isa)| KernelName { method, isa })
}

fn fingerprint() -> impl Strategy<Value = Fingerprint> {
    "[0-9a-f]{0,64}".prop_map(Fingerprint::from)
}

/// Up to 50 characters of plain text, of at most four bytes each.
fn name() -> impl Strategy<Value = String> {
    "\\PC{1,50}".prop_filter("all of it is seen", |name| !name.contains(is_unseen))
}

fn board() -> impl Strategy<Value = Board> {
    (1..=32_u8).prop_map(|n| Board::new(n).unwrap())
}

prop_compose! {
    fn term()(number in 0..Term::END, coordinator in any::<u128>(), proof in any::<u128>()) -> Term {
        Term { number, coordinator: CoordinatorId(coordinator), proof }
    }
}

prop_compose! {
    fn copy_end()(file in 1_u32.., offset in any::<u64>(), hash in any::<[u8; 16]>(), records in any::<u64>()) -> CopyEnd {
        CopyEnd { file, offset, hash, records }
    }
}

prop_compose! {
    fn follow_request()(
        follower in any::<u64>(),
        end in prop_oneof![Just(CopyEnd::default()), copy_end()],
        met in option::of(term()),
    ) -> FollowRequest {
        FollowRequest { follower, end, met }
    }
}

fn follow_reply() -> impl Strategy<Value = FollowReply> {
    let bytes = || vec(any::<u8>(), 0..50);
    let run = (bytes(), bytes(), term());
    let run = run.prop_map(|(run_file, lease_key, term)| FollowedRun { run_file, lease_key, term });
    let piece = (any::<u32>(), any::<u64>(), bytes(), any::<bool>());
    let piece = piece.prop_map(|(file, offset, bytes, is_end)| LedgerPiece { file, offset, bytes, is_end });
    prop_oneof![
        Just(FollowReply::Finished),
        run.prop_map(FollowReply::Run),
        piece.prop_map(FollowReply::Piece),
    ]
}

prop_compose! {
    fn registration()(
        fingerprint in fingerprint(),
        name in name(),
        machine in name(),
        threads in 1..=MOST_THREADS,
        kernel in kernel(),
        self_test in any::<u64>(),
        held in vec(unit(), 0..5),
        (former, leases) in (option::of(any::<u64>().prop_map(WorkerId)), vec(lease(), 0..5)),
        met in option::of(term()),
    ) -> Registration {
        Registration {
            owner: Owner::default(), fingerprint, name, machine, threads, kernel, self_test, held, former, leases,
            met,
        }
    }
}

prop_compose! {
    fn welcome()(
        worker in any::<u64>(),
        lease_time in whole_millis(),
        leases in vec(lease(), 0..5),
        term in option::of(term()),
    ) -> Welcome {
        Welcome { worker: WorkerId(worker), lease_time, leases, term }
    }
}

fn lease_reply() -> impl Strategy<Value = LeaseReply> {
    prop_oneof![Just(LeaseReply::Finished), vec(lease(), 0..5).prop_map(LeaseReply::Granted)]
}

prop_compose! {
    fn unit_count()(
        lease in lease(),
        completions in any::<u64>(),
        nodes in any::<u64>(),
        cpu in whole_micros(),
    ) -> UnitCount {
        UnitCount { lease, completions, nodes, cpu }
    }
}

prop_compose! {
    fn report()(worker in any::<u64>(), counts in vec(unit_count(), 0..5)) -> Report {
        Report { worker: WorkerId(worker), counts }
    }
}

prop_compose! {
    fn totals()(a in 0..=LARGEST_TOTAL / 16, p in 0..=LARGEST_TOTAL / 16, r in 0..=LARGEST_TOTAL / 16, full in 0..=1_u128)
        -> Totals
    {
        Totals { a, p, r, full }
    }
}

prop_compose! {
    fn own_checks()(
        (share, owner) in ("[0-9]{1,2}%", name()),
        [made, pending] in any::<[u64; 2]>(),
        wrong_at_most in option::of(0.0..1.0),
    ) -> OwnCheckStatus {
        OwnCheckStatus { share, owner, made, pending, wrong_at_most }
    }
}

prop_compose! {
    fn assurance()(
        [on_two_owners, on_two_machines, on_one_machine, on_two_kinds, by_external, pending, sampled, conflicts] in any::<[u64; 8]>(),
        (quarantined, expelled) in (vec(name(), 0..3), vec(name(), 0..3)),
        wrong_at_most in option::of(0.0..1.0),
        own_checks in option::of(own_checks()),
    ) -> Assurance {
        Assurance {
            on_two_owners, on_two_machines, on_one_machine, on_two_kinds, by_external, pending, sampled, conflicts,
            quarantined, expelled, wrong_at_most, own_checks,
        }
    }
}

prop_compose! {
    fn worker_status()(
        (name, machine, owner) in (name(), name(), name()),
        threads in any::<u32>(),
        kernel in kernel(),
        (leased, done) in any::<(u64, u64)>(),
        rate in 0.0..1e9,
        (last_word, drains) in (time(), any::<bool>()),
    ) -> WorkerStatus {
        let owner = Owner::new(&owner);
        WorkerStatus { owner, name, machine, threads, kernel, leased, done, rate, last_word, drains }
    }
}

prop_compose! {
    fn family_status()((top, bottom) in (0u8..32, 0u8..32), [units, done] in any::<[u64; 2]>()) -> FamilyStatus {
        FamilyStatus { top, bottom, units, done }
    }
}

prop_compose! {
    fn sample()([at, done] in any::<[u64; 2]>(), progress in 0.0..1.0) -> Sample {
        Sample { at, done, progress }
    }
}

prop_compose! {
    fn event()(at in any::<u64>(), text in any::<String>()) -> Event {
        Event { at, text }
    }
}

prop_compose! {
    fn incident()(
        (at, times) in any::<(u64, u64)>(),
        (kind, text, reason) in (any::<String>(), any::<String>(), option::of(any::<String>())),
    ) -> Incident {
        Incident { at, kind, times, text, reason }
    }
}

prop_compose! {
    fn machine_status()(
        (owner, name) in (name(), any::<String>()),
        [workers, threads, counts, verified, wrong] in any::<[u64; 5]>(),
        is_believed in any::<bool>(),
        speed in 0.0..1e9,
    ) -> MachineStatus {
        MachineStatus { owner: Owner::new(&owner), name, workers, threads, counts, verified, wrong, is_believed, speed }
    }
}

prop_compose! {
    fn credit()(units in any::<i64>(), solutions in any::<i128>(), work in -1e12..1e12) -> Credit {
        Credit { units, solutions, work }
    }
}

prop_compose! {
    fn earned()(total in credit(), days in prop::array::uniform7(credit())) -> Earned {
        Earned { total, days }
    }
}

prop_compose! {
    fn credits()(
        (today, unlisted) in any::<(u64, u32)>(),
        owners in vec((name().prop_map(|name| Owner::new(&name)), earned()), 0..4),
        all in earned(),
    ) -> Credits {
        Credits { today, owners_total: owners.len() as u64 + u64::from(unlisted), owners, all }
    }
}

prop_compose! {
    fn run_status()(
        (board, fingerprint) in (board(), fingerprint()),
        [units, done, leased, disputed] in any::<[u64; 4]>(),
        (progress, rate) in (0.0..1.0, 0.0..1e9),
        totals in totals(),
        (elapsed, left) in (time(), option::of((time(), time(), time()))),
        phase in prop::sample::select(vec![Phase::Counting, Phase::Auditing, Phase::Complete, Phase::Withheld]),
        trouble in any::<String>(),
        (workers, machines, set_aside) in (vec(worker_status(), 0..3), vec(machine_status(), 0..3), vec(unit(), 0..5)),
        left_out in any::<[u32; 5]>(),
        assurance in assurance(),
        (term, [replicas, followers, require_owners]) in (option::of(term()), any::<[u32; 3]>()),
        (families, history, events) in (vec(family_status(), 0..4), vec(sample(), 0..4), vec(event(), 0..4)),
        (incidents, unlisted, head) in (vec(incident(), 0..4), any::<u32>(), option::of(any::<String>())),
        credits in credits(),
        (paused, double_check, release) in (option::of(any::<String>()), any::<String>(), any::<String>()),
        (total, done_work) in (0.0..1e12, 0.0..1e12),
    ) -> RunStatus {
        let threads = workers.iter().map(|worker| worker.threads as usize).sum();
        let there = machines.iter().filter(|machine| machine.workers > 0).count();
        let listed = [workers.len(), threads, set_aside.len(), machines.len(), there];
        let [workers_total, threads_total, set_aside_total, machines_total, machines_there] =
            std::array::from_fn(|index| listed[index] as u64 + u64::from(left_out[index]));
        let left = left.map(|(expected, low, high)| TimeLeft { expected, low, high });
        let work = Work { total, done: done_work };
        let run = term.map(|term| RunId(term.proof));
        RunStatus {
            board, fingerprint, run, units, done, leased, disputed, progress, totals, elapsed, left, rate, phase, trouble,
            workers, workers_total, threads_total, term, replicas, followers, assurance, set_aside, set_aside_total, work, families,
            history, events, incidents_total: incidents.len() as u64 + u64::from(unlisted), incidents, head, machines, machines_total, machines_there, credits, paused, double_check, require_owners,
            release,
        }
    }
}

fn scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        any::<u64>().prop_map(|grain| Scheme::Constellations { grain }),
        any::<(u8, u8, u8)>().prop_map(|(rows, group, sides)| Scheme::Families { rows, group, sides }),
        any::<(u8, u8, Option<u64>)>().prop_map(|(columns, group, grain)| Scheme::Centre {
            columns,
            group,
            grain
        }),
    ]
}

/// Expects that a message decoded from these bytes survives another round trip.
fn is_stable<W, D>(bytes: &[u8]) -> Result<(), TestCaseError>
where
    W: Message + Default + From<D> + TryInto<D>,
    W::Error: Debug,
    D: Clone + Debug,
{
    let Ok(message) = W::decode(bytes) else { return Ok(()) };
    let Ok(value) = message.try_into() else { return Ok(()) };
    // Not by equality: NaN never equals itself.
    prop_assert_eq!(format!("{:?}", sent::<W, D>(&value)), format!("{value:?}"));
    Ok(())
}

fn takeback() -> impl Strategy<Value = Takeback> {
    let target = prop_oneof![
        vec(unit(), 1..9).prop_map(Target::Units),
        (name(), name()).prop_map(|(owner, machine)| Target::Machine { owner, machine }),
        name().prop_map(Target::Owner),
        (name(), option::of(name())).prop_map(|(owner, machine)| Target::Admission { owner, machine }),
    ];
    (target, "[a-z ]{0,20}[a-z]", any::<bool>()).prop_map(|(target, reason, dry_run)| Takeback {
        target,
        reason,
        dry_run,
    })
}

fn subject() -> impl Strategy<Value = Subject> {
    let machine = (name(), name(), option::of(name()));
    let machine = machine.prop_map(|(owner, machine, worker)| Subject::Machine {
        owner: Owner::new(&owner),
        machine,
        worker,
    });
    prop_oneof![unit().prop_map(Subject::Unit), machine]
}

prop_compose! {
    fn held_unit()(
        unit in unit(),
        (owner, machine, worker) in (name(), name(), name()),
        (held, left, is_check) in (time(), time(), any::<bool>()),
    ) -> HeldUnit {
        HeldUnit { unit, owner: Owner::new(&owner), machine, worker, held, left, is_check }
    }
}

prop_compose! {
    fn explained()(
        (held, held_total) in (vec(held_unit(), 0..4), any::<u64>()),
        disputed in vec(unit(), 0..4),
        (distrust, open_because) in (option::of(any::<String>()), option::of(any::<String>())),
    ) -> Explained {
        Explained { held, held_total, disputed, distrust, open_because }
    }
}

proptest! {
    #[test]
    fn explanations_round_trip(subject in subject(), value in explained()) {
        prop_assert_eq!(sent::<v1::ExplainRequest, _>(&subject), subject);
        prop_assert_eq!(sent::<v1::ExplainReply, _>(&value), value);
    }

    #[test]
    fn explanation_needs_one_subject(unit in any::<u64>(), machine in name()) {
        let both = v1::ExplainRequest { unit: Some(unit), machine: Some(machine), ..Default::default() };
        for request in [both, v1::ExplainRequest::default()] {
            prop_assert!(Subject::try_from(request).is_err());
        }
    }

    #[test]
    fn retraction_messages_round_trip(value in takeback()) {
        prop_assert_eq!(sent::<v1::RetractRequest, _>(&value), value);
    }

    #[test]
    fn retraction_needs_one_target_and_reason(owner in name(), unit in any::<u64>()) {
        let both = v1::RetractRequest { units: vec![unit], owner: Some(owner), reason: "x".into(), ..Default::default() };
        let none = v1::RetractRequest { reason: "x".into(), ..Default::default() };
        let unsaid = v1::RetractRequest { units: vec![unit], reason: " ".into(), ..Default::default() };
        for request in [both, none, unsaid] {
            prop_assert!(Takeback::try_from(request).is_err());
        }
    }

    #[test]
    fn changes_of_the_policy_arrive_as_they_were_meant(
        (double_check, replicas) in (option::of("[0-9a-z%]{0,5}"), option::of(any::<u32>())),
        require_owners in option::of(0..4u32),
        (own_checks, own) in (option::of("[0-9a-z%]{0,5}"), option::of("[a-z]{0,2}")),
        (reason, dry_run) in ("[a-z ]{0,20}[a-z]", any::<bool>()),
    ) {
        let is_possible = require_owners.is_none_or(|owners| owners == 1 || owners == 2)
            && own.as_ref().is_none_or(|own| !own.is_empty());
        let is_checking = double_check.is_some() || own_checks.is_some() || own.is_some();
        let is_change = is_possible && (is_checking || replicas.is_some() || require_owners.is_some());
        let value = PolicyChange { double_check, replicas, require_owners, own_checks, own, reason, dry_run };
        let unsaid = v1::ChangePolicyRequest { reason: String::new(), ..value.clone().into() };
        prop_assert!(PolicyChange::try_from(unsaid).is_err());
        if is_change {
            prop_assert_eq!(sent::<v1::ChangePolicyRequest, _>(&value), value);
        } else {
            prop_assert!(PolicyChange::try_from(v1::ChangePolicyRequest::from(value)).is_err());
        }
    }

    #[test]
    fn registrations_arrive_as_they_were_meant(value in registration()) {
        prop_assert_eq!(sent::<v1::RegisterRequest, _>(&value), value);
    }

    #[test]
    fn welcomes_arrive_as_they_were_meant(value in welcome()) {
        prop_assert_eq!(sent::<v1::RegisterReply, _>(&value), value);
    }

    #[test]
    fn leases_arrive_as_they_were_meant(value in lease_reply()) {
        prop_assert_eq!(sent::<v1::LeaseReply, _>(&value), value);
    }

    #[test]
    fn reports_arrive_as_they_were_meant(value in report()) {
        prop_assert_eq!(sent::<v1::ReportRequest, _>(&value), value);
    }

    #[test]
    fn a_status_arrives_as_it_was_meant(value in run_status()) {
        prop_assert_eq!(sent::<v1::StatusReply, _>(&value), value);
    }

    #[test]
    fn follower_messages_round_trip(request in follow_request(), reply in follow_reply()) {
        prop_assert_eq!(sent::<v1::FollowRequest, _>(&request), request);
        prop_assert_eq!(sent::<v1::FollowReply, _>(&reply), reply);
    }

    #[test]
    fn plans_arrive_as_they_were_meant(
        (n, scheme, version) in (board(), scheme(), any::<u32>()),
        (fingerprint, term) in (fingerprint(), term()),
    ) {
        let spec = PlanSpec { n, scheme, version };
        let run = RunId(term.proof);
        let bytes = plan_reply(spec, &fingerprint, Some(run), Some(term)).encode_to_vec();
        let reply = v1::PlanReply::decode(&bytes[..]).unwrap();
        prop_assert_eq!(run_from_reply(&reply), Ok((run, term)));
        let of_15_bytes = v1::PlanReply { run: vec![1; 15], ..reply.clone() };
        let without_term = v1::PlanReply { term: None, ..reply.clone() };
        prop_assert!(run_from_reply(&of_15_bytes).is_err() && run_from_reply(&without_term).is_err());
        prop_assert_eq!(plan_from_reply(reply), Ok((spec, fingerprint)));
    }

    #[test]
    fn term_beyond_maximum_is_refused(term in term(), number in Term::END..) {
        let absurd = v1::Term { number, ..term.into() };
        let said = Term::try_from(absurd).unwrap_err().to_string();
        prop_assert!(said.contains("the number of a term") && said.contains(&number.to_string()), "{said}");
    }

    #[test]
    fn decoded_damaged_message_round_trips(
        (registration, welcome, report, status) in (registration(), welcome(), report(), run_status()),
        (lease_reply, follow_request, follow_reply) in (lease_reply(), follow_request(), follow_reply()),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let damaged = |mut bytes: Vec<u8>| {
            for (at, byte) in &damage {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            bytes
        };
        is_stable::<v1::RegisterRequest, Registration>(&damaged(v1::RegisterRequest::from(registration).encode_to_vec()))?;
        is_stable::<v1::RegisterReply, Welcome>(&damaged(v1::RegisterReply::from(welcome).encode_to_vec()))?;
        is_stable::<v1::LeaseReply, LeaseReply>(&damaged(v1::LeaseReply::from(lease_reply).encode_to_vec()))?;
        is_stable::<v1::ReportRequest, Report>(&damaged(v1::ReportRequest::from(report).encode_to_vec()))?;
        is_stable::<v1::StatusReply, RunStatus>(&damaged(v1::StatusReply::from(status).encode_to_vec()))?;
        is_stable::<v1::FollowRequest, FollowRequest>(&damaged(v1::FollowRequest::from(follow_request).encode_to_vec()))?;
        is_stable::<v1::FollowReply, FollowReply>(&damaged(v1::FollowReply::from(follow_reply).encode_to_vec()))?;
    }

    #[test]
    fn unprintable_name_or_absurd_threads_are_refused(
        valid in registration(),
        unseen in "\\PC{0,9}[\\x00-\\x1f\\x7f\u{200b}\u{202a}-\u{202e}]\\PC{0,9}",
        long in "[a-z]{201,300}",
        threads in MOST_THREADS + 1..,
    ) {
        let valid = v1::RegisterRequest::from(valid);
        for wrong in [String::new(), unseen, long] {
            let name = v1::RegisterRequest { name: wrong.clone(), ..valid.clone() };
            prop_assert_eq!(Registration::try_from(name).unwrap_err().field, "a worker's name");
            let machine = v1::RegisterRequest { machine: wrong, ..valid.clone() };
            prop_assert_eq!(Registration::try_from(machine).unwrap_err().field, "a machine's name");
        }
        for threads in [0, threads] {
            let request = v1::RegisterRequest { threads, ..valid.clone() };
            prop_assert_eq!(Registration::try_from(request).unwrap_err().field, "the number of threads");
        }
        let kernel = v1::RegisterRequest { kernel: "magic/avx512".into(), ..valid };
        prop_assert_eq!(Registration::try_from(kernel).unwrap_err().field, "the kernel");
    }

    #[test]
    fn a_status_with_numbers_that_cannot_be_is_refused(
        valid in run_status(),
        n in prop_oneof![Just(0), 33_u32..],
        total in LARGEST_TOTAL + 1..,
        negative in -1e9..-1e-3,
    ) {
        let valid = v1::StatusReply::from(valid);
        let field = |reply: v1::StatusReply| RunStatus::try_from(reply).unwrap_err().field;
        prop_assert_eq!(field(v1::StatusReply { n, ..valid.clone() }), "the board size");
        for text in [total.to_string(), "-1".into(), "1.5".into(), String::new()] {
            prop_assert_eq!(field(v1::StatusReply { a: text.clone(), ..valid.clone() }), "a total");
            prop_assert_eq!(field(v1::StatusReply { solutions: text, ..valid.clone() }), "a total");
        }
        for seconds in [negative, f64::NAN, f64::INFINITY, 1e300] {
            prop_assert_eq!(field(v1::StatusReply { seconds, ..valid.clone() }), "a time");
            prop_assert_eq!(field(v1::StatusReply { seconds_left: Some(seconds), ..valid.clone() }), "a time");
        }
        for solutions in ["1.5", "many"].map(str::to_owned) {
            let total = Some(v1::Credit { solutions, ..v1::Credit::default() });
            let all = Some(v1::Earned { total, days: Vec::new() });
            let credits = Some(v1::Credits { all, ..v1::Credits::default() });
            prop_assert_eq!(field(v1::StatusReply { credits, ..valid.clone() }), "the solutions of a credit");
        }
        prop_assert_eq!(field(v1::StatusReply { phase: 0, ..valid }), "the phase");
    }
}

#[test]
fn unknown_verdict_is_error_and_shifts_no_other() {
    let [recorded, later] = [v1::Verdict::Recorded, v1::Verdict::Later].map(i32::from);
    let reply = |verdicts: &[i32]| v1::ReportReply { verdicts: verdicts.to_vec() };
    let understood = verdicts_from_reply(&reply(&[recorded, later, recorded]));
    assert_eq!(understood, Ok(vec![Verdict::Recorded, Verdict::Later, Verdict::Recorded]));
    assert_eq!(reply(&[later, 99, recorded]).verdicts().count(), 2, "the generated list leaves it out");
    for (strange, named) in [(99, "99"), (-1, "-1"), (0, "unspecified")] {
        let said = verdicts_from_reply(&reply(&[later, strange, recorded])).unwrap_err().to_string();
        assert_eq!(said, format!("a verdict cannot be {named}; it must be one of the five"));
    }
}

#[test]
fn verdicts_round_trip_and_unspecified_is_error() {
    for verdict in [Verdict::Recorded, Verdict::Known, Verdict::Conflict, Verdict::Later, Verdict::Unwanted] {
        assert_eq!(Verdict::try_from(v1::Verdict::from(verdict)), Ok(verdict));
    }
    assert!(Verdict::try_from(v1::Verdict::Unspecified).is_err());
    assert!(Welcome::try_from(v1::RegisterReply { lease_ms: 0, ..Default::default() }).is_err());
}

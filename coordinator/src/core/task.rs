//! What is to be done about a unit, and whether a worker can do it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::{Hardware, Owner, Variant, WorkerId};
use queens::UnitId;
use queens::kernel::KernelName;
use records::standing::{Identity, Level, Machine, MachineId, Making, Origin, Vote, are_several_owners};

use super::leases::LeasePurpose;
use super::open::CheckKind;
use super::said::Said;
use super::workers::Methods;
use super::{Core, Refusal};

/// What the second algorithm for symmetric counts is called.
pub(super) const ORBITS: &str = "orbits";

/// A worker that asks for units.
#[derive(Debug)]
pub(super) struct Borrower {
    pub worker: WorkerId,
    /// How many threads it has.
    pub threads: f64,
    /// How many threads of the usual speed it is worth.
    pub worth: f64,
    /// How fast a thread usually is, in seconds of expected work a second,
    pub usual_speed: f64,
    /// and one of other owners.
    pub speed_of_others: f64,
    pub kernel: KernelName,
    pub methods: Methods,
    pub identity: Identity,
    /// The machine's number, if it has counted.
    pub number: Option<MachineId>,
    /// Whether no other machine is there, or was lately, that could check what it has counted, or they have had their time.
    is_alone: bool,
    /// Whether no other owner is who could check what its owner has.
    is_only_owner: bool,
    /// Whether other owners are, and have had their time.
    pub is_impatient: bool,
    /// What kind of hardware its machine is.
    pub hardware: Hardware,
    /// For a graphics card: the owners of the machines of each kind that are there and waited for.
    owners_by_hardware: BTreeMap<Hardware, BTreeSet<Owner>>,
}

impl Borrower {
    /// How fast a thread of it is taken to be: one that is slower than others is not waited for any longer. Who says that he is slow
    /// gains nothing by it, and who says that others are does not either.
    pub fn speed(&self) -> f64 {
        self.speed_of_others.max(self.worth * self.usual_speed / self.threads.max(1.0))
    }

    /// How far it would confirm what that machine has counted.
    fn level(&self, counted: &Machine) -> Level {
        Level::between(counted.maker(), (self.identity.owner.name(), &self.identity.machine))
    }

    /// Whether it would have to check such counts of that machine, which is its own, by a method that it does not count by.
    pub fn is_beyond(&self, kind: CheckKind, counted: &Machine) -> bool {
        self.methods == Methods::Own && kind.by_kernel && self.level(counted) == Level::AnotherWay
    }
}

impl Core {
    /// What matters of a worker that asks for units.
    ///
    /// # Errors
    /// The worker is not registered.
    pub(super) fn borrower(&mut self, now: Duration, worker: WorkerId) -> Result<Borrower, Refusal> {
        let usual_speed = self.usual_speed();
        let found = self.workers.heard_of(now, worker)?;
        let (kernel, identity) = (found.kernel, found.identity.clone());
        let methods = found.methods;
        let (threads, worth) = (f64::from(found.threads), found.worth(usual_speed));
        let number = identity.number(&self.standing.sums().machines);
        let is_only_owner = self.is_only_owner(now, &identity.owner);
        let is_impatient = !is_only_owner && self.have_others_had_their_time(now);
        let is_alone = self.is_as_good_as_alone(now, &identity);
        let hardware = Hardware::of(&identity.machine);
        let mut owners_by_hardware: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        if hardware.is_card() {
            for other in self.present(now).filter(|other| self.is_waited_for(now, &identity.owner, other)) {
                let of_kind = owners_by_hardware.entry(Hardware::of(&other.machine)).or_default();
                of_kind.insert(other.owner.clone());
            }
        }
        Ok(Borrower {
            worker,
            threads,
            worth,
            usual_speed,
            speed_of_others: self.speed_of_others(&identity.owner),
            kernel,
            methods,
            identity,
            number,
            is_alone,
            is_only_owner: is_only_owner || is_impatient,
            is_impatient,
            hardware,
            owners_by_hardware,
        })
    }

    /// What is to be done about a unit that the worker can do, and how.
    pub(super) fn task(
        &self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
    ) -> Option<(LeasePurpose, Variant)> {
        if self.is_taken(unit) { None } else { self.task_of_taken(now, borrower, unit) }
    }

    /// What would be to be done about the unit, and how, if nobody had it.
    pub(super) fn task_of_taken(
        &self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
    ) -> Option<(LeasePurpose, Variant)> {
        let is_kept_from_it = self.losses.is_kept_from(unit, &borrower.identity.owner);
        if is_kept_from_it { None } else { self.task_though_lost(now, borrower, unit) }
    }

    /// The same, though the unit may have killed workers of the owner.
    pub(super) fn task_though_lost(
        &self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
    ) -> Option<(LeasePurpose, Variant)> {
        let is_in_run = unit.0 < self.plan.units() && self.shard.contains(unit);
        if !is_in_run || self.recording.contains_key(&unit) || self.is_left_to_others(now, borrower, unit) {
            return None;
        }
        if !self.standing.is_done(unit) {
            let variant = if self.is_disputed(unit) {
                self.variant_to_decide(now, borrower, unit)?
            } else {
                Variant::default()
            };
            return Some((LeasePurpose::Count, variant));
        }
        let origin = self.standing.vote(unit)?.origin;
        let counted = origin.machine;
        let is_pending = self.standing.is_pending(unit, self.policy);
        if !is_pending && !self.may_confirm(borrower, unit, counted) {
            return None;
        }
        let machine = self.standing.sums().machines.get(counted);
        let is_beyond_it = borrower.is_beyond(self.check_kind(unit, counted), machine);
        (self.may_check(borrower, counted) && !is_beyond_it)
            .then(|| (LeasePurpose::Check, self.variant_to_check(borrower, unit, origin)))
    }

    /// How the worker checks that count: another image than was counted, and by the other method where it is its machine's
    /// own. A first count may have been made in any variant: it was lent as a check whose count was lost.
    fn variant_to_check(&self, borrower: &Borrower, unit: UnitId, origin: Origin) -> Variant {
        let machines = &self.standing.sums().machines;
        let label = machines.kernel(origin.kernel);
        let other_kernel = if self.is_symmetric_count(unit) {
            label != ORBITS
        } else {
            let is_same_method = |kernel: KernelName| kernel.method == borrower.kernel.method;
            let is_own = borrower.level(machines.get(origin.machine)) == Level::AnotherWay;
            is_own && label.parse().is_ok_and(is_same_method)
        };
        Variant { mirrored: !origin.mirrored, other_kernel }
    }

    /// Whether the worker may check counts of that machine: those of another owner; of another machine of its own owner
    /// where no other owner is there, or they have had their time; and its machine's own where no other machine is. Those of
    /// the owner without a name are checked by any other machine. What a graphics card has counted is left to hardware of
    /// another kind that may check it. Who has begun too many disputes checks nothing.
    pub(super) fn may_check(&self, borrower: &Borrower, counted: MachineId) -> bool {
        if self.quarrelsome.contains(borrower.identity.owner.name()) {
            return false;
        }
        let machine = self.standing.sums().machines.get(counted);
        let may = |owner: &Owner| borrower.is_only_owner || owner.name() != machine.owner;
        let hardware = machine.hardware();
        let mut others = borrower.owners_by_hardware.iter().filter(|(other, _)| other.differs_from(hardware));
        if hardware.is_card()
            && !borrower.hardware.differs_from(hardware)
            && others.any(|(_, owners)| owners.iter().any(may))
        {
            return false;
        }
        match borrower.level(machine) {
            Level::AnotherOwner => true,
            Level::AnotherMachine => {
                borrower.is_only_owner || machine.owner != borrower.identity.owner.name()
            }
            Level::AnotherWay | Level::Once => borrower.is_only_owner && borrower.is_alone,
        }
    }

    /// How the worker can help to decide a dispute: its owner has not said all about the unit; or no owner is there
    /// who has not, but its machine has not; or no such machine is there either, and there is a variant that it has not
    /// counted.
    ///
    /// Where two owners have said different things a machine more of either decides nothing. Who is there and has had his time
    /// is not waited for, and who has counted it in vain is left in peace for a while.
    fn variant_to_decide(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Variant> {
        if self.was_in_vain(borrower, unit) {
            return None;
        }
        let said = self.said(unit);
        let own = &borrower.identity.owner;
        if let Some(variant) = said.left_to_owner(own) {
            return Some(variant);
        }
        let others_may = || self.present_owners(now).any(|other| said.left_to_owner(other).is_some());
        if are_several_owners(said.owners()) || (!borrower.is_impatient && others_may()) {
            return None;
        }
        if let Some(variant) = said.left_to_machine(&borrower.identity) {
            return Some(variant);
        }
        let may = |other: &Identity| said.left_to_machine(other).is_some();
        if self.present(now).any(|other| may(other) && self.is_waited_for(now, own, other)) {
            return None;
        }
        self.variant_to_say_more(now, borrower, unit, &said)
    }

    /// How a machine that has said all which everybody is asked, and waits for nobody, can say more of a disputed unit: in a
    /// variant that it has not counted. One that has counted in all ways while others were waited for says once more what
    /// agrees with another of them, once it decides alone.
    fn variant_to_say_more(
        &self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        said: &Said<'_>,
    ) -> Option<Variant> {
        if !self.may_decide_alone(&borrower.identity) {
            return None;
        }
        let machines = &self.standing.sums().machines;
        let can =
            |variant: &Variant| borrower.methods == Methods::Both || !self.wants_other_kernel(unit, *variant);
        let own_vote = |variant: &Variant| {
            let kernel = self.kernel_label(unit, *variant, borrower.kernel);
            said.by(&borrower.identity, &kernel, variant.mirrored)
        };
        let mut possible = Variant::ALL.into_iter().filter(can);
        if let Some(new) = possible.clone().find(|variant| own_vote(variant).is_none()) {
            return Some(new);
        }
        let agrees_with_another = |variant: &Variant| {
            let own: Vec<&Vote> = Variant::ALL.iter().filter_map(own_vote).collect();
            own_vote(variant).is_some_and(|vote| {
                own.iter().any(|other| {
                    machines.agree(other, vote) && self.confirms(unit, other, machines.making(vote))
                })
            })
        };
        possible.find(agrees_with_another).filter(|_| self.decides_alone(now, &borrower.identity, unit))
    }

    /// Whether a count that was made like that says something where it equals a vote: symmetric counts are confirmed by the other
    /// algorithm.
    pub(super) fn confirms(&self, unit: UnitId, vote: &Vote, making: Making<'_>) -> bool {
        let machines = &self.standing.sums().machines;
        let (_, kernel, _) = making;
        let is_other_algorithm = (machines.kernel(vote.origin.kernel) == ORBITS) != (kernel == ORBITS);
        machines.is_made_otherwise(vote, making) && (is_other_algorithm || !self.is_symmetric_count(unit))
    }

    /// What the record of a unit calls the code that counted it: the kernel, or for a symmetric count by the other method
    /// the second algorithm.
    pub(super) fn kernel_label(&self, unit: UnitId, variant: Variant, own: KernelName) -> String {
        if variant.other_kernel && self.is_symmetric_count(unit) {
            return ORBITS.to_owned();
        }
        variant.kernel(own).to_string()
    }

    /// Whose count of the unit is to be checked, as the list of open checks has it.
    pub(super) fn check_kind(&self, unit: UnitId, counted: MachineId) -> CheckKind {
        CheckKind { counted, by_kernel: !self.is_symmetric_count(unit) }
    }

    /// Whether a kernel of the other method is wanted for it.
    pub(super) fn wants_other_kernel(&self, unit: UnitId, variant: Variant) -> bool {
        variant.wants_other_kernel(self.plan.summand(unit))
    }

    /// Whether the unit's count is one of completions that a turn fixes.
    pub(super) fn is_symmetric_count(&self, unit: UnitId) -> bool {
        self.plan.summand(unit).is_symmetric_count()
    }

    /// The how-manieth attempt to count the unit this is: 1, and 1 more for each worker that was lost with it.
    pub fn attempt(&self, unit: UnitId) -> u8 {
        self.losses.of(unit).saturating_add(1)
    }

    /// Whether the unit is lent, or its count is on its way to the disk.
    pub(super) fn is_taken(&self, unit: UnitId) -> bool {
        self.leases.contains(unit) || self.recording.contains_key(&unit)
    }

    pub(super) fn is_disputed(&self, unit: UnitId) -> bool {
        self.standing.sums().disputed.contains_key(&unit)
    }

    /// Whether the unit's count is to be checked, and it is known who made it, who could be believed.
    pub(super) fn is_open_check(&self, unit: UnitId) -> bool {
        let machines = &self.standing.sums().machines;
        self.standing.is_pending(unit, self.policy)
            && !self.is_taken(unit)
            && self
                .standing
                .vote(unit)
                .is_some_and(|vote| !machines.get(vote.origin.machine).is_quarantined())
    }
}

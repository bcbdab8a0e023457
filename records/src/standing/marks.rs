//! Bitmaps with one bit for each unit.

use crate::standing::bitmap::Bitmap;

/// A bit of each unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitMark {
    /// It has a standing count,
    Done,
    /// which is to be checked,
    Due,
    /// because it was drawn at random;
    Sampled,
    /// which was counted a second time, with the same outcome,
    Checked,
    /// on another machine,
    TwoMachines,
    /// of another owner;
    Independent,
    /// on another kind of hardware;
    TwoKinds,
    /// by a program that shares no code with diadem.
    External,
    /// A draw for own checks has covered it,
    Covered,
    /// and has drawn it;
    Drawn,
    /// the operator's machines counted it once more, with the same outcome.
    OwnChecked,
}

impl UnitMark {
    /// All of them.
    pub const ALL: [UnitMark; 11] = [
        UnitMark::Done,
        UnitMark::Due,
        UnitMark::Sampled,
        UnitMark::Checked,
        UnitMark::TwoMachines,
        UnitMark::Independent,
        UnitMark::TwoKinds,
        UnitMark::External,
        UnitMark::Covered,
        UnitMark::Drawn,
        UnitMark::OwnChecked,
    ];

    /// The name of the mark in the checkpoint.
    pub fn name(self) -> &'static str {
        match self {
            UnitMark::Done => "done",
            UnitMark::Due => "due",
            UnitMark::Sampled => "sampled",
            UnitMark::Checked => "checked",
            UnitMark::TwoMachines => "two_machines",
            UnitMark::Independent => "independent",
            UnitMark::TwoKinds => "two_kinds",
            UnitMark::External => "external",
            UnitMark::Covered => "covered",
            UnitMark::Drawn => "drawn",
            UnitMark::OwnChecked => "own_checked",
        }
    }
}

/// The bits of all units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks([Bitmap; 11]);

impl Marks {
    /// No unit has any.
    pub fn new(units: u64) -> Self {
        Self(UnitMark::ALL.map(|_| Bitmap::new(units)))
    }

    /// The units that have one.
    pub fn of(&self, mark: UnitMark) -> &Bitmap {
        &self.0[mark as usize]
    }

    /// Mutable access to a bitmap.
    pub fn of_mut(&mut self, mark: UnitMark) -> &mut Bitmap {
        &mut self.0[mark as usize]
    }
}

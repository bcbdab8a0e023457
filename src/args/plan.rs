//! The arguments that define the plan of a new run.

use std::str::FromStr;

use clap::Args;
use queens::Board;
use queens::kernel::Method;
use queens::plan::{PlanSpec, Scheme};

use super::value::ValueError;

/// The plan of a new run, split as requested or as suits the method.
pub fn new_plan(n: Board, method: Option<Method>, scheme: Option<Scheme>) -> PlanSpec {
    split(PlanSpec::for_kernel(n, method.unwrap_or(Method::best(n))), scheme)
}

/// The same for graphics cards.
pub fn new_plan_for_cards(n: Board, method: Option<Method>, scheme: Option<Scheme>) -> PlanSpec {
    split(PlanSpec::for_cards(n, method.unwrap_or(Method::best(n))), scheme)
}

fn split(plan: PlanSpec, scheme: Option<Scheme>) -> PlanSpec {
    scheme.map_or(plan, |scheme| PlanSpec { scheme, ..plan })
}

/// How a new run is split, unless the method decides.
#[derive(Clone, Copy, Debug, Args)]
pub struct SplitArgs {
    /// Split a new plan by ROWS,GROUP,SIDES.
    ///
    /// The plan is by families, split by the queens of ROWS outer rows. The squares of the last row are
    /// grouped by GROUP. The sides of SIDES further rows split units once more.
    #[arg(long, value_name = "SPLIT")]
    families: Option<OuterRows>,
    /// Split a new plan by COLUMNS,GROUP[,GRAIN].
    ///
    /// The plan is by families, split by the queens of COLUMNS central columns. The squares of the last
    /// column are grouped by GROUP. Sides of outer rows then split units of more than GRAIN expected
    /// solutions (see docs/ledger.md).
    #[arg(long, value_name = "SPLIT", conflicts_with = "families")]
    centre: Option<CentralColumns>,
}

impl SplitArgs {
    /// The requested scheme.
    pub fn scheme(self) -> Option<Scheme> {
        let families = self.families.map(|split| split.0);
        families.or(self.centre.map(|split| split.0))
    }
}

#[derive(Clone, Copy, Debug)]
struct OuterRows(Scheme);

impl FromStr for OuterRows {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match small_numbers(text)[..] {
            [rows, group, sides] => Ok(Self(Scheme::Families { rows, group, sides })),
            _ => Err(ValueError::new(text, "ROWS,GROUP,SIDES, three small numbers such as 1,1,2")),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct CentralColumns(Scheme);

impl FromStr for CentralColumns {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let words: Vec<&str> = text.split(',').collect();
        let split = || {
            let ([columns, group], grain) = words.split_first_chunk()?;
            let grain = match grain {
                [] => None,
                [grain] => Some(grain.parse().ok()?),
                _ => return None,
            };
            Some(Scheme::Centre { columns: columns.parse().ok()?, group: group.parse().ok()?, grain })
        };
        let numbers = "COLUMNS,GROUP or COLUMNS,GROUP,GRAIN, numbers such as 2,8 or 2,1,9000000";
        split().map(Self).ok_or_else(|| ValueError::new(text, numbers))
    }
}

/// The numbers of a list with commas; none if one of them is no number.
fn small_numbers(text: &str) -> Vec<u8> {
    let numbers: Result<Vec<u8>, _> = text.split(',').map(str::parse).collect();
    numbers.unwrap_or_default()
}

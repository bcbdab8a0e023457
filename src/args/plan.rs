//! The arguments that say how a new run is planned.

use std::str::FromStr;

use queens::Board;
use queens::kernel::Method;
use queens::plan::{PlanSpec, Scheme};

use super::value::ValueError;

/// The plan of a new run: split by families as asked for, or as suits the method.
pub fn new_plan(n: Board, method: Option<Method>, split: Option<FamilySplit>) -> PlanSpec {
    let plan = PlanSpec::for_kernel(n, method.unwrap_or(Method::best(n)));
    match split {
        Some(FamilySplit { rows, group, sides }) => {
            PlanSpec { scheme: Scheme::Families { rows, group, sides }, ..plan }
        }
        None => plan,
    }
}

/// How a new run's families are split: ROWS,GROUP,SIDES.
#[derive(Clone, Copy, Debug)]
pub struct FamilySplit {
    rows: u8,
    group: u8,
    sides: u8,
}

impl FromStr for FamilySplit {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let numbers: Result<Vec<u8>, _> = text.split(',').map(str::parse).collect();
        match numbers.as_deref() {
            Ok([rows, group, sides]) => Ok(Self { rows: *rows, group: *group, sides: *sides }),
            _ => Err(ValueError::new(text, "ROWS,GROUP,SIDES, three small numbers such as 1,1,2")),
        }
    }
}

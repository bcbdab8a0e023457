//! Between protobuf and domain types: what the owners gave.

use domain::{CREDIT_DAYS, Credit, Credits, Earned, Owner};

use super::WireError;
use crate::v1;

impl From<Credits> for v1::Credits {
    fn from(credits: Credits) -> Self {
        let owner = |(owner, earned): (Owner, Earned)| v1::OwnerCredit {
            owner: owner.name().to_owned(),
            earned: Some(earned.into()),
        };
        Self {
            today: credits.today,
            owners: credits.owners.into_iter().map(owner).collect(),
            owners_total: credits.owners_total,
            all: Some(credits.all.into()),
        }
    }
}

impl TryFrom<v1::Credits> for Credits {
    type Error = WireError;
    fn try_from(credits: v1::Credits) -> Result<Self, WireError> {
        let earned = |earned: Option<v1::Earned>| earned.map(Earned::try_from).transpose();
        let owner = |owner: v1::OwnerCredit| {
            Ok((Owner::new(&owner.owner), earned(owner.earned)?.unwrap_or_default()))
        };
        Ok(Self {
            today: credits.today,
            owners_total: credits.owners_total.max(credits.owners.len() as u64),
            owners: credits.owners.into_iter().map(owner).collect::<Result<_, WireError>>()?,
            all: earned(credits.all)?.unwrap_or_default(),
        })
    }
}

impl From<Earned> for v1::Earned {
    fn from(Earned { total, days }: Earned) -> Self {
        Self { total: Some(total.into()), days: days.map(Into::into).into() }
    }
}

impl TryFrom<v1::Earned> for Earned {
    type Error = WireError;
    fn try_from(earned: v1::Earned) -> Result<Self, WireError> {
        if earned.days.len() > CREDIT_DAYS {
            return Err(WireError::new("the days of a credit", earned.days.len(), "at most 7"));
        }
        let mut days = [Credit::default(); CREDIT_DAYS];
        for (day, credit) in days.iter_mut().zip(earned.days) {
            *day = credit.try_into()?;
        }
        Ok(Self { total: earned.total.map(TryInto::try_into).transpose()?.unwrap_or_default(), days })
    }
}

impl From<Credit> for v1::Credit {
    fn from(Credit { units, solutions, work }: Credit) -> Self {
        Self { units, solutions: if solutions == 0 { String::new() } else { solutions.to_string() }, work }
    }
}

impl TryFrom<v1::Credit> for Credit {
    type Error = WireError;
    fn try_from(v1::Credit { units, solutions, work }: v1::Credit) -> Result<Self, WireError> {
        let number = if solutions.is_empty() { Ok(0) } else { solutions.parse() };
        let number = number.map_err(|_| {
            WireError::new("the solutions of a credit", format!("{solutions:?}"), "a whole number")
        })?;
        Ok(Self { units, solutions: number, work })
    }
}

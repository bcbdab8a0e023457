//! What the dashboard of a served run asks of it: the page of a unit has the facts of `diadem unit`.

use std::sync::Arc;
use std::time::Duration;

use coordinator::Handle;
use dashboard::{Explaining, NoAccount, RunSource, UnitAccount};
use domain::Subject;
use queens::UnitId;
use tokio::time::timeout;

use super::{Account, records_of, unit_of};
use crate::output::sentence;

/// Maximum time of an answer. At record size the search of the ledger takes seconds; a disk that hangs gives no answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// Answers for the run behind a handle.
#[derive(Debug)]
pub struct Explainer {
    handle: Handle,
}

impl Explainer {
    pub fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self { handle })
    }
}

impl RunSource for Explainer {
    fn has_disk_trouble(&self) -> bool {
        self.handle.snapshots().borrow().is_disk_trouble
    }

    fn explain_unit(&self, unit: u64) -> Explaining {
        let handle = self.handle.clone();
        Box::pin(async move {
            let plan = Arc::clone(handle.plan());
            let unit = unit_of(&plan, UnitId(unit)).map_err(|error| NoAccount::Unknown(sentence(&error)))?;
            let account = timeout(ANSWER_TIMEOUT, of_handle(&handle, Account::new(plan, unit))).await;
            let late =
                || "the coordinator has not answered for a minute: try again, or see its log".to_owned();
            let account = account.map_err(|_| NoAccount::Unavailable(late()))?;
            let account = account.map_err(|error| NoAccount::Unavailable(sentence(&error)))?;
            Ok(UnitAccount {
                title: account.title(),
                facts: account.facts(),
                position: account.unit.position,
            })
        })
    }
}

/// Completes the account with what the coordinator and the ledger know.
async fn of_handle(handle: &Handle, account: Account) -> anyhow::Result<Account> {
    let unit = account.unit.id;
    let explained = handle.explain(Subject::Unit(unit)).await?;
    let records = records_of(&handle.lines_of_unit(unit).await?);
    Ok(Account { records, held: Some(explained.held), open_because: explained.open_because, ..account })
}

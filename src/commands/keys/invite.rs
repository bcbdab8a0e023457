//! `diadem invite`: one line with which the workers of a new owner join.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use tokio::runtime::Builder;

use super::files::read;
use super::tokens::{add_named_token, new_token};
use super::{ensure_not_revoked, hosts_of, list_of_revoked, lock_keys};
use crate::access::{Expiry, Invitation, JOIN};
use crate::args::InviteArgs;
use crate::log::say;
use crate::output::print;

/// The port of a coordinator, unless it is named.
const PORT: u16 = 7227;

pub fn invite(args: &InviteArgs) -> anyhow::Result<ExitCode> {
    let InviteArgs { keys, name, coordinator, days } = args;
    let _alone = lock_keys(keys)?;
    ensure_not_revoked(keys, name)?;
    let coordinators = if coordinator.is_empty() { default_addresses(keys)? } else { coordinator.clone() };
    let authority = keys.join("ca.pem");
    let certificate = read(&authority)?;
    let expiry = Expiry::in_days(*days);
    let reached = coordinators.join(" and ");
    let token = new_token();
    let invitation = Invitation::new(coordinators, name.clone(), expiry, &token, &certificate)
        .with_context(|| format!("{} holds no certificate in PEM", authority.display()))?;
    // The addresses must be usable before the coordinator accepts the token.
    Builder::new_current_thread().enable_all().build()?.block_on(async { invitation.remote() })?;
    add_named_token(keys, &token, name, Some(expiry))?;
    print(&invitation.to_string())?;
    let (file, revoked) = (keys.join("coordinator").join(JOIN.file), list_of_revoked(keys));
    say(format_args!(
        "diadem: {name} joins with this line: diadem join INVITATION. It is a secret, serves all machines of {name}, leads to \
         {reached} and expires on {expiry}. A coordinator elsewhere needs a copy of {}. To end it: diadem keys revoke {} {name}, \
         which writes {}",
        file.display(),
        keys.display(),
        revoked.display(),
    ));
    Ok(ExitCode::SUCCESS)
}

/// The coordinator by the names in its certificate.
fn default_addresses(keys: &Path) -> anyhow::Result<Vec<String>> {
    let url = |host: String| {
        if host.contains(':') { format!("https://[{host}]:{PORT}") } else { format!("https://{host}:{PORT}") }
    };
    Ok(hosts_of(keys)?.into_iter().map(url).collect())
}

//! What a renewal or a revocation of keys would change, without changing it.

use std::path::Path;

use domain::counted;

use super::files::read_if_there;
use super::renewal::FOLDERS;
use super::revoked::{list_of_revoked, revoked};
use super::{FOLDER_USES, authority_of, hosts_of, way_back, with_local_names};

/// What a renewal would replace, and who needs a copy.
///
/// # Errors
/// The renewal would fail in the same way.
pub fn renewal(keys: &Path, hosts: &[String], certificate_only: bool, days: u32) -> anyhow::Result<String> {
    authority_of(keys)?;
    let before = hosts_of(keys)?;
    let after = if hosts.is_empty() { before.clone() } else { hosts.to_vec() };
    let shown = keys.display();
    let mut lines = vec![format!(
        "with --dry-run nothing is changed; the command makes a new certificate, valid for {days} days, and its key:\n\
         {shown}/coordinator   for {} -> {}",
        with_local_names(&before).join(", "),
        with_local_names(&after).join(", ")
    )];
    if !certificate_only {
        lines.push("it makes new tokens; the present tokens hold until keys are renewed again:".to_owned());
        for (folder, user, _) in &FOLDER_USES[1..] {
            lines.push(format!("{shown}/{folder:11}   copy it to {user}"));
        }
        lines.push(refused(keys)?);
        let revoked = revoked(keys)?;
        let readmitted = FOLDERS
            .iter()
            .map(|(_, token)| token.owner)
            .filter(|owner| revoked.iter().any(|name| name == owner));
        lines.extend(readmitted.map(|owner| format!("{owner} is revoked: only its new token will hold")));
    }
    lines.push(cut_off(&before, &after));
    lines.push(way_back(keys));
    Ok(lines.join("\n"))
}

/// Which clients do not find the coordinator behind the new certificate.
fn cut_off(before: &[String], after: &[String]) -> String {
    let named = with_local_names(after);
    let dropped: Vec<String> = before.iter().filter(|host| !named.contains(host)).cloned().collect();
    if dropped.is_empty() {
        return "copy the coordinator's folder to the coordinator; the new certificate cuts nobody off"
            .to_owned();
    }
    format!(
        "copy the coordinator's folder to the coordinator; cut off when they connect again: clients that call it {}",
        dropped.join(" or ")
    )
}

/// Whom the coordinator refuses after a renewal.
fn refused(keys: &Path) -> anyhow::Result<String> {
    let mut older = 0;
    for (folder, token) in FOLDERS {
        let own = read_if_there(&keys.join(folder).join(token.file))?;
        let known = read_if_there(&keys.join("coordinator").join(token.file))?;
        let unnamed = known.lines().filter(|line| line.split_whitespace().count() == 1);
        older += unnamed.filter(|line| line.trim() != own.trim()).count() as u64;
    }
    Ok(match older {
        0 => "nobody is cut off: there is no older token".to_owned(),
        older => format!(
            "cut off: whoever still has one of {} from before the last renewal",
            counted(older, "older token")
        ),
    })
}

/// Whom a revocation would cut off.
///
/// # Errors
/// The revocation would fail in the same way.
pub fn revocation(keys: &Path, name: &str) -> anyhow::Result<String> {
    if revoked(keys)?.iter().any(|revoked| revoked == name) {
        return Ok(format!("with --dry-run nothing is changed; {name} is revoked already"));
    }
    let is_shared = FOLDERS.iter().any(|(_, token)| token.owner == name);
    let whose = if is_shared {
        "everybody with that token is refused".to_owned()
    } else if keys.join("clients").join(name).exists() {
        format!("the keys in {}/clients/{name} and all invitations of {name} are refused", keys.display())
    } else {
        format!(
            "all invitations and certificates of {name} are refused (no folder of that name was made here)"
        )
    };
    Ok(format!(
        "with --dry-run nothing is changed; the command adds {name} to {}: {whose}, its workers are removed, and what \
         they hold is lent again; its counts stay",
        list_of_revoked(keys).display()
    ))
}

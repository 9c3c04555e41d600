//! Notes on a file that was written, beside its content.

use super::hard_links;
use toolkit::files::WriteOutcome;

/// The notes on a file, in the order in which they are shown.
pub(crate) fn notes(shown: &str, written: &WriteOutcome) -> Vec<String> {
    let in_place = written.in_place.then(|| {
        format!(
            "{shown} was written in place, as no new file can replace it: it is mounted by itself, or its directory cannot be \
             written to"
        )
    });
    let owner = written.owner.map(|owner| {
        let ((user, group), (new_user, new_group)) = (owner.before, owner.after);
        format!(
            "{shown} was owned by user {user} and group {group}, and is owned by user {new_user} and group {new_group} now: the \
             owner could not be kept"
        )
    });
    hard_links::note(shown, written.other_names).into_iter().chain(in_place).chain(owner).collect()
}

//! Which sessions a session sees, and from which it takes messages.

use crate::people::is_owners;
use crate::settings::{Scope, SessionSettings};
use crate::store::{SessionRecord, Store, StoreError};

/// Where another session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Same,
    Above,
    Below,
    Beside,
}

/// How two sessions stand to each other.
#[derive(Debug, Clone, Copy)]
struct Relation {
    /// Where the other stands, as seen from the first.
    place: Place,
    is_same_agent: bool,
    /// Both belong to one person, or the first to the owner, who sees what anybody does.
    is_own: bool,
    /// Both belong to one person.
    is_same_person: bool,
}

/// If a session may send to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// It may, and the other one belongs to the same person.
    Allowed,
    /// It may, and the other one, which belongs to another person or to none, does not learn who sends.
    AllowedUnnamed,
    /// It does not see the other one, or that one takes no messages of it.
    Forbidden,
    /// The other one would take the message, but belongs to another person or to none.
    OtherPerson,
}

impl Relation {
    async fn of(store: &Store, from: &SessionRecord, to: &SessionRecord) -> Result<Self, StoreError> {
        let place = if from.key == to.key {
            Place::Same
        } else if store.is_in_tree(to.key.clone(), from.key.clone()).await? {
            Place::Below
        } else if store.is_in_tree(from.key.clone(), to.key.clone()).await? {
            Place::Above
        } else {
            Place::Beside
        };
        let is_own = is_owners(from) || (from.person.is_some() && from.person == to.person);
        let is_same_person = match (is_owners(from), is_owners(to)) {
            (true, true) => true,
            // A session that belongs to no single person has those below and above it alone.
            (false, false) => from.person == to.person && (from.person.is_some() || place != Place::Beside),
            _ => false,
        };
        Ok(Self { place, is_same_agent: from.key.agent() == to.key.agent(), is_own, is_same_person })
    }

    /// Returns true if the first sees the other.
    fn is_seen(self, scope: Scope) -> bool {
        match (self.place, scope) {
            (Place::Same, _) => true,
            (_, Scope::Own) => false,
            (Place::Below, _) => true,
            (_, Scope::Tree) => false,
            (_, Scope::Agent) => self.is_own && self.is_same_agent,
            (_, Scope::All) => self.is_own,
        }
    }

    /// Returns true if the other takes a message of the first, which sees it.
    fn is_accepted(self, scope: Scope) -> bool {
        match (self.place, scope) {
            (Place::Same, _) | (_, Scope::All) => true,
            (_, Scope::Own) | (Place::Beside, Scope::Tree) => false,
            (Place::Above | Place::Below, _) => true,
            (Place::Beside, Scope::Agent) => self.is_same_agent,
        }
    }
}

/// Returns which sessions a session sees: as few as each agent of those above it may see, and its own.
pub(super) fn visibility(settings: &SessionSettings, session: &SessionRecord) -> Scope {
    let of_all = if is_owners(session) { settings.owner_visibility } else { settings.visibility };
    let of_agent =
        |agent: &str| settings.agents.get(agent).and_then(|agent| agent.visibility).unwrap_or(of_all);
    let above = session.agents_above.iter().map(|agent| of_agent(agent));
    above.fold(of_agent(session.key.agent()), Scope::min)
}

/// Returns true if a session sees another.
pub(super) async fn may_see(
    store: &Store,
    settings: &SessionSettings,
    from: &SessionRecord,
    to: &SessionRecord,
) -> Result<bool, StoreError> {
    Ok(Relation::of(store, from, to).await?.is_seen(visibility(settings, from)))
}

/// Returns if a session may send to another: it sees that one, that one takes its messages, and both belong to one person, unless the settings
/// allow messages between people. By default they do not: the agent of the owner reads the texts of others, and an instruction in one of them
/// could make it send the owner's data to their author.
pub(super) async fn may_send(
    store: &Store,
    settings: &SessionSettings,
    from: &SessionRecord,
    to: &SessionRecord,
) -> Result<Sending, StoreError> {
    let accepts = settings.agents.get(to.key.agent()).and_then(|agent| agent.accepts);
    let relation = Relation::of(store, from, to).await?;
    let is_taken = relation.is_seen(visibility(settings, from))
        && relation.is_accepted(accepts.unwrap_or(settings.accepts));
    Ok(match (is_taken, relation.is_same_person) {
        (false, _) => Sending::Forbidden,
        (true, true) => Sending::Allowed,
        (true, false) if settings.between_people => Sending::AllowedUnnamed,
        (true, false) => Sending::OtherPerson,
    })
}

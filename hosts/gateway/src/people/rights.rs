//! The rights of a person.

use super::OWNER;
use crate::store::{PersonRecord, Role, SessionRecord, Store, StoreError};
use crate::{KeyError, PeerKind, SessionKey, SessionKind};

pub use crate::store::LOCAL_CHANNEL;

/// The account of that channel.
pub const LOCAL_ACCOUNT: &str = "console";

/// Returns true for a session of the owner.
pub(crate) fn is_owners(session: &SessionRecord) -> bool {
    session.key.kind() == SessionKind::Main || session.person.as_deref() == Some(OWNER)
}

/// A person, with the role that counts for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    name: String,
    role: Role,
    agent: String,
    is_owner: bool,
}

impl Person {
    /// A person with the role of a token, which gives them no more than their own.
    pub fn new(record: PersonRecord, role: Role) -> Self {
        let is_owner = record.role == Role::Owner;
        Self { role: role.min(record.role), name: record.name, agent: record.agent, is_owner }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The agent that the person talks to.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns true if the person may see and manage everything.
    pub fn is_manager(&self) -> bool {
        self.role == Role::Owner
    }

    /// The person of whom alone things are shown; `None` if all are.
    pub fn seen_by(&self) -> Option<String> {
        (!self.is_manager()).then(|| self.name.clone())
    }

    /// Returns true if the person may see a session: it is theirs, or stands below one of theirs.
    pub async fn may_see(&self, store: &Store, session: &SessionKey) -> Result<bool, StoreError> {
        Ok(self.is_manager() || store.is_visible_to(session.clone(), self.name.clone()).await?)
    }

    /// Returns true if the person may use an agent.
    pub fn may_use(&self, agent: &str) -> bool {
        self.is_manager() || self.agent == agent
    }

    /// Returns true if the person may begin a session with this key: their own one with an agent that they may use, or one of their
    /// conversations in the gateway's own channel.
    pub fn may_begin(&self, session: &SessionKey) -> bool {
        let agent = session.agent();
        if !self.may_use(agent) {
            return false;
        }
        let local = SessionKey::peer(agent, LOCAL_CHANNEL, LOCAL_ACCOUNT, PeerKind::Direct, &self.name, None);
        let is_local = local.is_ok_and(|local| {
            let rest = session.as_str().strip_prefix(local.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        });
        is_local || self.main_session(agent).is_ok_and(|own| own == *session)
    }

    /// The person's own session with an agent.
    pub fn main_session(&self, agent: &str) -> Result<SessionKey, KeyError> {
        if self.is_owner { SessionKey::main(agent) } else { SessionKey::person(agent, &self.name) }
    }

    /// The agent whose questions the person answers, in whatever session; `None` for the owner, who answers all, and for users.
    pub fn answers_for(&self) -> Option<String> {
        (self.role == Role::Approver).then(|| self.agent.clone())
    }

    /// Returns true if the person may answer the questions of a session, whoever began its run.
    pub fn may_answer(&self, session: &SessionKey) -> bool {
        match self.role {
            Role::Owner => true,
            Role::Approver => session.agent() == self.agent,
            Role::User => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;

    fn person(name: &str, of_person: Role, of_token: Role) -> Person {
        let record = PersonRecord {
            name: name.to_owned(),
            role: of_person,
            agent: "main".to_owned(),
            created_at: Moment(0),
            blocked_at: None,
        };
        Person::new(record, of_token)
    }

    #[test]
    fn a_token_gives_no_more_than_the_role_of_its_person() {
        for (of_person, of_token, role) in [
            (Role::Owner, Role::Owner, Role::Owner),
            (Role::Owner, Role::User, Role::User),
            (Role::Approver, Role::Owner, Role::Approver),
            (Role::User, Role::Approver, Role::User),
        ] {
            assert_eq!(person("ada", of_person, of_token).role(), role);
        }
    }

    #[test]
    fn each_person_begins_their_own_sessions_alone() {
        let owner = person("owner", Role::Owner, Role::Owner);
        let limited = person("owner", Role::Owner, Role::User);
        let ada = person("ada", Role::Approver, Role::Approver);
        for (key, may) in [
            ("agent:main:main", [true, true, false]),
            ("agent:other:main", [true, false, false]),
            ("agent:main:person:ada", [false, false, true]),
            ("agent:main:person:owner", [false, false, false]),
            ("agent:other:person:ada", [false, false, false]),
            ("agent:main:local:console:direct:ada", [false, false, true]),
            ("agent:main:local:console:direct:ada:report", [false, false, true]),
            ("agent:main:local:console:direct:ada2", [false, false, false]),
            ("agent:main:local:console:direct:owner:1", [true, true, false]),
            ("agent:main:local:other:direct:ada", [false, false, false]),
            ("agent:main:local:console:group:ada", [false, false, false]),
            ("agent:main:telegram:bot:direct:ada", [false, false, false]),
            ("agent:main:sub:ada", [false, false, false]),
        ] {
            let key = key.parse().expect("a key");
            assert_eq!([&owner, &limited, &ada].map(|person| person.may_begin(&key)), may, "{key}");
        }
    }

    #[test]
    fn the_owner_and_an_approver_of_the_agent_answer_questions() {
        let key = |text: &str| -> SessionKey { text.parse().expect("a key") };
        let (own, other) = (key("agent:main:person:bob"), key("agent:other:person:bob"));
        for (role, may) in
            [(Role::Owner, [true, true]), (Role::Approver, [true, false]), (Role::User, [false, false])]
        {
            let person = person("ada", role, role);
            assert_eq!([person.may_answer(&own), person.may_answer(&other)], may, "{role:?}");
        }
    }
}

//! The accounts that requests count against.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use toolkit::Caller;

/// An account: an agent, a session, a job, a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// Its kind, such as `agent`, `session`, `job`, `person` or `part`.
    pub kind: String,
    /// Its name among those of its kind; empty if it is the only one.
    pub name: String,
}

impl Account {
    /// Returns the account of this kind and name.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into() }
    }

    /// Returns the account of an agent.
    pub fn agent(id: impl Into<String>) -> Self {
        Self::new("agent", id)
    }

    /// Returns the account of a session.
    pub fn session(id: impl Into<String>) -> Self {
        Self::new("session", id)
    }

    /// Returns the account that every request counts against.
    pub fn everything() -> Self {
        Self::new("everything", "")
    }

    /// Returns the account of a part of a host that sends requests, such as `page_reader`.
    pub fn part(name: impl Into<String>) -> Self {
        Self::new("part", name)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escape = toolkit::text::escape_line;
        if self.name.is_empty() {
            return write!(f, "{}", escape(&self.kind));
        }
        write!(f, "{} `{}`", escape(&self.kind), escape(&self.name))
    }
}

/// The accounts that a request counts against, each once.
///
/// ```
/// use serde_json::json;
/// use toolkit::Caller;
/// use toolkit_models::{Account, Scope};
///
/// let caller = Caller::new().with_agent("main").with_session("s1").with_extra("accounts", json!({ "person": "ann" }));
/// let scope = Scope::of(&caller.delegated().with_agent("helper")).with(Account::part("page_reader"));
/// let accounts: Vec<String> = scope.accounts().iter().map(ToString::to_string).collect();
/// assert_eq!(accounts, ["agent `helper`", "person `ann`", "agent `main`", "session `s1`", "part `page_reader`"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope(Vec<Account>);

impl Scope {
    /// The key of [`Caller::extra`] with further accounts, an object of names by kind. A host sets it.
    pub const EXTRA: &'static str = "accounts";

    /// Returns a scope without accounts: a request counts against none.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the accounts of a caller and of those above it: agent, session, and those of [`EXTRA`](Self::EXTRA).
    pub fn of(caller: &Caller) -> Self {
        caller.chain().fold(Self::new(), |scope, caller| {
            let own = caller.agent.iter().map(Account::agent);
            let own = own.chain(caller.session_id.iter().map(Account::session));
            let further = caller.extra.get(Self::EXTRA).and_then(Value::as_object).into_iter().flatten();
            let further = further.filter_map(|(kind, name)| Some(Account::new(kind, name.as_str()?)));
            own.chain(further).fold(scope, Self::with)
        })
    }

    /// Adds an account.
    #[must_use]
    pub fn with(mut self, account: Account) -> Self {
        if !self.0.contains(&account) {
            self.0.push(account);
        }
        self
    }

    /// Returns the accounts.
    pub fn accounts(&self) -> &[Account] {
        &self.0
    }
}

//! The accounts that a request or a run counts for.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};
use toolkit_models::Account;

use crate::settings::{BudgetSettings, PeriodLimits};
use crate::store::damage::Fault;
use crate::store::ids::{MessageId, RunId};
use crate::store::named::named;
use crate::store::writer::Writing;
use crate::store::{people, visible};
use crate::{SessionKey, SessionKind};

/// The kind of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetKind {
    /// Everything together.
    Everything,
    /// An agent.
    Agent,
    /// A session, with those below it.
    Session,
    /// A job.
    Job,
    /// A person.
    Person,
}

named!(BudgetKind {
    Everything = "everything",
    Agent = "agent",
    Session = "session",
    Job = "job",
    Person = "person"
});

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct BudgetAccount {
    /// Its kind.
    pub kind: BudgetKind,
    /// Its name among those of its kind; empty for everything.
    pub name: String,
}

impl BudgetKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Everything, Self::Agent, Self::Session, Self::Job, Self::Person];
}

impl BudgetAccount {
    /// The account of this kind and name.
    pub fn new(kind: BudgetKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    /// The account in a refusal.
    pub(super) fn shown(&self) -> Account {
        Account::new(self.kind.name(), &*self.name)
    }
}

/// Returns the accounts of a request or a run, in the order in which their budgets are checked. A session counts for those above it, and for
/// their agents and people.
pub(super) fn of_request(
    writing: &Writing<'_>,
    agents: &[String],
    session: Option<&SessionKey>,
    job: Option<&str>,
) -> Result<Vec<BudgetAccount>, Fault> {
    let above = match session {
        Some(session) => visible::with_those_above(writing.sql, session)?,
        None => Vec::new(),
    };
    let mut accounts = vec![BudgetAccount::new(BudgetKind::Everything, "")];
    let mut add = |kind, name: &str| {
        let account = BudgetAccount::new(kind, name);
        if !accounts.contains(&account) {
            accounts.push(account);
        }
    };
    for agent in agents.iter().map(String::as_str).chain(above.iter().map(|(key, _)| key.agent())) {
        add(BudgetKind::Agent, agent);
    }
    for (key, _) in &above {
        add(BudgetKind::Session, key.as_str());
    }
    let of_run = match (job, session) {
        (None, Some(session)) => job_in_flight(writing.sql, session)?,
        _ => None,
    };
    if let Some(job) = job.or(of_run.as_deref()) {
        add(BudgetKind::Job, job);
    }
    for (key, person) in &above {
        match person {
            Some(person) => add(BudgetKind::Person, person),
            None if key.kind() == SessionKind::Main => {
                if let Some(owner) = people::owner(writing.sql)? {
                    add(BudgetKind::Person, &owner);
                }
            }
            None => {}
        }
    }
    Ok(accounts)
}

/// Returns true if the owner is the only person among the accounts of a session.
pub(super) fn are_owners(connection: &Connection, accounts: &[BudgetAccount]) -> Result<bool, Fault> {
    let Some(owner) = people::owner(connection)? else { return Ok(false) };
    let mut people = accounts.iter().filter(|account| account.kind == BudgetKind::Person).peekable();
    Ok(people.peek().is_some() && people.all(|person| person.name == owner))
}

/// Returns the limits of an account, if it has any.
pub(super) fn limits<'a>(
    connection: &Connection,
    budgets: &'a BudgetSettings,
    account: &BudgetAccount,
) -> Result<Option<&'a PeriodLimits>, Fault> {
    Ok(match account.kind {
        BudgetKind::Everything => Some(&budgets.everything),
        BudgetKind::Agent => budgets.agents.get(&account.name),
        BudgetKind::Session => Some(&budgets.each_session),
        BudgetKind::Job => Some(&budgets.each_job),
        BudgetKind::Person => match budgets.people.get(&account.name) {
            None if people::owner(connection)?.as_deref() == Some(&account.name) => None,
            of_person => Some(of_person.unwrap_or(&budgets.each_other_person)),
        },
    })
}

/// Returns the job for which the run of a session that is in flight works.
pub(in crate::store) fn job_in_flight(
    connection: &Connection,
    session: &SessionKey,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT job FROM runs JOIN run_jobs ON run_jobs.run = runs.id WHERE session = ?1 AND ended_at IS NULL";
    Ok(connection.prepare_cached(sql)?.query_row([session], |row| row.get(0)).optional()?)
}

/// Returns the job for which a run works.
pub(in crate::store) fn job_of_run(connection: &Connection, run: &RunId) -> Result<Option<String>, Fault> {
    let sql = "SELECT job FROM run_jobs WHERE run = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional()?)
}

/// Returns the job for which the run of a message works: that of its fire, or of the run whose agent sent it or whose result it is.
pub(in crate::store) fn job_of_message(
    connection: &Connection,
    message: MessageId,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT job FROM inbox WHERE id = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([message], |row| row.get(0)).optional()?.flatten())
}

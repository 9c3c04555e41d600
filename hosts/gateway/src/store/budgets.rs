//! Budgets: the use of each account in a day and in a month, and the requests that are open.
//!
//! ```text
//! reserve ──► open ──► settle    what it used takes the place of what was reserved
//!    │          ├────► release   it was not sent: nothing counts
//!    │          └────► a crash   what was reserved counts as used: it may have been sent
//!    └─► refused, with the first budget that it would pass
//! ```
//!
//! One transaction checks every budget that applies and reserves, so that requests of all sessions never pass a limit together. A run is
//! counted in the transaction that begins it. The result of a sub-agent whose run a budget does not allow waits for the next period.

mod accounts;
mod listed;
mod periods;

pub use accounts::{BudgetAccount, BudgetKind};
pub(super) use accounts::{job_in_flight, job_of_message, job_of_run};
pub use listed::{AccountBudget, BudgetFilter, BudgetUse, DayUse, ExhaustedBudget};

use std::sync::Arc;
use std::time::Duration;

use rusqlite::params;
use serde_json::json;
use tokio::sync::watch;
use toolkit_models::{BudgetExceeded, TotalUsage};

use super::clock::Moment;
use super::damage::Fault;
use super::ids::RunId;
use super::inbox::Message;
use super::writer::Writing;
use super::{Store, StoreError, events, people};
use crate::recurrence::Zone;
use crate::settings::BudgetSettings;
use crate::{SessionKey, fail_points};
use periods::{Period, Periods};

/// Time for which the use of a day is kept.
const KEPT_DAYS: Duration = Duration::from_hours(62 * 24);
/// Time for which the use of a month is kept.
const KEPT_MONTHS: Duration = Duration::from_hours(400 * 24);
/// The most of one measure that is counted: SQLite and JSON have larger integers, but not all that read them.
const MAX_COUNTED: u64 = 1 << 53;

/// A request that is about to be sent, with what it may use at most.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewRequest {
    id: String,
    most: TotalUsage,
    agents: Vec<String>,
    session: Option<SessionKey>,
    job: Option<String>,
}

/// The outcome of a reservation.
#[derive(Debug, Clone, PartialEq)]
pub enum ReserveOutcome {
    /// It may be sent.
    Reserved,
    /// It would pass this budget: nothing is reserved.
    Refused(Box<BudgetExceeded>),
}

impl NewRequest {
    /// A request with an id that no other has. It counts against the budget of everything.
    pub fn new(id: impl Into<String>, most: TotalUsage) -> Self {
        Self { id: id.into(), most, agents: Vec::new(), session: None, job: None }
    }

    /// Counts it for an agent.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agents.push(agent.into());
        self
    }

    /// Counts it for a session and those above it, with their agents and people, and the job of the session's run in flight.
    #[must_use]
    pub fn with_session(mut self, session: SessionKey) -> Self {
        self.session = Some(session);
        self
    }

    /// Counts it for this job, in place of that of the session's run.
    #[must_use]
    pub fn with_job(mut self, job: impl Into<String>) -> Self {
        self.job = Some(job.into());
        self
    }
}

impl Store {
    /// Sets the budgets that count from now on. Without them everything is counted, and nothing refused.
    pub fn set_budgets(&self, budgets: BudgetSettings) {
        self.0.budgets.send_replace(Arc::new(budgets));
    }

    /// The budgets that count.
    pub fn budgets(&self) -> Arc<BudgetSettings> {
        Arc::clone(&self.0.budgets.borrow())
    }

    /// Changes each time that budgets are set.
    pub(crate) fn budgets_changed(&self) -> watch::Receiver<Arc<BudgetSettings>> {
        self.0.budgets.subscribe()
    }

    /// Lets the messages wait no longer that a budget holds: it may have been raised.
    pub(crate) async fn release_held(&self) -> Result<(), StoreError> {
        self.write(|writing| {
            let sql = "UPDATE inbox SET held_until = NULL WHERE state = 'queued' AND held_until IS NOT NULL";
            writing.sql.execute(sql, [])?;
            Ok(())
        })
        .await
    }

    /// Returns the next time at which a message that a budget holds may begin its run.
    pub(crate) async fn next_held(&self) -> Result<Option<Moment>, StoreError> {
        // A message that is due for longer waits for a slot, or for its session.
        let since = self.clock().now().before(Duration::from_mins(1));
        self.read(move |connection| {
            let sql = "SELECT min(held_until) FROM inbox WHERE state = 'queued' AND held_until > ?1";
            Ok(connection.prepare_cached(sql)?.query_row([since], |row| row.get(0))?)
        })
        .await
    }

    /// Reserves what a request may use, in every account that it counts for, unless it would pass a budget.
    pub async fn reserve(&self, request: NewRequest) -> Result<ReserveOutcome, StoreError> {
        let budgets = self.budgets();
        let outcome = self
            .write(move |writing| {
                let job = request.job.as_deref();
                let accounts = accounts::of_request(writing, &request.agents, request.session.as_ref(), job)?;
                let periods = Periods::at(&budgets.timezone, writing.now)?;
                if let Some((exceeded, _)) = refuse(
                    writing,
                    &budgets,
                    &accounts,
                    &periods,
                    Some(&request.most),
                    request.session.as_ref(),
                )? {
                    return Ok(ReserveOutcome::Refused(Box::new(exceeded)));
                }
                open(writing, &request, &accounts, &periods)?;
                Ok(ReserveOutcome::Reserved)
            })
            .await?;
        fail_points::pass("after_reserve");
        Ok(outcome)
    }

    /// Ends a request that is open: counts what it used, in the period in which it was reserved. One that is not open stays as it is.
    pub async fn settle(&self, request: &str, used: TotalUsage) -> Result<(), StoreError> {
        let request = request.to_owned();
        self.write(move |writing| end(writing, &request, Some(&used))).await
    }

    /// Ends a request that was not sent, or that nobody charges for: nothing of it counts.
    pub async fn release(&self, request: &str) -> Result<(), StoreError> {
        let request = request.to_owned();
        self.write(move |writing| end(writing, &request, None)).await
    }

    /// Counts the requests that an ended process has left open as used, as much as was reserved: they may have been sent. Returns how many
    /// there were. Done at start.
    pub async fn settle_open_requests(&self) -> Result<usize, StoreError> {
        self.write(|writing| {
            let mut statement = writing.sql.prepare_cached("SELECT id, tokens, cost FROM budget_requests")?;
            let left = statement
                .query_map([], |row| Ok((row.get::<_, String>(0)?, counted(1, 0, row.get(1)?, row.get(2)?))))?
                .collect::<Result<Vec<_>, _>>()?;
            for (request, reserved) in &left {
                end(writing, request, Some(reserved))?;
            }
            Ok(left.len())
        })
        .await
    }

    /// Counts a run of a job that calls a tool, which is about to begin.
    pub async fn count_tool_run(&self, session: SessionKey, job: &str) -> Result<ReserveOutcome, StoreError> {
        let (budgets, job) = (self.budgets(), job.to_owned());
        self.write(move |writing| {
            let refused = count_run(writing, &budgets, &session, Some(&job))?;
            Ok(refused
                .map_or(ReserveOutcome::Reserved, |exceeded| ReserveOutcome::Refused(Box::new(exceeded))))
        })
        .await
    }
}

/// Counts a run that begins with a message. Returns the budget that it would pass, if there is one; then it is not counted.
pub(super) fn begin_run(
    writing: &Writing<'_>,
    budgets: &BudgetSettings,
    run: &RunId,
    message: &Message,
) -> Result<Option<BudgetExceeded>, Fault> {
    let job = accounts::job_of_message(writing.sql, message.id)?;
    if let Some(job) = &job {
        let sql = "INSERT INTO run_jobs (run, job) VALUES (?1, ?2)";
        writing.sql.prepare_cached(sql)?.execute(params![run, job])?;
    }
    count_run(writing, budgets, &message.session, job.as_deref())
}

/// Returns the end of the period of a budget that the run of a message would pass.
pub(super) fn refuses_until(
    writing: &Writing<'_>,
    budgets: &BudgetSettings,
    message: &Message,
) -> Result<Option<Moment>, Fault> {
    let job = accounts::job_of_message(writing.sql, message.id)?;
    let accounts = accounts::of_request(writing, &[], Some(&message.session), job.as_deref())?;
    let periods = Periods::at(&budgets.timezone, writing.now)?;
    let refused = refuse(writing, budgets, &accounts, &periods, None, Some(&message.session))?;
    Ok(refused.map(|(_, until)| until))
}

fn count_run(
    writing: &Writing<'_>,
    budgets: &BudgetSettings,
    session: &SessionKey,
    job: Option<&str>,
) -> Result<Option<BudgetExceeded>, Fault> {
    let accounts = accounts::of_request(writing, &[], Some(session), job)?;
    let periods = Periods::at(&budgets.timezone, writing.now)?;
    let refused = refuse(writing, budgets, &accounts, &periods, None, Some(session))?;
    if refused.is_none() {
        let run = counted(0, 1, 0.0, 0.0);
        for account in &accounts {
            add(writing, account, [&*periods.day.name, &*periods.month.name], &run)?;
        }
    }
    Ok(refused.map(|(exceeded, _)| exceeded))
}

/// Returns the first budget that a request would pass, or that is used up where a run begins, with the end of its period: what is only reserved for others does not keep it
/// from beginning. The owner is told of it, once in its period. In a session that is not the owner's, the refusal does not say what others use.
fn refuse(
    writing: &Writing<'_>,
    budgets: &BudgetSettings,
    accounts: &[BudgetAccount],
    periods: &Periods,
    request: Option<&TotalUsage>,
    session: Option<&SessionKey>,
) -> Result<Option<(BudgetExceeded, Moment)>, Fault> {
    for account in accounts {
        let Some(limits) = accounts::limits(writing.sql, budgets, account)? else { continue };
        for period in [&periods.day, &periods.month] {
            let budget = period.budget(limits);
            if !budget.is_limited() {
                continue;
            }
            let used = listed::used(writing.sql, account, &period.name)?;
            let exceeded = match request {
                Some(wanted) => {
                    let reserved = listed::reserved(writing.sql, account, &period.name)?;
                    budget.exceeded(&account.shown(), &used, &reserved, wanted)
                }
                None => budget.reached(&account.shown(), &used).next(),
            };
            if let Some(exceeded) = exceeded {
                if !exceeded.is_passing() {
                    note_refusal(writing, account, period, &exceeded)?;
                }
                let is_of_others = matches!(account.kind, BudgetKind::Everything | BudgetKind::Agent);
                let hides =
                    is_of_others && session.is_some() && !accounts::are_owners(writing.sql, accounts)?;
                let exceeded = if hides { exceeded.without_amounts() } else { exceeded };
                return Ok(Some((exceeded, period.end)));
            }
        }
    }
    Ok(None)
}

/// Tells the owner of a budget that refused something, unless that was done before in its period.
fn note_refusal(
    writing: &Writing<'_>,
    account: &BudgetAccount,
    period: &Period,
    exceeded: &BudgetExceeded,
) -> Result<(), Fault> {
    let measure = listed::name_of(exceeded.measure);
    let noted = writing
        .sql
        .prepare_cached(
            "INSERT INTO budget_refusals (kind, name, period, measure, most, refused_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET most = ?5, refused_at = ?6 WHERE most <> ?5",
        )?
        .execute(params![account.kind, account.name, period.name, measure, exceeded.most, writing.now])?;
    // Of a budget that was changed, it is told anew.
    if noted > 0
        && let Some(owner) = people::owner(writing.sql)?
    {
        let data = json!({
            "kind": account.kind, "name": account.name, "period": period.name, "measure": measure, "limit": exceeded.most,
            "used": exceeded.used, "until": period.end, "text": exceeded.to_string(),
        });
        events::write_of_person(writing, &owner, "budget.exhausted", &data)?;
    }
    Ok(())
}

fn open(
    writing: &Writing<'_>,
    request: &NewRequest,
    accounts: &[BudgetAccount],
    periods: &Periods,
) -> Result<(), Fault> {
    let (tokens, cost) = (tokens(&request.most), cost(&request.most));
    let is_unlimited = request.most.unlimited_requests > 0;
    writing
        .sql
        .prepare_cached(
            "INSERT INTO budget_requests (id, day, month, tokens, cost, is_unlimited) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![request.id, periods.day.name, periods.month.name, tokens, cost, is_unlimited])?;
    for account in accounts {
        writing
            .sql
            .prepare_cached("INSERT INTO budget_request_accounts (request, kind, name) VALUES (?1, ?2, ?3)")?
            .execute(params![request.id, account.kind, account.name])?;
    }
    Ok(())
}

fn end(writing: &Writing<'_>, request: &str, used: Option<&TotalUsage>) -> Result<(), Fault> {
    if let Some(used) = used {
        let sql = "SELECT kind, name, day, month FROM budget_request_accounts JOIN budget_requests ON id = request WHERE request = ?1";
        let mut statement = writing.sql.prepare_cached(sql)?;
        let mut rows = statement.query([request])?;
        while let Some(row) = rows.next()? {
            let account = BudgetAccount { kind: row.get(0)?, name: row.get(1)? };
            let (day, month) = (row.get::<_, String>(2)?, row.get::<_, String>(3)?);
            add(writing, &account, [&day, &month], used)?;
        }
    }
    writing.sql.prepare_cached("DELETE FROM budget_requests WHERE id = ?1")?.execute([request])?;
    Ok(())
}

fn add(
    writing: &Writing<'_>,
    account: &BudgetAccount,
    periods: [&str; 2],
    used: &TotalUsage,
) -> Result<(), Fault> {
    for period in periods {
        writing
            .sql
            .prepare_cached(
                "INSERT INTO budget_usage (kind, name, period, runs, requests, tokens, cost) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT DO UPDATE SET runs = runs + ?4, requests = requests + ?5, tokens = min(tokens + ?6, ?8), cost = cost + ?7",
            )?
            .execute(params![
                account.kind,
                account.name,
                period,
                used.runs,
                used.requests,
                tokens(used),
                cost(used),
                MAX_COUNTED.cast_signed(),
            ])?;
    }
    Ok(())
}

/// Removes the use of periods that are no longer kept, up to so many rows of a table, and returns how many rows these were.
pub(super) fn forget_old(writing: &Writing<'_>, max: u32) -> Result<usize, Fault> {
    let day = Periods::at(&Zone::utc(), writing.now.before(KEPT_DAYS))?.day.name;
    let month = Periods::at(&Zone::utc(), writing.now.before(KEPT_MONTHS))?.month.name;
    let mut removed = 0;
    for table in ["budget_usage", "budget_refusals"] {
        let sql = format!(
            "DELETE FROM {table} WHERE (kind, name, period) IN (
                 SELECT kind, name, period FROM {table} WHERE length(period) > 7 AND period < ?1 OR length(period) = 7 AND period < ?2 LIMIT ?3)"
        );
        removed += writing.sql.prepare_cached(&sql)?.execute(params![day, month, max])?;
    }
    Ok(removed)
}

/// Returns the usage that columns hold.
fn counted(requests: u32, runs: u32, tokens: f64, cost: f64) -> TotalUsage {
    let mut usage = TotalUsage::default();
    (usage.requests, usage.runs) = (requests, runs);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "of 2^53 at most, or beyond every limit"
    )]
    let tokens = tokens as u64;
    usage.tokens.input_tokens = tokens;
    usage.cost = (cost > 0.0).then_some(cost);
    usage
}

fn tokens(usage: &TotalUsage) -> i64 {
    usage.counted_tokens().min(MAX_COUNTED).cast_signed()
}

fn cost(usage: &TotalUsage) -> f64 {
    usage.counted_cost().filter(|cost| cost.is_finite() && *cost >= 0.0).unwrap_or(0.0)
}

//! The use of accounts, as it is shown. Reading changes nothing.

use std::collections::VecDeque;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;
use toolkit_models::{BudgetExceeded, Measure, TotalUsage};

use super::accounts::{self, BudgetAccount, BudgetKind};
use super::periods::{Period, Periods};
use crate::moment::Moment;
use crate::settings::{BudgetSettings, UsageLimits};
use crate::store::damage::Fault;
use crate::store::visible::visible;
use crate::store::{Store, StoreError};

/// The most accounts that one reading returns.
const MAX_LISTED: u32 = 1_000;

/// Which accounts to list.
#[derive(Debug, Clone, Default)]
pub struct BudgetFilter {
    /// Of this kind alone.
    pub kind: Option<BudgetKind>,
    /// Of this person alone: their own, those of the sessions that they see, and of their jobs.
    pub seen_by: Option<String>,
    /// After this one in the order of kind and name alone.
    pub after: Option<BudgetAccount>,
    /// At most so many, and at most 1,000.
    pub limit: u32,
}

/// The use of an account in the day and in the month of now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountBudget {
    /// The account.
    #[serde(flatten)]
    pub account: BudgetAccount,
    /// The day.
    pub day: BudgetUse,
    /// The month.
    pub month: BudgetUse,
}

/// The use of an account in a period.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUse {
    /// The period, such as `2026-11-30` or `2026-11`.
    pub period: String,
    /// When it began.
    pub begins_at: Moment,
    /// When it ends.
    pub ends_at: Moment,
    /// Runs that have begun.
    pub runs: u32,
    /// Requests that have ended.
    pub requests: u32,
    /// Tokens that are used.
    pub tokens: u64,
    /// The cost so far, of requests with a price.
    pub cost: f64,
    /// Tokens that open requests have reserved.
    pub reserved_tokens: u64,
    /// The cost that they have reserved.
    pub reserved_cost: f64,
    /// The limits.
    pub limits: UsageLimits,
}

/// The use of an account in a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DayUse {
    /// The day, such as `2026-11-30`.
    pub period: String,
    /// Runs that have begun.
    pub runs: u32,
    /// Requests that have ended.
    pub requests: u32,
    /// Tokens that are used.
    pub tokens: u64,
    /// The cost, of requests with a price.
    pub cost: f64,
}

/// A budget that is used up.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExhaustedBudget {
    /// The account.
    #[serde(flatten)]
    pub account: BudgetAccount,
    /// The period.
    pub period: String,
    /// The measure that is limited: `tokens`, `cost` or `runs`.
    pub measure: String,
    /// The limit.
    pub limit: f64,
    /// When the period ends.
    pub ends_at: Moment,
}

/// The accounts of a filter: ?1 is the person, ?2 the kind, ?3 and ?4 the account before, ?5 and ?6 the periods.
const SEEN: &str = "(?1 IS NULL OR kind = 'person' AND name = ?1
        OR kind = 'session' AND name IN (SELECT key FROM visible)
        OR kind = 'job' AND name IN (SELECT id FROM jobs WHERE person = ?1))";

impl Store {
    /// Lists accounts that were used, or have something reserved, in the day and the month of now: in the order of their kind and name. Those of everything, and of agents and people who have limits of their own, are there also if they
    /// were not used.
    pub async fn account_budgets(&self, filter: BudgetFilter) -> Result<Vec<AccountBudget>, StoreError> {
        let (budgets, now) = (self.budgets(), self.clock().now());
        self.read(move |connection| {
            let reading = connection.unchecked_transaction()?;
            let periods = Periods::at(&budgets.timezone, now)?;
            let accounts = listed(&reading, &budgets, &periods, &filter)?;
            let of_account = |account: BudgetAccount| {
                let of = |period| use_of(&reading, &budgets, &account, period);
                let (day, month) = (of(&periods.day)?, of(&periods.month)?);
                Ok(AccountBudget { account, day, month })
            };
            accounts.into_iter().map(of_account).collect()
        })
        .await
    }

    /// Returns what an account used in each of the last days, today included, the oldest first. `None` for an account that the person does
    /// not see.
    pub async fn usage_by_day(
        &self,
        account: BudgetAccount,
        seen_by: Option<String>,
        days: u32,
    ) -> Result<Option<Vec<DayUse>>, StoreError> {
        let (budgets, now) = (self.budgets(), self.clock().now());
        self.read(move |connection| {
            let reading = connection.unchecked_transaction()?;
            if seen_by.is_some() {
                let sql = format!(
                    "WITH RECURSIVE {} SELECT EXISTS (SELECT 1 FROM (SELECT ?2 AS kind, ?3 AS name) WHERE {SEEN})",
                    visible("?1")
                );
                let values = params![seen_by, account.kind, account.name];
                if !reading.prepare_cached(&sql)?.query_row(values, |row| row.get::<_, bool>(0))? {
                    return Ok(None);
                }
            }
            let mut found = VecDeque::new();
            let mut time = now;
            for _ in 0..days {
                let Some((period, begin, _)) = budgets.timezone.day_of(time) else { break };
                let used = used(&reading, &account, &period)?;
                found.push_front(DayUse {
                    period,
                    runs: used.runs,
                    requests: used.requests,
                    tokens: used.counted_tokens(),
                    cost: used.counted_cost().unwrap_or(0.0),
                });
                time = begin.before(Duration::from_millis(1));
            }
            Ok(Some(found.into()))
        })
        .await
    }

    /// Lists the budgets of the day and the month of now whose limit is used up, at most 1,000. Of a person, as [`account_budgets`](Self::account_budgets) lists theirs.
    pub async fn exhausted_budgets(
        &self,
        seen_by: Option<String>,
    ) -> Result<Vec<ExhaustedBudget>, StoreError> {
        let (budgets, now) = (self.budgets(), self.clock().now());
        self.read(move |connection| {
            let reading = connection.unchecked_transaction()?;
            let periods = Periods::at(&budgets.timezone, now)?;
            let filter = BudgetFilter { seen_by, ..BudgetFilter::default() };
            let mut exhausted = Vec::new();
            let mut after = None;
            loop {
                let page = BudgetFilter { after, limit: MAX_LISTED, ..filter.clone() };
                let accounts = listed(&reading, &budgets, &periods, &page)?;
                for account in &accounts {
                    let Some(limits) = accounts::limits(&reading, &budgets, account)? else { continue };
                    for period in [&periods.day, &periods.month] {
                        let budget = period.budget(limits);
                        if budget.is_limited() {
                            let used = used(&reading, account, &period.name)?;
                            let shown = account.shown();
                            let reached = budget.reached(&shown, &used);
                            exhausted.extend(reached.map(|reached| of_reached(account, period, &reached)));
                        }
                    }
                }
                after = accounts.last().cloned();
                if after.is_none() || exhausted.len() >= MAX_LISTED as usize {
                    break;
                }
            }
            exhausted.truncate(MAX_LISTED as usize);
            Ok(exhausted)
        })
        .await
    }
}

fn of_reached(account: &BudgetAccount, period: &Period, reached: &BudgetExceeded) -> ExhaustedBudget {
    ExhaustedBudget {
        account: account.clone(),
        period: period.name.clone(),
        measure: name_of(reached.measure).to_owned(),
        limit: reached.most,
        ends_at: period.end,
    }
}

fn listed(
    connection: &Connection,
    budgets: &BudgetSettings,
    periods: &Periods,
    filter: &BudgetFilter,
) -> Result<Vec<BudgetAccount>, Fault> {
    // Of the names in the configuration, those that may be shown.
    let everyones = filter.seen_by.is_none();
    let mut named: Vec<BudgetAccount> = Vec::new();
    if everyones {
        named.push(BudgetAccount::new(BudgetKind::Everything, ""));
        named.extend(budgets.agents.keys().map(|agent| BudgetAccount::new(BudgetKind::Agent, agent)));
    }
    let people = budgets.people.keys().filter(|name| everyones || filter.seen_by.as_ref() == Some(name));
    named.extend(people.map(|person| BudgetAccount::new(BudgetKind::Person, person)));
    named.extend(filter.seen_by.iter().map(|person| BudgetAccount::new(BudgetKind::Person, person)));
    let sql = format!(
        "WITH RECURSIVE {}
         SELECT DISTINCT kind, name FROM (
             SELECT kind, name FROM budget_usage WHERE period IN (?5, ?6)
             UNION ALL SELECT kind, name FROM budget_request_accounts
             UNION ALL SELECT value ->> 0, value ->> 1 FROM json_each(?7)
         )
         WHERE {SEEN} AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR (kind, name) > (?3, ?4))
         ORDER BY kind, name LIMIT ?8",
        visible("?1")
    );
    let named: Vec<_> = named.iter().map(|account| (account.kind.name(), &*account.name)).collect();
    let after = filter.after.as_ref();
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(
        params![
            filter.seen_by,
            filter.kind,
            after.map(|account| account.kind),
            after.map(|account| &*account.name),
            periods.day.name,
            periods.month.name,
            serde_json::to_string(&named)?,
            filter.limit.min(MAX_LISTED),
        ],
        |row| Ok(BudgetAccount { kind: row.get(0)?, name: row.get(1)? }),
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn use_of(
    connection: &Connection,
    budgets: &BudgetSettings,
    account: &BudgetAccount,
    period: &Period,
) -> Result<BudgetUse, Fault> {
    let used = used(connection, account, &period.name)?;
    let reserved = reserved(connection, account, &period.name)?;
    let limits = accounts::limits(connection, budgets, account)?;
    Ok(BudgetUse {
        period: period.name.clone(),
        begins_at: period.begin,
        ends_at: period.end,
        runs: used.runs,
        requests: used.requests,
        tokens: used.counted_tokens(),
        cost: used.counted_cost().unwrap_or(0.0),
        reserved_tokens: reserved.counted_tokens(),
        reserved_cost: reserved.counted_cost().unwrap_or(0.0),
        limits: limits.map(|limits| *period.limits(limits)).unwrap_or_default(),
    })
}

/// Returns what an account used in a period.
pub(super) fn used(
    connection: &Connection,
    account: &BudgetAccount,
    period: &str,
) -> Result<TotalUsage, Fault> {
    let sql = "SELECT requests, runs, CAST(tokens AS REAL), cost FROM budget_usage WHERE kind = ?1 AND name = ?2 AND period = ?3";
    let found =
        connection.prepare_cached(sql)?.query_row(params![account.kind, account.name, period], |row| {
            Ok(super::counted(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        });
    Ok(found.optional()?.unwrap_or_default())
}

/// Returns what the open requests of an account have reserved in a period.
pub(super) fn reserved(
    connection: &Connection,
    account: &BudgetAccount,
    period: &str,
) -> Result<TotalUsage, Fault> {
    let sql = "SELECT count(*), total(tokens), total(cost), coalesce(sum(is_unlimited), 0) FROM budget_request_accounts JOIN budget_requests ON id = request
        WHERE kind = ?1 AND name = ?2 AND ?3 IN (day, month)";
    let found =
        connection.prepare_cached(sql)?.query_row(params![account.kind, account.name, period], |row| {
            let mut reserved = super::counted(row.get(0)?, 0, row.get(1)?, row.get(2)?);
            reserved.unlimited_requests = row.get(3)?;
            Ok(reserved)
        });
    Ok(found?)
}

/// Returns the name of a measure, as columns have it.
pub(super) fn name_of(measure: Measure) -> &'static str {
    match measure {
        Measure::Tokens => "tokens",
        Measure::Cost => "cost",
        Measure::Runs => "runs",
        _ => "requests",
    }
}

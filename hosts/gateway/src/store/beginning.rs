//! Beginning runs: which message is next, and if its budgets allow it.

use rusqlite::{OptionalExtension as _, params};
use serde_json::json;

use super::damage::Fault;
use super::ids::{MessageId, RunId};
use super::inbox::{self, MessageKind, MessageState};
use super::outbox::NewDelivery;
use super::runs::{self, Claimed, RunEnd};
use super::visible::BLOCKED;
use super::writer::Writing;
use super::{Store, StoreError, budgets, events, people, sources};
use crate::fail_points;
use crate::settings::BudgetSettings;

/// Runs that one transaction refuses.
const MAX_REFUSED: u32 = 100;
/// The longest time for which a budget holds a message, in milliseconds: a month. What is held longer was held by a clock that was ahead.
const MAX_HELD: i64 = 32 * 24 * 60 * 60 * 1_000;

impl Store {
    /// Begins the next run: with the message that has waited longest of those whose session has no run in flight, and is not of a blocked
    /// person. One whose files are still to be read waits, and what was written after it in its session. The person with the fewest runs in flight comes first, so that nobody waits behind all that another has sent. `None` if there is
    /// none, or if `max_running` runs have a slot.
    ///
    /// A run that would pass a budget ends at once as failed, with the refusal as its reason and answer, and the next one begins. The result of
    /// a sub-agent waits until the period of the budget has ended; messages of its session that come later may be first.
    pub async fn claim(&self, max_running: u32) -> Result<Option<Claimed>, StoreError> {
        let claimed = loop {
            let budgets = self.budgets();
            let begun = self.write(move |writing| {
                for _ in 0..MAX_REFUSED {
                    match claim(writing, max_running, &budgets)? {
                        Begun::Refused => {}
                        begun => return Ok(begun),
                    }
                }
                Ok(Begun::Refused)
            });
            match begun.await? {
                Begun::Claimed(claimed) => break Some(*claimed),
                Begun::None => break None,
                // So many were refused that others may write first.
                Begun::Refused => {}
            }
        };
        if claimed.is_some() {
            fail_points::pass("after_claim");
        }
        Ok(claimed)
    }
}

/// The outcome of beginning a run.
enum Begun {
    Claimed(Box<Claimed>),
    /// A budget does not allow it: it has ended, or waits for the next period.
    Refused,
    /// No message waits, or no slot is free.
    None,
}

fn claim(writing: &Writing<'_>, max_running: u32, budgets: &BudgetSettings) -> Result<Begun, Fault> {
    if runs::running(writing)? >= max_running {
        return Ok(Begun::None);
    }
    let next = writing.sql.prepare_cached(&next_message())?.query_row([writing.now], |row| row.get(0));
    let Some(next) = next.optional()? else { return Ok(Begun::None) };
    let next: MessageId = next;
    let Some(mut message) = inbox::select(writing.sql, "id = ?1", params![next])?.pop() else {
        return Ok(Begun::None);
    };
    if message.kind == MessageKind::Message
        && let Some(sender) = &message.sender
        && people::found(writing.sql, sender)?.is_some_and(|person| person.blocked_at.is_some())
    {
        // Blocked after the message was received, and before it was stored in a group.
        inbox::cancel(writing, &message)?;
        return Ok(Begun::Refused);
    }
    // Its run would end with nothing, and nobody would send it again.
    if message.kind == MessageKind::Result
        && let Some(until) = budgets::refuses_until(writing, budgets, &message)?
    {
        let sql = "UPDATE inbox SET held_until = ?2 WHERE id = ?1";
        writing.sql.prepare_cached(sql)?.execute(params![message.id, until])?;
        return Ok(Begun::Refused);
    }
    sources::begin_anew_if_asked(writing, &message.session)?;
    let run = RunId::random()?;
    writing
        .sql
        .prepare_cached(
            "INSERT INTO runs (id, session, message, state, started_at) VALUES (?1, ?2, ?3, 'running', ?4)",
        )?
        .execute(params![run, message.session, message.id, writing.now])?;
    inbox::set_state(writing, message.id, MessageState::Claimed, Some(&run))?;
    message.state = MessageState::Claimed;
    message.run = Some(run.clone());
    let data = json!({ "run": run, "message": message.id });
    events::write(writing, message.session.as_str(), "run.begun", &data)?;
    if let Some(exceeded) = budgets::begin_run(writing, budgets, &run, &message)? {
        let reason = format!("the run did not begin: {exceeded}");
        let answer = NewDelivery::answer(&message, &reason, "failed");
        runs::finish(writing, &run, RunEnd::Refused(reason), &[], answer, None)?;
        return Ok(Begun::Refused);
    }
    Ok(Begun::Claimed(Box::new(Claimed { run, message })))
}

/// The number of the next message, at the time of its parameter. SQLite would choose another order of the tables, in which each message that waits
/// reads all sessions of its person.
fn next_message() -> String {
    format!(
        "WITH busy (person, runs) AS MATERIALIZED (
            SELECT sessions.person, count(*) FROM runs INDEXED BY runs_in_flight CROSS JOIN sessions ON sessions.key = runs.session
            WHERE runs.ended_at IS NULL GROUP BY sessions.person
        )
        SELECT inbox.id FROM inbox CROSS JOIN sessions ON sessions.key = inbox.session
        WHERE inbox.state = 'queued' AND inbox.unread IS NULL AND (inbox.held_until IS NULL OR inbox.held_until <= ?1 OR inbox.held_until > ?1 + {MAX_HELD})
            AND inbox.session NOT IN ({BLOCKED})
            AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = inbox.session AND runs.ended_at IS NULL)
            AND NOT EXISTS (SELECT 1 FROM inbox AS unread INDEXED BY inbox_unread
                WHERE unread.session = inbox.session AND unread.state = 'queued' AND unread.unread IS NOT NULL AND unread.is_addressed = 1 AND unread.id < inbox.id)
        ORDER BY coalesce((SELECT runs FROM busy WHERE busy.person IS sessions.person), 0), inbox.id LIMIT 1"
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, StatementStatus};

    use super::*;

    /// The steps of SQLite that it takes to find the next message among so many that wait, each in a session of its own.
    fn steps(waiting: u32, ended: u32) -> i32 {
        let sql = Connection::open_in_memory().unwrap();
        for step in super::super::migrations::ALL {
            sql.execute_batch(step).unwrap();
        }
        for number in 0..waiting + ended {
            let (key, is_ended) = (format!("agent:main:person:{number}"), number < ended);
            sql.execute(
                "INSERT INTO sessions (key, agent, kind, person, created_at, active_at) VALUES (?1, 'main', 'direct', 'owner', 0, 0)",
                [&key],
            )
            .unwrap();
            sql.execute(
                "INSERT INTO inbox (source, external_id, session, kind, body, state, accepted_at, changed_at)
                 VALUES ('test', ?1, ?2, 'message', '{}', ?3, 0, 0)",
                params![number, key, if is_ended { "consumed" } else { "queued" }],
            )
            .unwrap();
            if is_ended {
                sql.execute(
                    "INSERT INTO runs (id, session, message, state, started_at, ended_at) VALUES (?1, ?2, ?1, 'answered', 0, ?3)",
                    params![number, key, (number > 3).then_some(1)],
                )
                .unwrap();
            }
        }
        let mut statement = sql.prepare(&next_message()).unwrap();
        let next: u32 = statement.query_row([0], |row| row.get(0)).unwrap();
        assert_eq!(next, ended + 1);
        statement.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn a_message_that_waits_reads_no_other_sessions() {
        let few = steps(100, 10);
        let (more_waiting, more_ended) = (steps(1_000, 10), steps(100, 2_000));
        assert!(more_waiting < 11 * few, "{few} {more_waiting}");
        assert!(more_ended < 2 * few, "{few} {more_ended}");
    }
}

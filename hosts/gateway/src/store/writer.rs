//! The one thread that writes.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::clock::{Clock, Moment};
use super::damage::Fault;
use super::parts::Parts;
use crate::fail_points;

/// Commands that wait to be carried out; whoever has one more waits.
const MAX_WAITING: usize = 1_024;
/// Commands in one transaction.
const MAX_BATCH: usize = 256;

/// A command, with the reason if it cannot be carried out. It returns how to tell its caller, once the transaction has been committed or
/// has failed.
type Command = Box<dyn FnOnce(Result<&Writing<'_>, &Fault>) -> Told + Send>;
type Told = Box<dyn FnOnce(Result<(), &Fault>)>;

/// The connection within a command.
pub(super) struct Writing<'a> {
    pub(super) sql: &'a Connection,
    /// The time of the command.
    pub(super) now: Moment,
    /// The number of the last event that was written.
    pub(super) last_event: &'a Cell<i64>,
    /// Divides the bodies of deliveries.
    pub(super) parts: &'a Parts,
    /// The error with which SQLite rolled back all of the transaction.
    rolled_back: &'a RefCell<Option<Fault>>,
}

#[derive(Debug)]
pub(super) struct Writer {
    commands: Mutex<Option<mpsc::Sender<Command>>>,
    /// Cancelled once the thread has closed the file.
    ended: CancellationToken,
    last_event: watch::Receiver<i64>,
}

impl Writer {
    /// Starts the thread. It keeps `in_use` until it has carried out all that was handed over.
    pub(super) fn start(
        connection: Connection,
        (clock, parts): (Clock, Parts),
        last_event: i64,
        in_use: impl Send + 'static,
    ) -> Result<Self, Fault> {
        let (commands, waiting) = mpsc::channel(MAX_WAITING);
        let (told, events) = watch::channel(last_event);
        let ended = CancellationToken::new();
        let at_end = ended.clone().drop_guard();
        std::thread::Builder::new().name("gateway-store".to_owned()).spawn(move || {
            serve(&connection, (&clock, &parts), waiting, &told);
            drop(connection);
            drop(in_use);
            drop(at_end);
        })?;
        Ok(Self { commands: Mutex::new(Some(commands)), ended, last_event: events })
    }

    pub(super) fn last_event(&self) -> watch::Receiver<i64> {
        self.last_event.clone()
    }

    /// Carries out a command, and returns after it is durable. It is carried out also if this future is dropped after the command was
    /// handed over.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Writing<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let commands = commands.ok_or(Fault::Closed)?;
        let (tell, told) = oneshot::channel();
        let command: Command = Box::new(move |writing| {
            let outcome = writing.map_err(Fault::for_another).and_then(|writing| in_savepoint(writing, act));
            Box::new(move |committed| {
                let outcome = match committed {
                    Ok(()) => outcome,
                    // Its own reason, if it has one, says more than that of the transaction.
                    Err(fault) => outcome.and_then(|_| Err(fault.for_another())),
                };
                // Nobody listens if the caller is gone.
                let _ = tell.send(outcome);
            })
        });
        commands.send(command).await.map_err(|_| Fault::Closed)?;
        drop(commands);
        told.await.unwrap_or(Err(Fault::Closed))
    }

    /// Carries out what was handed over, and ends the thread.
    pub(super) async fn close(&self) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.ended.cancelled().await;
    }
}

/// Carries out a command so that nothing of it stays if it fails, and those before it do.
fn in_savepoint<T>(
    writing: &Writing<'_>,
    act: impl FnOnce(&Writing<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let event = writing.last_event.get();
    writing.sql.execute_batch("SAVEPOINT command")?;
    // A command that panics is a fault of this crate, and must not end the others.
    let outcome = catch_unwind(AssertUnwindSafe(|| act(writing)))
        .unwrap_or_else(|_| Err(Fault::Refused("the command failed within the store".to_owned())));
    let outcome =
        outcome.and_then(|value| Ok(writing.sql.execute_batch("RELEASE command").map(|()| value)?));
    if let Err(fault) = &outcome {
        writing.last_event.set(event);
        if writing.sql.is_autocommit() {
            *writing.rolled_back.borrow_mut() = Some(fault.for_another());
        } else {
            let _ = writing.sql.execute_batch("ROLLBACK TO command; RELEASE command");
        }
    }
    outcome
}

fn serve(
    connection: &Connection,
    options: (&Clock, &Parts),
    mut waiting: mpsc::Receiver<Command>,
    last_event: &watch::Sender<i64>,
) {
    let event = Cell::new(*last_event.borrow());
    while let Some(first) = waiting.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        let before = event.get();
        let (told, committed) = transact(connection, options, batch, &event);
        fail_points::pass("after_commit");
        match &committed {
            Ok(()) => {
                last_event.send_if_modified(|last| std::mem::replace(last, event.get()) != event.get());
            }
            Err(_) => event.set(before),
        }
        for tell in told {
            tell(committed.as_ref().map(|&()| ()));
        }
    }
    // The log is moved into the file, so that the file alone is whole.
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

/// Carries out commands as one transaction.
fn transact(
    connection: &Connection,
    (clock, parts): (&Clock, &Parts),
    batch: Vec<Command>,
    last_event: &Cell<i64>,
) -> (Vec<Told>, Result<(), Fault>) {
    let rolled_back = RefCell::new(None);
    let mut begun = connection.execute_batch("BEGIN IMMEDIATE").map_err(Fault::from);
    let mut told = Vec::with_capacity(batch.len());
    for command in batch {
        let now = clock.now();
        let writing = Writing { sql: connection, now, last_event, parts, rolled_back: &rolled_back };
        told.push(command(begun.as_ref().map(|&()| &writing)));
        // Without the transaction, the next command would be one of its own, and be committed without those before it.
        if let Some(fault) = rolled_back.take() {
            begun = Err(fault);
        }
    }
    fail_points::pass("before_commit");
    let committed = begun.and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if committed.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    (told, committed)
}

#[cfg(test)]
mod tests;

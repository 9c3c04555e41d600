#![allow(clippy::unwrap_used)]

use std::path::Path;

use rusqlite::params;

use super::*;
use crate::store::{Problem, files};

/// A writer of a file that holds at most so many pages of 4 KiB.
fn writer(file: &Path, pages: u32) -> Writer {
    std::fs::write(file, "").unwrap();
    let connection = files::connect(file).unwrap();
    connection.execute_batch("CREATE TABLE kept (number INTEGER PRIMARY KEY, bytes BLOB) STRICT").unwrap();
    connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    Writer::start(connection, (Clock::standing(Moment(0)), Parts::default()), 0, ()).unwrap()
}

fn keep(number: i64, bytes: usize) -> impl FnOnce(&Writing<'_>) -> Result<i64, Fault> + Send + 'static {
    move |writing| {
        writing.sql.execute(
            "INSERT INTO kept VALUES (?1, zeroblob(?2))",
            params![number, i64::try_from(bytes).unwrap()],
        )?;
        Ok(number)
    }
}

fn kept(file: &Path) -> Vec<i64> {
    let connection = files::connect_reader(file).unwrap();
    let mut statement = connection.prepare("SELECT number FROM kept ORDER BY number").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn on_a_full_disk_what_was_told_as_stored_is_there_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    let writer = writer(&file, 100);
    // They wait at once, and so share transactions; the largest do not fit.
    let commands =
        (0..60).map(|number| writer.run(keep(number, if number % 3 == 0 { 90_000 } else { 2_000 })));
    let mut stored = Vec::new();
    let mut full = 0;
    for outcome in futures(commands).await {
        match outcome.map_err(|fault| fault.at(&file)) {
            Ok(number) => stored.push(number),
            Err(error) => {
                assert!(matches!(error.problem, Problem::Full), "{error}");
                full += 1;
            }
        }
    }
    assert!(full > 0);
    assert_eq!(kept(&file), stored);
    // Small ones still fit.
    assert_eq!(writer.run(keep(100, 10)).await.unwrap(), 100);
    writer.close().await;
}

#[tokio::test]
async fn a_command_that_fails_or_panics_takes_nothing_of_the_others_with_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    let writer = writer(&file, 10_000);
    let commands = (0..30).map(|number| {
        writer.run(move |writing| {
            keep(number, 10)(writing)?;
            match number % 3 {
                0 => Ok(number),
                1 => Err(Fault::Refused("scripted".to_owned())),
                _ => panic!("scripted"),
            }
        })
    });
    let outcomes = futures(commands).await;
    let stored: Vec<i64> = outcomes.into_iter().filter_map(Result::ok).collect();
    assert_eq!(stored, (0..30).step_by(3).collect::<Vec<_>>());
    assert_eq!(kept(&file), stored);
    writer.close().await;
    assert!(matches!(writer.run(keep(100, 1)).await, Err(Fault::Closed)));
}

#[tokio::test]
async fn a_command_whose_caller_has_gone_is_carried_out() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    let writer = writer(&file, 10_000);
    let mut command = Box::pin(writer.run(keep(1, 1)));
    // It is handed over at the first poll.
    let polled = std::future::poll_fn(|context| std::task::Poll::Ready(command.as_mut().poll(context))).await;
    assert!(polled.is_pending() || polled.is_ready());
    drop(command);
    writer.close().await;
    assert_eq!(kept(&file), [1]);
}

/// Awaits all, which are polled in their order.
async fn futures<T>(commands: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = commands.map(Box::pin).collect();
    let mut outcomes: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (command, outcome) in waiting.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let std::task::Poll::Ready(ready) = command.as_mut().poll(context)
            {
                *outcome = Some(ready);
            }
        }
        if outcomes.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}

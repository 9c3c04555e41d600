//! The writer thread.

use super::{Item, Queue, Record, Report, Shared, State};
use crate::history::segments::Segments;
use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use toolkit_core::unix_time;

/// The time for which records may arrive without waking the writer: a fifth of the time in which they must be written.
const LINGER: Duration = Duration::from_millis(2);
/// The number of polls before the writer sleeps.
const LOOKS: u32 = 50;
/// Pause before the number of lost records is written again, if it could not be.
const RETRY: Duration = Duration::from_secs(1);
/// The maximum number of written records that the recording threads are left to free, and the maximum size of such a
/// record. An allocator is faster if a thread frees what it allocated.
const MAX_SPENT: usize = 1024;
const LONGEST_SPENT: usize = 4 << 10;

/// Writes the queued records, until the writer is told to stop and the queue is empty.
pub(super) fn run(shared: &Shared, mut segments: Segments, report: &Report) {
    let mut problems = Problems { report, unwritten: None };
    let mut batch = VecDeque::new();
    let mut spent = Vec::new();
    loop {
        let (untold, stops) = wait(shared, &mut batch);
        let mut lost = 0;
        let mut written = 0;
        let mut error = None;
        let taken = batch.len() as u64;
        let mut removed_lines = 0;
        if let Some(lines) = segments.look() {
            problems.removed(&segments, lines);
            lost += lines;
            removed_lines += lines;
        }
        for item in batch.drain(..) {
            match write(shared, &mut segments, item, &mut spent) {
                Ok(()) => written += 1,
                Err(fault) => {
                    lost += 1;
                    error = fault.or(error);
                }
            }
        }
        if stops && let Some(lines) = segments.look() {
            problems.removed(&segments, lines);
            lost += lines;
            removed_lines += lines;
        }
        let told = untold + lost;
        let is_told = told == 0 || segments.append(lost_line(told)).is_ok();
        problems.written(error.as_deref(), lost - removed_lines, written > 0);
        segments.tidy();
        batch.shrink_to(MAX_SPENT);
        let mut queue = shared.lock();
        queue.spent.append(&mut spent);
        if queue.spent.len() > MAX_SPENT {
            spent = queue.spent.split_off(MAX_SPENT);
        }
        queue.written += written;
        queue.finished += taken;
        queue.lost += lost;
        if !is_told {
            queue.untold += told;
        }
        if error.is_some() {
            queue.last_error = error;
        }
        if stops && queue.items.is_empty() {
            queue.state = State::Stopped;
            shared.done.notify_all();
            return;
        }
        drop(queue);
        spent.clear();
        shared.done.notify_all();
    }
}

/// The problems of the file that are told, each once.
struct Problems<'a> {
    report: &'a Report,
    /// The number of records lost since the file cannot be written.
    unwritten: Option<u64>,
}

impl Problems<'_> {
    fn removed(&self, segments: &Segments, lines: u64) {
        let path = segments.path().display();
        self.report.tell(&format!(
            "the history {path} was removed while it was written: {lines} records of this process are lost, and a new file begins"
        ));
    }

    /// Takes note of a batch.
    fn written(&mut self, error: Option<&str>, lost: u64, any_written: bool) {
        match (&mut self.unwritten, error) {
            (Some(before), Some(_)) => *before += lost,
            (None, Some(error)) => {
                self.unwritten = Some(lost);
                self.report
                    .tell(&format!("calls are not recorded until the history can be written: {error}"));
            }
            (Some(before), None) if any_written => {
                let lost = *before + lost;
                self.unwritten = None;
                self.report.tell(&format!("the history is written again; {lost} records are lost"));
            }
            _ => {}
        }
    }
}

/// Waits for work; takes the whole queue, and returns the number of lost records and true if the writer must stop.
fn wait(shared: &Shared, batch: &mut VecDeque<Item>) -> (u64, bool) {
    let mut queue = shared.lock();
    let mut looks = 0;
    while queue.items.is_empty() && queue.state != State::Stopping {
        queue = if looks < LOOKS {
            looks += 1;
            linger(shared, queue)
        } else if queue.untold > 0 {
            queue.state = State::Asleep;
            queue = shared.work.wait_timeout(queue, RETRY).unwrap_or_else(PoisonError::into_inner).0;
            break;
        } else {
            queue.state = State::Asleep;
            queue.spent = Vec::new();
            shared.work.wait(queue).unwrap_or_else(PoisonError::into_inner)
        };
    }
    let stops = queue.state == State::Stopping;
    if !stops {
        queue.state = State::Busy;
    }
    mem::swap(&mut queue.items, batch);
    (mem::take(&mut queue.untold), stops)
}

fn linger<'a>(shared: &Shared, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
    queue.state = State::Lingering;
    shared.work.wait_timeout(queue, LINGER).unwrap_or_else(PoisonError::into_inner).0
}

/// Writes one item. Returns an error if the system refused the write.
fn write(
    shared: &Shared,
    segments: &mut Segments,
    item: Item,
    spent: &mut Vec<Record>,
) -> Result<(), Option<String>> {
    let (line, bytes) = match item {
        Item::Line(line, bytes) => (Some(line), bytes),
        Item::Record(record) => {
            let start = Instant::now();
            let line = shared.line(&record);
            let bytes = record.bytes();
            if bytes <= LONGEST_SPENT {
                spent.push(record);
            }
            let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let usual = shared.cost.load(Ordering::Relaxed);
            // Adapts quickly to slower preparation, slowly to faster.
            let weight = if took > usual { 2 } else { 16 };
            let cost = (usual.saturating_mul(weight - 1).saturating_add(took)) / weight;
            shared.cost.store(cost.max(1), Ordering::Relaxed);
            shared.raw.fetch_sub(1, Ordering::Relaxed);
            (line, bytes)
        }
    };
    let outcome = match line {
        Some(line) => segments.append(line).map_err(|error| Some(error.to_string())),
        None => Err(None),
    };
    shared.pending.fetch_sub(1, Ordering::Relaxed);
    shared.pending_bytes.fetch_sub(bytes, Ordering::Relaxed);
    outcome
}

fn lost_line(lost: u64) -> Vec<u8> {
    format!("{{\"time\":{},\"lost\":{lost}}}\n", unix_time::now()).into_bytes()
}

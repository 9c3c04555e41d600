//! The runs of a conversation: which messages each has consumed, and how it ended.

use super::record::{CarriedRuns, Record};
use crate::result::ToolAgentResult;
use std::collections::{HashMap, VecDeque};

/// The most ends of runs that are held; older ones are in the file alone.
const MAX_ENDS: usize = 100;

/// The most consumed messages that a new segment is told of, the latest ones.
const MAX_CARRIED: usize = 10_000;

/// The runs that the lines of a transcript tell of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    /// The run that has not ended.
    open: Option<String>,
    /// The run that began, and whose task is not there yet: without one it is no run that could go on.
    begun: Option<String>,
    /// The messages that were consumed, each with its run.
    consumed: HashMap<String, String>,
    /// Their ids in order.
    order: Vec<String>,
    ended: VecDeque<(String, ToolAgentResult)>,
}

impl Runs {
    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::Run { run, request, .. } => {
                let run = Some(run.clone().unwrap_or_default());
                if request.is_some() {
                    (self.begun, self.open) = (run, None);
                } else {
                    (self.begun, self.open) = (None, run);
                }
            }
            Record::Message { consumes, .. } => {
                if let Some(run) = self.begun.take() {
                    self.open = Some(run);
                }
                let run = self.open.clone().unwrap_or_default();
                for id in consumes {
                    self.consume(id.clone(), run.clone());
                }
            }
            Record::Carried(carried) => self.carry(&carried.runs),
            Record::Forked { damaged_line: None, .. } => *self = Self::default(),
            // The end of its open run may stand behind the damage.
            Record::Forked { consumed, .. } => {
                (self.begun, self.open) = (None, None);
                for id in consumed {
                    self.consume(id.clone(), String::new());
                }
            }
            Record::End { run, result } => {
                (self.begun, self.open) = (None, None);
                if let Some(run) = run {
                    self.finish(run.clone(), ToolAgentResult::clone(result));
                }
            }
            _ => {}
        }
    }

    /// Notes that a run consumed a message.
    pub(crate) fn consume(&mut self, message: String, run: String) {
        if self.consumed.insert(message.clone(), run).is_none() {
            self.order.push(message);
        }
    }

    /// Returns what a new segment is told of.
    pub(super) fn carried(&self) -> CarriedRuns {
        let latest = &self.order[self.order.len().saturating_sub(MAX_CARRIED)..];
        let consumed = latest.iter().filter_map(|id| Some((id.clone(), self.consumed.get(id)?.clone())));
        CarriedRuns {
            open: self.open.clone(),
            consumed: consumed.collect(),
            ended: self.ended.iter().cloned().collect(),
        }
    }

    fn carry(&mut self, carried: &CarriedRuns) {
        self.open.clone_from(&carried.open);
        for (id, run) in &carried.consumed {
            self.consume(id.clone(), run.clone());
        }
        self.ended = carried.ended.iter().cloned().collect();
    }

    /// Notes the end of a run.
    pub(crate) fn finish(&mut self, run: String, result: ToolAgentResult) {
        if self.ended.len() >= MAX_ENDS {
            self.ended.pop_front();
        }
        self.ended.push_back((run, result));
    }

    /// The run that began and has no end. Its id is empty if it was written by an earlier version.
    pub(crate) fn open(&self) -> Option<&str> {
        self.open.as_deref()
    }

    /// The run that consumed a message.
    pub(crate) fn consumer(&self, message: &str) -> Option<&str> {
        self.consumed.get(message).map(String::as_str)
    }

    /// The end of one of the latest runs.
    pub(crate) fn end(&self, run: &str) -> Option<&ToolAgentResult> {
        self.ended.iter().rev().find(|(id, _)| id == run).map(|(_, result)| result)
    }
}

//! The conversation that the lines of a transcript add up to.

use super::record::{Carried, CarriedMessage, Kind, Record};
use super::runs::Runs;
use crate::request::DelegationRequest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use toolkit::{Content, ToolCall};
use toolkit_models::{
    Answer, AssistantMessage, AssistantPart, Message, Part, StopReason, ToolOutput, ToolResults,
};

/// The longest that a marker of a cut text is.
const MARKER_CHARS: usize = 120;

/// A conversation: what a transcript adds up to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    items: Vec<Item>,
    pending: Option<Pending>,
    next_id: u64,
    /// True if the last answer was whole: the model was done.
    is_last_whole: bool,
    /// How many turns there were.
    pub(crate) turns: u32,
    /// The first task.
    pub(crate) task: Option<String>,
    /// The last run, if it has a task of its own.
    task_run: Option<String>,
    pub(crate) runs: Runs,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) message: Message,
    /// The estimated tokens.
    pub(crate) tokens: u64,
}

/// An answer whose calls do not all have their results.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) answer: u64,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) started: BTreeSet<usize>,
    /// The calls that asked a person before they did anything.
    asked: BTreeMap<usize, Questions>,
    /// True if they were copied from another transcript, which may tell more of them.
    is_copied: bool,
    pub(crate) results: Vec<Option<ToolOutput>>,
}

/// The questions of one call.
#[derive(Debug, Clone, Default)]
struct Questions {
    /// The state of the last one; `None` if the function of the call runs again and has asked nothing yet.
    state: Option<Asking>,
    /// The digests of those since the call began.
    digests: Vec<String>,
    /// The digests of those that it asked when it had begun before.
    before: Vec<String>,
    /// The digest of the tool.
    tool: String,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Waits,
    Allowed,
    Denied,
}

impl Conversation {
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(crate) fn pending(&self) -> Option<&Pending> {
        self.pending.as_ref()
    }

    /// Returns the last answer with calls, and the ids of those of them that do not begin again.
    pub(crate) fn answered_calls(&self) -> (u64, BTreeSet<String>) {
        let calls_of = |item: &Item| match &item.message {
            Message::Assistant(answer) => {
                let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
                (!calls.is_empty()).then_some((item.id, calls))
            }
            _ => None,
        };
        let (answer, calls) = self.items.iter().rev().find_map(calls_of).unwrap_or_default();
        let mut ids: BTreeSet<String> = calls.into_iter().map(|call| call.id).collect();
        if let Some(pending) = &self.pending {
            let waiting =
                pending.calls.iter().enumerate().filter(|(place, _)| pending.may_begin_again(*place));
            for (_, call) in waiting {
                ids.remove(&call.id);
            }
        }
        (answer, ids)
    }

    /// The text of the last message, if it is a whole answer without calls.
    pub(crate) fn last_text(&self) -> Option<String> {
        match &self.items.last()?.message {
            Message::Assistant(answer) if self.is_last_whole && answer.tool_calls().next().is_none() => {
                Some(answer.to_text()).filter(|text| !text.trim().is_empty())
            }
            _ => None,
        }
    }

    fn begin_run(&mut self, run: Option<&str>, request: Option<&DelegationRequest>) {
        // One that goes on after an interruption has its task before.
        if request.is_some() || self.task_run.as_deref() != run {
            self.task_run = run.filter(|_| request.is_some()).map(str::to_owned);
        }
        if let (None, Some(request)) = (&self.task, request) {
            self.task = Some(request.task.clone());
        }
    }

    /// The texts of the answers without calls that a message of the person followed while the last run went on. None if that run has no task of its
    /// own, so that nothing of an earlier one is taken for one of it.
    pub(crate) fn answers_before_additions(&self) -> Vec<String> {
        // By their places: the number of a summary is later than those of the messages after it.
        let task =
            self.items.iter().rposition(|item| item.kind == Kind::Task).filter(|_| self.task_run.is_some());
        let of_run = task.map_or(&[][..], |task| &self.items[task..]);
        let said: Vec<&Item> = of_run.iter().filter(|item| item.kind != Kind::Note).collect();
        let texts = said.windows(2).filter_map(|pair| match (&pair[0].message, pair[1].kind) {
            (Message::Assistant(answer), Kind::Addition) if answer.tool_calls().next().is_none() => {
                Some(answer.to_text().trim().to_owned())
            }
            _ => None,
        });
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// The number of the next message; the first one is 1.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.max(1)
    }

    /// The messages, as a request sends them.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.items.iter().map(|item| item.message.clone()).collect()
    }

    /// The estimated tokens of all messages.
    pub(crate) fn tokens(&self) -> u64 {
        self.items.iter().map(|item| item.tokens).sum()
    }

    /// Adds a line. A line that cannot follow the lines before says why.
    pub(crate) fn apply(&mut self, record: &Record) -> Result<(), String> {
        self.runs.apply(record);
        match record {
            Record::Transcript(_) | Record::Format { .. } | Record::End { .. } | Record::Failed { .. } => {}
            Record::Run { run, request, .. } => self.begin_run(run.as_deref(), request.as_deref()),
            Record::Carried(carried) => self.carry(carried)?,
            Record::Forked { .. } => {
                // None of its calls may begin again: the other conversation goes on with them, or they may have acted.
                if let Some(pending) = &mut self.pending {
                    pending.asked.clear();
                    pending.is_copied = true;
                }
            }
            Record::Message { id, kind, message, .. } => {
                self.check(*id)?;
                self.check_complete()?;
                self.push(*id, *kind, message.clone());
                self.next_id = id + 1;
            }
            Record::Answer { id, turn, answer } => {
                self.check(*id)?;
                self.check_complete()?;
                self.turns = turn.saturating_add(1);
                self.next_id = id + 1;
                self.is_last_whole = is_whole(answer);
                if !says_something(&answer.message) {
                    return Ok(());
                }
                let calls: Vec<ToolCall> = answer.message.tool_calls().cloned().collect();
                self.push(*id, Kind::Answer, Message::Assistant(answer.message.clone()));
                if !calls.is_empty() {
                    self.next_id = id + 2;
                    let results = vec![None; calls.len()];
                    self.pending = Some(Pending {
                        answer: *id,
                        calls,
                        started: BTreeSet::new(),
                        asked: BTreeMap::new(),
                        is_copied: false,
                        results,
                    });
                }
            }
            Record::Started { answer, calls } => {
                let pending = self.pending_of(*answer)?;
                if calls.iter().any(|call| *call >= pending.calls.len()) {
                    return Err(format!("message {answer} has no such call"));
                }
                pending.started.extend(calls);
                for (_, questions) in pending.asked.iter_mut().filter(|(call, _)| calls.contains(call)) {
                    questions.begin_again();
                }
            }
            Record::Asked { answer, call, digest, tool, begins_again, .. } => {
                let questions = self.asked(*answer, *call, Asking::Waits)?;
                if *begins_again {
                    questions.begin_again();
                    questions.state = Some(Asking::Waits);
                }
                questions.digests.push(digest.clone());
                questions.tool.clone_from(tool);
            }
            Record::Allowed { answer, call } => {
                self.asked(*answer, *call, Asking::Allowed)?;
            }
            Record::Denied { answer, call } => {
                self.asked(*answer, *call, Asking::Denied)?;
            }
            Record::Result { answer, call, output, .. } => {
                let pending = self.pending_of(*answer)?;
                match pending.results.get_mut(*call) {
                    Some(result @ None) => *result = Some(output.clone()),
                    Some(Some(_)) => {
                        return Err(format!("call {call} of message {answer} has a result already"));
                    }
                    None => return Err(format!("message {answer} has no call {call}")),
                }
                self.complete();
            }
            Record::Shortened { until, max_chars } => {
                for item in self.items.iter_mut().filter(|item| item.id <= *until) {
                    item.shorten(*max_chars);
                }
            }
            Record::Summarised { id, until, keep, message, .. } => {
                self.check(*id)?;
                self.check_complete()?;
                let at = self.items.iter().position(|item| item.id > *until).unwrap_or(self.items.len());
                let tail = self.items.split_off(at);
                self.items.retain(|item| keep.contains(&item.id));
                self.push(*id, Kind::Summary, message.clone());
                self.items.extend(tail);
                self.next_id = id + 1;
            }
        }
        Ok(())
    }

    /// Returns what a new segment begins with; `None` while calls have no results.
    pub(crate) fn carried(&self, files_modified: Vec<PathBuf>) -> Option<Carried> {
        let messages = self.items.iter().map(|Item { id, kind, message, .. }| CarriedMessage {
            id: *id,
            kind: *kind,
            message: message.clone(),
        });
        self.pending.is_none().then(|| Carried {
            task: self.task.clone(),
            turns: self.turns,
            next_id: self.next_id(),
            messages: messages.collect(),
            runs: self.runs.carried(),
            files_modified,
        })
    }

    fn carry(&mut self, carried: &Carried) -> Result<(), String> {
        if self.next_id > 0 {
            return Err("a segment begins behind its first lines".to_owned());
        }
        // Not in the order of their numbers: a summary stands before later messages.
        for CarriedMessage { id, kind, message } in &carried.messages {
            self.push(*id, *kind, message.clone());
        }
        self.check(carried.next_id)?;
        (self.next_id, self.turns) = (carried.next_id, carried.turns);
        self.task.clone_from(&carried.task);
        Ok(())
    }

    fn check(&self, id: u64) -> Result<(), String> {
        if id < self.next_id {
            return Err(format!("message {id} comes after message {}", self.next_id.saturating_sub(1)));
        }
        // The numbers after it are counted on.
        if id > u64::from(u32::MAX) {
            return Err(format!("no conversation has a message {id}"));
        }
        Ok(())
    }

    fn check_complete(&self) -> Result<(), String> {
        match &self.pending {
            Some(pending) => Err(format!("message {} has calls without a result", pending.answer)),
            None => Ok(()),
        }
    }

    fn pending_of(&mut self, answer: u64) -> Result<&mut Pending, String> {
        let pending = self.pending.as_mut().filter(|pending| pending.answer == answer);
        pending.ok_or_else(|| format!("message {answer} waits for no result"))
    }

    fn asked(&mut self, answer: u64, call: usize, now: Asking) -> Result<&mut Questions, String> {
        let pending = self.pending_of(answer)?;
        if !pending.started.contains(&call) {
            return Err(format!("call {call} of message {answer} has not begun"));
        }
        let questions = pending.asked.entry(call).or_default();
        // Once one of several was allowed, it may have acted, until it asks another question before it acts.
        if questions.state != Some(Asking::Allowed) || now == Asking::Waits {
            questions.state = Some(now);
        }
        Ok(questions)
    }

    fn push(&mut self, id: u64, kind: Kind, message: Message) {
        let tokens = message.estimated_tokens();
        self.items.push(Item { id, kind, message, tokens });
    }

    /// Once every call has its result, these are the next message.
    fn complete(&mut self) {
        let is_complete = |pending: &mut Pending| pending.results.iter().all(Option::is_some);
        if let Some(pending) = self.pending.take_if(is_complete) {
            let results = pending.results.into_iter().flatten().collect();
            self.push(pending.answer + 1, Kind::Results, Message::Tools(ToolResults { results }));
        }
    }
}

impl Pending {
    /// Returns true if a call without a result has waited for a person when the program ended: it did nothing, and can be begun again.
    pub(crate) fn may_begin_again(&self, place: usize) -> bool {
        self.results[place].is_none() && self.state_of(place) == Some(Asking::Waits)
    }

    fn state_of(&self, place: usize) -> Option<Asking> {
        self.asked.get(&place)?.state
    }

    /// Returns the digest of the tool of a call that asked.
    pub(crate) fn tool_of(&self, place: usize) -> Option<&str> {
        self.asked.get(&place).map(|questions| &*questions.tool)
    }

    /// Returns true if a call has asked this question since it began.
    pub(crate) fn has_asked(&self, place: usize, digest: &str) -> bool {
        self.asked.get(&place).is_some_and(|questions| questions.digests.iter().any(|asked| asked == digest))
    }

    /// Returns the digest of the question that a call that begins, or began, again asked before, in place of its next one.
    pub(crate) fn asked_before(&self, place: usize, begins_again: bool) -> Option<&str> {
        let questions = self.asked.get(&place)?;
        if begins_again {
            return questions.last_digests().first().map(String::as_str);
        }
        questions.before.get(questions.digests.len()).map(String::as_str)
    }

    /// Returns true if a call waits for a person, who is asked again when it begins again.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        (0..self.calls.len()).any(|call| self.results[call].is_none() && self.may_begin_again(call))
    }

    /// The results that are missing when nobody runs the calls any more: what started is interrupted, the rest never ran. Calls that may begin
    /// again have none.
    pub(crate) fn lost(&self) -> Vec<(usize, ToolOutput)> {
        let missing = self.calls.iter().enumerate().filter(|(call, _)| self.results[*call].is_none());
        let missing = missing.filter(|(call, _)| !self.may_begin_again(*call));
        let lost = missing.map(|(place, call)| {
            let text = if self.state_of(place) == Some(Asking::Denied) {
                "interrupted: the user did not allow what the call asked for, and then the program ended. Check the current state before \
                 you continue"
            } else if self.started.contains(&place) {
                "interrupted: the program ended while the call ran. It is unknown how much of it was done. It is not repeated; \
                 check the current state before you continue"
            } else if self.is_copied {
                "interrupted: it is unknown whether this call was made: the conversation was copied, or a part of it is lost, while the call \
                 had no result. It is not repeated; check the current state before you continue"
            } else {
                "not run: the program ended before the call began; make it again if it is still needed"
            };
            (place, ToolOutput::error(call, text))
        });
        lost.collect()
    }

    /// The same, with the results that are known of calls which had started.
    pub(crate) fn lost_but_for(
        &self,
        known: impl Fn(&ToolCall) -> Result<Option<ToolOutput>, String>,
    ) -> Result<Vec<(usize, ToolOutput)>, String> {
        let mut lost = self.lost();
        // The conversation from which this one was copied has made the calls.
        let has_started = |place: &usize| !self.is_copied && self.started.contains(place);
        for (place, output) in lost.iter_mut().filter(|(place, _)| has_started(place)) {
            if let Some(known) = known(&self.calls[*place])? {
                *output = known;
            }
        }
        Ok(lost)
    }
}

impl Questions {
    /// The digests of those that the call asked when it asked last.
    fn last_digests(&self) -> &[String] {
        if self.digests.is_empty() { &self.before } else { &self.digests }
    }

    /// Lets the questions before count for nothing but a comparison.
    fn begin_again(&mut self) {
        self.state = None;
        if !self.digests.is_empty() {
            self.before = std::mem::take(&mut self.digests);
        }
    }
}

impl Item {
    /// Cuts the texts of results to their beginning and end. Cutting twice is cutting once.
    fn shorten(&mut self, max_chars: usize) {
        let Message::Tools(ToolResults { results }) = &mut self.message else { return };
        for part in results.iter_mut().flat_map(|result| &mut result.content) {
            match part {
                Content::Text { text } => {
                    if let Some(cut) = shortened(text, max_chars) {
                        *text = cut;
                    }
                }
                other => *other = Part::text("[left out: a picture, sound or document of an earlier result]"),
            }
        }
        self.tokens = self.message.estimated_tokens();
    }
}

/// A text without its middle, if it is longer than `max_chars`.
pub(crate) fn shortened(text: &str, max_chars: usize) -> Option<String> {
    let count = text.chars().count();
    if count <= max_chars.saturating_add(MARKER_CHARS) {
        return None;
    }
    let (head, tail) = (max_chars - max_chars / 3, max_chars / 3);
    let end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let begin = text.char_indices().nth(count - tail).map_or(text.len(), |(at, _)| at);
    let out = count - head - tail;
    Some(format!(
        "{}\n[… {out} characters of this earlier result are left out …]\n{}",
        &text[..end],
        &text[begin..]
    ))
}

/// Returns false for an answer that was cut, refused or withheld.
fn is_whole(answer: &Answer) -> bool {
    !matches!(answer.stop, StopReason::MaxTokens | StopReason::Refusal | StopReason::ContentFilter)
}

/// Returns true if an answer has content that goes back to the model. Providers refuse an empty one, and reasoning alone leads nowhere.
fn says_something(message: &AssistantMessage) -> bool {
    message.content.iter().any(|part| match part {
        AssistantPart::Text { text } => !text.trim().is_empty(),
        AssistantPart::Reasoning { .. } => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_once() {
        let text = "ä".repeat(1_000);
        let cut = shortened(&text, 100).unwrap();
        assert!(cut.contains("900 characters"), "{cut}");
        assert!(cut.chars().count() <= 100 + MARKER_CHARS);
        assert_eq!(shortened(&cut, 100), None);
        assert_eq!(shortened("short", 100), None);
    }
}

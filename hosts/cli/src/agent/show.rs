//! The events of a run: on a terminal as lines that are never overwritten, as JSON Lines, or as few lines for a log.

use crate::console::Console;
use crate::exit::Stop;
use crate::format::Format;
use std::collections::HashSet;
use std::fmt::Write as _;
use toolkit::{
    approval::TerminalApprover,
    text::{escape_block, escape_line},
    views::{Step, StepStatus, StepType},
};
use toolkit_agent::{AgentEvent, Compaction, Kind, StopReason, ToolAgentResult, TranscriptMessage};
use toolkit_models::Message;

/// The most lines of a change that are shown.
const MAX_DIFF_LINES: usize = 40;
/// The most lines of a command's output, or of an error, that are shown: the last ones.
const MAX_TAIL_LINES: usize = 8;
/// The most characters of such a line.
const MAX_LINE_CHARS: usize = 160;

/// Shows the events of a run.
pub(crate) struct Show {
    format: Format,
    streams: bool,
    is_within_line: bool,
    /// True once text of an answer was shown as it came.
    has_streamed: bool,
    /// Steps whose beginning was shown.
    begun: HashSet<String>,
}

impl Show {
    /// Text of the model appears as it comes where standard error is a terminal.
    pub(crate) fn new(format: Format, console: &Console<'_>) -> Self {
        let streams = format == Format::Text && console.err_is_terminal;
        Self { format, streams, is_within_line: false, has_streamed: false, begun: HashSet::new() }
    }

    /// Returns true unless a question stands on the terminal, over which nothing is written.
    pub(crate) fn may_show(&self) -> bool {
        self.format == Format::Json || !TerminalApprover::is_asking()
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &AgentEvent, console: &mut Console<'_>) -> Result<(), Stop> {
        if self.format == Format::Json {
            let mut line = serde_json::to_string(event)?;
            line.push('\n');
            return console.print_json(&line);
        }
        self.text(event, 0, console);
        Ok(())
    }

    fn text(&mut self, event: &AgentEvent, depth: usize, console: &mut Console<'_>) {
        match event {
            AgentEvent::Text { text } if depth == 0 => self.stream(text, console),
            AgentEvent::Step { step, diff } => {
                if let Some(lines) = self.step(step, diff.as_deref(), depth) {
                    self.lines(&lines, console);
                }
            }
            AgentEvent::Delegated { event, .. } => self.text(event, depth + 1, console),
            other => {
                if let Some(line) = note(other) {
                    self.lines(&format!("{}{line}\n", indent(depth)), console);
                }
            }
        }
    }

    /// Shows text as it comes.
    fn stream(&mut self, text: &str, console: &mut Console<'_>) {
        if self.streams {
            console.live_said(text);
            self.is_within_line = !text.ends_with('\n');
            self.has_streamed = true;
        }
    }

    fn lines(&mut self, lines: &str, console: &mut Console<'_>) {
        if std::mem::take(&mut self.is_within_line) {
            console.live("\n");
        }
        for line in lines.lines() {
            console.live_note(line);
        }
    }

    /// The lines for a step, if its state is worth any.
    fn step(&mut self, step: &Step, diff: Option<&str>, depth: usize) -> Option<String> {
        let indent = indent(depth);
        let title = escape_line(&step.title);
        match step.status {
            // Long steps are shown when they begin.
            StepStatus::Running
                if matches!(step.kind, StepType::Bash | StepType::BashConfirm | StepType::Delegate) =>
            {
                let is_new = self.begun.insert(step.id.clone());
                is_new.then(|| format!("{indent}▸ {title}\n"))
            }
            StepStatus::Completed => {
                self.begun.remove(&step.id);
                let is_command = matches!(step.kind, StepType::Bash | StepType::BashConfirm);
                let summary = step
                    .summary
                    .as_deref()
                    .map(str::trim)
                    .filter(|summary| !summary.is_empty() && *summary != step.title);
                let mut lines = match summary.filter(|_| !is_command) {
                    Some(summary) => format!("{indent}✓ {title}: {}\n", cut_line(&escape_line(summary))),
                    None => format!("{indent}✓ {title}\n"),
                };
                if let Some(diff) = diff {
                    lines.push_str(&change(diff, &indent));
                }
                if let Some(result) = step.result.as_deref().filter(|_| is_command) {
                    lines.push_str(&tail(result, &indent));
                }
                Some(lines)
            }
            StepStatus::Failed => {
                self.begun.remove(&step.id);
                let error = step.error.as_deref().unwrap_or_default().trim();
                let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
                let mut lines = format!("{indent}✗ {title}: {}\n", escape_line(first));
                lines.push_str(&tail(rest, &indent));
                Some(lines)
            }
            _ => None,
        }
    }

    /// Ends an answer in a conversation: it is printed on standard output, unless the same terminal has shown it as it came.
    pub(crate) fn answered(
        &mut self,
        result: &ToolAgentResult,
        console: &mut Console<'_>,
    ) -> Result<(), Stop> {
        self.lines("", console);
        match result.stop_reason {
            StopReason::Answered if self.streams && console.out_is_terminal => {}
            StopReason::Answered => console.print_said(&format!("{}\n", result.summary.trim_end()))?,
            StopReason::Cancelled => console.note("Cancelled; the conversation continues."),
            _ => console.error(&result.summary),
        }
        Ok(())
    }

    /// Ends an answer that was not observed from its beginning to its end: it is printed on standard output.
    #[cfg(feature = "gateway")]
    pub(crate) fn answer(&mut self, text: &str, console: &mut Console<'_>) -> Result<(), Stop> {
        self.lines("", console);
        if self.streams && console.out_is_terminal && self.has_streamed {
            return Ok(());
        }
        console.print_said(&format!("{}\n", text.trim_end()))
    }

    /// Prints the account of the run: the model's answer on standard output, the rest on standard error.
    pub(crate) fn end(
        &mut self,
        result: &ToolAgentResult,
        id: &str,
        console: &mut Console<'_>,
    ) -> Result<(), Stop> {
        self.lines("", console);
        let mut text = result.summary.trim_end().to_owned();
        if let Some(details) = result.details.as_deref().filter(|details| !details.trim().is_empty()) {
            let _ = write!(text, "\n\n{}", details.trim_end());
        }
        text.push('\n');
        console.print_said(&text)?;
        console.note(&account(result, id));
        Ok(())
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// A line for an event that is no step.
fn note(event: &AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::Retrying { attempt, reason, after_ms } => {
            format!("… attempt {attempt} in {} s: {}", after_ms.div_ceil(1000), escape_line(reason))
        }
        AgentEvent::Fallback { from, to, reason } => {
            format!("… `{}` instead of `{}`: {}", escape_line(to), escape_line(from), escape_line(reason))
        }
        AgentEvent::Discarded { reason } => format!("… {}", escape_line(reason)),
        AgentEvent::Compacted { how, before, after } => {
            let how = match how {
                Compaction::Shortened => "older results were shortened",
                _ => "older messages were summarised",
            };
            format!("… {how}: about {before} tokens before, {after} after")
        }
        AgentEvent::Delivered { text, .. } => format!("» {}", escape_line(text)),
        _ => return None,
    })
}

/// A change of files, of bounded length.
fn change(diff: &str, indent: &str) -> String {
    let mut lines = String::new();
    let shown = escape_block(diff);
    let count = shown.lines().count();
    for line in shown.lines().take(MAX_DIFF_LINES) {
        let _ = writeln!(lines, "{indent}    {line}");
    }
    if count > MAX_DIFF_LINES {
        let _ = writeln!(lines, "{indent}    … {} more lines", count - MAX_DIFF_LINES);
    }
    lines
}

/// The last lines of an output.
fn tail(text: &str, indent: &str) -> String {
    let shown = escape_block(text.trim_end());
    let count = shown.lines().count();
    let mut lines = String::new();
    if count > MAX_TAIL_LINES {
        let _ = writeln!(lines, "{indent}    … {} earlier lines", count - MAX_TAIL_LINES);
    }
    for line in shown.lines().skip(count.saturating_sub(MAX_TAIL_LINES)) {
        let _ = writeln!(lines, "{indent}    {}", cut_line(line));
    }
    lines
}

/// The beginning of a line that is too long.
fn cut_line(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The line of counts at the end, and how to go on.
fn account(result: &ToolAgentResult, id: &str) -> String {
    let usage = &result.usage;
    let mut parts = vec![
        format!("{} tool calls", result.tool_call_count),
        format!("{} files changed", result.files_modified.len()),
        format!("{} + {} tokens", usage.tokens.input_tokens, usage.tokens.output_tokens),
    ];
    if usage.tokens.cached_tokens > 0 {
        parts.push(format!("{} of them cached", usage.tokens.cached_tokens));
    }
    if usage.unknown_requests > 0 {
        let (count, tokens) = (usage.unknown_requests, usage.estimated_tokens);
        parts.push(format!("{count} requests of unknown usage, about {tokens} tokens"));
    }
    if let Some(cost) = usage.cost {
        parts.push(format!("cost {cost:.4}"));
    }
    parts.push(format!("{:.1} s", result.execution_time.as_secs_f64()));
    let mut text = format!("[{}]", parts.join(", "));
    if result.stop_reason != StopReason::Finished {
        let _ =
            write!(text, "\nThe run ended without a final answer; continue it with `agent --resume={id}`.");
    } else if !result.success {
        text.push_str("\nThe model states that the task was not done.");
    }
    text
}

/// A message in a list.
pub(crate) fn message(message: &TranscriptMessage) -> String {
    let kind = match message.kind {
        Kind::Task => "task",
        Kind::Addition => "user",
        Kind::Note => "host",
        Kind::Summary => "summary",
        Kind::Answer => "model",
        Kind::Results => "results",
        _ => "message",
    };
    let text = match &message.message {
        Message::User(user) => {
            let texts: Vec<&str> = user.content.iter().filter_map(toolkit::Content::as_text).collect();
            texts.join(" ")
        }
        Message::Assistant(answer) => {
            let calls = answer.tool_calls().map(|call| format!(" [{}]", call.name));
            answer.to_text() + &calls.collect::<String>()
        }
        Message::Tools(results) => {
            let results = results.results.iter();
            let texts = results.map(|result| format!("[{}: {}]", result.name, result.to_text()));
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect();
    format!("{:>5}  {kind:<7}  {}\n", message.id, escape_line(&line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::ToolCall;

    fn step(status: StepStatus, kind: StepType) -> Step {
        let mut step = Step::pending(ToolCall::new("1", "exec", "{}"), kind, 0, 0);
        step.status = status;
        step.title = "cargo test\u{1b}[2J".into();
        step
    }

    fn show() -> Show {
        Show {
            format: Format::Text,
            streams: true,
            is_within_line: false,
            has_streamed: false,
            begun: HashSet::new(),
        }
    }

    #[test]
    fn a_step_is_shown_when_it_begins_and_when_it_ends() {
        let mut show = show();
        let running = step(StepStatus::Running, StepType::Bash);
        assert_eq!(show.step(&running, None, 0).as_deref(), Some("▸ cargo test\\u{1b}[2J\n"));
        assert_eq!(show.step(&running, None, 0), None);
        assert_eq!(show.step(&step(StepStatus::Running, StepType::Read), None, 0), None);
        let done = step(StepStatus::Completed, StepType::Edit);
        assert_eq!(
            show.step(&done, Some("-a\n+b\n"), 1).as_deref(),
            Some("  ✓ cargo test\\u{1b}[2J\n      -a\n      +b\n")
        );
        let mut failed = step(StepStatus::Failed, StepType::Bash);
        failed.error = Some("no such file\nmore".into());
        assert_eq!(
            show.step(&failed, None, 0).as_deref(),
            Some("✗ cargo test\\u{1b}[2J: no such file\n    more\n")
        );
        let mut command = step(StepStatus::Completed, StepType::Bash);
        let twenty: Vec<String> = (0..20).map(|line| format!("line {line}\u{1b}[2J\n")).collect();
        command.result = Some(twenty.concat());
        let lines = show.step(&command, None, 0).unwrap();
        assert!(
            lines.starts_with("✓ cargo test\\u{1b}[2J\n    … 12 earlier lines\n    line 12\\u{1b}[2J\n"),
            "{lines}"
        );
        assert!(lines.ends_with("    line 19\\u{1b}[2J\n"), "{lines}");
        let mut read = step(StepStatus::Completed, StepType::Read);
        (read.result, read.summary) = (Some("one\ntwo\n".into()), Some("2 lines".into()));
        assert_eq!(show.step(&read, None, 0).as_deref(), Some("✓ cargo test\\u{1b}[2J: 2 lines\n"));
    }

    #[test]
    fn text_and_steps_do_not_share_a_line() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        {
            let mut console = Console::new(&mut out, &mut err);
            let mut show = show();
            for event in [
                AgentEvent::Text { text: "I look".into() },
                AgentEvent::Text { text: " at it".into() },
                AgentEvent::Step { step: Box::new(step(StepStatus::Completed, StepType::Read)), diff: None },
                AgentEvent::Delivered { text: "and\nhurry".into(), id: None },
            ] {
                show.event(&event, &mut console).unwrap();
            }
        }
        assert_eq!(out, b"");
        let shown = String::from_utf8(err).unwrap();
        assert_eq!(shown, "I look at it\n✓ cargo test\\u{1b}[2J\n» and\\u{a}hurry\n");
    }

    #[test]
    fn events_are_json_lines() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let event = AgentEvent::Text { text: "a\nb".into() };
        {
            let mut console = Console::new(&mut out, &mut err);
            let mut show = Show::new(Format::Json, &console);
            show.event(&event, &mut console).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1);
        assert_eq!(serde_json::from_str::<AgentEvent>(&text).unwrap(), event);
        assert_eq!(err, b"");
    }

    #[test]
    fn a_long_change_is_cut() {
        let diff = "+line\n".repeat(100);
        let shown = change(&diff, "");
        assert_eq!(shown.lines().count(), MAX_DIFF_LINES + 1);
        assert!(shown.ends_with("… 60 more lines\n"), "{shown}");
    }
}

//! Result hooks: a host's functions that remove parts of a tool result before anything else gets it.

use crate::tool::Tool;
use crate::tool::context::ToolContext;
use serde_json::{Map, Value};
use std::fmt;
use std::ops::Range;
use toolkit_core::caller::Caller;
use toolkit_core::content::{Content, ResourceBody};
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use toolkit_core::redact::REDACTED;

/// A host's hook.
pub(crate) type ResultHook = dyn Fn(&mut ResultReview<'_>) -> Result<(), ToolError> + Send + Sync;

/// The result of a call under review by a result hook, which may shorten it and remove parts of it.
///
/// No other change is possible: a removed part is replaced by a mark, and an error stays an error. A hook that panics
/// or fails withholds the result, and the model is told so.
///
/// Hooks review a result before it is truncated, except for output streamed by [`ctx.output()`](ToolContext::output):
/// hooks see it as the model would get it, and the file with the whole output stays unchanged. That file can only be
/// read with a tool, whose result the hooks review too. Events sent while a tool runs (progress and partial output) are
/// not reviewed, nor are validation errors that tell a model about a problem with its own call.
///
/// ```
/// use toolkit::prelude::*;
///
/// /// Says who is there.
/// #[tool(read_only)]
/// async fn who() -> &'static str {
///     "ada, grace and the admiral"
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty()
///     .tool(toolkit::tool_ref!(who))
///     .result_hook("names", |answer| {
///         answer.redact(|text| text.match_indices("grace").map(|(at, name)| at..at + name.len()).collect());
///         Ok(())
///     })
///     .build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// assert_eq!(toolbox.call(ToolCall::new("1", "who", "{}")).await.text(), "ada, [redacted] and the admiral");
/// # Ok(()) }
/// ```
pub struct ResultReview<'a> {
    context: &'a ToolContext,
    outcome: &'a mut Result<ToolOutput, ToolError>,
    withheld: Option<String>,
}

impl ResultReview<'_> {
    /// Returns the call's id.
    pub fn call_id(&self) -> &str {
        self.context.call_id()
    }

    /// Returns the tool.
    pub fn tool(&self) -> &Tool {
        self.context.tool()
    }

    /// Returns the caller.
    pub fn caller(&self) -> &Caller {
        self.context.caller()
    }

    /// Returns the output in its current state, if the call succeeded.
    pub fn output(&self) -> Option<&ToolOutput> {
        self.outcome.as_ref().ok()
    }

    /// Returns the error in its current state, if the call failed.
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// Replaces the ranges that `find` returns for each text with `[redacted]`. The ranges are in bytes and in any
    /// order.
    ///
    /// The texts are: those of the content, including names, URIs and descriptions of resources; the title; the
    /// strings, numbers and keys of metadata; and an error's message. Structured data is searched too, and removed as a
    /// whole if anything is found, because it is either whole or absent. A range that splits a character covers the
    /// whole character; a range beyond the end is cut off.
    pub fn redact(&mut self, mut find: impl FnMut(&str) -> Vec<Range<usize>>) {
        let mut redact = |text: &str| redacted(text, find(text));
        match &mut *self.outcome {
            Ok(output) => redact_output(output, &mut redact),
            Err(error) => {
                error.change_texts(&mut redact);
                if let Some((title, metadata)) = error.facts() {
                    if let Some(title) = title {
                        change(title, &mut redact);
                    }
                    change_members(metadata, &mut redact);
                }
            }
        }
    }

    /// Keeps at most the first `max_bytes` bytes of each text of the content, or of an error's message. If text is
    /// removed, a line says how much, and the structured data, which may contain the same text, is removed too.
    pub fn shorten(&mut self, max_bytes: usize) {
        let mut shorten = |text: &str| shortened(text, max_bytes);
        match &mut *self.outcome {
            Ok(output) => {
                let mut is_changed = false;
                for block in &mut output.content {
                    if let Content::Text { text } = block {
                        is_changed |= change(text, &mut shorten);
                    } else if let Content::Resource { resource } = block
                        && let ResourceBody::Text(text) = &mut resource.body
                    {
                        is_changed |= change(text, &mut shorten);
                    }
                }
                if is_changed {
                    output.details = None;
                }
            }
            Err(error) => error.change_texts(&mut shorten),
        }
    }

    /// Replaces a block of the content, for example an image, with `[withheld]`. Does nothing if there is no such
    /// block.
    pub fn drop_block(&mut self, place: usize) {
        if let Ok(output) = &mut *self.outcome
            && let Some(block) = output.content.get_mut(place)
        {
            *block = Content::text("[withheld]");
        }
    }

    /// Removes the structured data.
    pub fn drop_details(&mut self) {
        if let Ok(output) = &mut *self.outcome {
            output.details = None;
        }
    }

    /// Removes the list of attachments.
    pub fn drop_attachments(&mut self) {
        if let Ok(output) = &mut *self.outcome {
            output.attachments.clear();
        }
    }

    /// Withholds the whole result: the call ends as denied, for this reason, which the model reads.
    pub fn withhold(&mut self, reason: impl Into<String>) {
        self.withheld = Some(reason.into());
    }
}

impl fmt::Debug for ResultReview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultReview").field("call_id", &self.call_id()).finish_non_exhaustive()
    }
}

/// Passes a result to every hook.
pub(crate) fn review(context: &ToolContext, outcome: &mut Result<ToolOutput, ToolError>) {
    use toolkit_core::guard::guard;
    for named in &context.scope().toolkit.settings.hooks.results {
        let mut review = ResultReview { context, outcome, withheld: None };
        let reviewed = guard(&named.name, || (named.hook)(&mut review));
        let withheld = match reviewed {
            Ok(Ok(())) => match review.withheld {
                None => continue,
                Some(reason) => format!("`{}` withheld it: {reason}", named.name),
            },
            Ok(Err(error)) => {
                format!("the result hook `{}` failed: {}", named.name, error.message())
            }
            Err(_) => format!("the result hook `{}` stopped on an internal error", named.name),
        };
        *outcome = Err(ToolError::denied(format!(
            "`{}` ran, but its result is withheld: {withheld}. Its effects remain; calling it again will not return the \
             result",
            context.tool_name()
        ))
        .redacted(context.redactor()));
    }
}

type Change<'a> = &'a mut dyn FnMut(&str) -> Option<String>;

fn redact_output(output: &mut ToolOutput, redact: Change<'_>) {
    for block in &mut output.content {
        block.each_text(&mut |text| {
            change(text, redact);
        });
    }
    if let Some(details) = &mut output.details
        && change_value(details, redact)
    {
        output.details = None;
    }
    if let Some(title) = &mut output.title {
        change(title, redact);
    }
    change_members(&mut output.metadata, redact);
}

fn change(text: &mut String, with: Change<'_>) -> bool {
    let changed = with(text);
    let is_changed = changed.is_some();
    if let Some(changed) = changed {
        *text = changed;
    }
    is_changed
}

fn change_value(value: &mut Value, with: Change<'_>) -> bool {
    match value {
        Value::String(text) => change(text, with),
        Value::Number(number) => match with(&number.to_string()) {
            None => false,
            Some(changed) => {
                *value = changed.into();
                true
            }
        },
        Value::Array(items) => {
            items.iter_mut().fold(false, |is_changed, item| change_value(item, with) | is_changed)
        }
        Value::Object(members) => change_members(members, with),
        Value::Null | Value::Bool(_) => false,
    }
}

fn change_members(members: &mut Map<String, Value>, with: Change<'_>) -> bool {
    let mut is_changed = false;
    for (_, member) in members.iter_mut() {
        is_changed |= change_value(member, with);
    }
    let names: Vec<(String, String)> =
        members.keys().filter_map(|name| Some((name.clone(), with(name)?))).collect();
    for (name, changed) in names {
        is_changed = true;
        if let Some(member) = members.shift_remove(&name) {
            members.insert(changed, member);
        }
    }
    is_changed
}

/// Returns the text without these ranges; `None` if they are empty.
fn redacted(text: &str, mut found: Vec<Range<usize>>) -> Option<String> {
    found.retain(|range| range.start < range.end && range.start < text.len());
    if found.is_empty() {
        return None;
    }
    found.sort_unstable_by_key(|range| range.start);
    let (mut redacted, mut from) = (String::with_capacity(text.len()), 0);
    for range in found {
        let start = text.floor_char_boundary(range.start);
        let end = text.ceil_char_boundary(range.end.min(text.len()));
        if start >= from {
            redacted.push_str(&text[from..start]);
            redacted.push_str(REDACTED);
        }
        from = from.max(end);
    }
    redacted.push_str(&text[from..]);
    Some(redacted)
}

/// Returns the beginning of a text, with a line that says how much was removed; `None` if nothing was.
fn shortened(text: &str, max_bytes: usize) -> Option<String> {
    if text.len() <= max_bytes {
        return None;
    }
    let end = text.floor_char_boundary(max_bytes);
    let feed = if end == 0 || text[..end].ends_with('\n') { "" } else { "\n" };
    Some(format!("{}{feed}[{} bytes left out]", &text[..end], text.len() - end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_marks() {
        type Ranges = &'static [(usize, usize)];
        let table: [(&str, Ranges, Option<&str>); 9] = [
            ("abc", &[], None),
            ("abc", &[(1, 1), (3, 9)], None),
            ("abc", &[(1, 2)], Some("a[redacted]c")),
            ("abc", &[(2, 9), (0, 1)], Some("[redacted]b[redacted]")),
            ("abcdef", &[(0, 4), (1, 3), (3, 5)], Some("[redacted]f")),
            ("abcdef", &[(1, 2), (2, 3)], Some("a[redacted][redacted]def")),
            ("aäb", &[(2, 3)], Some("a[redacted]b")),
            ("aäb", &[(1, 2)], Some("a[redacted]b")),
            ("aäb", &[(0, usize::MAX)], Some("[redacted]")),
        ];
        for (text, ranges, expected) in table {
            let ranges: Vec<_> = ranges.iter().map(|(from, to)| *from..*to).collect();
            assert_eq!(redacted(text, ranges.clone()).as_deref(), expected, "{text} {ranges:?}");
        }
    }

    #[test]
    fn a_text_is_shortened_with_a_word() {
        for (text, max, expected) in [
            ("abc", 3, None),
            ("", 0, None),
            ("abc", 2, Some("ab\n[1 bytes left out]")),
            ("ab\nc", 3, Some("ab\n[1 bytes left out]")),
            ("aä", 2, Some("a\n[2 bytes left out]")),
            ("abc", 0, Some("[3 bytes left out]")),
        ] {
            assert_eq!(shortened(text, max).as_deref(), expected, "{text} {max}");
        }
    }
}

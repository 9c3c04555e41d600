//! Truncates an output for the model, and keeps the whole in a file.

mod media;

use crate::cut::{
    Cut, CutHint, Ends, Excerpt, OutputLimits, OutputLocation, left_out, lossy_bytes, newlines, shutting_down,
};
use crate::off_runtime::off_runtime;
use crate::output_store::{OutputStore, owner_name};
use crate::sink::{OutputSink, Streamed};
use serde_json::Value;
use std::mem;
use std::pin::Pin;
use toolkit_core::caller::Caller;
use toolkit_core::content::Content;
use toolkit_core::guard::guard;
use toolkit_core::output::ToolOutput;

/// A boxed future, so that callers' crates do not compile the code behind it.
pub(crate) type Cutting<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The truncated text, and the record of what was truncated.
pub(crate) type CutText = (String, Option<Cut>);

/// Truncates the output of one call. If it is dropped before it is done, it leaves no file.
#[derive(Clone, Copy)]
pub(crate) struct Cutter<'a> {
    pub(crate) limits: OutputLimits,
    pub(crate) store: &'a OutputStore,
    /// The session of the output; also set if the host named none.
    pub(crate) session: &'a str,
    pub(crate) caller: &'a Caller,
    pub(crate) hint: Option<&'a CutHint>,
}

/// Returns true if an output needs no truncation: its text is within the limits, or it declares that it is truncated already; and so are
/// its pictures, sounds and binary documents.
pub(crate) fn fits(output: &ToolOutput, limits: &OutputLimits) -> bool {
    media::fit(output) && text_fits(output, limits)
}

/// Returns true if the text of an output needs no truncation. Links and documents that are text count as the text that a model reads.
fn text_fits(output: &ToolOutput, limits: &OutputLimits) -> bool {
    let (mut blocks, mut bytes, mut feeds, mut is_unended) = (0_u64, 0_u64, 0_u64, false);
    for text in output.content.iter().filter_map(Content::to_model_text) {
        (blocks, bytes) = (blocks + 1, bytes + text.len() as u64);
        // Each line has at least one byte, so that lines need no count while all bytes are within the limit.
        if bytes <= limits.max_bytes {
            feeds += newlines(text.as_bytes());
        }
        is_unended = !text.is_empty() && !text.ends_with('\n');
    }
    // `take_text` joins the blocks with a line feed.
    let joints = blocks.saturating_sub(1);
    let is_within =
        bytes + joints <= limits.max_bytes && feeds + joints + u64::from(is_unended) <= limits.max_lines;
    is_within || output.metadata.get("truncated") == Some(&Value::Bool(true))
}

impl<'a> Cutter<'a> {
    /// Truncates an output. If its text is beyond the limits, all its texts, links and text documents become one text, at the place of the
    /// first. Pictures, sounds and binary documents beyond their limits are left out, and a last text names their files. Everything else
    /// is unchanged.
    pub(crate) fn output(self, mut output: ToolOutput) -> Cutting<'a, ToolOutput> {
        if fits(&output, &self.limits) {
            return Box::pin(std::future::ready(output));
        }
        Box::pin(async move {
            let note = self.leave_out_beyond(&mut output).await;
            if !text_fits(&output, &self.limits) {
                let (at, text) = take_text(&mut output);
                let (text, cut) = self.text(text).await;
                put_text(&mut output, at, text, cut);
            }
            output.content.extend(note.map(Content::from));
            output
        })
    }

    /// Truncates a text that is no output, such as that of an error.
    pub(crate) fn text(self, text: String) -> Cutting<'a, CutText> {
        let feeds = (text.len() as u64 <= self.limits.max_bytes).then(|| newlines(text.as_bytes()));
        if feeds.is_some_and(|feeds| self.lines_fit(text.as_bytes(), feeds)) {
            return Box::pin(std::future::ready((text, None)));
        }
        let text = text.into_bytes();
        let feeds = feeds.unwrap_or_else(|| newlines(&text));
        Box::pin(self.cut(text, feeds))
    }

    /// Ends a stream. Its text comes first in the output, followed by the text that the tool returned: they share one budget and
    /// one file.
    pub(crate) fn streamed_output(
        self,
        sink: &OutputSink,
        mut output: ToolOutput,
    ) -> Cutting<'a, ToolOutput> {
        let (_, returned) = take_text(&mut output);
        let streamed = self.streamed(sink, returned);
        Box::pin(async move {
            let note = self.leave_out_beyond(&mut output).await;
            let (text, cut) = streamed.await;
            if !text.is_empty() {
                put_text(&mut output, 0, text, cut);
            }
            output.content.extend(note.map(Content::from));
            output
        })
    }

    /// Ends a stream, followed by a text on lines of its own, which may be empty.
    pub(crate) fn streamed(self, sink: &OutputSink, returned: String) -> Cutting<'a, CutText> {
        let ended = sink.end(returned);
        Box::pin(async move {
            match ended.await {
                Streamed::InMemory(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => self.text(text).await,
                    Err(error) => self.bytes(error.into_bytes()).await,
                },
                Streamed::Spilled { mut seen, kept } => {
                    let ends = seen.ends();
                    self.told(ends.excerpt(&self.limits), kept)
                }
            }
        })
    }

    /// Truncates bytes that are not UTF-8.
    async fn bytes(self, bytes: Vec<u8>) -> CutText {
        let feeds = newlines(&bytes);
        if lossy_bytes(&bytes) as u64 <= self.limits.max_bytes && self.lines_fit(&bytes, feeds) {
            return (String::from_utf8_lossy(&bytes).into_owned(), None);
        }
        self.cut(bytes, feeds).await
    }

    fn lines_fit(&self, text: &[u8], newlines: u64) -> bool {
        newlines + u64::from(!matches!(text.last(), None | Some(b'\n'))) <= self.limits.max_lines
    }

    async fn cut(self, whole: Vec<u8>, newlines: u64) -> CutText {
        let excerpt = Ends::of(&whole, newlines, &self.limits).excerpt(&self.limits);
        let (store, session) = (self.store.clone(), owner_name(self.session, self.caller));
        let kept = off_runtime(move || match store.create(Some(&session)) {
            Ok(mut file) => {
                file.write(&whole);
                Ok(file)
            }
            Err(error) => Err(error),
        });
        let kept = match kept.await {
            Some(Ok(file)) => file.keep(),
            Some(Err(error)) => OutputLocation::Not { error },
            None => shutting_down(),
        };
        self.told(excerpt, kept)
    }

    /// Returns true if a text is within the limits.
    pub(crate) fn text_fits(self, text: &str) -> bool {
        text.len() as u64 <= self.limits.max_bytes
            && self.lines_fit(text.as_bytes(), newlines(text.as_bytes()))
    }

    /// Truncates a text of which the ends are known, and which is kept already. `clean` removes text that is useless to the
    /// model from the kept parts.
    pub(crate) fn ends(
        self,
        ends: Ends<'_>,
        kept: OutputLocation,
        clean: &dyn Fn(&str) -> String,
    ) -> CutText {
        let mut excerpt = ends.excerpt(&self.limits);
        excerpt.head = clean(&excerpt.head);
        excerpt.tail = clean(&excerpt.tail);
        self.told(excerpt, kept)
    }

    /// Returns the excerpt with the hint about the rest.
    fn told(self, excerpt: Excerpt, kept: OutputLocation) -> CutText {
        let Excerpt { head: mut text, tail, mut cut } = excerpt;
        cut.kept = kept;
        // A panic in the host's hint function must not lose the output.
        let worded = self.hint.and_then(|hint| guard("the hint", || hint(&cut, self.caller)).ok());
        let hint = worded.unwrap_or_else(|| cut.to_string());
        if !tail.is_empty() && cut.missing.from.offset > 0 {
            end_line(&mut text);
            text.push_str(&left_out(&cut.missing));
            text.push('\n');
        }
        text.push_str(&tail);
        end_line(&mut text);
        text.push_str(&hint);
        (text, Some(cut))
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Takes the text out of an output, also that of links and text documents: returns the index of the first such block, and the text of all
/// of them.
fn take_text(output: &mut ToolOutput) -> (usize, String) {
    let is_text = |block: &Content| block.as_bytes().is_none();
    let at = output.content.iter().position(is_text).unwrap_or(0);
    let is_one = output.content.iter().filter(|block| is_text(block)).count() == 1;
    let text = match output.content.get_mut(at) {
        // Only saves a copy: joining one text gives the same text. No test can tell.
        Some(Content::Text { text }) if is_one => mem::take(text),
        _ => {
            let texts: Vec<_> = output.content.iter().filter_map(Content::to_model_text).collect();
            texts.join("\n")
        }
    };
    output.content.retain(|block| !is_text(block));
    (at, text)
}

fn put_text(output: &mut ToolOutput, at: usize, text: String, cut: Option<Cut>) {
    output.content.insert(at, Content::text(text));
    if let Some(cut) = cut {
        let cut =
            serde_json::to_value(cut).expect("a cut has string keys, and its paths are written as text");
        output.metadata.insert("truncated".to_owned(), Value::Bool(true));
        output.metadata.insert("truncation".to_owned(), cut);
    }
}

#[cfg(test)]
mod tests;

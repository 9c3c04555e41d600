//! Position of a simple command in its text.

use super::Source;
use brush_parser::SourceSpan;
use brush_parser::ast::{self, SourceLocation as _};
use std::ops::Range;

/// Redirection operators, each before its prefixes.
const OPERATORS: &[&str] = &["&>>", "&>", "<<<", "<<-", "<<", ">>", ">|", ">&", "<&", "<>", ">", "<"];

const BLANKS: [char; 2] = [' ', '\t'];
/// The characters that end a simple command, beside the end of the text.
const ENDS_COMMAND: [char; 6] = ['\n', ';', '&', '|', ')', '#'];
/// The characters that end a word, beside the end of the text.
const ENDS_WORD: [char; 9] = [' ', '\t', '\n', ';', '&', '|', ')', '<', '>'];

/// Returns the range from the first word to the last, including redirections, whose positions the parser does not
/// record.
pub(super) fn place(simple: &ast::SimpleCommand, source: &Source) -> Range<usize> {
    let items = || {
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        prefix.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0))
    };
    let name = simple.word_or_name.as_ref().and_then(ast::Word::location);
    let spans = items().filter_map(location).chain(name).map(|span| source.span(&span));
    let Some(whole) = spans.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)) else {
        return 0..source.text.len();
    };
    let first = simple.prefix.iter().flat_map(|prefix| &prefix.0).next();
    if !matches!(first, Some(ast::CommandPrefixOrSuffixItem::IoRedirect(_))) {
        return whole;
    }
    let before = source.text[..whole.start].trim_end_matches([' ', '\t']);
    let operator = OPERATORS.iter().find_map(|operator| before.strip_suffix(operator));
    let start =
        operator.map_or(whole.start, |before| before.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    start..whole.end
}

/// Returns the reason for which bash may read a text differently that the parser reads as a process substitution.
pub(super) fn substitution_doubt(shell: &ast::SubshellCommand, source: &Source) -> Option<&'static str> {
    let span = source.span(&shell.loc);
    let (before, inner) = source.text.split_at(span.start);
    let before = if inner.starts_with('(') { before } else { before.strip_suffix('(').unwrap_or_default() };
    if !before.ends_with(['<', '>']) {
        return Some("a bracket is separated from the sign before it");
    }
    let (inner, after) = source.text.split_at(span.end);
    let after = if inner.ends_with(')') { Some(after) } else { after.strip_prefix(')') };
    let goes_on = after.is_none_or(goes_on);
    // To the parser it does not, also before a `#`, which then begins a comment.
    goes_on.then_some("the word continues after a process substitution")
}

/// Returns the reason for which bash may read a text differently that the parser reads as an array.
pub(super) fn array_doubt(array: &ast::Assignment, source: &Source) -> Option<&'static str> {
    let span = source.span(&array.loc);
    let text = &source.text[span.clone()];
    if !text.split_once('(').is_some_and(|(before, _)| before.ends_with('=')) {
        return Some("bash takes an array only right after its `=`");
    }
    let is_whole = text.ends_with(')') && !goes_on(&source.text[span.end..]);
    (!is_whole).then_some("the word continues after an array")
}

/// Returns the reason for which bash may end a simple command elsewhere than the parser, which takes a keyword as the
/// end of a command that began with a redirection or an assignment.
pub(super) fn end_doubt(simple: &ast::SimpleCommand, after: &str) -> Option<&'static str> {
    use ast::CommandPrefixOrSuffixItem::Word;
    let is_time = |word: &ast::Word| word.value == "time";
    let mut suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    if simple.word_or_name.as_ref().is_some_and(is_time)
        && suffix.all(|item| matches!(item, Word(word) if is_time(word)))
    {
        return Some("nothing follows `time`");
    }
    let after = after.trim_start_matches(BLANKS);
    let ends = after.is_empty() || after.starts_with(ENDS_COMMAND);
    (!ends).then_some("bash does not end the command where it seems to end")
}

/// Returns true if a word goes on with this.
fn goes_on(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(ENDS_WORD)
}

fn location(item: &ast::CommandPrefixOrSuffixItem) -> Option<SourceSpan> {
    use ast::{CommandPrefixOrSuffixItem as Item, IoFileRedirectTarget as Target, IoRedirect};
    let Item::IoRedirect(redirect) = item else { return item.location() };
    match redirect {
        IoRedirect::File(_, _, Target::Filename(word) | Target::Duplicate(word))
        | IoRedirect::HereString(_, word)
        | IoRedirect::OutputAndError(word, _) => word.location(),
        IoRedirect::HereDocument(_, document) => document.here_end.location(),
        IoRedirect::File(_, _, Target::ProcessSubstitution(_, command)) => command.location(),
        IoRedirect::File(_, _, Target::Fd(_)) => None,
    }
}

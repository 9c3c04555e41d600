//! Where a simple command stands in its text.

use super::Source;
use brush_parser::SourceSpan;
use brush_parser::ast::{self, SourceLocation as _};
use std::ops::Range;

/// How a redirection may begin, each before those that begin it.
const OPERATORS: &[&str] = &["&>>", "&>", "<<<", "<<-", "<<", ">>", ">|", ">&", "<&", "<>", ">", "<"];

/// From its first word to its last, redirections among them; the parser itself knows nothing of where those stand.
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

/// Whether the bracket of a process substitution stands right behind its sign, as bash wants it.
pub(super) fn is_at_its_sign(shell: &ast::SubshellCommand, source: &Source) -> bool {
    let start = source.span(&shell.loc).start;
    let (before, rest) = source.text.split_at(start);
    let before = if rest.starts_with('(') { before } else { before.strip_suffix('(').unwrap_or_default() };
    before.ends_with(['<', '>'])
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

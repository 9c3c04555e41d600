//! Redirections.

use super::place::substitution_doubt;
use super::{Judge, Source, unclear};
use crate::class::Class;
use crate::names;
use crate::situation::Access;
use crate::verdict::Part;
use crate::words::{self, Found, Value};
use brush_parser::ast;

impl Judge<'_> {
    pub(super) fn redirects(
        &mut self,
        redirects: Option<&ast::RedirectList>,
        source: &Source,
        into: &mut Part,
    ) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, source, into);
        }
    }

    pub(super) fn redirect(&mut self, redirect: &ast::IoRedirect, source: &Source, into: &mut Part) {
        use ast::IoFileRedirectKind as K;
        use ast::IoFileRedirectTarget as T;
        let word = match redirect {
            ast::IoRedirect::File(_, _, T::Filename(word))
            | ast::IoRedirect::HereString(_, word)
            | ast::IoRedirect::OutputAndError(word, _) => Some(word),
            _ => None,
        };
        if word.is_some_and(|word| is_descriptor_of_next(word, source)) {
            return into.has(Class::Unknown, "a number between two redirections may belong to either");
        }
        if word.is_some_and(|word| names::is("keywords", &word.value)) {
            into.has(Class::Unknown, "bash may take what a redirection names for a keyword");
        }
        let is_of_output = matches!(
            redirect,
            ast::IoRedirect::OutputAndError(..)
                | ast::IoRedirect::File(
                    None | Some(1 | 2),
                    K::Write | K::Append | K::Clobber | K::DuplicateOutput,
                    _
                )
        );
        self.reads_pipe &= is_of_output;
        match redirect {
            ast::IoRedirect::File(_, kind, target) => match target {
                T::Filename(word) => match kind {
                    K::Read => self.target(&word.value, Access::Read, into),
                    // Opening for reading and writing creates a missing file.
                    K::ReadAndWrite => {
                        self.target(&word.value, Access::Read, into);
                        self.target(&word.value, Access::Write, into);
                    }
                    _ => self.target(&word.value, Access::Write, into),
                },
                T::Fd(_) => {}
                T::Duplicate(word) => {
                    // For bash the operator ends with the dash, and the rest is a word.
                    if word.value.starts_with('-') && word.value != "-" {
                        into.has(Class::Unknown, "bash may take the text after `>&-` for a word");
                    }
                    let value = self.single(&word.value, into);
                    let is_descriptor = value.text().is_some_and(|text| {
                        let digits = text.strip_suffix('-').unwrap_or(text);
                        digits.bytes().all(|byte| byte.is_ascii_digit())
                    });
                    if !is_descriptor {
                        let reads = matches!(kind, K::DuplicateInput | K::Read);
                        self.target(&word.value, if reads { Access::Read } else { Access::Write }, into);
                    }
                }
                T::ProcessSubstitution(_, shell) => self.apart(|judge| {
                    let reads_pipe = std::mem::take(&mut judge.reads_pipe);
                    if let Some(why) = substitution_doubt(shell, source) {
                        into.has(Class::Unknown, why);
                    }
                    judge.list(&shell.list, source, into);
                    judge.reads_pipe = reads_pipe;
                }),
            },
            ast::IoRedirect::HereDocument(_, document) => {
                // In these cases bash ends it elsewhere.
                let end = &document.here_end.value;
                let is_simple = ["'", "\""]
                    .iter()
                    .find_map(|quote| end.strip_prefix(quote)?.strip_suffix(quote))
                    .unwrap_or(end);
                let is_odd =
                    !is_simple.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
                if is_odd || (document.requires_expansion && source.text.contains("\\\n")) {
                    into.has(Class::Unknown, "where the here-document ends is not certain");
                }
                if document.requires_expansion {
                    let mut found = Found::default();
                    let result = words::document(&document.doc.value, &self.state, &mut found);
                    self.found(found, into);
                    if let Err(why) = result {
                        unclear(&document.doc.value, why, into);
                    }
                }
            }
            ast::IoRedirect::HereString(_, word) => {
                self.single(&word.value, into);
            }
            ast::IoRedirect::OutputAndError(word, _) => self.target(&word.value, Access::Write, into),
        }
    }

    /// Returns the file of a redirection, which is one word.
    fn target(&mut self, word: &str, access: Access, into: &mut Part) {
        let mut values = self.fields(word, into);
        let value = if values.len() == 1 { values.remove(0) } else { Value::unknown() };
        let (Value::Text(begin) | Value::Unknown { prefix: begin, .. }) = &value else { return };
        if begin.starts_with("/dev/tcp/") || begin.starts_with("/dev/udp/") {
            return into.has(Class::Network, format!("bash opens a connection for {begin}"));
        }
        self.path(&value, access, into);
    }
}

/// Returns true if a file's name is rather the descriptor of the redirection that follows: `<2>&1`.
fn is_descriptor_of_next(word: &ast::Word, source: &Source) -> bool {
    let Some(loc) = &word.loc else { return true };
    let is_number = !word.value.is_empty() && word.value.bytes().all(|byte| byte.is_ascii_digit());
    is_number && source.text[source.span(loc).end..].starts_with(['<', '>'])
}

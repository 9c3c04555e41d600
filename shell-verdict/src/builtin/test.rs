//! `test` and `[`.

use super::values;
use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::{Judge, Word, is_name};
use crate::words::Value;

/// Judges a test. The available operators depend on the number of words.
pub(super) fn test(judge: &mut Judge<'_>, name: &str, words: &[Word], part: &mut Part) {
    let mut words = values(words);
    if name == "[" && words.last().and_then(Value::text) == Some("]") {
        words.pop();
    }
    if words.iter().any(Value::may_split) {
        // It may come to operators, of which one evaluates.
        return part
            .has(Class::Code, "test gets words that may be operators, and are not known before it runs");
    }
    expression(judge, &words, false, part);
}

fn expression(judge: &mut Judge<'_>, words: &[Value], is_joined: bool, part: &mut Part) {
    let is_unary =
        |text: &str| text.len() == 2 && text.starts_with('-') && text.as_bytes()[1].is_ascii_alphabetic();
    match words {
        [] | [_] => {}
        [not, rest @ ..] if not.text() == Some("!") => expression(judge, rest, is_joined, part),
        [operator, operand] => match operator.text() {
            Some("-z" | "-n" | "-t" | "-o") => {}
            Some("-v" | "-R") => {
                if !operand.text().is_some_and(is_name) {
                    part.has(Class::Code, "the subscript of a tested variable is evaluated");
                }
            }
            Some(text) if is_unary(text) => judge.path(operand, Access::Read, part),
            // On their own they are a syntax error without an effect.
            Some(_) if !is_joined => {}
            Some(_) => part.has(Class::Unknown, "test gets words that it does not understand"),
            None => part.has(Class::Code, "test gets an operator that is not known before it runs"),
        },
        [open, _, close] if (open.text(), close.text()) == (Some("("), Some(")")) => {}
        [one, operator, other] => match operator.text() {
            Some("-nt" | "-ot" | "-ef") => {
                judge.path(one, Access::Read, part);
                judge.path(other, Access::Read, part);
            }
            Some(
                "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-a" | "-o",
            ) => {}
            Some(_) => part.has(Class::Unknown, "test gets words that it does not understand"),
            None => part.has(Class::Code, "test gets an operator that is not known before it runs"),
        },
        longer => {
            // Parts joined by `-a` and `-o`.
            let is_joint = |word: &Value| matches!(word.text(), Some("-a" | "-o"));
            let has_unknown = longer.iter().any(|word| word.text().is_none() && word.may_be_option());
            let has_bracket = longer.iter().any(|word| matches!(word.text(), Some("(" | ")")));
            if has_unknown || has_bracket || !longer.iter().any(is_joint) {
                return part.has(Class::Unknown, "test gets more words than can be told apart");
            }
            for words in longer.split(is_joint) {
                expression(judge, words, true, part);
            }
        }
    }
}

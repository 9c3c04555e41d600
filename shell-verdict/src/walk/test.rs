//! `[[ … ]]`.

use super::{Judge, unclear};
use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::words::{self, Found, Value};
use brush_parser::ast;

impl Judge<'_> {
    pub(super) fn test(&mut self, test: &ast::ExtendedTestExpr, into: &mut Part) {
        use ast::BinaryPredicate as B;
        use ast::ExtendedTestExpr as T;
        use ast::UnaryPredicate as U;
        match test {
            T::And(one, other) | T::Or(one, other) => {
                self.test(one, into);
                self.test(other, into);
            }
            T::Not(one) | T::Parenthesized(one) => self.test(one, into),
            T::UnaryTest(predicate, word) => {
                let value = self.single(&word.value, into);
                match predicate {
                    U::StringHasZeroLength
                    | U::StringHasNonZeroLength
                    | U::ShellOptionEnabled
                    | U::FdIsOpenTerminal => {}
                    U::ShellVariableIsSetAndAssigned | U::ShellVariableIsSetAndNameRef => {
                        if !value.text().is_some_and(is_name) {
                            into.has(Class::Code, "the subscript of a tested variable is evaluated");
                        }
                    }
                    _ => self.path(&value, Access::Read, into),
                }
            }
            T::BinaryTest(predicate, one, other) => {
                let of_other = match predicate {
                    B::StringMatchesRegex if has_brackets(&other.value) => {
                        self.expression(&other.value, into);
                        Value::unknown()
                    }
                    _ => self.single(&other.value, into),
                };
                let values = [self.single(&one.value, into), of_other];
                match predicate {
                    B::ArithmeticEqualTo
                    | B::ArithmeticNotEqualTo
                    | B::ArithmeticLessThan
                    | B::ArithmeticLessThanOrEqualTo
                    | B::ArithmeticGreaterThan
                    | B::ArithmeticGreaterThanOrEqualTo => {
                        for (word, value) in [one, other].into_iter().zip(&values) {
                            match value.text() {
                                Some(expression) => self.arithmetic(expression, into),
                                // Without expansion: `$#` and similar parameters are numbers in any case.
                                None => self.arithmetic(word.value.trim_matches('"'), into),
                            }
                        }
                    }
                    B::FilesReferToSameDeviceAndInodeNumbers
                    | B::LeftFileIsNewerOrExistsWhenRightDoesNot
                    | B::LeftFileIsOlderOrDoesNotExistWhenRightDoes => {
                        for value in &values {
                            self.path(value, Access::Read, into);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

impl Judge<'_> {
    /// A regular expression with brackets, which are no signs of the shell there.
    fn expression(&mut self, text: &str, into: &mut Part) {
        let is_balanced = text.matches('(').count() == text.matches(')').count();
        if !is_balanced || text.contains(char::is_whitespace) || text.contains(['<', '>', '&', ';', '[']) {
            return into.has(Class::Unknown, "the end of a regular expression is not certain");
        }
        let mut found = Found::default();
        // A backslash before a dollar takes its meaning away with and without quotes.
        let result = words::document(text, &self.state, &mut found);
        self.found(found, into);
        if let Err(why) = result {
            unclear(text, why, into);
        }
    }
}

fn has_brackets(text: &str) -> bool {
    text.contains(['(', ')', '|'])
}

/// Returns true if a text is the name of a variable, without a subscript.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

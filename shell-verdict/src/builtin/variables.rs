//! Builtins that set variables, some of which evaluate their values.

use crate::class::Class;
use crate::state::Variable;
use crate::verdict::Part;
use crate::walk::{Assigned, Judge, Word, is_name};

/// `export`, `declare` and the like.
pub(super) fn declare(judge: &mut Judge<'_>, name: &str, words: &[Word], part: &mut Part) {
    let declares = name != "export";
    if declares {
        judge.state.tangle();
    }
    let mut flags = Flags { exports: !declares, ..Flags::default() };
    // The meaning of the names, by the options.
    let mut only_shows = false;
    for word in words {
        if let Some(assigned) = &word.assigned {
            if declares {
                judge.reshape(&assigned.name, part);
            }
            declared(judge, assigned, flags, part);
            continue;
        }
        match word.value.text() {
            // No test covers the condition: without it, the exported name needs approval in the same way.
            Some("-f" | "-F") if !declares => {
                part.has(Class::Code, "a function is given to the programs that are started");
            }
            Some("-") => part.has(Class::Code, format!("{name} - brings back how the shell worked before")),
            Some(option) if option.starts_with('-') || option.starts_with('+') => {
                if option.contains(['n', 'f', 'l', 'u', 'c'])
                    && option.starts_with('-')
                    && !matches!(option, "-F" | "-f")
                {
                    part.has(Class::Code, format!("{name} {option} changes what names stand for"));
                }
                flags.is_number |= option.contains('i');
                flags.is_array |= option.contains(['a', 'A']);
                flags.exports |= option.contains('x');
                // After a name, or after `--`, it is not an option.
                let is_first = words.first().and_then(|word| word.value.text()) == Some(option);
                only_shows |=
                    is_first && matches!(name, "declare" | "typeset") && matches!(option, "-p" | "-f" | "-F");
            }
            Some(variable) if is_name(variable) => {
                if declares && !only_shows {
                    judge.reshape(variable, part);
                    // A newly declared variable is empty.
                    judge.state.assign(variable.to_owned(), Variable::Unknown);
                }
                if flags.is_number {
                    std::rc::Rc::make_mut(&mut judge.state.evaluated).insert(variable.to_owned());
                }
                if flags.exports {
                    Judge::export(variable, &Variable::Unknown, part);
                }
            }
            _ => part.has(Class::Code, format!("{name} gets a word that is not known, and may evaluate it")),
        }
    }
}

/// The options of a declaration.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    is_number: bool,
    is_array: bool,
    exports: bool,
}

/// Judges the assignment of a declaration.
fn declared(judge: &mut Judge<'_>, assigned: &Assigned, flags: Flags, part: &mut Part) {
    let Assigned { name, value, is_list } = assigned;
    // Assigned to an array, the value is a list, which may contain commands.
    if matches!(value, Variable::Text(text) if text.starts_with('(')) {
        part.has(Class::Code, "a value in parentheses may be evaluated as a list");
        if let Variable::Text(text) = value {
            crate::never::look(text, part);
        }
    }
    // An unknown value may begin with a parenthesis; and a variable assigned in several ways may be an array.
    let may_be_array = flags.is_array || judge.state.assigned.get(name) == Some(&Variable::Unknown);
    if may_be_array && !is_list && *value == Variable::Unknown {
        part.has(Class::Code, "the value of an array is evaluated as a list, and is not known");
    }
    if flags.is_number {
        match value {
            Variable::Text(text) => judge.arithmetic(text, part),
            _ => part.has(Class::Code, "the value of a number is evaluated, and is not known"),
        }
    }
    if flags.exports {
        Judge::export(name, value, part);
    }
    if flags.is_number {
        std::rc::Rc::make_mut(&mut judge.state.evaluated).insert(name.clone());
        judge.state.assign(name.clone(), Variable::Number);
    } else {
        judge.assign(name, value.clone(), part);
    }
}

/// Judges the builtins that set variables from their input.
pub(super) fn reads(judge: &mut Judge<'_>, name: &str, words: &[Word], part: &mut Part) {
    let mut rest = words.iter();
    let valued: &str = match name {
        "read" => "adinNptu",
        _ => "dnOsu",
    };
    let mut at = 0;
    while let Some(word) = rest.next() {
        let Some(text) = word.value.text() else {
            return part.has(Class::Code, format!("{name} gets the name of a variable that is not known"));
        };
        if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty() && at == 0) {
            for (index, letter) in letters.char_indices() {
                if letter == 'e' || letter == 'C' || letter == 'c' {
                    return part.has(Class::Code, format!("{name} -{letter} can run something"));
                }
                if valued.contains(letter) {
                    let attached = &letters[index + 1..];
                    let value = if attached.is_empty() {
                        rest.next().and_then(|word| word.value.text())
                    } else {
                        Some(attached)
                    };
                    if letter == 'a' {
                        match value {
                            Some(name) if is_name(name) => judge.assign(name, Variable::Unknown, part),
                            _ => part.has(Class::Code, "the subscript of a variable is evaluated"),
                        }
                    }
                    break;
                }
            }
            continue;
        }
        at += 1;
        // The first of getopts is the list of options.
        if name == "getopts" && at == 1 {
            continue;
        }
        if name == "getopts" && at > 2 {
            break;
        }
        if is_name(text) {
            judge.assign(text, Variable::Unknown, part);
        } else {
            part.has(Class::Code, "the subscript of a variable is evaluated");
        }
    }
    for name in ["REPLY", "MAPFILE", "OPTARG"] {
        judge.state.assign(name.to_owned(), Variable::Unknown);
    }
}

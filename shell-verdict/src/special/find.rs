//! `find`: its starting points, its tests, and its actions.

use crate::class::Class;
use crate::names;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::{Judge, is_no_file};
use crate::words::Value;

pub(super) fn judge(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let mut at = 0;
    let mut follows_links = false;
    // The program's own options come first.
    while let Some(text) = values.get(at).and_then(Value::text) {
        match text {
            "-H" | "-P" => {}
            "-L" => follows_links = true,
            "-D" => at += 1,
            text if text.len() == 3 && text.starts_with("-O") => {}
            _ => break,
        }
        at += 1;
    }
    let is_expression =
        |value: &Value| value.text().is_some_and(|text| text.starts_with('-') || matches!(text, "(" | "!"));
    let mut roots = Vec::new();
    while let Some(value) = values.get(at).filter(|value| !is_expression(value)) {
        if value.may_be_option() {
            part.has(
                Class::Unknown,
                "find gets a word that may be an expression, and is not known before it runs",
            );
        }
        roots.push(value.clone());
        at += 1;
    }
    if roots.is_empty() {
        roots.push(Value::Text(".".to_owned()));
    }
    let expression = values.get(at..).unwrap_or_default();
    if expression.iter().any(|value| matches!(value.text(), Some("-follow"))) {
        follows_links = true;
    }
    for root in &roots {
        judge.path(
            root,
            if follows_links { Access::ReadTree { follows_links } } else { Access::ReadNames },
            part,
        );
    }
    let texts: Option<Vec<String>> = roots.iter().map(|root| root.text().map(str::to_owned)).collect();
    let found = match texts.filter(|_| !follows_links) {
        Some(roots) => listed(judge, &roots, expression)
            .unwrap_or_else(|| Value::Below { roots, are_files: finds_files(expression) }),
        None => Value::unknown(),
    };
    walk(judge, expression, &found, part);
}

/// Returns each path for which a command may run, if they are known.
fn listed(judge: &Judge<'_>, roots: &[String], expression: &[Value]) -> Option<Value> {
    let words: Vec<&str> = expression.iter().map(Value::text).collect::<Option<_>>()?;
    let runs = words.iter().any(|word| word.starts_with("-exec"));
    let cwd = judge.state.cwd.as_deref().filter(|_| runs)?;
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    crate::listed::found(&roots, &words, cwd).map(|found| Value::Listed(found.into()))
}

/// Returns true if the expression finds only regular files: it contains neither "or" nor "not".
fn finds_files(expression: &[Value]) -> bool {
    let words: Vec<&str> = expression.iter().filter_map(Value::text).collect();
    let has_other =
        words.iter().any(|word| matches!(*word, "-o" | "-or" | "!" | "-not" | "(" | "," | "-follow"));
    let acts = |word: &str| word.starts_with("-exec") || word.starts_with("-ok");
    let before = words.split(|word| acts(word)).next().unwrap_or_default();
    !has_other && before.windows(2).any(|two| two == ["-type", "f"])
}

fn walk(judge: &mut Judge<'_>, expression: &[Value], found: &Value, part: &mut Part) {
    let mut at = 0;
    while let Some(value) = expression.get(at) {
        at += 1;
        let Some(text) = value.text() else {
            return part.has(Class::Unknown, "find gets an expression that is not known before it runs");
        };
        let next = expression.get(at);
        if names::is("find-plain", text) || text == "-follow" {
            continue;
        }
        if names::is("find-valued", text) {
            if next.is_some_and(Value::may_split) {
                part.has(Class::Unknown, format!("find {text} gets words that are not known before it runs"));
            }
            at += 1;
            continue;
        }
        match text {
            "-newer" | "-anewer" | "-cnewer" | "-samefile" => {
                judge.path(&next.cloned().unwrap_or_else(Value::unknown), Access::Read, part);
                at += 1;
            }
            text if text.starts_with("-newer") => {
                if !text.ends_with('t') {
                    judge.path(&next.cloned().unwrap_or_else(Value::unknown), Access::Read, part);
                }
                at += 1;
            }
            "-delete" => part.is(Class::Dangerous, "find -delete deletes what it finds"),
            "-fprint" | "-fprint0" | "-fls"
                if next.and_then(Value::text).is_some_and(|file| is_no_file(file, Access::Write)) =>
            {
                at += 1;
            }
            "-fprint" | "-fprint0" | "-fls" => {
                part.has(Class::Write, format!("find {text} writes a file"));
                judge.path(&next.cloned().unwrap_or_else(Value::unknown), Access::Write, part);
                at += 1;
            }
            "-fprintf" => {
                part.has(Class::Write, "find -fprintf writes a file");
                judge.path(&next.cloned().unwrap_or_else(Value::unknown), Access::Write, part);
                at += 2;
            }
            "-files0-from" => {
                part.has(Class::Unknown, "find -files0-from reads the names of directories from a file");
                judge.path(&next.cloned().unwrap_or_else(Value::unknown), Access::Read, part);
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                at += runs(judge, text, &expression[at..], found, part);
            }
            text => part.has(Class::Unknown, format!("find {text} is not known to only read")),
        }
    }
}

/// Judges a command that runs for each found file; returns the number of its words.
fn runs(judge: &mut Judge<'_>, action: &str, words: &[Value], found: &Value, part: &mut Part) -> usize {
    let end = words.iter().enumerate().position(|(at, word)| match word.text() {
        Some(";") => true,
        Some("+") => at > 0 && words[at - 1].text() == Some("{}"),
        _ => false,
    });
    let Some(end) = end else {
        part.has(Class::Unknown, format!("find {action} has no end"));
        return words.len();
    };
    let replaced: Vec<Value> = words[..end]
        .iter()
        .map(|word| match word.text() {
            Some("{}") => found.clone(),
            Some(text) if text.contains("{}") => Value::unknown(),
            _ => word.clone(),
        })
        .collect();
    // Another program may be in the directory of a found file, if `PATH` has relative directories.
    let is_elsewhere = matches!(action, "-execdir" | "-okdir");
    let cwd = judge.state.cwd.clone();
    if is_elsewhere {
        judge.state.cwd = None;
        let words: Vec<Value> = replaced
            .iter()
            .map(|word| {
                if word == found {
                    Value::Unknown { prefix: "./".to_owned(), splits: false }
                } else {
                    word.clone()
                }
            })
            .collect();
        judge.nested(&words, part);
    } else {
        judge.nested(&replaced, part);
    }
    judge.state.cwd = cwd;
    end + 1
}

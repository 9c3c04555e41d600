//! Programs that make, change, copy or delete files.

use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::{Judge, is_no_file};
use crate::words::Value;

pub(super) fn changes(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Write, format!("{base} {}", Class::Write.words()));
    let mode = usize::from(matches!(base, "chmod" | "chown" | "chgrp"));
    let operands: Vec<&Value> = values
        .iter()
        .filter(|value| !value.text().is_some_and(|text| text.starts_with('-') && text.len() > 1))
        .collect();
    for operand in operands.into_iter().skip(mode) {
        judge.path(operand, Access::Write, part);
    }
}

/// Judges `tee`. Without files it only passes on its input. A file named `-` is an ordinary file.
pub(super) fn tee(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let end = values.iter().position(|value| value.text() == Some("--")).unwrap_or(values.len());
    for (index, value) in values.iter().enumerate() {
        match value.text() {
            Some("/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty") => {}
            Some(_) if index > end => {
                part.is(Class::Write, "tee writes files");
                judge.path(value, Access::Write, part);
            }
            Some(
                "-a"
                | "-i"
                | "-p"
                | "-ai"
                | "-ia"
                | "--append"
                | "--ignore-interrupts"
                | "--help"
                | "--version"
                | "--",
            ) => {}
            Some(text) if text.starts_with("--output-error") => {}
            _ => {
                part.is(Class::Write, "tee writes files");
                judge.path(value, Access::Write, part);
            }
        }
    }
}

pub(super) fn copies(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Write, format!("{base} {}", Class::Write.words()));
    let operands: Vec<&Value> = values
        .iter()
        .filter(|value| !value.text().is_some_and(|text| text.starts_with('-') && text.len() > 1))
        .collect();
    let targets =
        values.iter().filter_map(Value::text).filter_map(|text| text.strip_prefix("--target-directory="));
    for target in targets {
        judge.path(&Value::Text(target.to_owned()), Access::Write, part);
    }
    let count = operands.len();
    for (index, operand) in operands.into_iter().enumerate() {
        let is_target = index + 1 == count;
        // A moved file is removed from its old path.
        let access =
            if is_target || base == "mv" { Access::Write } else { Access::ReadTree { follows_links: false } };
        judge.path(operand, access, part);
    }
}

pub(super) fn dd(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    for value in values {
        if let Value::Unknown { prefix, splits: false } = value
            && prefix.starts_with("if=")
        {
            judge.path(value, Access::Read, part);
            continue;
        }
        let Some(text) = value.text() else {
            part.is(Class::Dangerous, "dd gets a word that is not known before it runs");
            judge.path(value, Access::Write, part);
            continue;
        };
        let (key, operand) = text.split_once('=').unwrap_or((text, ""));
        let operand = Value::Text(operand.to_owned());
        match key {
            "if" => judge.path(&operand, Access::Read, part),
            "of" => {
                let text = operand.text().unwrap_or_default();
                if !is_no_file(text, Access::Write) {
                    part.is(Class::Dangerous, "dd overwrites what it writes to");
                    judge.path(&operand, Access::Write, part);
                }
            }
            "bs" | "ibs" | "obs" | "cbs" | "count" | "skip" | "seek" | "iseek" | "oseek" | "conv"
            | "iflag" | "oflag" | "status" => {}
            _ => part.has(Class::Unknown, format!("dd {text} is not known to only read")),
        }
    }
}

//! Malformed calls as models send them: the arguments that the function gets and what was repaired, or the text that
//! the model gets.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod lists;
mod names;
mod nulls;
mod objects;
mod scalars;
mod text;
mod tools;
mod variants;
mod wrapping;

use std::collections::HashMap;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, arguments::Repair, inspection::LoopGuard};

/// A call, and what comes of it.
struct Case {
    tool: &'static str,
    arguments: &'static str,
    outcome: Outcome,
}

enum Outcome {
    /// The function got this; these repairs were told.
    Got(&'static str, &'static [&'static str]),
    /// The model gets these problems.
    Refused(&'static [&'static str]),
}

const fn got(
    tool: &'static str,
    arguments: &'static str,
    got: &'static str,
    repairs: &'static [&'static str],
) -> Case {
    Case { tool, arguments, outcome: Outcome::Got(got, repairs) }
}

const fn refused(tool: &'static str, arguments: &'static str, problems: &'static [&'static str]) -> Case {
    Case { tool, arguments, outcome: Outcome::Refused(problems) }
}

const USAGES: [&str; 12] = [
    "configure(verbose: boolean, limits?: object, labels?: object, steps?: object[] = [])",
    "draw(shapes: object[], background?: object)",
    "edit_file(file_path: string, edits: object[])",
    "list_files(depth?: integer, hidden?: boolean)",
    "measure(value: number, samples?: number[] = [], ratio?: number, counts?: integer[])",
    "open(user_name: string, age?: integer)",
    "ping()",
    "read(file_path: string, offset?: integer = 1, limit?: integer)",
    r#"search(query: string, paths?: string[], max_results?: integer, case_sensitive?: boolean, mode?: "plain" | "regex" | "whole_word", since?: integer)"#,
    "send(target: object, body: string, token?: integer)",
    r#"store(ids?: integer | integer[], rows?: integer[][], points?: number[][], tags?: string[], pair?: array, letter?: string, any?: any, action?: "stop" | object, event?: object)"#,
    "tree(name: string, children?: object[] = [])",
];

#[tokio::test]
async fn every_malformed_call_is_repaired_or_explained() {
    let tools = tools::all()
        .into_iter()
        .fold(Toolkit::empty().without_asking_first().loop_guard(LoopGuard::off()), toolkit::Builder::tool);
    let toolbox = tools.build().unwrap().toolbox(&Caller::new()).await;
    let usages: HashMap<&str, &str> =
        USAGES.into_iter().map(|usage| (usage.split('(').next().unwrap(), usage)).collect();
    let tables = [
        scalars::CASES,
        nulls::CASES,
        lists::CASES,
        objects::CASES,
        names::CASES,
        variants::CASES,
        wrapping::CASES,
        text::CASES,
    ];
    assert!(tables.iter().map(|table| table.len()).sum::<usize>() >= 150);
    let mut wrong = Vec::new();
    for Case { tool, arguments, outcome } in tables.into_iter().flatten() {
        let result = toolbox.call(ToolCall::new("1", *tool, *arguments)).await;
        let repairs: Vec<Repair> = result
            .output()
            .and_then(|output| output.metadata.get("repairs"))
            .map(|repairs| serde_json::from_value(repairs.clone()).unwrap())
            .unwrap_or_default();
        let repairs: Vec<String> = repairs.iter().map(shown).collect();
        let expected = match outcome {
            Outcome::Got(expected, told) => (None, (*expected).to_owned(), told.to_vec()),
            Outcome::Refused(problems) => {
                let count = match problems.len() {
                    1 => String::new(),
                    count => format!(" ({count} problems)"),
                };
                let lines: String = problems.iter().flat_map(|problem| ["\n- ", problem]).collect();
                let text = format!("invalid arguments for `{tool}`{count}:{lines}\nUsage: {}", usages[tool]);
                (Some(ToolErrorKind::InvalidArguments), text, Vec::new())
            }
        };
        let kind = result.error().map(toolkit::ToolError::kind);
        if (kind, result.text()) != (expected.0, expected.1.clone()) || repairs != expected.2 {
            wrong.push(format!(
                "{tool} {arguments}\n  {}\n  {repairs:?}\nnot\n  {}",
                result.text(),
                expected.1
            ));
        }
    }
    assert!(wrong.is_empty(), "{} calls:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// `/offset string_to_number: the string "5" was read as a number`
fn shown(repair: &Repair) -> String {
    let kind = serde_json::to_value(repair.kind).unwrap();
    format!("{} {}: {}", repair.pointer, kind.as_str().unwrap(), repair.note)
}

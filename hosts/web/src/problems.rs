//! Errors as problems.

use crate::access::Access;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use toolkit::arguments::InvalidArguments;
use toolkit::config::{ConfigSource, Configuration};
use toolkit::{ToolError, ToolErrorKind};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

/// The reason why an answer, or a part of it, is not sent.
pub(crate) const NO_ROOM: &str =
    "too much data is on its way to slow readers; read the answers that are there";

pub(crate) fn bad_request(text: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, text)
}

/// The problem of an answer for which a client has no room, since it has not read others.
pub(crate) fn no_room() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, NO_ROOM).retry_after(Duration::from_secs(1))
}

pub(crate) fn not_found(text: impl Into<String>) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, text)
}

/// Returns the problem of a call that was refused, or of a request about a tool that cannot be used.
pub(crate) fn of_refusal(error: &ToolError, configuration: &Configuration, access: &Access) -> Problem {
    let status = match error.kind() {
        ToolErrorKind::UnknownTool => StatusCode::NOT_FOUND,
        ToolErrorKind::Denied => StatusCode::FORBIDDEN,
        ToolErrorKind::InvalidArguments => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    // The text about arguments is about what the client itself has sent.
    let text = if error.kind() == ToolErrorKind::InvalidArguments {
        error.message().to_owned()
    } else {
        without_places(error.message(), configuration, access)
    };
    let problem = Problem::new(status, text).with("kind", error.kind().to_string());
    match error.problems() {
        Some(invalid) => problem.with("problems", list(invalid)),
        None if error.kind() == ToolErrorKind::InvalidArguments => problem.with("problems", json!([])),
        None => problem,
    }
}

/// Returns the problem of a tool that the client is limited not to use, which is as unknown as one that is not there.
pub(crate) fn unknown_tool(name: &str) -> Problem {
    not_found(format!("there is no tool `{}`; GET /v1/tools lists them", name.escape_debug()))
        .with("kind", ToolErrorKind::UnknownTool.to_string())
}

/// The problem of a call whose task ended without an answer.
pub(crate) fn lost() -> Problem {
    let text = "the call ended without a result, so its outcome is unknown: it may have changed something; look before you call again";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// Returns the problems of arguments, each with its place.
pub(crate) fn list(invalid: &InvalidArguments) -> Value {
    let problem = |problem: &toolkit::arguments::Problem| {
        let mut shown = json!({
            "path": problem.pointer,
            "message": problem.to_string(),
            "expected": problem.expected,
            "actual": problem.actual,
        });
        if let Some(nearest) = &problem.nearest {
            shown["nearest"] = nearest.as_str().into();
        }
        shown
    };
    invalid.problems.iter().map(problem).collect()
}

/// Returns a text without the directories of the configuration files that it names, unless the client is the owner of the host.
pub(crate) fn without_places(text: &str, configuration: &Configuration, access: &Access) -> String {
    if access.is_owner() || !text.contains(['/', '\\']) {
        return text.to_owned();
    }
    let mut directories: BTreeSet<String> = BTreeSet::new();
    directories.extend(configuration.user_dir().map(with_separator));
    for (_, origin) in configuration.origins().iter() {
        if let ConfigSource::File(path) = &origin.source {
            directories.extend(path.parent().map(with_separator));
        }
    }
    let mut shown = text.to_owned();
    // A directory comes behind those above it, so the longest is removed first.
    for directory in directories.iter().rev().filter(|directory| directory.len() > 1) {
        shown = shown.replace(directory, "");
    }
    shown.split_inclusive([' ', '(', ')', '`', ',']).map(without_directory).collect()
}

/// Returns a question, or an answer to one, without the directories of the configuration files that its remarks name. The question itself is whole: who
/// answers it has to know what it is about.
pub(crate) fn ask_without_places(mut ask: Value, configuration: &Configuration, access: &Access) -> Value {
    for key in ["note", "problem"] {
        if let Some(Value::String(text)) = ask.get_mut(key) {
            *text = without_places(text, configuration, access);
        }
    }
    ask
}

fn with_separator(directory: &Path) -> String {
    format!("{}{}", directory.display(), std::path::MAIN_SEPARATOR)
}

/// Returns a word without its directory if it is a place in a file, `/path/file:3:5`.
fn without_directory(word: &str) -> &str {
    let place = word.trim_end_matches([' ', '(', ')', '`', ',']);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = place.rsplitn(3, ':');
    let is_place = parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number);
    match parts.next().filter(|path| is_place && Path::new(path).is_absolute()) {
        Some(path) => &word[path.rfind(['/', '\\']).map_or(0, |separator| separator + 1)..],
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::Caller;

    #[test]
    fn only_the_owner_of_the_host_is_told_where_its_files_are() {
        let text = "denied by the rule `a/*`: deny (/permission/exec/0, /home/ada/.config/toolkit.json5:3:5) of /etc/hosts";
        let other = Access::new("a", Caller::new());
        let configuration = Configuration::default();
        let shown = without_places(text, &configuration, &other);
        assert_eq!(
            shown,
            "denied by the rule `a/*`: deny (/permission/exec/0, toolkit.json5:3:5) of /etc/hosts"
        );
        assert_eq!(without_places(text, &configuration, &other.as_owner(true)), text);
    }

    #[test]
    fn reasons_of_refusals_and_remarks_on_questions_name_no_directory() {
        let other = Access::new("a", Caller::new());
        let configuration = Configuration::default();
        let text = "there is no tool `x`: it is off (/home/ada/.config/toolkit.json5:3:5)";
        let error = ToolError::new(ToolErrorKind::UnknownTool, text);
        let problem = of_refusal(&error, &configuration, &other);
        assert_eq!(problem.detail(), "there is no tool `x`: it is off (toolkit.json5:3:5)");
        let ask = json!({ "note": text, "question": { "title": "write /home/ada/a:3:5" } });
        let shown = ask_without_places(ask.clone(), &configuration, &other);
        assert_eq!(shown["note"], problem.detail());
        assert_eq!(shown["question"], ask["question"]);
        assert_eq!(ask_without_places(ask.clone(), &configuration, &other.as_owner(true)), ask);
    }
}

//! Errors of the schema, with their places as the other errors have them: `commands[3].points`.

use toolkit::arguments::{InvalidArguments, Problem};

/// Names of charts that a model may write, and those of this tool.
const CHARTS: [(&str, &str); 3] = [("pie", "pie"), ("bar", "bar"), ("line", "line_chart")];

/// The message for arguments that do not fit the schema.
pub(super) fn message(problems: &InvalidArguments) -> String {
    let count = match problems.problems.len() {
        _ if problems.more => format!("more than {} problems", problems.problems.len()),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    let lines: Vec<String> = problems.problems.iter().map(line).collect();
    let more = if problems.more { "\n- … and more" } else { "" };
    let usage = match problems.signature.as_str() {
        "" => String::new(),
        signature => format!("\nUsage: {signature}"),
    };
    format!("invalid arguments for `canvas` ({count}):\n- {}{more}{usage}", lines.join("\n- "))
}

fn line(problem: &Problem) -> String {
    let Problem { pointer, expected, actual, nearest, .. } = problem;
    let place = place(pointer);
    let place = if place.is_empty() { "the arguments" } else { &place };
    let line = format!("{place}: expected {expected}, got {actual}");
    let nearest = chart(pointer, actual).or_else(|| nearest.as_deref().map(self::place));
    match nearest {
        Some(nearest) => format!("{line}; did you mean `{nearest}`?"),
        None => line,
    }
}

/// Returns the chart that a wrong type of a command names in another way, such as `pie_chart`. By its letters alone, `line_chart` would
/// be the nearest.
fn chart(pointer: &str, actual: &str) -> Option<String> {
    let is_type = pointer.starts_with("/commands/") && pointer.ends_with("/type");
    let given = actual.to_ascii_lowercase();
    let is_chart = given.contains("chart") || given.contains("graph") || given.contains("plot");
    let named = CHARTS.into_iter().find(|(name, _)| given.contains(name));
    named.filter(|_| is_type && is_chart).map(|(_, name)| name.to_owned())
}

/// A JSON pointer as a path: `/commands/3/points` as `commands[3].points`. Text that is no pointer stays.
fn place(pointer: &str) -> String {
    if !pointer.starts_with('/') {
        return pointer.to_owned();
    }
    let mut place = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            place = format!("{place}[{step}]");
        } else if place.is_empty() {
            place = step;
        } else {
            place = format!("{place}.{step}");
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_become_paths() {
        for (pointer, expected) in [
            ("", ""),
            ("/width", "width"),
            ("/commands/3/points/1/0", "commands[3].points[1][0]"),
            ("/commands/0/a~1b~0", "commands[0].a/b~"),
            ("fill", "fill"),
        ] {
            assert_eq!(place(pointer), expected);
        }
    }

    #[test]
    fn charts_are_known_by_other_names() {
        for (given, expected) in [
            ("\"pie_chart\"", Some("pie")),
            ("\"piechart\"", Some("pie")),
            ("\"barChart\"", Some("bar")),
            ("\"line_graph\"", Some("line_chart")),
            ("\"linechart\"", Some("line_chart")),
            ("\"pie\"", None),
            ("\"outline\"", None),
        ] {
            assert_eq!(chart("/commands/0/type", given).as_deref(), expected, "{given}");
        }
        assert_eq!(chart("/commands/0/text", "\"pie chart\""), None);
    }
}

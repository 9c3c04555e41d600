//! `cargo xtask soak`: runs the hosts for minutes, and records how what they hold grows.

use std::fs;

use crate::workspace::{self, Result, Workspace};

/// The minutes of a run that names none.
const MINUTES: u64 = 10;
const BEGIN: &str = "<!-- soak:begin -->\n";
const END: &str = "<!-- soak:end -->";

/// Reads `[MINUTES]`, and runs the rounds for that long.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result {
    let minutes = minutes(args)?;
    let report = workspace.root().join("target").join("soak.md");
    let results = workspace.root().join("bench").join("RESULTS.md");
    let seconds = minutes.saturating_mul(60).to_string();
    let words = ["cargo", "nextest", "run", "-p", "toolkit-cli", "--all-features", "--profile", "long"];
    let filter = ["--run-ignored", "all", "--no-capture", "-E", "test(/^soak::hosts_/)"];
    let mut command = workspace.command(&[&words[..], &filter].concat());
    workspace::run(command.env("SOAK_SECONDS", seconds).env("SOAK_REPORT", &report))?;
    let section = format!("## Hosts that run for long\n\n{}\n", fs::read_to_string(report)?.trim_end());
    fs::write(&results, with_section(&fs::read_to_string(&results)?, &section))?;
    println!("\nwritten to {}", results.display());
    Ok(())
}

fn minutes(args: &[String]) -> Result<u64> {
    match args {
        [] => Ok(MINUTES),
        [minutes] => match minutes.parse() {
            Ok(minutes) if minutes > 0 => Ok(minutes),
            _ => {
                Err(format!("`{minutes}` is no number of minutes: usage is `cargo xtask soak [MINUTES]`")
                    .into())
            }
        },
        [_, more, ..] => {
            Err(format!("unexpected argument `{more}`: usage is `cargo xtask soak [MINUTES]`").into())
        }
    }
}

/// The results with this section in place of the one of an earlier run, or at their end.
fn with_section(results: &str, section: &str) -> String {
    let old = results.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    match old {
        Some((before, after)) => format!("{before}{BEGIN}{section}{END}{after}"),
        None => format!("{}\n\n{BEGIN}{section}{END}\n", results.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_the_one_before() {
        let first = with_section("# Results\n", "one\n");
        assert_eq!(first, "# Results\n\n<!-- soak:begin -->\none\n<!-- soak:end -->\n");
        let second = with_section(&format!("{first}\nmore\n"), "two\n");
        assert_eq!(second, "# Results\n\n<!-- soak:begin -->\ntwo\n<!-- soak:end -->\n\nmore\n");
    }

    #[test]
    fn minutes_are_a_number_above_zero() {
        let read = |words: &[&str]| minutes(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!((read(&[]).unwrap(), read(&["3"]).unwrap()), (MINUTES, 3));
        for words in [&["0"][..], &["x"], &["1", "2"]] {
            read(words).unwrap_err();
        }
    }
}

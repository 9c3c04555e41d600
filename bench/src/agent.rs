//! Measures the agent loop, beside bare requests and rig's agent.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::{Result, command, machine, results};

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// How often each run is measured.
    rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 101 }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench agent` has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When the program does not build or fails.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    eprintln!("building and measuring");
    command::cargo(bench, &["build", "--release", "--package", "agent", "--target-dir", "target"])?;
    let mut program = Command::new(bench.join("target/release/agent"));
    let output = command::run(program.arg(options.rounds.to_string()))?;
    let report = report(options, &machine::describe()?, &output.stdout)?;
    println!("{report}");
    let is_whole = *options == Options::default();
    let path = bench.join(if is_whole { "RESULTS.md" } else { "target/RESULTS.md" });
    results::replace_section(&path, "agent", &report)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// A line of the program's output.
struct Line<'a> {
    kind: &'a str,
    about: &'a str,
    name: &'a str,
    figures: Vec<f64>,
}

fn lines(output: &str) -> Result<Vec<Line<'_>>> {
    let line = |line| -> Result<Line<'_>> {
        let parts: Vec<&str> = str::split(line, '\t').collect();
        let [kind, about, name, figures] = parts[..] else {
            return Err(format!("no line of figures: {line}").into());
        };
        let figures = figures.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Line { kind, about, name, figures })
    };
    output.lines().map(line).collect()
}

fn report(options: &Options, machine: &str, output: &str) -> Result<String> {
    let lines = lines(output)?;
    let mut report = format!(
        "## Agent loop\n\n{machine}\n\nA run has two requests: one is answered with tool calls that do nothing, the other in words. Median of \
         {} runs, and the fastest, in microseconds, the server's time included. The overhead is what a run takes more than sending the same \
         requests once more and reading the answers.\n\n| calls | | median | fastest | overhead, median | for each call |\n|--:|---|--:|--:|--:|--:|\n",
        options.rounds
    );
    let times: Vec<&Line<'_>> = lines.iter().filter(|line| line.kind == "time").collect();
    for line in &times {
        let base = if line.name.contains("rig") { "bare, as rig" } else { "bare, as toolkit" };
        let base = times.iter().find(|other| other.about == line.about && other.name == base);
        let base = base.ok_or("a bare run is missing")?.figures[0];
        let (median, least) = (line.figures[0], line.figures[1]);
        let calls: f64 = line.about.parse()?;
        let (overhead, each) = if line.name.starts_with("bare") {
            (String::new(), String::new())
        } else {
            (format!("{:.0}", median - base), format!("{:.1}", (median - base) / calls))
        };
        writeln!(
            report,
            "| {} | {} | {median:.0} | {least:.0} | {overhead} | {each} |",
            line.about, line.name
        )?;
    }
    report.push_str(
        "\nThe peak of the resident memory of a conversation of 1,000 turns, each with a call whose result has 500 bytes, over that of one with \
         three, in KiB. All of the conversation is sent in each request.\n\n| | before | peak | growth | seconds |\n|---|--:|--:|--:|--:|\n",
    );
    for line in lines.iter().filter(|line| line.kind == "memory") {
        let [before, peak, seconds] = line.figures[..] else { return Err("a figure is missing".into()) };
        writeln!(
            report,
            "| {} | {before:.0} | {peak:.0} | {:.0} | {seconds:.1} |",
            line.name,
            peak - before
        )?;
    }
    report.push_str(
        "\nThe share of a prompt (tools and messages) that the next request repeats byte for byte from its beginning, over a conversation of 51 \
         requests.\n\n| | bytes repeated | bytes | share |\n|---|--:|--:|--:|\n",
    );
    for line in lines.iter().filter(|line| line.kind == "prefix") {
        let [same, all] = line.figures[..] else { return Err("a figure is missing".into()) };
        writeln!(report, "| {} | {same:.0} | {all:.0} | {:.2} % |", line.name, 100.0 * same / all)?;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_over_the_same_requests() {
        let output = "time\t10\tbare, as toolkit\t100 90\ntime\t10\ttoolkit\t150 120\ntime\t10\tbare, as rig\t50 40\n\
                      time\t10\trig\t250 220\nprefix\t51\ttoolkit\t10 20\nmemory\t1000\trig\t100 300 1.5";
        let report = report(&Options::default(), "a machine", output).unwrap();
        for row in [
            "| 10 | toolkit | 150 | 120 | 50 | 5.0 |",
            "| 10 | rig | 250 | 220 | 200 | 20.0 |",
            "| rig | 100 | 300 | 200 | 1.5 |",
            "| toolkit | 10 | 20 | 50.00 % |",
        ] {
            assert!(report.contains(row), "{report}");
        }
    }
}

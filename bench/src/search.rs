//! Measures the time and accuracy of tool search, compared with a plain BM25 in the same run.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::statistics::median;
use crate::{Result, command, machine, results};

/// The most a query may take with 10,000 tools, in milliseconds.
const AIM: f64 = 2.0;

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// How often everything is measured.
    rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { rounds: 7 }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &*argument {
                "--rounds" => options.rounds = crate::at_least_one(&value()?)?,
                other => return Err(format!("`bench search` has no option `{other}`").into()),
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
    command::cargo(bench, &["build", "--release", "--package", "search", "--target-dir", "target"])?;
    let mut program = Command::new(bench.join("target/release/search"));
    let output = command::run(program.arg(options.rounds.to_string()))?;
    let report = report(options, &machine::describe()?, &output.stdout)?;
    println!("{report}");
    let is_whole = *options == Options::default();
    let path = bench.join(if is_whole { "RESULTS.md" } else { "target/RESULTS.md" });
    results::replace_section(&path, "search", &report)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// A line of the program's output: name, subject, figures.
struct Line<'a> {
    name: &'a str,
    about: &'a str,
    figures: &'a str,
}

impl Line<'_> {
    fn numbers(&self) -> Result<Vec<f64>> {
        Ok(self.figures.split(' ').map(str::parse).collect::<Result<_, _>>()?)
    }
}

fn report(options: &Options, machine: &str, output: &str) -> Result<String> {
    let lines: Vec<Line<'_>> = output
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            Some(Line { name: parts.next()?, about: parts.next()?, figures: parts.next()? })
        })
        .collect();
    let numbers = |name: &str, about: &str| -> Result<Vec<f64>> {
        let line = lines.iter().find(|line| line.name == name && line.about == about);
        line.ok_or_else(|| format!("no line `{name}` of {about}"))?.numbers()
    };
    let mut text = format!("## Search\n\n{machine}\n");
    let _ = writeln!(
        text,
        "Finding five tools among so many, by 200 queries, {} rounds; milliseconds. \"Next toolbox\" is the first search of a \
         toolbox that is made after a tool came; the plain search is BM25 over one bag of words, which corrects nothing. Memory is \
         what the process has more of after the first search, as the system counts it.\n",
        options.rounds
    );
    text.push_str(
        "| tools | index | next toolbox | query, median | 99 of 100 | slowest | memory | plain index | plain query |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut slow = 0.0;
    for count in ["100", "1000", "10000"] {
        let mut queries = numbers("query", count)?;
        queries.sort_by(f64::total_cmp);
        let at = |hundredths: usize| queries[(queries.len() - 1) * hundredths / 100];
        slow = at(99);
        let megabytes = numbers("bytes", count)?[0] / f64::from(1 << 20);
        let _ = writeln!(
            text,
            "| {count} | {:.1} | {:.2} | {:.3} | {slow:.3} | {:.3} | {megabytes:.1} MiB | {:.1} | {:.3} |",
            median(numbers("build", count)?),
            median(numbers("next toolbox", count)?),
            at(50),
            at(100),
            median(numbers("plain build", count)?),
            median(numbers("plain query", count)?),
        );
    }
    let verdict = if slow <= AIM { "met" } else { "**missed**" };
    let _ = writeln!(
        text,
        "\nAim: 99 of 100 queries within {AIM} ms at 10,000 tools: {slow:.3} ms, {verdict}.\n"
    );
    text.push_str(
        "A right tool among the first five, of 1,000 generated tools and the builtin ones; the queries are written by hand, some with \
         slips, some in words that the tool does not use, some with plurals and names glued or cut:\n\n\
         | queries | of | ours | plain BM25 |\n|---|--:|--:|--:|\n",
    );
    for line in lines.iter().filter(|line| line.name == "recall") {
        let [ours, plain, all] = line.numbers()?[..] else { return Err("no recall".into()) };
        let share = |found: f64| format!("{found} ({:.1} %)", 100.0 * found / all);
        let _ = writeln!(text, "| {} | {all} | {} | {} |", line.about, share(ours), share(plain));
    }
    text.push_str("\nNot found:\n\n");
    for line in lines.iter().filter(|line| line.name == "missed") {
        let _ = writeln!(text, "* {}: `{}`", line.about, line.figures);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_every_figure() {
        let mut output = String::new();
        for count in ["100", "1000", "10000"] {
            let _ = write!(
                output,
                "bytes\t{count}\t1048576\nbuild\t{count}\t3 1 2\nnext toolbox\t{count}\t0.5\n"
            );
            let _ = write!(
                output,
                "query\t{count}\t0.1 0.2 0.3\nplain build\t{count}\t4\nplain query\t{count}\t0.05\n"
            );
        }
        output += "recall\tall\t193 141 200\nmissed\task for days\ta or b\n";
        let report = report(&Options::default(), "here\n", &output).unwrap();
        for part in [
            "| 10000 | 2.0 | 0.50 | 0.200 |",
            "1.0 MiB",
            ", met.",
            "| all | 200 | 193 (96.5 %) | 141 (70.5 %) |",
            "* ask for days: `a or b`",
        ] {
            assert!(report.contains(part), "{part} in {report}");
        }
        assert!(super::report(&Options::default(), "", "query\t100\tx\n").is_err());
    }
}

//! Judges commands: those given, or one a line of the input.
//!
//! ```text
//! cargo run -p shell-verdict --example judge -- 'ls | wc -l' 'rm -rf build'
//! ```

use shell_verdict::{Access, Decision, Part, Programs, Shell, Situation, judge};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;

fn main() -> io::Result<()> {
    let workspace = std::env::current_dir()?;
    let names = ["HOME", "PATH", "LANG", "USER"];
    let env: BTreeMap<String, String> =
        names.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect();
    let programs = Programs::of_path(env.get("PATH").map_or("", String::as_str));
    let decide = |path: &Path, access: Access| {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if access == Access::Write || !path.starts_with(&workspace) || !real.starts_with(&workspace) {
            Decision::Ask
        } else {
            Decision::Allow
        }
    };
    let situation = Situation {
        cwd: &workspace,
        workspace: &workspace,
        env: &env,
        programs: &programs,
        shell: Shell::Bash,
        decide: &decide,
        search: None,
        contained: false,
    };
    let given: Vec<String> = std::env::args().skip(1).collect();
    let commands: Box<dyn Iterator<Item = io::Result<String>>> = if given.is_empty() {
        Box::new(io::stdin().lock().lines())
    } else {
        Box::new(given.into_iter().map(Ok))
    };
    let mut out = io::stdout().lock();
    for command in commands {
        let command = command?;
        let verdict = judge(&command, &situation);
        writeln!(out, "{} ({}): {command}", verdict.decision.as_str(), verdict.class.as_str())?;
        for reason in &verdict.reasons {
            writeln!(out, "  {}: {}", reason.decision.as_str(), reason.text)?;
        }
        for part in &verdict.parts {
            show(&mut out, part, 1)?;
        }
    }
    Ok(())
}

fn show(out: &mut impl io::Write, part: &Part, depth: usize) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    writeln!(out, "{indent}{} ({}): {}", part.decision.as_str(), part.class.as_str(), part.text)?;
    for reason in &part.reasons {
        writeln!(out, "{indent}  {}: {}", reason.decision.as_str(), reason.text)?;
    }
    part.parts.iter().try_for_each(|part| show(out, part, depth + 1))
}

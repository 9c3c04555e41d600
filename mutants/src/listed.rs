//! The mutants that cargo-mutants lists.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// One change, and where it belongs.
pub(crate) struct Mutant {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) genre: String,
    /// True if the function returns an opaque type (`impl Trait`): all returned values must then be of one type.
    pub(crate) is_opaque: bool,
    pub(crate) replacement: String,
    /// Lines and columns from 1, columns in characters; the end is behind the last one.
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
    pub(crate) name: String,
}

impl Mutant {
    /// The same in two lists made of slightly different sources: no line in it.
    pub(crate) fn key(&self) -> String {
        let what = self.name.split_once(": ").map_or(self.name.as_str(), |(_, what)| what);
        format!("{}\t{}:{}\t{what}", self.file, self.start.0, self.start.1)
    }
}

/// Asks cargo-mutants, which is run in `workspace`.
pub(crate) fn mutants(workspace: &Path, package: &str, files: &[String]) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new("cargo");
    command.current_dir(workspace).args(["mutants", "--list", "--json", "--package", package]);
    for file in files {
        command.args(["--file", file]);
    }
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo mutants: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let list: Vec<Value> =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo mutants: {error}"))?;
    list.iter().map(|value| mutant(value).ok_or_else(|| format!("not understood: {value}"))).collect()
}

fn mutant(value: &Value) -> Option<Mutant> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let place = |at: &Value| {
        Some((usize::try_from(at["line"].as_u64()?).ok()?, usize::try_from(at["column"].as_u64()?).ok()?))
    };
    Some(Mutant {
        file: text(&value["file"])?,
        function: text(&value["function"]["function_name"]).unwrap_or_default(),
        genre: text(&value["genre"])?,
        is_opaque: value["function"]["return_type"].as_str().is_some_and(|returned| returned.contains("impl ")),
        replacement: text(&value["replacement"])?,
        start: place(&value["span"]["start"])?,
        end: place(&value["span"]["end"])?,
        name: text(&value["name"])?,
    })
}

//! The build with all mutants in it: what the compiler refuses is left out, until it takes the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::listed::Mutant;
use crate::switched::{Switched, switched};

/// The switch, as a module of the crate: `MUTANT` is the number of the one that is on. With `MUTANT_SEEN`, which names a
/// file, the numbers of those that are come to are written there.
const SWITCH: &str = r#"
#[doc(hidden)]
pub mod mutant_switch {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static ON: OnceLock<usize> = OnceLock::new();
    static LOOKS: OnceLock<Option<String>> = OnceLock::new();
    static SEEN: [AtomicBool; 65536] = [const { AtomicBool::new(false) }; 65536];

    pub fn is(id: usize) -> bool {
        let looks = LOOKS.get_or_init(|| std::env::var("MUTANT_SEEN").ok());
        if let Some(path) = looks
            && !SEEN[id].swap(true, Ordering::Relaxed)
        {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.and_then(|mut file| file.write_all(format!("{id}\n").as_bytes())).expect("MUTANT_SEEN can be written");
        }
        *ON.get_or_init(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(usize::MAX)) == id
    }
}
"#;

/// A test program, and the mutants that are in it.
pub(crate) struct Built {
    pub(crate) programs: Vec<PathBuf>,
    pub(crate) unviable: BTreeSet<usize>,
    /// Those that have no place for a switch, or are around what has none.
    pub(crate) homeless: BTreeSet<usize>,
}

/// Makes the build of `package`, in `folder` of the copy `tree`.
pub(crate) fn built(tree: &Path, package: &str, root: &str, mutants: &[Mutant]) -> Result<Built, String> {
    let mut originals = BTreeMap::new();
    for file in mutants.iter().map(|mutant| mutant.file.as_str()).chain([root]) {
        let text = fs::read_to_string(tree.join(file)).map_err(|error| format!("{file}: {error}"))?;
        originals.insert(file, text);
    }
    let mut built = Built { programs: Vec::new(), unviable: BTreeSet::new(), homeless: BTreeSet::new() };
    for round in 1.. {
        let mut files: BTreeMap<&str, Switched> = BTreeMap::new();
        for (file, source) in &originals {
            let wanted: Vec<_> = mutants
                .iter()
                .enumerate()
                .filter(|(id, mutant)| {
                    mutant.file == *file && !built.unviable.contains(id) && !built.homeless.contains(id)
                })
                .collect();
            let mut made = switched(source, &wanted).map_err(|error| format!("{file}: {error}"))?;
            built.homeless.extend(made.homeless.iter().copied());
            if *file == root {
                made.text.push_str(SWITCH);
            }
            fs::write(tree.join(file), &made.text).map_err(|error| format!("{file}: {error}"))?;
            files.insert(file, made);
        }
        let (programs, errors) = compile(tree, package)?;
        eprintln!("build {round}: {} errors", errors.len());
        if errors.is_empty() {
            built.programs = programs;
            return Ok(built);
        }
        let before = built.unviable.len() + built.homeless.len();
        for (file, from, to) in &errors {
            let Some(made) = files.get(file.as_str()) else { continue };
            let own: Vec<usize> = made
                .own
                .iter()
                .filter(|(_, range)| range.start <= *from && *from <= range.end || *from <= range.start && range.end <= *to)
                .map(|(id, _)| *id)
                .collect();
            if own.is_empty() {
                let around = made.places.iter().filter(|(range, _)| range.start <= *from && *to <= range.end);
                if let Some((_, ids)) = around.min_by_key(|(range, _)| range.len()) {
                    built.homeless.extend(ids);
                }
            }
            built.unviable.extend(own);
        }
        if built.unviable.len() + built.homeless.len() == before {
            return Err(format!("the build fails outside of all mutants: {errors:?}"));
        }
    }
    unreachable!("the rounds do not end")
}

type Error = (String, usize, usize);

fn compile(tree: &Path, package: &str) -> Result<(Vec<PathBuf>, Vec<Error>), String> {
    let output = Command::new("cargo")
        .current_dir(tree)
        .args(["test", "--package", package, "--all-features", "--lib", "--tests", "--no-run", "--message-format=json"])
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        .env("RUSTFLAGS", "--cap-lints allow")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let mut programs = Vec::new();
    let mut errors = Vec::new();
    for line in output.stdout.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        if let Some(program) = message["executable"].as_str() {
            programs.push(PathBuf::from(program));
        }
        if message["message"]["level"] == "error" {
            for span in message["message"]["spans"].as_array().into_iter().flatten() {
                let (Some(file), Some(from), Some(to)) =
                    (span["file_name"].as_str(), span["byte_start"].as_u64(), span["byte_end"].as_u64())
                else {
                    continue;
                };
                if span["is_primary"] == true {
                    let bytes = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
                    errors.push((file.to_owned(), bytes(from), bytes(to)));
                }
            }
        }
    }
    if errors.is_empty() && !output.status.success() {
        return Err("the build fails, and the compiler names no place".to_owned());
    }
    Ok((programs, errors))
}

//! Compiles all mutants of a crate that cargo-mutants lists into one build, each behind a switch, and runs the crate's tests
//! against each. Run it from the root of the repository:
//!
//! ```sh
//! cargo run --manifest-path mutants/Cargo.toml -- [--again survived] [--within SECONDS] PACKAGE FOLDER [FILE ...]
//! ```
//!
//! `FOLDER` gets a copy of the committed files with the build, and `outcomes.tsv`, a line a mutant. What stands there already
//! is not tried again, except with `--again survived`. Tests that take longer than `--within` so many seconds are left out. FILEs, as in `shell-verdict/src/git.rs`, are those whose mutants are
//! tried; all of the package's else. The package stands in the folder of its name.

mod built;
mod listed;
mod switched;
mod table;
mod tried;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use tried::Outcome;

fn main() -> ExitCode {
    let mut again = false;
    let mut within = f64::INFINITY;
    let mut words = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--again" {
            again = args.next().is_some_and(|what| what == "survived");
        } else if arg == "--within" {
            within = args.next().and_then(|seconds| seconds.parse().ok()).unwrap_or(within);
        } else {
            words.push(arg);
        }
    }
    let [package, folder, files @ ..] = words.as_slice() else {
        eprintln!("usage: mutants [--again survived] [--within SECONDS] PACKAGE FOLDER [FILE ...]");
        return ExitCode::from(2);
    };
    match run(package, Path::new(folder), files, again, within) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(package: &str, folder: &Path, files: &[String], again: bool, within: f64) -> Result<(), String> {
    let tree = folder.join("tree");
    copy(&tree)?;
    let tree = tree.canonicalize().map_err(|error| error.to_string())?;
    let source = format!("{package}/src/**");
    let listed = listed::mutants(&tree, package, if files.is_empty() { std::slice::from_ref(&source) } else { files })?;
    eprintln!("{} mutants", listed.len());
    let built = built::built(&tree, package, &format!("{package}/src/lib.rs"), &listed)?;
    eprintln!("{} unviable, {} without a place", built.unviable.len(), built.homeless.len());

    let record = folder.join("outcomes.tsv");
    let mut known = read(&record);
    known.retain(|_, outcome| !(again && outcome == "survived") && outcome != "no place");
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    let mut left = Vec::new();
    for (id, mutant) in listed.iter().enumerate() {
        let key = mutant.key();
        if built.unviable.contains(&id) {
            lines.insert(key, "unviable".to_owned());
        } else if built.homeless.contains(&id) {
            lines.insert(key, "no place".to_owned());
        } else if let Some(outcome) = known.get(&key) {
            lines.insert(key, outcome.clone());
        } else {
            left.push(id);
        }
    }
    let mut file = fs::File::create(&record).map_err(|error| error.to_string())?;
    for (key, outcome) in &lines {
        writeln!(file, "{key}\t{outcome}").map_err(|error| error.to_string())?;
    }
    let package_folder = tree.join(package);
    let tests = tried::tests(&package_folder, &built.programs, folder, within)?;
    eprintln!("{} tests; {} mutants to try", tests.len(), left.len());
    // Some tests wait more than they work.
    let threads = 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let file = Mutex::new((file, 0_usize));
    tried::tried(&package_folder, &tests, &left, threads, &|id, outcome| {
        let outcome = match outcome {
            Outcome::Caught(_) => "caught",
            Outcome::TimedOut(_) => "timed out",
            Outcome::Survived => "survived",
        };
        if let Ok(mut file) = file.lock() {
            let _ = writeln!(file.0, "{}\t{outcome}", listed[id].key());
            file.1 += 1;
            if file.1.is_multiple_of(100) {
                eprintln!("{} tried", file.1);
            }
        }
    });
    print!("{}", table::table(package, &listed, &read(&record)));
    Ok(())
}

/// The committed files as they are, in a folder of their own whose build is kept.
fn copy(tree: &PathBuf) -> Result<(), String> {
    fs::create_dir_all(tree).map_err(|error| error.to_string())?;
    let script = r#"git ls-files -z | xargs -0 cp --parents --preserve=timestamps --target-directory="$0""#;
    let status = Command::new("sh").args(["-c", script]).arg(tree).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("the files cannot be copied".to_owned()) }
}

fn read(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.rsplit_once('\t')).map(|(key, outcome)| (key.to_owned(), outcome.to_owned())).collect()
}

/// The files of the list, in its order.
pub(crate) fn files(mutants: &[listed::Mutant]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    mutants.iter().map(|mutant| mutant.file.as_str()).filter(|file| seen.insert(*file)).collect()
}

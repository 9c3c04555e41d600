//! The scripts that a script names: modules that it imports, and files that it runs.

use super::{is_local, plain};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Extensions of scripts and modules.
const CODE: &[&str] = &[
    "bash", "cjs", "cts", "fish", "jar", "js", "jsx", "lua", "mjs", "mts", "php", "pl", "pm", "ps1", "py",
    "pyc", "pyw", "r", "rb", "sh", "so", "ts", "tsx", "wasm", "zsh",
];
/// Files that make a directory a module.
const MODULE_FILES: &[&str] =
    &["__init__.py", "index.js", "index.mjs", "index.cjs", "index.ts", "package.json"];
/// Maximum number of scripts of one server that are searched for names.
const MAX_SCRIPTS: usize = 500;
/// Maximum number of directories that the names in one script are looked for in.
const MAX_BASES: usize = 16;
/// Maximum number of bytes of a script that are searched.
const MAX_BYTES: u64 = 512 << 10;

/// Returns true for the extension of a script or a module.
pub(super) fn is_code(extension: &OsStr) -> bool {
    CODE.iter().any(|code| extension.eq_ignore_ascii_case(code))
}

/// Adds the scripts that local scripts name, and those that these name, for up to 500 scripts.
pub(super) fn add(found: &mut BTreeSet<PathBuf>, directory: &Path, workspace: &Path) {
    let mut waiting: Vec<PathBuf> = found.iter().cloned().collect();
    let mut searched = 0;
    while let Some(script) = waiting.pop() {
        if !is_local(&script, directory, workspace) || searched == MAX_SCRIPTS {
            continue;
        }
        let Some(text) = text(&script) else { continue };
        searched += 1;
        let beside = script.parent().unwrap_or(directory);
        for named in of_text(&text, beside, directory) {
            let is_known = found.iter().any(|known| named.starts_with(known));
            if !is_known && is_local(&named, directory, workspace) && !workspace.starts_with(&named) {
                found.insert(named.clone());
                waiting.push(named);
            }
        }
    }
}

/// Returns the scripts and directories of code that a text names, beside it, in the working directory, or in a directory that it changes to.
pub(super) fn of_text(text: &str, beside: &Path, directory: &Path) -> BTreeSet<PathBuf> {
    let mut named = BTreeSet::new();
    let mut bases = vec![beside.to_owned(), directory.to_owned()];
    for line in text.lines() {
        if is_import_of_python(line) {
            for module in words(line).filter(|word| !word.contains('/')) {
                add_module(&mut named, module, beside);
            }
        }
        if changes_directory(line) {
            let below: Vec<PathBuf> = words(line)
                .flat_map(|word| bases.iter().map(move |base| plain(&base.join(word))))
                .filter(|path| path.is_dir() && !bases.contains(path))
                .collect();
            bases.extend(below);
            bases.truncate(MAX_BASES);
        }
        for word in words(line).filter(|word| word.contains(['/', '.'])) {
            for base in &bases {
                add_path(&mut named, word, base);
            }
        }
    }
    named
}

fn changes_directory(line: &str) -> bool {
    words(line)
        .any(|word| matches!(word, "cd" | "chdir" | "os.chdir" | "process.chdir" | "Dir.chdir" | "pushd"))
}

fn is_import_of_python(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("import ")
        || line.starts_with("from ")
        || line.contains("import_module(")
        || line.contains("__import__(")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|sign: char| !(sign.is_alphanumeric() || "_./-+@~".contains(sign)))
        .filter(|word| !word.is_empty())
}

/// Adds a module of Python: `import helper`, `from tools.helper import run`.
fn add_module(named: &mut BTreeSet<PathBuf>, module: &str, beside: &Path) {
    let module = module.trim_start_matches('.');
    let Some(first) = module.split('.').next().filter(|first| !first.is_empty()) else { return };
    let directory = beside.join(first);
    if directory.is_dir() && holds_module(&directory, module) {
        named.insert(directory);
    }
    let file = beside.join(format!("{first}.py"));
    if file.is_file() {
        named.insert(file);
    }
}

/// Returns true if a directory is a package, or has the part of it that is named.
fn holds_module(directory: &Path, module: &str) -> bool {
    let below = module.split('.').skip(1).collect::<Vec<_>>().join("/");
    directory.join("__init__.py").is_file()
        || !below.is_empty()
            && (directory.join(format!("{below}.py")).is_file() || directory.join(&below).is_dir())
}

/// Maximum number of directories in a path of a script.
const DEEPEST: usize = 8;

/// Adds a script by its path: `./lib/helper`, `tools/run.sh`, `helper.py`, `$HERE/lib/part.sh`.
fn add_path(named: &mut BTreeSet<PathBuf>, word: &str, base: &Path) {
    let word = word.trim_end_matches('.');
    // The beginning may be a variable.
    let rests = word.match_indices('/').map(|(at, _)| &word[at + 1..]).take(DEEPEST);
    for rest in std::iter::once(word).chain(rests).filter(|rest| !rest.is_empty()) {
        let path = plain(&base.join(rest));
        if path.is_file() {
            if path.extension().is_some_and(is_code) || is_program(&path) {
                named.insert(path);
            }
            return;
        }
    }
    let path = plain(&base.join(word));
    // Modules of JavaScript are named without extension, but with a path.
    if !word.starts_with("./") && !word.starts_with("../") {
        return;
    }
    named.extend(with_extension(&path));
    if MODULE_FILES.iter().any(|file| path.join(file).is_file()) {
        named.insert(path);
    }
}

/// Returns the scripts and modules that a path without its extension may name.
pub(super) fn with_extension(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let files = name
        .into_iter()
        .flat_map(move |name| CODE.iter().map(move |code| format!("{name}.{code}")).collect::<Vec<_>>());
    let path = path.to_owned();
    files.map(move |file| path.with_file_name(file)).filter(|path| path.is_file())
}

/// Returns true for a file that can be executed.
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the text of a script, or `None` if it is none.
fn text(path: &Path) -> Option<String> {
    // Opening a pipe would wait for a writer.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

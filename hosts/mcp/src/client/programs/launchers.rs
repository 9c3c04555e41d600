//! Knowledge of programs that run other programs: which of their arguments name code, and which files of the working directory they run.

use std::path::Path;

/// Options whose value is a file or a directory of code, in any program.
const CODE_OPTIONS: &[&str] = &[
    "-C",
    "-I",
    "-L",
    "-P",
    "-classpath",
    "-cp",
    "-f",
    "-p",
    "-r",
    "--app-dir",
    "--class-path",
    "--classpath",
    "--cwd",
    "--directory",
    "--editable",
    "--experimental-loader",
    "--extension-dir",
    "--extensions",
    "--file",
    "--from",
    "--import",
    "--import-map",
    "--justfile",
    "--loader",
    "--makefile",
    "--manifest-path",
    "--module-path",
    "--package",
    "--plugin",
    "--plugin-dir",
    "--plugins",
    "--prefix",
    "--preload",
    "--project",
    "--require",
    "--script",
    "--scripts",
    "--with",
    "--with-editable",
    "--working-directory",
];
/// Programs of which the first path among the arguments is code: a script, or a directory of one.
const RUNNERS: &[&str] = &[
    "ash", "bash", "bun", "cargo", "dash", "deno", "dotnet", "env", "fish", "go", "java", "ksh", "lua",
    "luajit", "node", "nodejs", "nohup", "npm", "perl", "php", "pnpm", "poetry", "pwsh", "pypy", "python",
    "Rscript", "ruby", "sh", "sudo", "timeout", "ts-node", "tsx", "uv", "yarn", "zsh",
];
/// Programs of which the first word among the arguments is a package, as `npx` takes it: what follows are arguments of the package.
const PACKAGE_RUNNERS: &[&str] = &["bunx", "npx", "pipx", "uvx"];
/// The files of the working directory that a launcher runs or obeys.
const MANIFESTS: &[(&[&str], &[&str])] = &[
    (
        &["npm", "npx", "pnpm", "yarn", "bun", "bunx"],
        &["package.json", ".npmrc", ".yarnrc.yml", "bunfig.toml"],
    ),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["uv", "uvx", "poetry", "pdm", "hatch", "pipenv"], &["pyproject.toml", "uv.toml", "Pipfile"]),
    (&["cargo"], &["Cargo.toml", "build.rs", "src"]),
    (
        &["docker", "docker-compose", "podman"],
        &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile"],
    ),
];

/// Returns true if the value of an option is code.
pub(super) fn is_code_option(option: &str) -> bool {
    CODE_OPTIONS.contains(&option)
}

/// The argument of a program that is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// The first path.
    FirstPath,
    /// The first word that is no option, if it is a path.
    FirstWord,
    /// No argument, as far as is known.
    Nothing,
}

/// Returns which argument of a program is code.
pub(super) fn runs(command: &str) -> Runs {
    let name = name(command);
    // `python3.12`
    let plain = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    if PACKAGE_RUNNERS.contains(&name) {
        Runs::FirstWord
    } else if RUNNERS.contains(&name) || RUNNERS.contains(&plain) {
        Runs::FirstPath
    } else {
        Runs::Nothing
    }
}

/// Returns true if a program finds a script or a module by its name without the extension.
pub(super) fn completes_names(command: &str) -> bool {
    ["bun", "deno", "lua", "luajit", "node", "nodejs", "ruby", "ts-node", "tsx"].contains(&name(command))
}

/// Returns true if a program runs the module of Python that the option `-m` names.
pub(super) fn runs_modules(command: &str) -> bool {
    let name = name(command);
    name == "uv" || ["python", "pypy"].iter().any(|python| name.starts_with(python))
}

/// Returns the names of the files and directories of the working directory that the launchers among the words run.
pub(super) fn manifests<'a>(command: &'a str, args: &'a [String]) -> impl Iterator<Item = &'static str> + 'a {
    // A launcher may stand behind another: `env npm start`, `sh -c 'make serve'`.
    let words =
        std::iter::once(command).chain(args.iter().map(String::as_str)).flat_map(str::split_whitespace);
    let of = |word| MANIFESTS.iter().filter(move |(launchers, _)| launchers.contains(&name(word)));
    words.flat_map(of).flat_map(|(_, files)| files.iter().copied())
}

fn name(command: &str) -> &str {
    Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or(command)
}

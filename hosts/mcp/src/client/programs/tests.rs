use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A workspace with these files; a name that ends with `!` is executable.
fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name.trim_end_matches('!'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if name.ends_with('!') {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    directory
}

fn command(line: &str) -> McpCommand {
    let mut words = line.split_whitespace().map(str::to_owned);
    let command = words.next().unwrap();
    serde_json::from_value(serde_json::json!({ "command": command, "args": words.collect::<Vec<_>>() }))
        .unwrap()
}

/// Returns the programs of a command relative to the workspace; those elsewhere are left out.
fn found(command: &McpCommand, workspace: &Path) -> Vec<String> {
    let real = workspace.canonicalize().unwrap();
    let within = programs(command, workspace)
        .into_iter()
        .filter_map(|path| Some(path.strip_prefix(&real).ok()?.to_owned()));
    within.map(|path| path.display().to_string()).collect()
}

#[test]
fn each_way_to_name_a_program_or_script_is_found() {
    let place = workspace(&[
        ("server.py", "print()"),
        ("tracker.sh", "echo"),
        ("hook.mjs", ""),
        ("settings.json", "{}"),
        ("data.sqlite", ""),
        ("package.json", r#"{"scripts": {"start": "node lib/start.js"}}"#),
        ("lib/start.js", ""),
        ("app/main.py", ""),
        ("app/pyproject.toml", ""),
        ("pkg/__main__.py", ""),
        ("docs/readme.md", ""),
    ]);
    let root = place.path().display().to_string();
    for (line, expected) in [
        ("python3 server.py", &["server.py"][..]),
        ("python3.12 -u ./server.py", &["server.py"]),
        ("python3 ROOT/server.py", &["server.py"]),
        ("python3 later.py", &["later.py"]),
        ("./tracker.sh", &["tracker.sh"]),
        ("./later", &["later"]),
        ("ROOT/tracker.sh", &["tracker.sh"]),
        ("../ROOT/tracker.sh --x", &[]),
        ("server --config=settings.json", &["settings.json"]),
        ("server settings.json", &["settings.json"]),
        ("server -rhook.mjs", &["hook.mjs"]),
        ("node -r ./hook.mjs lib/start.js", &["hook.mjs", "lib/start.js"]),
        ("node --import ./hook.mjs lib/start.js", &["hook.mjs", "lib/start.js"]),
        ("node --import=file://ROOT/hook.mjs x.js", &["hook.mjs", "x.js"]),
        ("uv --directory app run main.py", &["app"]),
        ("uv --directory=ROOT run server.py", &["server.py"]),
        ("uv run --project=app server", &["app"]),
        ("uvx --from ./app tool", &["app"]),
        ("python3 -m pkg", &["pkg"]),
        ("python3 -m server", &["server.py"]),
        ("uv run python -m pkg.sub", &["pkg"]),
        ("server -m pkg", &[]),
        ("python3 app", &["app"]),
        ("npm start", &["lib/start.js", "package.json"]),
        // Data, and the workspace as a whole.
        ("server --db data.sqlite docs", &[]),
        ("npx -y @modelcontextprotocol/server-filesystem docs ROOT .", &["lib/start.js", "package.json"]),
        ("node .", &["lib/start.js", "package.json"]),
    ] {
        let words = command(&line.replace("ROOT", &root));
        assert_eq!(found(&words, place.path()), expected, "{line}");
    }
}

#[test]
fn scripts_that_a_script_names_are_found() {
    let place = workspace(&[
        (
            "server.py",
            "import os\nfrom helper import run\nfrom tools.more import x\nimport deep.inside as d\n",
        ),
        ("helper.py", "import subprocess\nsubprocess.run(['./run.sh'])\n"),
        ("run.sh", ". ./lib.sh\nexec python3 \"$HERE/last.py\"\n"),
        ("lib.sh", ""),
        ("last.py", ""),
        ("tools/more.py", ""),
        ("tools/__init__.py", ""),
        ("deep/inside.py", ""),
        ("os.txt", ""),
        ("unrelated.py", ""),
        ("main.mjs", "import { a } from './part'\nconst b = require(\"./module\")\n"),
        ("part.js", ""),
        ("module/index.js", ""),
    ]);
    assert_eq!(
        found(&command("python3 server.py"), place.path()),
        ["deep", "helper.py", "last.py", "lib.sh", "run.sh", "server.py", "tools"]
    );
    assert_eq!(found(&command("node main.mjs"), place.path()), ["main.mjs", "module", "part.js"]);
    let shell = serde_json::json!({ "command": "sh", "args": ["-c", "cd . && python3 last.py"] });
    assert_eq!(found(&serde_json::from_value(shell).unwrap(), place.path()), ["last.py"]);
}

#[test]
fn a_script_is_found_however_a_command_writes_its_name() {
    let place = workspace(&[
        ("srv.js", ""),
        ("srv.py", "app = 1\n"),
        ("app/__init__.py", ""),
        ("app/main.py", ""),
        ("lib/x.rb", ""),
        ("lib/x.jar", ""),
        ("classes/Main.class", ""),
        ("sub/Cargo.toml", ""),
        ("sub/src/main.rs", ""),
        ("sub/build.rs", ""),
        ("sub/server.py", ""),
        ("sub/deep/more.py", ""),
        ("run.sh!", "cd sub\ncd deep && exec python3 more.py\n"),
        ("start.py", "import os\nos.chdir('sub')\nexec(open('server.py').read())\n"),
    ]);
    for (line, expected) in [
        ("node srv", &["srv.js", "srv.py"][..]),
        ("node ./srv", &["srv", "srv.js", "srv.py"]),
        ("fastmcp run srv.py:app", &["srv.py"]),
        ("uvicorn app.main:api --port 8000", &["app"]),
        ("uvicorn host:8000", &[]),
        ("ruby -rlib/x srv.rb", &["lib/x.jar", "lib/x.rb", "srv.rb"]),
        ("java -cp classes:lib/x.jar Main", &["classes", "lib/x.jar"]),
        ("java -classpath=classes:lib/x.jar Main", &["classes", "lib/x.jar"]),
        ("cargo run --manifest-path sub/Cargo.toml", &["sub/Cargo.toml", "sub/build.rs", "sub/src"]),
        ("./run.sh", &["run.sh", "sub/deep/more.py"]),
        ("python3 start.py", &["start.py", "sub/server.py"]),
    ] {
        assert_eq!(found(&command(line), place.path()), expected, "{line}");
    }
    let shell = serde_json::json!({ "command": "bash", "args": ["-lc", "cd sub && python3 server.py"] });
    assert_eq!(found(&serde_json::from_value(shell).unwrap(), place.path()), ["sub/server.py"]);
    let modules = BTreeSet::from([PathBuf::from("/w/a.py"), PathBuf::from("/w/b.js")]);
    assert_eq!(compiled(&modules), [PathBuf::from("/w/__pycache__")]);
}

#[test]
fn directories_of_code_in_variables_are_found() {
    let place = workspace(&[("bin/tool!", ""), ("lib/a.py", ""), ("hook.js", "")]);
    let settings = serde_json::json!({
        "command": "tool",
        "env": {
            "PATH": format!("{}/bin:/usr/bin", place.path().display()),
            "PYTHONPATH": "lib",
            "NODE_OPTIONS": "--require ./hook.js",
            "DATA_PATH": "lib/a.py"
        }
    });
    assert_eq!(found(&serde_json::from_value(settings).unwrap(), place.path()), ["bin", "hook.js", "lib"]);
}

#[test]
fn the_working_directory_decides_about_relative_paths() {
    let place = workspace(&[("sub/server.py", ""), ("server.py", "")]);
    let settings = serde_json::json!({ "command": "python3", "args": ["server.py"], "cwd": "sub" });
    assert_eq!(found(&serde_json::from_value(settings).unwrap(), place.path()), ["sub/server.py"]);
}

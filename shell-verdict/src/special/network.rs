//! Programs that communicate with other machines, or describe the network of this one.

use crate::class::Class;
use crate::situation::{Access, Decision};
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

/// Maximum number of words at which another command is searched for.
const MAX_WORDS: usize = 64;

pub(super) fn network(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Network, format!("{base} {}", Class::Network.words()));
    let words: Vec<&str> = values.iter().filter_map(Value::text).collect();
    match base {
        "ssh" | "mosh" | "rsh" | "autossh" | "sshpass" => {
            elsewhere(base, &words, part);
            for (index, word) in words.iter().enumerate() {
                let folded = word.to_ascii_lowercase();
                if folded.contains("proxycommand") || folded.contains("localcommand") {
                    part.has(Class::Code, format!("{base} runs a command of an option"));
                    let after = word.split_once(['=', ' ']).map(|(_, after)| after);
                    let after = after.or_else(|| words.get(index + 1).copied());
                    crate::never::look(after.unwrap_or_default(), part);
                }
            }
        }
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => container(base, &words, part),
        "terraform" | "tofu" | "pulumi" if words.contains(&"destroy") => {
            part.is(Class::Dangerous, format!("{base} destroys what was built"));
        }
        _ => {}
    }
    for value in values {
        if let Some(file) = value
            .text()
            .and_then(|text| text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file)))
        {
            judge.path(&Value::Text(file.to_owned()), Access::Read, part);
        }
    }
    crate::never::hidden(values, part);
}

/// Build tools and package managers, with those of their commands that fetch or publish packages.
const PACKAGES: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn"],
        &[
            "install",
            "i",
            "in",
            "ci",
            "add",
            "update",
            "up",
            "upgrade",
            "publish",
            "unpublish",
            "deprecate",
            "undeprecate",
            "dist-tag",
            "access",
            "owner",
            "team",
            "org",
            "login",
            "logout",
            "adduser",
            "whoami",
            "token",
            "profile",
            "audit",
            "view",
            "info",
            "show",
            "search",
            "star",
            "unstar",
            "ping",
            "hook",
            "init",
            "create",
            "exec",
            "x",
            "dlx",
            "npm",
            "install-test",
            "it",
            "install-ci-test",
            "cit",
            "dedupe",
            "import",
            "self-update",
            "trust",
            "sbom",
        ],
    ),
    (
        &["cargo"],
        &[
            "publish", "yank", "owner", "login", "logout", "search", "install", "update", "fetch", "add",
            "info",
        ],
    ),
    (
        &["pip", "pip3", "uv", "poetry", "pdm", "hatch"],
        &[
            "install", "download", "wheel", "index", "search", "publish", "add", "sync", "update", "lock",
            "self", "tool", "upload",
        ],
    ),
    (&["go"], &["get", "install", "download"]),
    (
        &["gem"],
        &["push", "yank", "owner", "signin", "install", "update", "fetch", "search", "outdated", "info"],
    ),
    (&["bundle"], &["install", "update", "add", "outdated", "lock"]),
    (
        &["composer"],
        &["install", "update", "require", "create-project", "self-update", "search", "audit", "outdated"],
    ),
    (
        &["mix"],
        &[
            "deps.get",
            "deps.update",
            "local.hex",
            "archive.install",
            "hex.publish",
            "hex.owner",
            "hex.user",
            "hex.outdated",
        ],
    ),
    (&["rebar3"], &["hex", "get-deps", "upgrade", "update"]),
    (&["dotnet"], &["restore", "nuget", "add", "tool", "workload"]),
    (&["mvn", "mvnw"], &["deploy", "release:perform", "dependency:get"]),
    (&["gradle", "gradlew", "sbt", "lein"], &["publish", "publishSigned", "deploy", "deps"]),
    (&["rustup"], &["update", "install", "self"]),
    (&["cabal", "stack"], &["update", "upload", "install", "fetch", "get"]),
    (&["zig", "bazel", "buck2"], &["fetch"]),
    (&["pre-commit"], &["autoupdate", "install-hooks"]),
    (
        &["apt", "apt-get", "yum", "dnf", "apk", "brew", "snap", "flatpak"],
        &[
            "install",
            "reinstall",
            "update",
            "upgrade",
            "dist-upgrade",
            "full-upgrade",
            "download",
            "source",
            "build-dep",
            "add",
            "fetch",
            "refresh",
            "tap",
            "bundle",
        ],
    ),
];

/// Returns true if a program that builds or packs fetches packages with this command, or publishes one.
pub(super) fn fetches_or_publishes(base: &str, values: &[Value]) -> bool {
    let words: Vec<&str> = values.iter().map(|value| value.text().unwrap_or_default()).collect();
    match base {
        "npx" | "pnpx" | "bunx" | "uvx" | "pipx" => return !words.is_empty(),
        // Without arguments it installs.
        "yarn" if words.is_empty() => return true,
        "pacman" => return words.iter().any(|word| word.starts_with("-S") || word.starts_with("-U")),
        _ => {}
    }
    let commands =
        PACKAGES.iter().filter(|(names, _)| names.contains(&base)).flat_map(|(_, commands)| *commands);
    // The word after an option may be its value, and some commands have two words.
    let is_plain = words.first().is_some_and(|word| !word.starts_with('-') && !word.is_empty());
    let is_nested =
        matches!(words.first(), Some(&("pip" | "mod" | "workspace" | "workspaces" | "global" | "package")));
    let looked_at = if is_plain && !is_nested { &words[..1] } else { &words[..] };
    commands.into_iter().any(|command| looked_at.contains(command))
}

/// Warns of a forbidden command that another machine would run. If that is this machine, it is denied.
fn elsewhere(base: &str, words: &[&str], part: &mut Part) {
    let is_local = |word: &&str| {
        let host = word.strip_prefix("ssh://").unwrap_or(word);
        let host = host.rsplit('@').next().unwrap_or(host);
        matches!(host, "localhost" | "::1" | "0.0.0.0")
            || host.starts_with("127.")
            || host.starts_with("localhost:")
    };
    let never_runs = |words: &[&str]| {
        let mut trial = Part::new(0..0, "");
        crate::never::look(&words.join(" "), &mut trial);
        trial.decision == Decision::Deny
    };
    if words.iter().position(is_local).is_some_and(|at| never_runs(&words[at + 1..])) {
        part.is(Class::Forbidden, format!("{base} makes this machine run a program that is never run here"));
    } else if (1..words.len().min(MAX_WORDS)).any(|at| never_runs(&words[at..])) {
        part.has(
            Class::Dangerous,
            format!("{base} makes another machine run a program that is never run here"),
        );
    }
}

fn container(base: &str, words: &[&str], part: &mut Part) {
    let destroys = ["prune", "rm", "rmi", "delete", "drain", "kill", "down"];
    if words.iter().any(|word| destroys.contains(word)) {
        part.is(Class::Dangerous, format!("{base} deletes what it runs or keeps"));
    }
    let opens = words.iter().any(|word| {
        *word == "--privileged"
            || word.starts_with("/:")
            || word.contains("docker.sock")
            || matches!(*word, "--pid=host" | "--net=host" | "--network=host" | "--ipc=host")
            || word.starts_with("--volume=/:")
            || word.starts_with("-v/:")
            || word.contains("source=/,")
            || word.contains("src=/,")
    });
    if opens {
        part.is(Class::Dangerous, format!("{base} gets at the machine itself"));
    }
}

pub(super) fn ip(values: &[Value], part: &mut Part) {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else {
        return part.is(Class::Unknown, "ip gets a word that is not known before it runs");
    };
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    let options_are_known = words.iter().filter(|word| word.starts_with('-')).all(|word| {
        matches!(
            *word,
            "-4" | "-6"
                | "-s"
                | "-stats"
                | "-d"
                | "-details"
                | "-br"
                | "-brief"
                | "-j"
                | "-json"
                | "-p"
                | "-pretty"
                | "-o"
                | "-oneline"
                | "-c"
                | "-color"
                | "-h"
                | "-human"
                | "-V"
                | "-t"
                | "-0"
        )
    });
    let object = operands.next();
    let is_object = object.is_none_or(|object| {
        [
            "address",
            "link",
            "route",
            "neighbour",
            "neighbor",
            "rule",
            "maddress",
            "mroute",
            "tunnel",
            "netconf",
        ]
        .iter()
        .any(|known| known.starts_with(object))
    });
    let is_reading = operands
        .next()
        .is_none_or(|verb| matches!(*verb, "show" | "sh" | "list" | "ls" | "l" | "lst" | "get"));
    if !(options_are_known && is_object && is_reading) {
        part.is(Class::Unknown, "ip can change how the machine is connected");
    }
}

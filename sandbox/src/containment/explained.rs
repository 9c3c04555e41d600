//! Explanations of failures that the sandbox has probably caused.

use std::fmt;
use std::path::Path;

use super::{Containment, Part};
use crate::{Exit, Mode};

/// An explanation of a failure that the sandbox has probably caused. It displays as text for a model, without a full stop at the end,
/// so that the host can add what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The parts of the sandbox that may have done it, the likeliest first.
    pub parts: Vec<Part>,
    /// Description of what these parts do.
    pub text: String,
}

impl fmt::Display for Explained {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "this may be because the command ran in a sandbox: {}", self.text)
    }
}

const NO_NETWORK: &[&str] = &[
    "network is unreachable",
    "temporary failure in name resolution",
    "could not resolve host",
    "name or service not known",
    "getaddrinfo",
    "eai_again",
    "failed to connect",
    "connection error",
    "dial tcp",
    "dns error",
    "cannot assign requested address",
    "enetunreach",
];
/// Messages for a refused connection: with a loopback network of its own, a command does not reach servers of the machine.
const REFUSED: &[&str] = &["connection refused", "econnrefused", "connectionrefused"];
const NOT_PERMITTED: &[&str] = &["operation not permitted", "eperm"];
const DENIED: &[&str] = &["permission denied", "eacces"];
/// Texts that indicate a socket in the file system.
const SOCKET: &[&str] = &[".sock", "unix:", "unix socket", "unix domain socket", "dial unix"];
const SOCKETS: &str = "sockets in the file system can be connected to only if this very command has made them, not those of services such as \
                       Docker or of other commands";
const READ_ONLY: &[&str] = &["read-only file system", "erofs"];
/// Messages about a path that is a mount point, or about a move from one mount to another.
const MOUNTED: &[&str] = &[
    "device or resource busy",
    "ebusy",
    "invalid cross-device link",
    "cross-device link not permitted",
    "exdev",
];
const ABSENT: &[&str] = &[
    "no such file",
    "enoent",
    "not found",
    "does not exist",
    "connection refused",
    "econnrefused",
    "cannot connect",
    "could not connect",
    "can't connect",
    "could not open a connection",
];
/// The directories that a private tmp covers.
const COVERED: &[&str] = &["/tmp", "/var/tmp", "/run", "/var/run"];

impl Containment {
    /// Explains a failure from the end of the command's output; `None` if nothing there indicates the sandbox. For a command that
    /// succeeded, only messages that name a path protected by the sandbox count. `visible` are paths of `/tmp` or `/run` that the
    /// command sees, in addition to the writable ones. The explanation is a guess from the texts of system errors.
    pub fn explain(&self, output_tail: &str, exit: &Exit, visible: &[&Path]) -> Option<Explained> {
        let mode = self.mode?;
        let mut found = Found::default();
        for line in output_tail.lines() {
            found.look_at(&Line { text: line, lower: line.to_lowercase() }, self, visible);
        }
        let mut parts = Vec::new();
        let mut texts = Vec::new();
        let mut say = |part: Part, is_found: bool, text: String| {
            if is_found && self.holds(part) {
                parts.push(part);
                texts.push(text);
            }
        };
        let protected = "some paths of the workspace (such as .git) are protected: they can be neither changed, renamed nor replaced, \
                         and nothing is moved into or out of them but by copying";
        if exit.success() {
            say(Part::Protected, found.protected_path, protected.to_owned());
        } else {
            say(
                Part::Network,
                if self.loopback {
                    found.no_network || found.refused
                } else {
                    found.no_network || found.not_permitted
                },
                self.network_in_words().to_owned(),
            );
            say(Part::Sockets, found.socket, SOCKETS.to_owned());
            let denied = found.denied || found.not_permitted;
            say(Part::Files, found.read_only || denied, self.writable_in_words(mode));
            say(Part::Protected, found.mounted || found.protected_path, protected.to_owned());
            say(Part::Hidden, denied, "files that hold keys or credentials cannot be read".to_owned());
            say(
                Part::PrivateTmp,
                found.absent,
                "/tmp and /run are its own and were empty at its start, so files and sockets of other programs are not there"
                    .to_owned(),
            );
            say(
                Part::SystemCalls,
                found.not_permitted || found.not_implemented,
                "it runs without privileges: no mounting, tracing, changing of owners or setuid programs"
                    .to_owned(),
            );
        }
        (!parts.is_empty()).then(|| Explained { parts, text: texts.join("; ") })
    }

    fn network_in_words(&self) -> &'static str {
        if self.loopback {
            "it has no network: no host can be reached, and its localhost is private: only servers that this very \
             command has started can be reached, neither services of this machine nor servers of other commands"
        } else {
            "it has no network: no host can be reached, not even services of this machine on localhost"
        }
    }

    fn writable_in_words(&self, mode: Mode) -> String {
        let tmp = match &self.tmp {
            _ if self.holds(Part::PrivateTmp) => "a private /tmp".to_owned(),
            Some(path) => format!("its TMPDIR, `{}`", path.display()),
            None => String::new(),
        };
        match (mode, self.writable.as_slice()) {
            (Mode::WorkspaceWrite, paths @ [_, ..]) => {
                let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
                let tmp = if tmp.is_empty() { tmp } else { format!(" and in {tmp}") };
                let protected = if self.holds(Part::Protected) {
                    ", where some paths (such as .git) are read-only"
                } else {
                    ""
                };
                format!("files can be written only in {}{tmp}{protected}", paths.join(", "))
            }
            _ if tmp.is_empty() => "no file can be written".to_owned(),
            _ => format!("no file can be written but in {tmp}"),
        }
    }
}

/// The indications found in the lines of an output.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one kind of error that may be there or not")]
struct Found {
    no_network: bool,
    /// A refused connection to something other than a path that the sandbox covers.
    refused: bool,
    /// Connecting to a socket in the file system was denied.
    socket: bool,
    not_permitted: bool,
    denied: bool,
    read_only: bool,
    mounted: bool,
    /// A path that could be changed if files below it were not protected.
    protected_path: bool,
    absent: bool,
    not_implemented: bool,
}

struct Line<'a> {
    text: &'a str,
    lower: String,
}

impl Line<'_> {
    /// Returns true if the line ends with one of the texts, as a system error message does.
    fn ends_with(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.trim_end().ends_with(word))
    }

    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.contains(word))
    }

    /// Returns the words of the line that look like paths.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let is_between = |c: char| c.is_whitespace() || "'\"`‘’“”()[]{}<>,;=|".contains(c);
        self.text.split(is_between).filter_map(move |word| {
            let word = word.rsplit_once("://").map_or(word, |(_, path)| path);
            let word = word.trim_end_matches([':', '.', '!']);
            (word.contains('/') || word.starts_with('.')).then_some(word).filter(|word| !word.is_empty())
        })
    }
}

impl Found {
    fn look_at(&mut self, line: &Line<'_>, containment: &Containment, visible: &[&Path]) {
        self.no_network |= line.says(NO_NETWORK);
        self.not_permitted |= line.says(NOT_PERMITTED);
        self.denied |= line.says(DENIED);
        self.socket |= line.says(SOCKET) && (line.says(DENIED) || line.says(NOT_PERMITTED));
        self.read_only |= line.says(READ_ONLY);
        self.mounted |= line.says(MOUNTED);
        self.not_implemented |= line.says(&["function not implemented", "enosys"]);
        let may_change = |path: &Path| containment.writable.iter().any(|writable| path.starts_with(writable));
        if line.ends_with(READ_ONLY) || line.ends_with(MOUNTED) {
            self.protected_path |= line.paths().any(|path| {
                let path = Path::new(path);
                if path.is_absolute() { may_change(path) } else { !path.starts_with("..") }
            });
        }
        let is_covered = line.paths().map(Path::new).any(|path| {
            COVERED.iter().any(|covered| path.starts_with(covered))
                && !may_change(path)
                && !visible.iter().any(|visible| path.starts_with(visible))
        });
        self.absent |= is_covered && line.says(ABSENT);
        self.refused |= !is_covered && line.says(REFUSED);
        self.absent |= line.says(&[
            "cannot connect to the docker daemon",
            "ssh_auth_sock",
            "connection to your authentication agent",
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;
    use std::time::Duration;

    fn exit(code: i32) -> Exit {
        let (none, second) = (Duration::ZERO, Duration::from_secs(1));
        Exit { end: End::Code(code), duration: second, user: none, system: none, peak_memory: 0 }
    }

    #[test]
    fn a_localhost_of_its_own_is_told_of() {
        let with = |loopback: bool| Containment {
            mode: Some(Mode::WorkspaceWrite),
            held: Part::ALL.to_vec(),
            loopback,
            ..Containment::default()
        };
        for (tail, own, none) in [
            ("curl: (7) Failed to connect to localhost port 80: Connection refused", true, true),
            ("ConnectionRefusedError: [Errno 111] Connection refused", true, false),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", true, false),
            ("dial unix /run/docker.sock: connect: connection refused", false, false),
            ("chown: changing ownership of 'a': Operation not permitted", false, true),
        ] {
            for (loopback, expected) in [(true, own), (false, none)] {
                let found = with(loopback).explain(tail, &exit(1), &[]);
                let network = found.filter(|found| found.parts.contains(&Part::Network));
                assert_eq!(network.is_some(), expected, "{loopback} {tail}");
                let says =
                    network.is_none_or(|found| found.text.contains("its localhost is private") == loopback);
                assert!(says, "{loopback} {tail}");
            }
        }
    }

    #[test]
    fn what_looks_like_the_sandbox_is_named_and_nothing_else() {
        let containment = Containment {
            mode: Some(Mode::WorkspaceWrite),
            held: Part::ALL.to_vec(),
            writable: vec!["/tmp/site".into(), "/home/ada/site".into()],
            ..Containment::default()
        };
        let of = |code: i32, tail: &str| {
            let found = containment.explain(tail, &exit(code), &[Path::new("/run/seen")]);
            found.map(|found| found.parts).unwrap_or_default()
        };
        for (tail, expected) in [
            ("error in src/run/mod.rs:3", &[][..]),
            ("error: no such file src/tmp/x.rs", &[]),
            ("panicked at /tmp/site/src/x.rs:3:5", &[]),
            ("cat: /tmp/site/x: No such file or directory", &[]),
            ("cat: /run/seen/x: No such file or directory", &[]),
            ("the log is in /tmp/log", &[]),
            ("cat: a.txt: No such file or directory", &[]),
            ("ptrace.c:3: error: expected `;`", &[]),
            ("cat: /tmp/other: No such file or directory", &[Part::PrivateTmp]),
            ("cat: '/var/tmp/other': No such file or directory", &[Part::PrivateTmp]),
            ("open(\"/run/user/0/bus\") = -1 ENOENT", &[Part::PrivateTmp]),
            ("dial unix:///var/run/docker.sock: connect: no such file or directory", &[Part::PrivateTmp]),
            ("Cannot connect to the Docker daemon.", &[Part::PrivateTmp]),
            (
                "permission denied while trying to connect to unix:///home/ada/.docker/run/docker.sock",
                &[Part::Sockets, Part::Files, Part::Hidden],
            ),
            ("curl: (6) Could not resolve host: example.org", &[Part::Network]),
            (
                "PermissionError: [Errno 1] Operation not permitted",
                &[Part::Network, Part::Files, Part::Hidden, Part::SystemCalls],
            ),
            ("touch: cannot touch '/x': Read-only file system", &[Part::Files]),
            ("touch: cannot touch '.vscode/x': Read-only file system", &[Part::Files, Part::Protected]),
            ("error: could not write config file .git/config: Device or resource busy", &[Part::Protected]),
            ("OSError: [Errno 18] Invalid cross-device link: 'a' -> '.git/b'", &[Part::Protected]),
        ] {
            assert_eq!(of(1, tail), expected, "{tail}");
            assert_eq!(of(1, &format!("first\n{tail}\nlast\n")), expected, "{tail}");
            assert_eq!(Containment::default().explain(tail, &exit(1), &[]), None, "{tail}");
        }
        for (tail, expected) in [
            (
                "warning: unable to unlink '.vscode/s.json': Read-only file system\nSwitched",
                &[Part::Protected][..],
            ),
            ("error: could not write config file .git/config: Device or resource busy", &[Part::Protected]),
            ("rm: cannot remove '/tmp/site/.git/hooks': Device or resource busy", &[Part::Protected]),
            ("touch: cannot touch '/etc/x': Read-only file system", &[]),
            ("touch: cannot touch '../x': Read-only file system", &[]),
            ("umount: target is busy: Device or resource busy", &[]),
            ("cat: /tmp/other: No such file or directory", &[]),
            ("src/errors.rs:3: \"Read-only file system\",", &[]),
            ("Operation not permitted", &[]),
            ("Could not resolve host: example.org", &[]),
        ] {
            assert_eq!(of(0, tail), expected, "{tail}");
        }
    }
}

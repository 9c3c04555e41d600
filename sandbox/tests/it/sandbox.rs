//! The limits of a sandbox, tried from inside: as root and as a plain user.
#![allow(missing_docs, clippy::unwrap_used)]

mod attempts;
use crate::common;
mod network;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attempts::{LINES, PREPARE, READ_ONLY, WORKS};
use common::{Place, SUPERVISOR, finish, within};
use std::collections::BTreeSet;
use toolkit_sandbox::{Command, Conflict, Containment, Mode, Part, Process, Sandbox, Size, SpawnError};

/// Says that the test runs as a plain user, started by root.
const AGAIN: &str = "TOOLKIT_SANDBOX_TEST_AS_PLAIN_USER";

/// A workspace with what belongs to it, and what lies outside.
struct Yard {
    place: Place,
    workspace: PathBuf,
    outside: PathBuf,
    listener: std::net::TcpListener,
    /// Of the same port.
    datagrams: std::net::UdpSocket,
    abstract_name: String,
    /// In `/tmp`, outside and in the workspace.
    local: [std::os::unix::net::UnixListener; 3],
    _packets: std::os::fd::OwnedFd,
    local_datagrams: std::os::unix::net::UnixDatagram,
    _abstract: std::os::unix::net::UnixListener,
}

impl Yard {
    fn new() -> Self {
        use std::os::linux::net::SocketAddrExt as _;
        let place = Place::new();
        // Where a private /tmp covers it, the workspace must be seen all the same.
        let workspace = place.path().join("workspace");
        // And what is outside must be there to be protected: a place that nothing covers.
        let outside =
            tempfile::Builder::new().prefix("sandbox-outside-").tempdir_in(elsewhere()).unwrap().keep();
        for directory in
            [&workspace.join(".git/hooks"), &workspace.join("sub/deep/.git"), &outside.join("hidden/inner")]
        {
            std::fs::create_dir_all(directory).unwrap();
        }
        for (path, text) in [
            (workspace.join(".git/config"), "[core]\n"),
            (workspace.join("sub/deep/.git/config"), "[core]\n"),
            (workspace.join("file"), "mine\n"),
            (workspace.join("gitfile"), "gitdir: elsewhere\n"),
            (workspace.join(".env"), "TOKEN=secret\n"),
            (outside.join("file"), "outside\n"),
            (outside.join("hidden/key"), "key\n"),
            (outside.join("key"), "key\n"),
        ] {
            std::fs::write(path, text).unwrap();
        }
        let (listener, datagrams) = network::listening();
        let local = [place.path().join("socket"), outside.join("host.sock"), workspace.join("host.sock")];
        let local = local.map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
        for listener in &local {
            listener.set_nonblocking(true).unwrap();
        }
        let packets = network::packets(&workspace.join("packets.sock"));
        let local_datagrams =
            std::os::unix::net::UnixDatagram::bind(workspace.join("datagrams.sock")).unwrap();
        local_datagrams.set_nonblocking(true).unwrap();
        let abstract_name = place.marker.clone();
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let named = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        Self {
            place,
            workspace,
            outside,
            listener,
            datagrams,
            abstract_name,
            local,
            _packets: packets,
            local_datagrams,
            _abstract: named,
        }
    }

    fn sandbox(&self, mode: Mode) -> Sandbox {
        Sandbox::new(mode, &self.workspace)
            .with_protected(self.workspace.join(".git"))
            .with_protected(self.workspace.join("sub/deep/.git"))
            .with_protected(self.workspace.join("gitfile"))
            .with_protected(self.workspace.join(".missing/config"))
            .with_hidden(self.outside.join("hidden"))
            .with_hidden(self.outside.join("key"))
            .with_hidden(self.workspace.join(".env"))
            .required(true)
    }

    fn command(&self, script: &str, mode: Mode) -> Command {
        self.place
            .sh(script)
            .current_dir(&self.workspace)
            .env("WS", &self.workspace)
            .env("OUT", &self.outside)
            .env("SOCKET", self.place.path().join("socket"))
            .env("ABSTRACT", &self.abstract_name)
            .env("PORT", self.listener.local_addr().unwrap().port().to_string())
            .env("ADDRESS", network::address())
            .env("HOST", std::process::id().to_string())
            .env("HOME", &self.outside)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .sandbox(self.sandbox(mode))
    }

    /// All that is outside, and what is protected, as text.
    fn outside(&self) -> String {
        let mut all = String::new();
        for root in [&self.outside, &self.workspace.join(".git"), &self.workspace.join("sub/deep/.git")] {
            list(root, &mut all);
        }
        all
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.outside);
    }
}

/// A directory that no sandbox covers, and that this user can write to.
fn elsewhere() -> PathBuf {
    let candidates = [std::env::var(AGAIN).ok(), std::env::var("HOME").ok(), Some("/var/lib".to_owned())];
    let covered = |path: &Path| ["/tmp", "/var/tmp", "/run"].iter().any(|covered| path.starts_with(covered));
    candidates
        .into_iter()
        .flatten()
        .map(PathBuf::from)
        .find(|path| !covered(path) && tempfile::tempdir_in(path).is_ok())
        .expect("this test needs a directory to write to that is not in /tmp: set HOME to one")
}

fn list(path: &Path, all: &mut String) {
    use std::fmt::Write as _;
    let stat = std::fs::symlink_metadata(path).unwrap();
    let text = if stat.is_file() { std::fs::read_to_string(path).unwrap() } else { String::new() };
    writeln!(all, "{} {:o} {text:?}", path.display(), stat.permissions().mode()).unwrap();
    if stat.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            list(&entry, all);
        }
    }
}

async fn tried(yard: &Yard, script: &str, mode: Mode) -> (toolkit_sandbox::Exit, String) {
    std::fs::write(yard.place.output(), "").unwrap();
    let (job, exit) = finish(yard.command(script, mode)).await;
    assert!(job.containment().is_whole(), "{:?}", job.containment());
    within(5, job.stop(Duration::ZERO)).await;
    (exit, yard.place.text())
}

async fn everything_holds() {
    let yard = Yard::new();
    let before = yard.outside();
    for mode in [Mode::WorkspaceWrite, Mode::ReadOnly] {
        let mut wrong = Vec::new();
        for attempt in LINES.iter().flat_map(|line| line.attempts) {
            let script = attempt.script();
            let (exit, text) = tried(&yard, &script, mode).await;
            let told = attempt.says.iter().chain(if mode == Mode::ReadOnly { READ_ONLY } else { &[] });
            if exit.success() || !told.clone().any(|words| text.contains(words)) {
                wrong.push(format!("{mode:?}, {}: {:?}: {text}", attempt.what, exit.end));
            }
            assert_eq!(yard.outside(), before, "{mode:?}, {}: {text}", attempt.what);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    assert!(!yard.workspace.join(".missing").exists(), "a placeholder is left");
    let mut wrong = Vec::new();
    for (what, script) in WORKS {
        let (exit, text) = tried(&yard, script, Mode::WorkspaceWrite).await;
        if !exit.success() {
            wrong.push(format!("{what}: {:?}: {text}", exit.end));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // Without privileges, for good.
    let (_, text) = tried(
        &yard,
        "grep -E '^(Cap|NoNewPrivs|Seccomp:|Uid)' /proc/self/status; id -u",
        Mode::WorkspaceWrite,
    )
    .await;
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert!(text.contains(&format!("{name}:\t0000000000000000")), "{text}");
    }
    assert!(text.contains("NoNewPrivs:\t1") && text.contains("Seccomp:\t2"), "{text}");
    assert_eq!(text.lines().last(), Some(rustix::process::getuid().as_raw().to_string().as_str()));

    a_terminal_takes_no_stuffing(&yard, yard.sandbox(Mode::WorkspaceWrite)).await;
    nothing_survives(&yard, yard.sandbox(Mode::WorkspaceWrite)).await;
    network::nothing_came(&yard);
    network::each_has_a_loopback_of_its_own(&yard, yard.sandbox(Mode::WorkspaceWrite), "Connection refused")
        .await;
    network::it_can_be_let_in(&yard).await;
    network::local_sockets_with_the_network(&yard).await;
    network::nothing_came_locally(&yard);
    yard.place.nothing_left();
}

async fn a_terminal_takes_no_stuffing(yard: &Yard, sandbox: Sandbox) {
    std::fs::write(yard.place.output(), "").unwrap();
    let script = format!(
        "tty; test $(tty) != 'not a tty' || exit 9; python3 - <<'EOF'\n{PREPARE}fcntl.ioctl(1, termios.TIOCSTI, b'x')\nEOF"
    );
    let (_, exit) = finish(
        yard.command(&script, Mode::WorkspaceWrite).sandbox(sandbox).terminal(Size { rows: 24, columns: 80 }),
    )
    .await;
    let text = yard.place.text();
    assert!(exit.code() == Some(1) && text.contains("Operation not permitted"), "{exit:?}: {text}");
}

async fn nothing_survives(yard: &Yard, sandbox: Sandbox) {
    let script = "(setsid bash -c '(setsid sleep 1000 &) ; sleep 1001' &) ; (setsid nohup sleep 1002 &)";
    let job = yard.command(script, Mode::WorkspaceWrite).sandbox(sandbox).spawn().await.unwrap();
    within(5, job.exited()).await;
    // In their first moments they are still on the way.
    within(30, async {
        let is_daemon = |process: &&Process| process.command.starts_with("sleep 100");
        while job.processes().await.iter().filter(is_daemon).count() != 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    drop(job);
    yard.place.nothing_left();
}

/// The table of the documentation and what is tried are the same.
#[test]
fn the_documentation_says_what_is_tried() {
    let documentation = include_str!("../../src/lib.rs");
    let table = documentation.split("//! | tried from inside |").nth(1).unwrap();
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("//! | "));
    let said: BTreeSet<(&str, bool)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert_eq!(cells.len(), 3, "{row}");
            (cells[0], !cells[2].starts_with("**not held**"))
        })
        .collect();
    let tried: BTreeSet<(&str, bool)> = LINES.iter().map(|line| (line.tried, line.without_mounts)).collect();
    assert_eq!(said, tried);
}

/// Here as whoever runs the tests: as root, in the end.
#[tokio::test]
async fn what_is_tried_from_inside_is_held() {
    if std::env::var_os(AGAIN).is_some() {
        assert!(!rustix::process::geteuid().is_root());
    }
    let strength = toolkit_sandbox::probe();
    toolkit_sandbox::supervise_with(SUPERVISOR);
    assert!(
        toolkit_sandbox::probe().is_whole(),
        "this test needs a system that has all of: {:?}",
        toolkit_sandbox::probe()
    );
    assert!(!strength.has(toolkit_sandbox::Feature::Supervisor));
    everything_holds().await;
}

#[test]
fn what_is_tried_from_inside_by_a_plain_user_is_held() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this test needs root, to start the other one as a plain user; here that one was run as such already"
    );
    let copies = Path::new("/opt").join(format!("toolkit-sandbox-{}", std::process::id()));
    std::fs::create_dir_all(&copies).unwrap();
    std::fs::set_permissions(&copies, std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = std::process::Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::what_is_tried_from_inside_is_held", "--nocapture"])
        .env(AGAIN, &copies)
        .output()
        .expect("this test needs setpriv");
    let _ = std::fs::remove_dir_all(&copies);
    std::io::stderr().write_all(&output.stderr).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn what_does_not_fit_together_is_refused() {
    let yard = Yard::new();
    let sandbox = || Sandbox::new(Mode::WorkspaceWrite, &yard.workspace);
    for (sandbox, expected, says) in [
        (sandbox().with_hidden(yard.place.path()), Conflict::InHidden, ": the workspace path "),
        (sandbox().with_writable("/"), Conflict::RootWritable, "use the mode `full`"),
        (sandbox().with_writable("relative"), Conflict::NotAbsolute, ": `relative` is not an absolute path"),
        (sandbox().with_tmp("/no/such/tmp"), Conflict::NoTmp, "does not exist"),
        (Sandbox::new(Mode::ReadOnly, "/no/such/workspace"), Conflict::NoWorkspace, "does not exist"),
    ] {
        let error = yard.command("true", Mode::ReadOnly).sandbox(sandbox).spawn().await.unwrap_err();
        assert!(
            matches!(error, SpawnError::Contradiction { conflict, .. } if conflict == expected),
            "{error:?}"
        );
        assert!(error.to_string().contains(says), "{error}");
    }
    let noted = sandbox().with_writable(yard.outside.join("missing"));
    let (job, _) = finish(yard.command("true", Mode::ReadOnly).sandbox(noted)).await;
    assert!(job.containment().notes[0].contains("does not exist"), "{:?}", job.containment());
}

#[tokio::test]
async fn links_do_not_widen_what_can_be_written() {
    let yard = Yard::new();
    let before = yard.outside();
    std::os::unix::fs::symlink(&yard.outside, yard.workspace.join("cache")).unwrap();
    let sandbox = || yard.sandbox(Mode::WorkspaceWrite);
    let command = || yard.command("echo x > cache/new", Mode::ReadOnly);
    let (job, exit) = finish(command().sandbox(sandbox().with_writable(yard.workspace.join("cache")))).await;
    assert!(!exit.success(), "{}", yard.place.text());
    assert!(job.containment().notes[0].contains("leads out"), "{:?}", job.containment());
    assert_eq!(yard.outside(), before);
    // Where both are named it is meant.
    let both = sandbox().with_writable(yard.workspace.join("cache")).with_writable(&yard.outside);
    let (_, exit) = finish(command().sandbox(both)).await;
    assert!(exit.success(), "{}", yard.place.text());

    let link = sandbox().with_protected(yard.workspace.join("cache"));
    let error = command().sandbox(link.clone()).spawn().await.unwrap_err().to_string();
    assert!(error.contains("is a symbolic link, which can be replaced"), "{error}");
    let job = command().sandbox(link.required(false)).spawn().await.unwrap();
    assert!(!job.containment().holds(Part::Protected) && !job.containment().is_whole());
}

#[tokio::test]
async fn a_tmp_that_is_given_is_kept() {
    let yard = Yard::new();
    let tmp = yard.outside.join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let sandbox = || yard.sandbox(Mode::WorkspaceWrite).with_tmp(&tmp);
    let (_, exit) = finish(yard.command("echo one > /tmp/left", Mode::ReadOnly).sandbox(sandbox())).await;
    assert!(exit.success(), "{}", yard.place.text());
    let (_, exit) =
        finish(yard.command("cat /tmp/left /var/tmp/left; cat file", Mode::ReadOnly).sandbox(sandbox()))
            .await;
    assert!(exit.success(), "{}", yard.place.text());
    assert_eq!(yard.place.text(), "one\none\nmine\n");
    // By that name, and not by the one that it has outside.
    let command = yard.command("echo x > $OUT/tmp/direct", Mode::ReadOnly).sandbox(sandbox());
    let (job, exit) = finish(command).await;
    assert!(!exit.success());
    assert_eq!(job.containment().tmp.as_deref(), Some(Path::new("/tmp")));
    let (job, _) = finish(yard.command("true", Mode::ReadOnly)).await;
    assert_eq!(job.containment().tmp.as_deref(), Some(Path::new("/tmp")));
    let open = Sandbox::new(Mode::WorkspaceWrite, &yard.workspace).with_private_tmp(false);
    let (job, _) = finish(yard.command("true", Mode::ReadOnly).sandbox(open)).await;
    assert_eq!(job.containment().tmp, None);
}

#[tokio::test]
async fn a_placeholder_is_shared_and_goes_with_the_last() {
    let yard = Yard::new();
    let long = yard.command("sleep 1000", Mode::WorkspaceWrite).spawn().await.unwrap();
    assert!(yard.workspace.join(".missing").exists());
    finish(yard.command("true", Mode::WorkspaceWrite)).await.0.gone().await;
    assert!(yard.workspace.join(".missing").exists());
    within(5, long.stop(Duration::ZERO)).await;
    within(5, long.gone()).await;
    assert!(!yard.workspace.join(".missing").exists());
}

#[tokio::test]
async fn what_the_sandbox_refused_is_explained() {
    let yard = Yard::new();
    for (script, says) in [
        ("echo x > $OUT/new", &["files can be written only in", "workspace"][..]),
        ("python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'", &["no network"]),
        ("cat $OUT/key", &["keys or credentials"]),
    ] {
        std::fs::write(yard.place.output(), "").unwrap();
        let (job, exit) = finish(yard.command(script, Mode::WorkspaceWrite)).await;
        let told = job.containment().explain(&yard.place.text(), &exit, &[]).expect(script).to_string();
        assert!(says.iter().all(|words| told.contains(words)), "{told}");
        assert_eq!(job.containment().explain("error: expected `;`", &exit, &[]), None);
        assert_eq!(Containment::default().explain(&yard.place.text(), &exit, &[]), None);
    }
}

#[tokio::test]
async fn a_contained_command_that_is_ended_says_by_what() {
    let yard = Yard::new();
    for (grace, signal) in [(Duration::ZERO, 9), (Duration::from_secs(5), 15)] {
        let job = yard.command("exec sleep 1000", Mode::WorkspaceWrite).spawn().await.unwrap();
        within(5, job.stop(grace)).await;
        assert_eq!(within(5, job.exited()).await.signal(), Some(signal));
        within(5, job.gone()).await;
        yard.place.nothing_left();
    }
}

/// Says that the test runs where there are no user namespaces.
const LESS: &str = "TOOLKIT_SANDBOX_TEST_WITHOUT_NAMESPACES";

/// Not a test of its own: what the next one runs where there are no user namespaces.
#[tokio::test]
async fn without_namespaces() {
    if std::env::var_os(LESS).is_none() {
        return;
    }
    let yard = Yard::new();
    let strength = toolkit_sandbox::probe();
    for (feature, has) in [
        (toolkit_sandbox::Feature::UserNamespace, false),
        (toolkit_sandbox::Feature::Mounts, false),
        (toolkit_sandbox::Feature::Landlock, true),
        (toolkit_sandbox::Feature::Seccomp, true),
    ] {
        assert_eq!(strength.has(feature), has, "{strength:?}");
    }
    let error = yard.command("true", Mode::WorkspaceWrite).spawn().await.unwrap_err().to_string();
    assert!(error.contains("the sandbox is required, but its part `protected paths`"), "{error}");
    assert!(error.contains("(the sysctl `user.max_user_namespaces` is 0)"), "{error}");
    for feature in [toolkit_sandbox::Feature::UserNamespace, toolkit_sandbox::Feature::ProcessIds] {
        let why = strength.why_missing(feature).unwrap();
        assert!(why.starts_with("user namespaces are switched off on this system"), "{why}");
    }

    // A directory that was to be its /tmp is one that it can write to, where it lies.
    let tmp = yard.outside.join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let with_tmp = || yard.sandbox(Mode::WorkspaceWrite).with_tmp(&tmp).required(false);
    for (mode, script) in [(Mode::WorkspaceWrite, "mktemp && echo x > $TMPDIR/y"), (Mode::ReadOnly, "mktemp")]
    {
        let sandbox = Sandbox::new(mode, &yard.workspace).with_tmp(&tmp);
        let (job, exit) = finish(yard.command(script, mode).env("TMPDIR", &tmp).sandbox(sandbox)).await;
        assert!(exit.success(), "{}", yard.place.text());
        assert_eq!(job.containment().tmp.as_ref(), Some(&tmp));
    }
    let (_, exit) = finish(yard.command("mktemp", Mode::WorkspaceWrite).sandbox(with_tmp())).await;
    assert!(!exit.success(), "{}", yard.place.text());
    std::fs::remove_dir_all(&tmp).unwrap();
    assert!(!yard.workspace.join(".missing").exists());

    let before = yard.outside();
    let weak = || yard.sandbox(Mode::WorkspaceWrite).required(false);
    let works = ["echo x > new && mv new other && cat other $OUT/file && echo > /dev/null".to_owned()];
    let held = LINES.iter().filter(|line| line.without_mounts).flat_map(|line| line.attempts);
    let held = held.map(|attempt| (attempt.script(), false));
    let mut wrong = Vec::new();
    for (script, works) in works.into_iter().map(|script| (script, true)).chain(held) {
        std::fs::write(yard.place.output(), "").unwrap();
        let (job, exit) = finish(yard.command(&script, Mode::WorkspaceWrite).sandbox(weak())).await;
        if exit.success() != works || yard.outside() != before {
            wrong.push(format!("{script}: {:?} {}", exit.end, yard.place.text()));
        }
        let containment = job.containment();
        assert_eq!(containment.held, [Part::Files, Part::Network, Part::Sockets, Part::SystemCalls]);
        let missing: Vec<_> = containment.missing.iter().map(|(part, _)| *part).collect();
        assert_eq!(missing, [Part::Protected, Part::Hidden, Part::PrivateTmp, Part::Processes]);
        assert!(containment.missing.iter().all(|(_, why)| !why.is_empty()), "{containment:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    network::nothing_came(&yard);
    network::each_has_a_loopback_of_its_own(&yard, weak(), "Operation not permitted").await;
    nothing_survives(&yard, weak()).await;
    a_terminal_takes_no_stuffing(&yard, weak()).await;
}

#[test]
fn where_namespaces_are_missing_what_is_left_holds() {
    let output = std::process::Command::new("unshare")
        .args(["-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::without_namespaces", "--nocapture"])
        .env(LESS, "1")
        .output()
        .expect("this test needs unshare");
    std::io::stderr().write_all(&output.stderr).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

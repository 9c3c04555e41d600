//! What a sandbox holds, tried from inside: as root and as a plain user.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Place, SUPERVISOR, finish, within};
use toolkit_sandbox::{Command, Containment, Mode, Part, Sandbox, Size};

/// Says that the test runs as a plain user, started by root.
const AGAIN: &str = "TOOLKIT_SANDBOX_TEST_AS_PLAIN_USER";

/// A workspace with what belongs to it, and what lies outside.
struct Yard {
    place: Place,
    workspace: PathBuf,
    outside: PathBuf,
    listener: std::net::TcpListener,
    abstract_name: String,
    _local: std::os::unix::net::UnixListener,
    _abstract: std::os::unix::net::UnixListener,
}

const PREPARE: &str = "import ctypes, os, socket, struct, sys, fcntl, termios\n\
                       libc = ctypes.CDLL(None, use_errno=True)\n\
                       def call(*a):\n\
                       \x20   r = libc.syscall(*a)\n\
                       \x20   if r < 0: e = ctypes.get_errno(); sys.exit(os.strerror(e))\n\
                       \x20   return r\n";

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
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let local = std::os::unix::net::UnixListener::bind(place.path().join("socket")).unwrap();
        let abstract_name = place.marker.clone();
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let named = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        Self { place, workspace, outside, listener, abstract_name, _local: local, _abstract: named }
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

/// Something that must not work.
struct Attempt {
    what: &'static str,
    script: &'static str,
    /// One of these is what the system says of it.
    says: &'static [&'static str],
}

const fn attempt(what: &'static str, script: &'static str, says: &'static [&'static str]) -> Attempt {
    Attempt { what, script, says }
}

const READ_ONLY: &[&str] = &["Read-only file system"];
const DENIED: &[&str] = &["Permission denied", "Operation not permitted"];
const ABSENT: &[&str] = &["No such file", "No such process", "Permission denied"];

/// In python, after [`PREPARE`].
const PYTHON: &[Attempt] = &[
    attempt(
        "tcp to this machine",
        "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)",
        DENIED,
    ),
    attempt("tcp over ipv6", "socket.socket(socket.AF_INET6)", DENIED),
    attempt(
        "udp",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))",
        DENIED,
    ),
    attempt("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", DENIED),
    attempt("packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", DENIED),
    attempt("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", DENIED),
    attempt(
        "abstract socket",
        "socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])",
        &["Connection refused", "Operation not permitted"],
    ),
    attempt("socket in /tmp", "socket.socket(socket.AF_UNIX).connect(os.environ['SOCKET'])", ABSENT),
    attempt(
        "ptrace",
        "libc.ptrace(16, int(os.environ['HOST']), 0, 0) and call(101, 16, int(os.environ['HOST']), 0, 0)",
        DENIED,
    ),
    attempt(
        "memory of others",
        "b = ctypes.create_string_buffer(64); call(310, int(os.environ['HOST']), b, 1, b, 1, 0)",
        DENIED,
    ),
    attempt("new user namespace", "call(272, 0x10000000)", DENIED),
    attempt("clone into namespaces", "call(56, 0x10000000 | 17, 0, 0, 0, 0)", DENIED),
    attempt("clone3", "call(435, 0, 0)", &["Function not implemented"]),
    attempt("io_uring", "call(425, 1, 0)", &["Function not implemented"]),
    attempt("second numbers", "call(0x40000000 + 39)", &["Function not implemented"]),
    attempt("keyring", "call(250, 0, -3, 0)", DENIED),
    attempt("bpf", "call(321, 0, 0, 0)", DENIED),
    attempt("open_tree", "call(428, -100, b'/', 0x8001)", DENIED),
    attempt("fsopen", "call(430, b'tmpfs', 0)", DENIED),
    attempt("handle of a file", "call(304, -100, 0, 0)", DENIED),
    attempt("chroot", "os.chroot(os.environ['WS'])", DENIED),
    attempt("mknod", "os.mknod('node', 0o60600, os.makedev(254, 0))", DENIED),
    attempt(
        "setuid to another",
        "os.setresuid(12345, 12345, 12345)",
        &["Operation not permitted", "Invalid argument"],
    ),
    attempt("other groups", "os.setgroups([0, 6])", DENIED),
    attempt("pidfd of the host", "os.pidfd_open(int(os.environ['HOST']))", ABSENT),
    attempt("signal to all", "os.kill(-1, 0) or os.kill(int(os.environ['HOST']), 0)", ABSENT),
];

const SHELL: &[Attempt] = &[
    attempt("new file", "echo x > $OUT/new", READ_ONLY),
    attempt("append", "echo x >> $OUT/file", READ_ONLY),
    attempt("remove", "rm -f $OUT/file", READ_ONLY),
    attempt("rename", "mv $OUT/file $OUT/other", READ_ONLY),
    attempt("mode", "chmod 777 $OUT/file", READ_ONLY),
    attempt("times", "touch $OUT/file", READ_ONLY),
    attempt("symbolic link", "ln -s $OUT link; echo x > link/new", READ_ONLY),
    attempt("own root", "echo x > /proc/self/root$OUT/new", READ_ONLY),
    attempt("own directory", "cd $OUT; echo x > /proc/self/cwd/new", READ_ONLY),
    attempt("root of init", "echo x > /proc/1/root$OUT/new", DENIED),
    attempt("directory of init", "ls /proc/1/cwd/", DENIED),
    attempt("descriptors of init", ": < /proc/1/fd/0", DENIED),
    attempt("memory of init", "head -c 1 /proc/1/mem", DENIED),
    attempt("environment of init", "cat /proc/1/environ", DENIED),
    attempt("hard link", "ln $OUT/file hard", &["Invalid cross-device link", "Operation not permitted"]),
    attempt(
        "remount",
        "mount -o remount,rw,bind /",
        &["denied", "not permitted", "must be superuser", "only root"],
    ),
    attempt("bind", "mount --bind $OUT sub", &["denied", "not permitted", "must be superuser", "only root"]),
    attempt("unmount", "umount $OUT/hidden", &["denied", "not permitted", "must be superuser", "only root"]),
    attempt("unshare", "unshare -Urm true", DENIED),
    attempt("enter", "nsenter -t 1 -m true", DENIED),
    attempt("protected file", "echo x >> .git/config", READ_ONLY),
    attempt("new in protected", "echo x > .git/hooks/post-checkout", READ_ONLY),
    attempt("remove protected", "rm -rf .git", &["Read-only", "busy"]),
    attempt("rename protected", "mv .git git", &["busy"]),
    attempt("over protected", "mkdir -p new/.git; mv -T new/.git .git", &["busy"]),
    attempt("parent of protected", "mv sub/deep sub/deeper", &["busy"]),
    attempt("its parent", "mv sub sub2", &["busy"]),
    attempt("the workspace", "mv $WS $WS-2", &["busy", "Read-only"]),
    attempt(
        "link to protected",
        "ln .git/config config",
        &["Invalid cross-device link", "Operation not permitted"],
    ),
    attempt("make what is missing", "mkdir .missing", &["File exists"]),
    attempt(
        "in what is missing",
        "echo x > .missing/config",
        &["Read-only", "Permission denied", "No such file"],
    ),
    attempt("replace what is missing", "rmdir .missing", &["busy"]),
    attempt("hidden directory", "ls $OUT/hidden", DENIED),
    attempt("hidden key", "cat $OUT/hidden/key", ABSENT),
    attempt("hidden within", "ls $OUT/hidden/inner", ABSENT),
    attempt("hidden file", "cat $OUT/key", DENIED),
    attempt("hidden in the workspace", "cat .env", DENIED),
    attempt("mode of hidden", "chmod 777 $OUT/hidden", READ_ONLY),
    attempt("rename hidden", "mv .env env", &["busy"]),
    attempt("kill", "kill -9 $HOST", ABSENT),
    attempt("see", "ls /proc/$HOST", ABSENT),
    attempt("sys", "echo x > /sys/kernel/uevent_seqnum", &["Read-only file system", "Permission denied"]),
    attempt(
        "core pattern",
        "echo x > /proc/sys/kernel/core_pattern",
        &["Read-only file system", "Permission denied"],
    ),
    attempt(
        "sysrq",
        "echo h > /proc/sysrq-trigger",
        &["Read-only file system", "Permission denied", "No such file"],
    ),
    attempt(
        "kernel memory",
        "head -c 1 /proc/kcore",
        &["Permission denied", "Operation not permitted", "No such file"],
    ),
    attempt("disks", "ls /dev/vda /dev/sda /dev/mem /dev/kmsg", ABSENT),
    attempt("new in dev", "touch /dev/new", &["Read-only", "Permission denied"]),
    attempt("new in run", "touch /run/new", &["Read-only", "Permission denied"]),
];

/// What must work, lest nobody use it.
const WORKS: &[(&str, &str)] = &[
    (
        "write",
        "echo new > fresh && cat fresh file && mv fresh other && mkdir -p a/b && rmdir a/b && rm other",
    ),
    ("append", "echo more >> file && ln file linked && ln -s file soft && cat soft"),
    ("private tmp", "test -z \"$(ls /var/tmp)\" && echo x > /tmp/x && echo y > /var/tmp/y && mktemp"),
    ("here-document", "cat <<EOF\n$(seq 100000)\nEOF"),
    ("devices", "echo x > /dev/null && head -c 4 /dev/urandom | wc -c && : < /dev/zero"),
    ("streams", "echo out > /dev/stdout && echo err > /dev/stderr && cat < /dev/stdin"),
    ("shared memory", "echo x > /dev/shm/x && cat /dev/shm/x"),
    (
        "semaphores",
        "python3 -c 'import multiprocessing as m; q = m.Queue(); q.put(1); print(q.get()); m.Lock()'",
    ),
    ("processes", "ps aux | grep -q ps && test $(ls -d /proc/[0-9]* | wc -l) -lt 12"),
    (
        "local sockets",
        "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen()'",
    ),
    ("pairs", "python3 -c 'import socket; socket.socketpair()'"),
    ("threads", "python3 -c 'import threading; t = threading.Thread(target=print); t.start(); t.join()'"),
    ("pseudoterminal", "python3 -c 'import pty; pty.spawn([\"true\"])'"),
    ("reading", "cat $OUT/file && cat .git/config && ls / /usr /etc > /dev/null"),
    ("daemons", "(setsid sleep 1000 &) ; sleep 0.05; pgrep sleep"),
    ("init", "kill -9 1; kill -STOP 1; sleep 0.1; (sleep 0.01 &); sleep 0.1"),
    ("nothing open", "test \"$(ls /proc/self/fd | tr '\\n' ' ')\" = '0 1 2 3 '"),
    ("cross directories", "mkdir -p one two && echo x > one/x && mv one/x two/y"),
];

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
        let python = PYTHON.iter().map(|attempt| {
            let script = format!("python3 - <<'EOF'\n{PREPARE}{}\nEOF\n", attempt.script);
            (attempt, script)
        });
        let shell = SHELL.iter().map(|attempt| (attempt, attempt.script.to_owned()));
        for (attempt, script) in shell.chain(python) {
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

    a_terminal_takes_no_stuffing(&yard).await;
    nothing_survives(&yard).await;
    the_network_can_be_let_in(&yard).await;
    yard.place.nothing_left();
}

async fn a_terminal_takes_no_stuffing(yard: &Yard) {
    std::fs::write(yard.place.output(), "").unwrap();
    let script = format!(
        "tty; test $(tty) = /dev/pts/0 || exit 9; python3 - <<'EOF'\n{PREPARE}fcntl.ioctl(1, termios.TIOCSTI, b'x')\nEOF"
    );
    let (_, exit) =
        finish(yard.command(&script, Mode::WorkspaceWrite).terminal(Size { rows: 24, columns: 80 })).await;
    let text = yard.place.text();
    assert!(exit.code() == Some(1) && text.contains("Operation not permitted"), "{exit:?}: {text}");
}

async fn nothing_survives(yard: &Yard) {
    let script =
        "(setsid bash -c '(setsid sleep 1000 &) ; sleep 1001' &) ; (setsid nohup sleep 1002 &); sleep 0.2";
    let job = yard.command(script, Mode::WorkspaceWrite).spawn().await.unwrap();
    within(5, job.exited()).await;
    assert_eq!(
        within(5, job.processes())
            .await
            .iter()
            .filter(|process| process.command.starts_with("sleep 100"))
            .count(),
        3
    );
    drop(job);
    yard.place.nothing_left();
}

async fn the_network_can_be_let_in(yard: &Yard) {
    let script = format!(
        "python3 - <<'EOF'\n{PREPARE}socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)\nEOF"
    );
    let command = yard
        .command(&script, Mode::WorkspaceWrite)
        .sandbox(yard.sandbox(Mode::WorkspaceWrite).with_network(true));
    let (job, exit) = finish(command).await;
    assert!(exit.success(), "{}", yard.place.text());
    assert!(!job.containment().holds(Part::Network));
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
        .args(["--exact", "what_is_tried_from_inside_is_held", "--nocapture"])
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
    for (sandbox, says) in [
        (sandbox().with_hidden(yard.place.path()), "which is hidden"),
        (sandbox().with_writable("/"), "use the mode `full`"),
        (sandbox().with_writable("relative"), "not an absolute path"),
        (Sandbox::new(Mode::ReadOnly, "/no/such/workspace"), "does not exist"),
    ] {
        let error =
            yard.command("true", Mode::ReadOnly).sandbox(sandbox).spawn().await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
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
        ("echo x > $OUT/new", &["files can be written only in", "workspace", "outside the sandbox"][..]),
        ("python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'", &["no network"]),
        ("cat $OUT/key", &["keys or credentials"]),
    ] {
        std::fs::write(yard.place.output(), "").unwrap();
        let (job, exit) = finish(yard.command(script, Mode::WorkspaceWrite)).await;
        let told = job.containment().explain(&yard.place.text(), &exit).expect(script);
        assert!(says.iter().all(|words| told.contains(words)), "{told}");
        assert_eq!(job.containment().explain("error: expected `;`", &exit), None);
        assert_eq!(Containment::default().explain(&yard.place.text(), &exit), None);
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
    assert!(error.contains("the sandbox is required and its part `protected paths`"), "{error}");
    assert!(!yard.workspace.join(".missing").exists());

    let before = yard.outside();
    let weak = || yard.sandbox(Mode::WorkspaceWrite).required(false);
    for (script, works) in [
        ("echo x > $OUT/new", false),
        ("rm $OUT/file", false),
        (": > $OUT/file", false),
        ("echo x > new && mv new other && cat other $OUT/file && echo > /dev/null", true),
        ("kill -9 $HOST", false),
        ("python3 -c 'import socket; socket.socket()'", false),
        ("unshare -Ur true", false),
    ] {
        std::fs::write(yard.place.output(), "").unwrap();
        let (job, exit) = finish(yard.command(script, Mode::WorkspaceWrite).sandbox(weak())).await;
        assert_eq!(exit.success(), works, "{script}: {}", yard.place.text());
        let containment = job.containment();
        assert_eq!(containment.held, [Part::Files, Part::Network, Part::SystemCalls]);
        let missing: Vec<_> = containment.missing.iter().map(|(part, _)| *part).collect();
        assert_eq!(missing, [Part::Protected, Part::Hidden, Part::PrivateTmp, Part::Processes]);
        assert!(containment.missing.iter().all(|(_, why)| !why.is_empty()), "{containment:?}");
    }
    assert_eq!(yard.outside(), before);
}

#[test]
fn where_namespaces_are_missing_what_is_left_holds() {
    let output = std::process::Command::new("unshare")
        .args(["-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "without_namespaces", "--nocapture"])
        .env(LESS, "1")
        .output()
        .expect("this test needs unshare");
    std::io::stderr().write_all(&output.stderr).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

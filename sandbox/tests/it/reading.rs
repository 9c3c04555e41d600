//! A command that only reads, in place: what it cannot do, tried from inside as root and as a plain user, and that it sees the system as it is.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Place, SUPERVISOR, finish, within};
use toolkit_sandbox::{Sandbox, probe};

/// Python that attempts use.
const PREPARE: &str = "import ctypes, fcntl, os, socket, struct, sys\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    def call(*a):\n\
    \x20   r = libc.syscall(*a)\n\
    \x20   if r < 0: sys.exit(os.strerror(ctypes.get_errno()))\n\
    \x20   return r\n";

/// Shell commands that must fail without an effect.
const SHELL: &[&str] = &[
    "cat .env",
    "cat deep/er/id_rsa",
    "cat secrets/inner/token",
    "cat linked",
    "cat < .env",
    "cat /proc/self/cwd/.env",
    "cat /proc/self/root$WS/.env",
    "grep -r TOKEN . | grep TOKEN=",
    "cat $OUT/file",
    "echo x > new",
    "echo x >> a.txt",
    "echo x > /tmp/reading-was-here",
    "echo x > $OUT/new",
    "echo x > /dev/shm/reading-was-here",
    "echo x > /proc/sys/kernel/core_pattern",
    "mkdir made",
    "rm -f a.txt",
    "mv a.txt b.txt",
    "ln a.txt hard",
    "ln -s a.txt soft",
    "mkfifo fifo",
    "cp /bin/true copied",
    "chmod 777 a.txt",
    "chmod 777 deep",
    "chown 12345 a.txt",
    "touch a.txt",
    "touch -d 2001-01-01 a.txt",
    "truncate -s 0 a.txt",
    "dd if=/dev/zero of=a.txt bs=1 count=1 conv=notrunc",
    "kill -CONT $HOST",
    "kill -CONT $PPID",
    "kill -0 1",
    "cat /proc/$HOST/environ",
    "cat /proc/1/environ",
    "head -c 1 /proc/$HOST/mem",
    "readlink /proc/$HOST/fd/0",
    "cat /proc/$HOST/fd/0",
    "readlink /proc/$HOST/cwd",
    "cat /proc/$HOST/root$WS/.env",
    "cat /proc/$HOST/cwd/.env",
    "./planted",
    "bash -c ./planted",
    "$OUT/planted",
    "echo x > /dev/tcp/127.0.0.1/$PORT",
    "unshare -Ur true",
    "mount -t tmpfs none .",
    "renice -n 5 -p $HOST",
    "cp .env $TMPDIR/env",
    "ln .env $TMPDIR/env",
];

/// Python that must fail without an effect.
const PYTHON: &[&str] = &[
    "os.open('a.txt', os.O_RDONLY | os.O_TRUNC)",
    "os.open('a.txt', os.O_RDWR)",
    "os.open('.', os.O_TMPFILE | os.O_RDWR)",
    "call(76, b'a.txt', 0)",
    "os.chmod('a.txt', 0o777)",
    "os.fchmod(os.open('a.txt', os.O_RDONLY), 0o777)",
    "call(452, -100, b'a.txt', 0o777, 0)",
    "os.utime('a.txt', (1, 1))",
    "os.utime(os.open('a.txt', os.O_RDONLY), (1, 1))",
    "os.setxattr('a.txt', 'user.x', b'y')",
    "os.chown('a.txt', 12345, -1)",
    // The flags of a file that is open for reading, as `chattr` sets them.
    "fcntl.ioctl(os.open('a.txt', os.O_RDONLY), 0x40086602, struct.pack('l', 0x80))",
    "fcntl.ioctl(os.open('.', os.O_RDONLY), 0x401c5820, bytes(28))",
    "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(os.environ['PORT'])))",
    "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])",
    "socket.socket(socket.AF_UNIX).connect('host.sock')",
    "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "os.kill(int(os.environ['HOST']), 0)",
    "os.kill(os.getppid(), 0) or os.kill(int(os.environ['HOST']), 18)",
    "call(434, int(os.environ['HOST']), 0) < 0 or call(424, call(434, int(os.environ['HOST']), 0), 18, 0, 0)",
    "call(101, 16, int(os.environ['HOST']), 0, 0)",
    "b = ctypes.create_string_buffer(64); call(310, int(os.environ['HOST']), b, 1, b, 1, 0)",
    "call(438, call(434, int(os.environ['HOST']), 0), 0, 0)",
    "call(29, 4711, 100, 0o1600)",
    "call(68, 4711, 0o1600)",
    "call(240, b'reading', 0o102, 0o600, 0)",
    "call(141, 0, int(os.environ['HOST']), 5)",
    "call(141, 2, 0, 5)",
    "call(203, int(os.environ['HOST']), 8, struct.pack('Q', 1))",
    "call(302, int(os.environ['HOST']), 7, struct.pack('QQ', 100, 100), 0)",
    "call(272, 0x10000000)",
    "call(425, 1, bytes(120))",
    "call(469, -100, b'a.txt', bytes(24), 24, 0)",
    "import mmap; mmap.mmap(os.open('a.txt', os.O_RDWR), 1)",
];

/// Commands that work.
const WORKS: &[&str] = &[
    "test \"$(cat a.txt)\" = mine",
    "test \"$(cat deep/er/b.txt)\" = deep",
    "ls -la .env deep/er | grep -q id_rsa",
    "test -f .env && stat -c %s .env | grep -qx 13",
    "grep -rqs mine .",
    "find . -name id_rsa | grep -q .",
    "sort a.txt > /dev/null 2>&1",
    "cat /etc/passwd | head -1 | grep -q :",
    "echo x > $TMPDIR/f && test \"$(cat $TMPDIR/f)\" = x && rm $TMPDIR/f",
    "cat <<< \"$(head -c 200000 /dev/zero | tr '\\0' x)\" | wc -c | grep -qx 200001",
    "diff <(cat a.txt) a.txt",
    "timeout 5 true",
    "true & wait",
    "sleep 100 & kill $!; wait; true",
    "ps -p $HOST -o pid= | grep -q .",
    "nice -n 3 true",
    "xargs -n1 echo < a.txt | grep -q mine",
    "exec 3< a.txt; read line <&3; test $line = mine",
    "test \"$(git -C repository log --format=%s)\" = one",
    "test -z \"$(git -C repository status --short)\"",
];

struct Yard {
    place: Place,
    workspace: PathBuf,
    outside: PathBuf,
    scratch: PathBuf,
    tcp: std::net::TcpListener,
    _local: [UnixListener; 2],
}

impl Yard {
    fn new() -> Self {
        let place = Place::new();
        let [workspace, outside, scratch] =
            ["workspace", "outside", "scratch"].map(|name| place.path().join(name));
        for directory in [&outside, &scratch, &workspace.join("deep/er"), &workspace.join("secrets/inner")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        for (path, text) in [
            ("workspace/a.txt", "mine\n"),
            ("workspace/.env", "TOKEN=secret\n"),
            ("workspace/deep/er/b.txt", "deep\n"),
            ("workspace/deep/er/id_rsa", "TOKEN=key\n"),
            ("workspace/secrets/inner/token", "TOKEN=inner\n"),
            ("outside/file", "outside\n"),
            ("workspace/planted", "#!/bin/sh\necho ran\n"),
            ("outside/planted", "#!/bin/sh\necho ran\n"),
        ] {
            std::fs::write(place.path().join(path), text).unwrap();
        }
        for planted in ["workspace/planted", "outside/planted"] {
            std::fs::set_permissions(place.path().join(planted), std::fs::Permissions::from_mode(0o755))
                .unwrap();
        }
        std::fs::hard_link(workspace.join(".env"), workspace.join("linked")).unwrap();
        let git = "git init -q repository && cd repository && echo x > f && git add f && \
                   git -c user.name=n -c user.email=e commit -qm one";
        let made =
            std::process::Command::new("sh").args(["-c", git]).current_dir(&workspace).status().unwrap();
        assert!(made.success());
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&place.marker).unwrap();
        let local = [UnixListener::bind(workspace.join("host.sock")), UnixListener::bind_addr(&address)];
        Self { workspace, outside, scratch, tcp, _local: local.map(Result::unwrap), place }
    }

    fn sandbox(&self) -> Sandbox {
        let mut sandbox = Sandbox::reading(&self.workspace)
            .with_readable(&self.workspace)
            .with_hidden(self.workspace.join(".env"))
            .with_hidden(self.workspace.join("deep/er/id_rsa"))
            .with_hidden(self.workspace.join("secrets"))
            .with_hidden("/etc/shadow")
            .with_tmp(&self.scratch);
        for path in ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"] {
            sandbox = sandbox.with_executable(path);
        }
        for path in ["/etc", "/proc", "/sys"] {
            sandbox = sandbox.with_readable(path);
        }
        sandbox
    }

    async fn tried(&self, script: &str) -> (toolkit_sandbox::Exit, String) {
        std::fs::write(self.place.output(), "").unwrap();
        let command = self
            .place
            .sh(script)
            .current_dir(&self.workspace)
            .env("WS", &self.workspace)
            .env("OUT", &self.outside)
            .env("TMPDIR", &self.scratch)
            .env("ABSTRACT", &self.place.marker)
            .env("PORT", self.tcp.local_addr().unwrap().port().to_string())
            .env("HOST", std::process::id().to_string())
            .env("HOME", "/nonexistent")
            .sandbox(self.sandbox());
        let (job, exit) = finish(command).await;
        within(5, job.stop(Duration::ZERO)).await;
        (exit, self.place.text())
    }

    /// Names, modes, owners, times and content of everything.
    fn state(&self) -> String {
        let mut all = String::new();
        list(&self.workspace, &mut all);
        list(&self.outside, &mut all);
        list(&self.scratch, &mut all);
        all
    }
}

fn list(path: &Path, all: &mut String) {
    use std::fmt::Write as _;
    let stat = std::fs::symlink_metadata(path).unwrap();
    let text = if stat.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
    let times = (stat.mtime(), stat.mtime_nsec(), stat.ctime(), stat.ctime_nsec());
    // Writing to the scratch directory is allowed.
    let times = (!path.ends_with("scratch")).then_some(times);
    writeln!(all, "{} {:o} {} {times:?} {text:?}", path.display(), stat.mode(), stat.uid()).unwrap();
    if stat.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            list(&entry, all);
        }
    }
}

async fn a_reading_command_reads_and_nothing_else() {
    let yard = Yard::new();
    let before = yard.state();
    let python = PYTHON.iter().map(|script| format!("python3 - <<'EOF'\n{PREPARE}{script}\nEOF\n"));
    let mut wrong = Vec::new();
    for script in SHELL.iter().map(|script| (*script).to_owned()).chain(python) {
        let (exit, text) = yard.tried(&script).await;
        if exit.success() || text.contains("TOKEN=") || text.contains("ran") || text.contains("outside\n") {
            wrong.push(format!("{script}: {:?}: {text}", exit.end));
        }
        // Messages that do not come of a refusal mean that the attempt is broken.
        let is_broken = ["SyntaxError", "NameError", "TypeError", "command not found"];
        if is_broken.iter().any(|sign| text.contains(sign)) {
            wrong.push(format!("{script} tries nothing: {text}"));
        }
        assert_eq!(yard.state(), before, "{script}: {text}");
    }
    for script in WORKS {
        let (exit, text) = yard.tried(script).await;
        if !exit.success() {
            wrong.push(format!("{script}: {:?}: {text}", exit.end));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for path in ["/tmp/reading-was-here", "/dev/shm/reading-was-here"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    yard.tcp.set_nonblocking(true).unwrap();
    assert!(yard.tcp.accept().is_err(), "a connection came");
}

#[tokio::test]
async fn a_reading_command_reads_and_nothing_else_here() {
    toolkit_sandbox::supervise_with(SUPERVISOR);
    assert!(probe().landlock_abi() > 0, "this test needs Landlock");
    a_reading_command_reads_and_nothing_else().await;
}

#[test]
fn a_reading_command_of_a_plain_user_reads_and_nothing_else() {
    assert!(rustix::process::geteuid().is_root(), "this test needs root, to start the other as a plain user");
    let output = std::process::Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "reading::a_reading_command_reads_and_nothing_else_here", "--nocapture"])
        .output()
        .expect("this test needs setpriv");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
}

#[tokio::test]
async fn a_reading_command_sees_the_system_as_it_is() {
    let yard = Yard::new();
    let mut wrong = Vec::new();
    for script in [
        "LC_ALL=C ls -ln /usr /etc",
        "cat /proc/self/mountinfo",
        "readlink /proc/self/ns/pid /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/user",
        "id",
        "cat /proc/$HOST/comm",
        "ls -l /dev/null /dev/zero",
        "df --output=source,target",
        "nproc",
        "stat -c '%U %G %a' /etc/passwd",
        "cat /proc/sys/kernel/hostname",
    ] {
        let (_, inside) = yard.tried(script).await;
        let output = std::process::Command::new("bash")
            .args(["-c", script])
            .env("HOST", std::process::id().to_string())
            .output()
            .unwrap();
        let outside = String::from_utf8_lossy(&output.stdout).into_owned();
        if inside != outside {
            wrong.push(format!("{script}\n{inside}\n{outside}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn tables_of_the_network_are_read_where_they_are_wanted() {
    let yard = Yard::new();
    let script = format!(
        "python3 - <<'EOF'\n{PREPARE}socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))\nEOF\n"
    );
    for (is_wanted, sandbox) in [(true, yard.sandbox().with_network_tables(true)), (false, yard.sandbox())] {
        let (_, exit) = finish(yard.place.sh(&script).sandbox(sandbox)).await;
        assert_eq!(exit.success(), is_wanted, "{}", yard.place.text());
    }
    let script =
        format!("python3 - <<'EOF'\n{PREPARE}socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)\nEOF\n");
    let (_, exit) = finish(yard.place.sh(&script).sandbox(yard.sandbox().with_network_tables(true))).await;
    assert!(!exit.success());
}

#[tokio::test]
async fn no_process_of_a_reading_command_outlives_the_job() {
    let yard = Yard::new();
    let script = "(setsid bash -c '(setsid sleep 1000 &) ; sleep 1001' &) ; (setsid nohup sleep 1002 > /dev/null &); sleep 0.2";
    let job = yard.place.sh(script).sandbox(yard.sandbox()).spawn().await.unwrap();
    within(5, job.exited()).await;
    within(5, job.stop(Duration::ZERO)).await;
    drop(job);
    yard.place.nothing_left();
}

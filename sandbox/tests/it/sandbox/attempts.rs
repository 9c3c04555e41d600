//! Attempts from inside, by the lines of the table in the crate's documentation.

/// In python, before each attempt in that.
pub(crate) const PREPARE: &str = "import ctypes, os, socket, struct, sys, fcntl, termios\n\
                       libc = ctypes.CDLL(None, use_errno=True)\n\
                       def call(*a):\n\
                       \x20   r = libc.syscall(*a)\n\
                       \x20   if r < 0: e = ctypes.get_errno(); sys.exit(os.strerror(e))\n\
                       \x20   return r\n";

/// Something that must not work.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) what: &'static str,
    script: &'static str,
    is_python: bool,
    /// One of these is what the system says of it.
    pub(crate) says: &'static [&'static str],
}

impl Attempt {
    pub(crate) fn script(&self) -> String {
        if self.is_python {
            format!("python3 - <<'EOF'\n{PREPARE}{}\nEOF\n", self.script)
        } else {
            self.script.to_owned()
        }
    }
}

const fn shell(what: &'static str, script: &'static str, says: &'static [&'static str]) -> Attempt {
    Attempt { what, script, is_python: false, says }
}

const fn python(what: &'static str, script: &'static str, says: &'static [&'static str]) -> Attempt {
    Attempt { what, script, is_python: true, says }
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) tried: &'static str,
    /// True if it is held where a process cannot have mounts of its own.
    pub(crate) without_mounts: bool,
    pub(crate) attempts: &'static [Attempt],
}

pub(crate) const READ_ONLY: &[&str] = &["Read-only file system"];
const DENIED: &[&str] = &["Permission denied", "Operation not permitted"];
const REFUSED: &[&str] = &["Connection refused"];
const UNREACHABLE: &[&str] = &["Network is unreachable"];
const ABSENT: &[&str] = &["No such file", "No such process", "Permission denied"];

/// The error of a socket that a command may not connect to.
const NO_SOCKET: &[&str] = &["Permission denied", "Operation not permitted", "No such file"];

/// Connects to a socket of its own, while a thread exchanges the address and the file for those of another.
const RACE: &str = "import threading, time
s = socket.socket(socket.AF_UNIX); s.bind('/tmp/own.sock'); s.listen(100)
names = [b'/tmp/own.sock', (os.environ['WS'] + '/host.sock').encode()]
address = ctypes.create_string_buffer(110)
def put(name): ctypes.memmove(address, struct.pack('H', 1) + name.ljust(108, bytes(1)), 110)
end = time.monotonic() + 0.5
def exchange():
    while time.monotonic() < end:
        for name in names: put(name)
threading.Thread(target=exchange).start()
made, path = 0, '/tmp/moving.sock'
while time.monotonic() < end:
    c = socket.socket(socket.AF_UNIX)
    if libc.connect(c.fileno(), address, 110) == 0:
        made += 1
        s.accept()[0].close()
    c.close()
assert made, 'no connection was made'
sys.exit('Permission denied, but for %d of its own' % made)";

pub(crate) const LINES: &[Line] = &[
    Line {
        tried: "writing, renaming, removing, linking outside the writable paths",
        without_mounts: true,
        attempts: &[
            shell("new file", "echo x > $OUT/new", READ_ONLY),
            shell("append", "echo x >> $OUT/file", READ_ONLY),
            shell("remove", "rm -f $OUT/file", READ_ONLY),
            shell("rename", "mv $OUT/file $OUT/other", READ_ONLY),
        ],
    },
    Line {
        tried: "changing modes and times there",
        without_mounts: false,
        attempts: &[
            shell("mode", "chmod 777 $OUT/file", READ_ONLY),
            shell("times", "touch $OUT/file", READ_ONLY),
        ],
    },
    Line {
        tried: "the same through symbolic links, `/proc/self/root`, `/proc/1/root`, hard links",
        without_mounts: true,
        attempts: &[
            shell("symbolic link", "ln -s $OUT link; echo x > link/new", READ_ONLY),
            shell("own root", "echo x > /proc/self/root$OUT/new", READ_ONLY),
            shell("own directory", "cd $OUT; echo x > /proc/self/cwd/new", READ_ONLY),
            shell("root of init", "echo x > /proc/1/root$OUT/new", DENIED),
            shell(
                "hard link",
                "ln $OUT/file hard",
                &["Invalid cross-device link", "Operation not permitted"],
            ),
        ],
    },
    Line {
        tried: "mounting, remounting, unmounting, new namespaces, entering others",
        without_mounts: true,
        attempts: &[
            shell(
                "remount",
                "mount -o remount,rw,bind /",
                &["denied", "not permitted", "must be superuser", "only root"],
            ),
            shell(
                "bind",
                "mount --bind $OUT sub",
                &["denied", "not permitted", "must be superuser", "only root"],
            ),
            shell(
                "unmount",
                "umount $OUT/hidden",
                &["denied", "not permitted", "must be superuser", "only root"],
            ),
            shell("unshare", "unshare -Urm true", DENIED),
            shell("enter", "nsenter -t 1 -m true", DENIED),
            python("new user namespace", "call(272, 0x10000000)", DENIED),
            python("clone into namespaces", "call(56, 0x10000000 | 17, 0, 0, 0, 0)", DENIED),
            python("open_tree", "call(428, -100, b'/', 0x8001)", DENIED),
            python("open_tree_attr", "call(467, -100, b'/', 0, 0, 0)", DENIED),
            python("mounts of others", "call(458, 0, 0, 0, 0)", &["Function not implemented"]),
            python("mounts in detail", "call(457, 0, 0, 0, 0)", &["Function not implemented"]),
            python("namespaces of others", "call(470, 0, 0, 0, 0)", &["Function not implemented"]),
            python("fsopen", "call(430, b'tmpfs', 0)", DENIED),
            python("chroot", "os.chroot(os.environ['WS'])", DENIED),
        ],
    },
    Line {
        tried: "changing, replacing, renaming protected paths, or directories above them",
        without_mounts: false,
        attempts: &[
            shell("protected file", "echo x >> .git/config", READ_ONLY),
            shell("new in protected", "echo x > .git/hooks/post-checkout", READ_ONLY),
            shell("remove protected", "rm -rf .git", &["Read-only", "busy"]),
            shell("rename protected", "mv .git git", &["busy"]),
            shell("over protected", "mkdir -p new/.git; mv -T new/.git .git", &["busy"]),
            shell("parent of protected", "mv sub/deep sub/deeper", &["busy"]),
            shell("its parent", "mv sub sub2", &["busy"]),
            shell("the workspace", "mv $WS $WS-2", &["busy", "Read-only"]),
            shell(
                "link to protected",
                "ln .git/config config",
                &["Invalid cross-device link", "Operation not permitted"],
            ),
        ],
    },
    Line {
        tried: "making protected paths that are missing",
        without_mounts: false,
        attempts: &[
            shell("make what is missing", "mkdir .missing", &["File exists"]),
            shell(
                "in what is missing",
                "echo x > .missing/config",
                &["Read-only", "Permission denied", "No such file"],
            ),
            shell("replace what is missing", "rmdir .missing", &["busy"]),
        ],
    },
    Line {
        tried: "reading hidden paths",
        without_mounts: false,
        attempts: &[
            shell("hidden directory", "ls $OUT/hidden", DENIED),
            shell("hidden key", "cat $OUT/hidden/key", ABSENT),
            shell("hidden within", "ls $OUT/hidden/inner", ABSENT),
            shell("hidden file", "cat $OUT/key", DENIED),
            shell("hidden in the workspace", "cat .env", DENIED),
            shell("mode of hidden", "chmod 777 $OUT/hidden", READ_ONLY),
            shell("rename hidden", "mv .env env", &["busy"]),
        ],
    },
    Line {
        tried: "TCP, UDP, IPv6 to this machine or elsewhere, other sockets and protocols, with the network off",
        without_mounts: true,
        attempts: &[
            python(
                "tcp to this machine",
                "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)",
                REFUSED,
            ),
            python(
                "tcp to this machine by its own address",
                "socket.create_connection((os.environ['ADDRESS'], int(os.environ['PORT'])), 2)",
                UNREACHABLE,
            ),
            python(
                "tcp to this machine over ipv6",
                "socket.create_connection(('::1', int(os.environ['PORT'])), 2)",
                REFUSED,
            ),
            python("tcp elsewhere", "socket.create_connection(('192.0.2.1', 80), 2)", UNREACHABLE),
            python("ipv6 elsewhere", "socket.create_connection(('2001:db8::1', 80), 2)", UNREACHABLE),
            python(
                "udp to this machine",
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); \
             s.connect(('127.0.0.1', int(os.environ['PORT']))); s.send(b'x'); s.recv(1)",
                REFUSED,
            ),
            python(
                "udp elsewhere",
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
                UNREACHABLE,
            ),
            python(
                "udp to many",
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('224.0.0.251', 5353))",
                UNREACHABLE,
            ),
            python("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", DENIED),
            python("sctp", "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)", DENIED),
            python("dccp", "socket.socket(socket.AF_INET6, 6 | socket.SOCK_CLOEXEC)", DENIED),
            python("packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", DENIED),
            python("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)", DENIED),
            python(
                "another address",
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
             fcntl.ioctl(s, 0x8916, struct.pack('16sHH4s8x', b'lo', socket.AF_INET, 0, bytes([10, 0, 0, 1])))",
                DENIED,
            ),
        ],
    },
    // By a function of its own.
    Line { tried: "the loopback of another job, with the network off", without_mounts: true, attempts: &[] },
    Line {
        tried: "abstract sockets of others",
        without_mounts: true,
        attempts: &[python(
            "abstract socket",
            "socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])",
            &["Connection refused", "Operation not permitted"],
        )],
    },
    Line {
        tried: "connecting to sockets of others in the file system, wherever they are, at whatever time they were made",
        without_mounts: true,
        attempts: &[
            python("in /tmp", "socket.socket(socket.AF_UNIX).connect(os.environ['SOCKET'])", NO_SOCKET),
            python(
                "outside",
                "socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/host.sock')",
                NO_SOCKET,
            ),
            python("in the workspace", "socket.socket(socket.AF_UNIX).connect('host.sock')", NO_SOCKET),
            python(
                "without waiting",
                "s = socket.socket(socket.AF_UNIX); s.setblocking(False); s.connect('host.sock')",
                NO_SOCKET,
            ),
            python(
                "packets",
                "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('packets.sock')",
                NO_SOCKET,
            ),
            python(
                "through a link",
                "os.path.islink('to.sock') or os.symlink('host.sock', 'to.sock'); \
                 socket.socket(socket.AF_UNIX).connect('to.sock')",
                NO_SOCKET,
            ),
            python(
                "under another name",
                "os.path.exists('hard.sock') or os.link('host.sock', 'hard.sock'); \
                 socket.socket(socket.AF_UNIX).connect('hard.sock')",
                NO_SOCKET,
            ),
            python(
                "in the place of one of its own",
                "s = socket.socket(socket.AF_UNIX); s.bind('own.sock'); s.listen(); \
                 os.unlink('own.sock'); os.link('host.sock', 'own.sock')\n\
                 try: socket.socket(socket.AF_UNIX).connect('own.sock')\n\
                 finally: os.unlink('own.sock')",
                NO_SOCKET,
            ),
            python(
                "by the directory of the process",
                "socket.socket(socket.AF_UNIX).connect('/proc/self/cwd/host.sock')",
                NO_SOCKET,
            ),
            python(
                "by the root of init",
                "socket.socket(socket.AF_UNIX).connect('/proc/1/root' + os.environ['OUT'] + '/host.sock')",
                NO_SOCKET,
            ),
            python(
                "by the handle of a file",
                "f = os.open('host.sock', os.O_PATH); \
                 socket.socket(socket.AF_UNIX).connect('/proc/self/fd/%d' % f)",
                NO_SOCKET,
            ),
            python("with an address that changes meanwhile", RACE, NO_SOCKET),
        ],
    },
    Line {
        tried: "local datagram sockets, which send without connecting",
        without_mounts: true,
        attempts: &[
            python(
                "send to",
                "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'datagrams.sock')",
                DENIED,
            ),
            python(
                "raw",
                "socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b'x', 'datagrams.sock')",
                DENIED,
            ),
            python(
                "one of a pair",
                "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'datagrams.sock')",
                DENIED,
            ),
        ],
    },
    Line {
        tried: "signalling, tracing other processes, reading their memory",
        without_mounts: true,
        attempts: &[
            shell("kill", "kill -9 $HOST", ABSENT),
            python(
                "ptrace",
                "libc.ptrace(16, int(os.environ['HOST']), 0, 0) and call(101, 16, int(os.environ['HOST']), 0, 0)",
                DENIED,
            ),
            python(
                "memory of others",
                "b = ctypes.create_string_buffer(64); call(310, int(os.environ['HOST']), b, 1, b, 1, 0)",
                DENIED,
            ),
            python("signal to all", "os.kill(-1, 0) or os.kill(int(os.environ['HOST']), 0)", ABSENT),
        ],
    },
    Line {
        tried: "seeing other processes, what is open in the first of its own",
        without_mounts: false,
        attempts: &[
            shell("see", "ls /proc/$HOST", ABSENT),
            shell("directory of init", "ls /proc/1/cwd/", DENIED),
            shell("descriptors of init", ": < /proc/1/fd/0", DENIED),
            shell("memory of init", "head -c 1 /proc/1/mem", DENIED),
            shell("environment of init", "cat /proc/1/environ", DENIED),
            python("pidfd of the host", "os.pidfd_open(int(os.environ['HOST']))", ABSENT),
        ],
    },
    Line {
        tried: "block devices, new device nodes, `/sys`, `/proc/sys`, `/proc/sysrq-trigger`",
        without_mounts: true,
        attempts: &[
            shell(
                "sys",
                "echo x > /sys/kernel/uevent_seqnum",
                &["Read-only file system", "Permission denied"],
            ),
            shell(
                "core pattern",
                "echo x > /proc/sys/kernel/core_pattern",
                &["Read-only file system", "Permission denied"],
            ),
            shell(
                "sysrq",
                "echo h > /proc/sysrq-trigger",
                &["Read-only file system", "Permission denied", "No such file"],
            ),
            shell(
                "kernel memory",
                "head -c 1 /proc/kcore",
                &["Permission denied", "Operation not permitted", "No such file"],
            ),
            shell("disks", "ls /dev/vda /dev/sda /dev/mem /dev/kmsg", ABSENT),
            shell("new in dev", "touch /dev/new", &["Read-only", "Permission denied"]),
            shell("new in run", "touch /run/new", &["Read-only", "Permission denied"]),
            python("mknod", "os.mknod('node', 0o60600, os.makedev(254, 0))", DENIED),
        ],
    },
    Line {
        tried: "setuid programs, other users and groups, capabilities of root",
        without_mounts: true,
        attempts: &[
            python(
                "setuid to another",
                "os.setresuid(12345, 12345, 12345)",
                &["Operation not permitted", "Invalid argument"],
            ),
            python("other groups", "os.setgroups([0, 6])", DENIED),
        ],
    },
    Line {
        tried: "leaving files behind that change who runs them (set-user-id, set-group-id)",
        without_mounts: true,
        attempts: &[
            shell("chmod", "cp /bin/true id; chmod 4755 id", DENIED),
            shell("chmod of the group", "cp /bin/true id; chmod g+s id", DENIED),
            shell("install", "install -m 4755 /bin/true id-2", DENIED),
            python("fchmod", "os.fchmod(os.open('id', os.O_RDONLY), 0o6755)", DENIED),
            python("fchmodat2", "call(452, -100, b'id', 0o4755, 0)", DENIED),
            python("through a link of its own", "os.chmod('/proc/self/cwd/id', 0o4755)", DENIED),
            python("open", "os.open('id-3', os.O_CREAT | os.O_WRONLY, 0o4755)", DENIED),
            python("open of the group", "os.open('id-4', os.O_CREAT | os.O_WRONLY, 0o2755)", DENIED),
            python("open without a name", "os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)", DENIED),
            python(
                "openat2",
                "call(437, -100, b'id-5', struct.pack('QQQ', 0o102, 0o4755, 0), 24)",
                &["Function not implemented"],
            ),
            python("mknod", "os.mknod('id-6', 0o104755)", DENIED),
            python("mkdir", "os.mkdir('id-7', 0o2755)", DENIED),
            #[cfg(target_arch = "x86_64")]
            python("the old calls", "call(85, b'id-8', 0o4755)", DENIED),
            #[cfg(target_arch = "x86_64")]
            python("their chmod", "call(90, b'id', 0o4755)", DENIED),
            #[cfg(target_arch = "x86_64")]
            python("their open", "call(2, b'id-9', 0o101, 0o4755)", DENIED),
            #[cfg(target_arch = "x86_64")]
            python("their mknod", "call(133, b'id-9', 0o104755, 0)", DENIED),
        ],
    },
    Line {
        tried: "`io_uring`, `clone3`, `bpf`, keyrings, file handles, second system call numbers",
        without_mounts: true,
        attempts: &[
            python("clone3", "call(435, 0, 0)", &["Function not implemented"]),
            python("io_uring", "call(425, 1, 0)", &["Function not implemented"]),
            python("second numbers", "call(0x40000000 + 39)", &["Function not implemented"]),
            python("keyring", "call(250, 0, -3, 0)", DENIED),
            python("bpf", "call(321, 0, 0, 0)", DENIED),
            python("handle of a file", "call(304, -100, 0, 0)", DENIED),
        ],
    },
    Line {
        tried: "programs of 32 bits, which are killed",
        without_mounts: true,
        attempts: &[
            #[cfg(target_arch = "x86_64")]
            python(
                "a system call of 32 bits",
                "import mmap; code = mmap.mmap(-1, 4096, prot=7); code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'); \
             ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()",
                &["Bad system call"],
            ),
        ],
    },
    // These lines are tried by functions of their own.
    Line { tried: "living on after the job: double fork, session", without_mounts: true, attempts: &[] },
    Line { tried: "typing into the terminal (`TIOCSTI`)", without_mounts: true, attempts: &[] },
];

/// A server and who asks it, in two processes, over all that there is of a loopback.
const SERVER: &str = "python3 - <<'EOF'
import os, socket
for family, host in (socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'), (socket.AF_INET, '127.1.2.3'):
    if family == socket.AF_INET6 and not os.path.exists('/proc/net/if_inet6'): continue
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        server = socket.socket(family, kind)
        server.bind((host, 0))
        if kind == socket.SOCK_STREAM: server.listen()
        if os.fork() == 0:
            client = socket.socket(family, kind)
            client.connect(server.getsockname())
            client.send(b'asked')
            os._exit(0 if client.recv(9) == b'told' else 1)
        server.settimeout(5)
        if kind == socket.SOCK_STREAM:
            one = server.accept()[0]
            assert one.recv(9) == b'asked'
            one.send(b'told')
        else:
            text, who = server.recvfrom(9)
            assert text == b'asked'
            server.sendto(b'told', who)
        assert os.wait()[1] == 0
everywhere = socket.create_server(('', 0))
name = socket.getaddrinfo('localhost', everywhere.getsockname()[1], socket.AF_INET, socket.SOCK_STREAM)[0][4]
socket.create_connection(name, 5)
EOF";

/// A server on a local socket and who asks it, in two processes.
const LOCAL: &str = "python3 - <<'EOF'
import os, socket
os.makedirs('deep', exist_ok=True)
for path in 's', '/tmp/s', '/dev/shm/s', 'deep/s', os.getcwd() + '/t', '\\0' + 'abstract':
    for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
        for waits in True, False:
            server = socket.socket(socket.AF_UNIX, kind)
            server.bind(path)
            server.listen()
            if os.fork() == 0:
                client = socket.socket(socket.AF_UNIX, kind)
                client.setblocking(waits)
                client.connect(path)
                client.setblocking(True)
                client.send(b'asked')
                os._exit(0 if client.recv(9) == b'told' else 1)
            one = server.accept()[0]
            assert one.recv(9) == b'asked'
            one.send(b'told')
            assert os.wait()[1] == 0, (path, kind, waits)
            for again in range(200):
                client = socket.socket(socket.AF_UNIX, kind)
                client.connect(path)
                server.accept()[0].close()
                client.close()
            server.close()
            try: socket.socket(socket.AF_UNIX, kind).connect(path)
            except (ConnectionRefusedError, PermissionError): pass
            else: raise SystemExit('connected to a socket that is closed')
            if path[0] != '\\0': os.unlink(path)
os.rmdir('deep')
EOF";

/// Everyday work that must succeed in a sandbox.
pub(crate) const WORKS: &[(&str, &str)] = &[
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
    ("local sockets", LOCAL),
    (
        "servers of the standard library",
        "python3 -c 'import multiprocessing as m; x = m.Manager().dict(); x[1] = 2; assert x[1] == 2'",
    ),
    ("agents", "command -v ssh-agent > /dev/null || exit 0; ssh-agent sh -c 'ssh-add -l; test $? -eq 1'"),
    ("pairs", "python3 -c 'import socket; socket.socketpair()'"),
    ("threads", "python3 -c 'import threading; t = threading.Thread(target=print); t.start(); t.join()'"),
    ("pseudoterminal", "python3 -c 'import pty; pty.spawn([\"true\"])'"),
    ("a server of its own", SERVER),
    ("reading", "cat $OUT/file && cat .git/config && ls / /usr /etc > /dev/null"),
    ("daemons", "(setsid sleep 1000 &) ; sleep 0.05; pgrep sleep"),
    ("init", "kill -9 1; kill -STOP 1; sleep 0.1; (sleep 0.01 &); sleep 0.1"),
    ("nothing open", "test \"$(ls /proc/self/fd | tr '\\n' ' ')\" = '0 1 2 3 '"),
    (
        "modes",
        "cp -p /bin/true copy && chmod 755 copy && chmod +t . && ./copy && cp -a .git git-copy && rm -r copy git-copy",
    ),
    (
        "opening without a mode",
        "python3 -c 'import ctypes; l = ctypes.CDLL(None); assert l.syscall(257, -100, b\"file\", 0, 0o6777) >= 0'",
    ),
    ("archives", "tar cf a.tar file gitfile && mkdir -p x && tar xpf a.tar -C x && rm -r x a.tar"),
    (
        "git",
        "mkdir g && cd g && git init -q . && echo x > y && git add y && \
         git -c user.name=n -c user.email=e@e commit -qm one && git status --short && git clone -q . ../g2 && rm -rf ../g ../g2",
    ),
    ("own limits", "ulimit -c 0 && prlimit --nofile=512 true"),
    ("cross directories", "mkdir -p one two && echo x > one/x && mv one/x two/y"),
];

//! The options of wrappers.

/// Wrappers that only change how a command is started: the options as in the table, and the number of operands before
/// the command.
pub(super) const PLAIN: &[(&str, &str, usize)] = &[
    ("nice", "nice | n: 0 1 2 3 4 5 6 7 8 9 | --adjustment: --help --version | text numbers", 0),
    ("setsid", "setsid | cfwhV | --ctty --fork --wait --help --version | text", 0),
    (
        "timeout",
        "timeout | fpk:s:v | --foreground --preserve-status --kill-after: --signal: --verbose --help --version | text",
        1,
    ),
    ("stdbuf", "stdbuf | i:o:e: | --input: --output: --error: --help --version | text", 0),
    (
        "time",
        "time | avpqV o>f: | --append --verbose --portability --quiet --output> --output-file> --format: --help --version | text",
        0,
    ),
    ("ionice", "ionice | tc:n:p&P&u&hV | --ignore --class: --classdata: --help --version | text", 0),
    (
        "chrt",
        "chrt | abdefiorvRT:P:D:m&p&hV | --all-tasks --batch --deadline --ext --fifo --idle --other --rr --reset-on-fork --verbose --sched-runtime: --sched-period: --sched-deadline: --help --version --max& --pid& | text",
        1,
    ),
    ("taskset", "taskset | achpV | --all-tasks --cpu-list --help --version --pid& | text", 1),
    ("linux64", "linux64 | R | --addr-no-randomize | text", 0),
    ("linux32", "linux32 | R | --addr-no-randomize | text", 0),
    ("unbuffer", "unbuffer | p | | text", 0),
    ("catchsegv", "catchsegv | | | text", 0),
];

/// A name of the loader of programs, with its options.
macro_rules! loader {
    ($name:literal) => {
        (
            $name,
            concat!(
                $name,
                " | | --list --verify --inhibit-cache --library-path: --glibc-hwcaps-prepend: --glibc-hwcaps-mask: --inhibit-rpath: --audit: --preload: --argv0: --list-tunables --list-diagnostics --help --version | text"
            ),
            0,
        )
    };
}

/// Wrappers that let a command do more, or record what it does: the commands that they start are judged, and the wrapper
/// still needs approval.
pub(super) const OTHER: &[(&str, &str, usize)] = &[
    ("nohup", "nohup | | --help --version | text", 0),
    (
        "setarch",
        "setarch | BFILRSTXZ3vhV | --uname-2.6 --addr-no-randomize --fdpic-funcptrs --mmap-page-zero --addr-compat-layout --read-implies-exec --32bit --short-inode --whole-seconds --sticky-timeouts --3gb --4gb --list --show --pid: --help --version --verbose | text",
        0,
    ),
    ("x86_64", "x86_64 | BFILRSTXZ3vh | --addr-no-randomize --help --version --verbose | text", 0),
    ("i386", "i386 | BFILRSTXZ3vh | --addr-no-randomize --help --version --verbose | text", 0),
    loader!("ld.so"),
    loader!("ld-linux.so.2"),
    loader!("ld-linux-x86-64.so.2"),
    loader!("ld-linux-aarch64.so.1"),
    (
        "strace",
        "strace | fFAcCdDhikNqrtTvVxyYzZnw a:b:e:E:I:o>O:p&P:s:S:u:U:X: | --output> --follow-forks --output-separately --columns: --output-append-mode --detach-on: --summary-only --summary --debug --daemonize? --daemonised? --daemonized? --env: --instruction-pointer --interruptible: --stack-traces? --syscall-number --summary-syscall-overhead: --attach& --trace-path: --relative-timestamps? --string-limit: --summary-sort-by: --absolute-timestamps? --timestamps? --syscall-times? --user: --summary-columns: --no-abbrev --version --summary-wall-clock --strings-in-hex? --const-print-style: --pidns-translation --successful-only --failed-only --failing-only --seccomp-bpf --tips? --trace: --abbrev: --verbose: --raw: --signals: --status: --read: --write: --fault: --inject: --kvm: --quiet? --silent? --silence? --decode-fds? --decode-pids? --secontext? --argv0: --help | text",
        0,
    ),
    (
        "ltrace",
        "ltrace | bcCfhiLrStTV a:A:D:e:E:F<l:n:o>p&s:u:w:x:X: | --align: --config: --debug: --demangle --indent: --library: --output> --no-signals --where: --help --version | text",
        0,
    ),
    ("valgrind", "valgrind | qvdhv | | text", 0),
    ("perf", "perf | | | text", 1),
    ("gdb", "gdb | | --args --batch | text", 0),
    (
        "flock",
        "flock | seonxuFhV c! w:E: | --shared --exclusive --unlock --nonblock --nonblocking --nb --wait: --timeout: --conflict-exit-code: --no-fork --fcntl --start: --length: --close --command! --verbose --help --version | text",
        1,
    ),
    (
        "unshare",
        "unshare | imnpuUCTcrfhV l:R:w:S:G: | --fork --mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? --kill-child? --mount-proc? --mount-binfmt? --map-root-user --map-current-user --map-auto --map-subids --map-user: --map-users: --map-group: --map-groups: --owner: --propagation: --setgroups: --keep-caps --setuid: --setgid: --root: --wd: --monotonic: --boottime: --forward-signals --load-interp: --help --version | text",
        0,
    ),
    (
        "nsenter",
        "nsenter | aecFZhV m?u?i?n?p?U?C?T?r?w? t: S:G:W:N: | --all --target: --mount? --uts? --ipc? --net? --net-socket: --pid? --user? --user-parent --cgroup? --time? --setuid: --setgid: --root? --wd? --wdns: --env --no-fork --join-cgroup --keep-caps --preserve-credentials --follow-context --help --version | text",
        0,
    ),
    ("chroot", "chroot | | --groups: --userspec: --skip-chdir --help --version | text", 1),
    ("fakeroot", "fakeroot | | | text", 0),
    ("firejail", "firejail | | | text", 0),
    ("bwrap", "bwrap | | | text", 0),
    (
        "systemd-run",
        "systemd-run | tPqdGSrhVv p:u:E:H:M:C: | --user --system --scope --pty --pty-late --pipe --wait --unit: --property: --description: --slice: --slice-inherit --expand-environment: --remain-after-exit --send-sighup --host: --machine: --capsule: --service-type: --uid: --gid: --nice: --setenv: --background: --quiet --verbose --json: --on-active: --on-boot: --on-startup: --on-unit-active: --on-unit-inactive: --on-calendar: --on-timezone-change --on-clock-change --timer-property: --path-property: --socket-property: --no-block --no-ask-password --no-pager --job-mode: --ignore-failure --collect --working-directory: --same-dir --shell --help --version | text",
        0,
    ),
    ("daemonize", "daemonize | av c:e:E:l:o:p:u: | | text", 0),
    ("caffeinate", "caffeinate | disumt:w: | | text", 0),
    ("dbus-run-session", "dbus-run-session | | | text", 0),
    ("xvfb-run", "xvfb-run | alenpsw | | text", 0),
    ("ssh-agent", "ssh-agent | csDd a:E:P:t: | | text", 0),
    ("proot", "proot | | | text", 0),
    ("entr", "entr | acdnprsxz | | text", 0),
    ("hyperfine", "hyperfine | | | text", 0),
    ("busybox", "busybox | | | text", 0),
    ("toybox", "toybox | | | text", 0),
    (
        "setpriv",
        "setpriv | dhV | --no-new-privs --nnp --clear-groups --keep-groups --init-groups --list-caps --reuid: --regid: --ruid: --euid: --rgid: --egid: --groups: --inh-caps: --bounding-set: --ambient-caps: --securebits: --pdeathsig: --ptracer: --selinux-label: --apparmor-profile: --landlock-access: --landlock-rule: --seccomp-filter: --reset-env --dump --help --version | text",
        0,
    ),
    (
        "prlimit",
        "prlimit | c?d?e?f?i?l?m?n?q?r?s?t?u?v?x?y? p:o:hV | --pid: --output: --noheadings --raw --verbose --nofile? --nproc? --as? --core? --cpu? --data? --fsize? --locks? --memlock? --msgqueue? --nice? --rss? --rtprio? --rttime? --sigpending? --stack? --help --version | text",
        0,
    ),
    ("choom", "choom | n:p:hV | --adjust: --pid: --help --version | text", 0),
    (
        "uclampset",
        "uclampset | m:M:asRp:hvV | --all-tasks --pid: --system --reset-on-fork --help --verbose --version | text",
        0,
    ),
    ("sem", "sem | | | text", 0),
    ("coproc", "coproc | | | text", 0),
    ("eatmydata", "eatmydata | | | text", 0),
    ("faketime", "faketime | mf | --exclude-monotonic --date-prog: --help --version | text", 1),
    ("proxychains", "proxychains | qf: | | text", 0),
    ("proxychains4", "proxychains4 | qf: | | text", 0),
    (
        "torsocks",
        "torsocks | qdaiu:p:P: | --quiet --debug --isolate --auto --user: --pass: --port: --address: | text",
        0,
    ),
    ("torify", "torify | v | --verbose | text", 0),
    (
        "systemd-inhibit",
        "systemd-inhibit | | --no-pager --no-legend --what: --who: --why: --mode: --list | text",
        0,
    ),
    (
        "systemd-cat",
        "systemd-cat | t:p: | --identifier: --priority: --stderr-priority: --level-prefix: --namespace: | text",
        0,
    ),
    (
        "numactl",
        "numactl | aH N: C: m: i: p: P: l b | --all --hardware --show --interleave: --preferred: --physcpubind: --cpunodebind: --membind: --localalloc --balancing | text",
        0,
    ),
    ("cgexec", "cgexec | g: | --sticky | text", 0),
    ("rlwrap", "rlwrap | acinrREoNvxz:b:C:f:H:l:p?q:s:S:t:w: | | text", 0),
    ("chronic", "chronic | ev | | text", 0),
    ("nocache", "nocache | n: D: f | | text", 0),
    ("runcon", "runcon | c t: u: r: l: | --compute --type: --user: --role: --range: | text", 0),
    (
        "aa-exec",
        "aa-exec | divhp:n: | --profile: --namespace: --debug --immediate --verbose --help | text",
        0,
    ),
    ("chpst", "chpst | vPqV012 u:U:b: /: e:n:l:L:m:d:o:p:f:c:r:t: | | text", 0),
    ("setuidgid", "setuidgid | | | text", 1),
    ("envdir", "envdir | | | text", 1),
    ("softlimit", "softlimit | a:c:d:f:l:m:o:p:r:s:t: | | text", 0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::programs_of;

    #[test]
    fn every_line_is_one_and_names_its_program() {
        for (name, line, operands) in PLAIN.iter().chain(OTHER) {
            assert_eq!(programs_of(line), [*name]);
            assert!(*operands < 4, "{name}");
        }
    }
}

//! A network of a test's own: loopback alone, with public addresses on it, and a DNS server of the test as the system's.

use std::env;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Says that the process is in its own network.
const VARIABLE: &str = "TOOLKIT_TEST_ALONE";

/// A public IPv4 address of the network.
pub const PUBLIC_V4: &str = "93.184.216.34";
/// A public IPv6 address of the network.
pub const PUBLIC_V6: &str = "2606:4700::6810:84e5";
/// An address of the network that is private, beside loopback.
pub const PRIVATE_V4: &str = "10.0.0.7";
/// The domain in which the resolver looks for names without a dot.
pub const SEARCHED: &str = "corp.test";

/// The addresses are made, the resolver's files are put in place, and the test is run.
const SCRIPT: &str = r#"
ip link set lo up
for address in "$2"/32 "$3"/32; do ip address add "$address" dev lo; done
# An address that is still looked for on other machines cannot be used.
ip address add "$4"/128 dev lo nodad
mount --bind "$1/resolv.conf" "$(readlink -f /etc/resolv.conf)"
mount --bind "$1/nsswitch.conf" "$(readlink -f /etc/nsswitch.conf)"
shift 4
exec "$@"
"#;

/// Returns true in a network of its own. Elsewhere it runs the named test of this program again in one, and returns false once that has passed:
/// the system's resolver asks 127.0.0.1:53 there, where the test starts a [`Dns`](crate::dns::Dns).
///
/// # Panics
///
/// The test fails, or there is no such network: it needs `ip`, `unshare` and, unless it runs as root, user namespaces.
pub fn is_alone(test: &str) -> bool {
    if env::var_os(VARIABLE).is_some() {
        return true;
    }
    let files =
        env::temp_dir().join(format!("toolkit-test-alone-{}-{test}", std::process::id()).replace(':', "-"));
    fs::create_dir_all(&files).expect("a directory for the resolver's files");
    let write = |name: &str, text: &str| {
        let mut file = fs::File::create(files.join(name)).expect("a file of the resolver");
        file.write_all(text.as_bytes()).expect("a file of the resolver");
    };
    write("resolv.conf", &format!("nameserver 127.0.0.1\nsearch {SEARCHED}\noptions timeout:1 attempts:1\n"));
    write("nsswitch.conf", "hosts: files dns\n");
    let program = env::current_exe().expect("the program of the test");
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount", "sh", "-ec", SCRIPT, "sh"])
        .arg(&files)
        .args([PUBLIC_V4, PRIVATE_V4, PUBLIC_V6])
        .arg(program)
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .env(VARIABLE, "1")
        .stdin(Stdio::null())
        .status();
    let _ = fs::remove_dir_all(&files);
    let status = status.expect("`unshare` of util-linux");
    assert!(status.success(), "{test} failed in a network of its own, or there is none: {status}");
    false
}

//! Programs whose words mean more than options and operands.

mod archive;
mod find;

use crate::class::Class;
use crate::options;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

/// Programs that speak with other machines.
const NETWORK: &[&str] = &[
    "curl", "wget", "wget2", "aria2c", "axel", "http", "https", "httpie", "xh", "curlie", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp",
    "tftp", "ping", "ping6", "traceroute", "tracepath", "mtr", "dig", "nslookup", "host", "whois", "nmap", "masscan", "docker", "podman",
    "kubectl", "helm", "oc", "aws", "gcloud", "az", "gsutil", "s3cmd", "rclone", "gh", "glab", "hub", "mosh", "rsh", "rlogin", "rexec", "autossh", "sshpass", "ssh-copy-id", "ssh-keyscan",
    "openssl", "mail", "sendmail", "mutt", "msmtp", "ngrok", "cloudflared", "tailscale", "wg", "openvpn", "yt-dlp", "youtube-dl", "nerdctl", "crictl", "ctr", "skopeo", "lynx", "w3m", "links", "elinks", "getent", "resolvectl",
    "terraform", "tofu", "pulumi", "ansible", "ansible-playbook", "vagrant", "heroku", "flyctl", "vercel", "netlify", "wrangler", "firebase", "psql", "mysql", "mongosh", "redis-cli",
];

/// Programs that build, install or test: what they run is in files.
const BUILDS: &[&str] = &[
    "make", "gmake", "bmake", "cmake", "ctest", "ninja", "meson", "cargo", "rustc", "rustdoc", "rustup", "go", "npm", "npx", "pnpm", "pnpx", "yarn", "bunx",
    "pip", "pip3", "pipx", "uv", "uvx", "poetry", "pdm", "hatch", "tox", "nox", "pytest", "py.test", "mypy", "ruff", "black", "flake8", "pylint", "isort", "eslint", "prettier",
    "tsc", "jest", "vitest", "mocha", "webpack", "vite", "rollup", "esbuild", "gradle", "gradlew", "mvn", "mvnw", "ant", "sbt", "lein", "bundle", "rake", "gem", "composer",
    "mix", "rebar3", "stack", "cabal", "dotnet", "msbuild", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ar", "as", "javac", "kotlinc", "swiftc", "zig", "bazel", "buck", "buck2", "just",
    "task", "rustfmt", "gofmt", "clang-format", "pre-commit", "tar", "zip", "unzip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "7z", "rar", "unrar", "cpio", "patch", "apt", "apt-get", "dpkg", "yum", "dnf", "apk", "brew", "pacman", "snap", "flatpak",
];

/// Judges a program that is known by name. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if tells_of_itself(base, values) {
        return true;
    }
    match base {
        "dd" => dd(judge, values, part),
        "ip" => ip(values, part),
        "less" => less(judge, values, part),
        "systemctl" | "journalctl" | "timedatectl" | "loginctl" => {
            // On a terminal they show it with another program.
            judge.needs(&[("SYSTEMD_PAGER", "cat"), ("PAGER", "cat")]);
            if base == "timedatectl" && !values.iter().all(|value| value.text().is_some_and(|text| text.starts_with('-') || matches!(text, "status" | "show" | "list-timezones" | "timesync-status" | "show-timesync"))) {
                part.is(Class::Write, "timedatectl changes the clock");
            }
            return options::judge(judge, base, values, part);
        }
        "dpkg" | "dpkg-query" if reads_packages(values) => {}
        "stty" if values.is_empty() || values.iter().all(|value| matches!(value.text(), Some("-a" | "--all" | "-g" | "--save" | "size" | "speed"))) => {}
        "fuser" if !values.iter().any(|value| value.text().is_none_or(|text| text.starts_with('-') && text.contains(['k', 'i', 'w', 'M']))) => {
            values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-'))).for_each(|value| judge.path(value, Access::Read, part));
        }
        "mktemp" if values.iter().any(|value| matches!(value.text(), Some("-u" | "--dry-run"))) => {}
        "tar" | "bsdtar" | "unzip" | "gzip" | "gunzip" | "zcat" | "xz" | "unxz" | "bzip2" | "bunzip2" | "ar" | "zstd" if archive::judge(judge, base, values, part) => {}
        "find" => find::judge(judge, values, part),
        "ps" => ps(values, part),
        "rm" | "rmdir" | "unlink" | "mkdir" | "touch" | "chmod" | "chown" | "chgrp" | "truncate" | "fallocate" | "mkfifo" | "mknod" | "shred" | "mktemp"
        | "sponge" => changes(judge, base, values, part),
        "tee" => tee(judge, values, part),
        "cp" | "mv" | "ln" | "install" | "link" => copies(judge, base, values, part),
        "jq" if program_imports(values) => {
            part.has(Class::Unknown, "the program of jq may read files that its text names");
        }
        _ if only_tells(judge, base, values) => {}
        _ if NETWORK.contains(&base) => network(judge, base, values, part),
        _ if BUILDS.contains(&base) => {
            part.is(Class::Unknown, format!("{base} can change files and run what they say"));
            crate::forbidden::hidden(values, part);
        }
        _ => return false,
    }
    true
}

/// Whether a well-known program is asked for its version alone.
fn only_tells(judge: &Judge<'_>, base: &str, values: &[Value]) -> bool {
    let [value] = values else { return false };
    let asks = match value.text() {
        Some("--version") => true,
        Some("-V") => matches!(base, "cargo" | "rustc" | "pip" | "pip3" | "curl" | "ssh"),
        Some("-v") => matches!(base, "npm" | "pnpm" | "yarn"),
        Some("version") => matches!(base, "go" | "openssl"),
        Some("env") => base == "go",
        Some("--list" | "help") => base == "cargo",
        _ => false,
    };
    let is_known = matches!(
        base,
        "cargo" | "rustc" | "rustfmt" | "rustup" | "rustdoc" | "go" | "npm" | "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "make" | "cmake" | "ninja" | "tar" | "zip" | "unzip" | "gzip"
            | "xz" | "zstd" | "bzip2" | "curl" | "wget" | "rsync" | "pip" | "pip3" | "docker" | "kubectl" | "gh" | "ssh" | "openssl" | "javac" | "patch" | "dpkg" | "apt"
    );
    // Files of the directory say which toolchain these start.
    let chooses = matches!(base, "cargo" | "rustc" | "rustfmt" | "rustdoc" | "go" | "npm" | "pip" | "pip3");
    asks && is_known && !(chooses && has_toolchain_file(judge))
}

fn has_toolchain_file(judge: &Judge<'_>) -> bool {
    const FILES: &[&str] = &["rust-toolchain", "rust-toolchain.toml", "go.work", "go.mod", ".npmrc", ".python-version", ".tool-versions"];
    let Some(cwd) = judge.state.cwd.as_deref() else { return true };
    cwd.ancestors().any(|directory| FILES.iter().any(|file| directory.join(file).symlink_metadata().is_ok()))
}

fn program_imports(values: &[Value]) -> bool {
    values.iter().any(|value| value.text().is_none_or(|text| text.contains("import") || text.contains("include")))
}

/// `ps`: the letters of its older manner have other meanings, and one shows the environment of processes.
fn ps(values: &[Value], part: &mut Part) {
    for value in values {
        let Some(text) = value.text() else {
            part.has(Class::Unknown, "ps gets a word that is not known before it runs");
            continue;
        };
        let shows_environment = match text.strip_prefix('-') {
            Some(rest) if rest.starts_with('-') => !matches!(
                rest,
                "-forest" | "-no-headers" | "-no-heading" | "-help" | "-version" | "-headers" | "-cumulative"
            ) && !["-sort=", "-pid=", "-ppid=", "-user=", "-format=", "-cols=", "-rows=", "-width=", "-group=", "-tty=", "-sid="].iter().any(|known| rest.starts_with(known))
                && !["-sort", "-pid", "-ppid", "-user", "-format", "-cols"].contains(&rest),
            Some(_) => false,
            // A list of columns, users or processes, or letters.
            None => text.contains('e') && text.bytes().all(|byte| byte.is_ascii_alphabetic()) && text.len() < 8 && !is_value(values, text),
        };
        if shows_environment {
            part.has(Class::Unknown, format!("ps {text} may show the environment of processes"));
        }
    }
    let shows = values.iter().filter_map(Value::text).any(|text| text.split([',', '=']).any(|word| matches!(word, "environ" | "env")));
    if shows {
        part.has(Class::Unknown, "ps shows the environment of processes");
    }
}

/// Whether a word is the value of the option before it.
fn is_value(values: &[Value], text: &str) -> bool {
    let at = values.iter().position(|value| value.text() == Some(text));
    let before = at.and_then(|at| at.checked_sub(1)).and_then(|at| values[at].text());
    before.is_some_and(|before| {
        before.starts_with('-') && (before.ends_with(['o', 'p', 'u', 'U', 'C', 't', 'g', 'G', 'k', 'O', 's']) || matches!(before, "--sort" | "--pid" | "--ppid" | "--user" | "--format"))
    })
}

fn changes(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Write, format!("{base} {}", Class::Write.words()));
    let mode = usize::from(matches!(base, "chmod" | "chown" | "chgrp"));
    let operands: Vec<&Value> = values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-') && text.len() > 1)).collect();
    for operand in operands.into_iter().skip(mode) {
        judge.path(operand, Access::Write, part);
    }
}

/// Without files it only passes on what it reads.
fn tee(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let end = values.iter().position(|value| value.text() == Some("--")).unwrap_or(values.len());
    for (index, value) in values.iter().enumerate() {
        match value.text() {
            Some("-" | "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty") => {}
            Some(_) if index > end => {
                part.is(Class::Write, "tee writes files");
                judge.path(value, Access::Write, part);
            }
            Some("-a" | "-i" | "-p" | "-ai" | "-ia" | "--append" | "--ignore-interrupts" | "--help" | "--version" | "--") => {}
            Some(text) if text.starts_with("--output-error") => {}
            _ => {
                part.is(Class::Write, "tee writes files");
                judge.path(value, Access::Write, part);
            }
        }
    }
}

fn copies(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Write, format!("{base} {}", Class::Write.words()));
    let operands: Vec<&Value> = values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-') && text.len() > 1)).collect();
    let targets = values.iter().filter_map(Value::text).filter_map(|text| text.strip_prefix("--target-directory="));
    for target in targets {
        judge.path(&Value::Text(target.to_owned()), Access::Write, part);
    }
    let count = operands.len();
    for (index, operand) in operands.into_iter().enumerate() {
        let is_target = index + 1 == count;
        // What is moved is gone where it was.
        let access = if is_target || base == "mv" { Access::Write } else { Access::ReadTree { follows_links: false } };
        judge.path(operand, access, part);
    }
}

fn network(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    part.is(Class::Network, format!("{base} {}", Class::Network.words()));
    let words: Vec<&str> = values.iter().filter_map(Value::text).collect();
    match base {
        "ssh" | "mosh" | "rsh" | "autossh" | "sshpass" => {
            // The command on the other side, as far as it is a warning.
            let host = words.iter().position(|word| !word.starts_with('-'));
            if let Some(host) = host {
                crate::forbidden::look(&words[host + 1..].join(" "), part);
            }
            if words.iter().any(|word| word.to_ascii_lowercase().contains("proxycommand") || word.to_ascii_lowercase().contains("localcommand")) {
                part.has(Class::Code, format!("{base} runs a command of an option"));
            }
        }
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => container(base, &words, part),
        "terraform" | "tofu" | "pulumi" if words.contains(&"destroy") => part.is(Class::Dangerous, format!("{base} destroys what was built")),
        _ => {}
    }
    for value in values {
        if let Some(file) = value.text().and_then(|text| text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file))) {
            judge.path(&Value::Text(file.to_owned()), Access::Read, part);
        }
    }
    crate::forbidden::hidden(values, part);
}

fn container(base: &str, words: &[&str], part: &mut Part) {
    let destroys = ["prune", "rm", "rmi", "delete", "drain", "kill", "down"];
    if words.iter().any(|word| destroys.contains(word)) {
        part.is(Class::Dangerous, format!("{base} deletes what it runs or keeps"));
    }
    let opens = words.iter().any(|word| {
        *word == "--privileged" || word.starts_with("/:") || word.contains("docker.sock") || matches!(*word, "--pid=host" | "--net=host" | "--network=host" | "--ipc=host")
            || word.starts_with("--volume=/:") || word.starts_with("-v/:") || word.contains("source=/,") || word.contains("src=/,")
    });
    if opens {
        part.is(Class::Dangerous, format!("{base} gets at the machine itself"));
    }
}

/// Whether a program of the base system is asked what it is.
fn tells_of_itself(base: &str, values: &[Value]) -> bool {
    const OF_SYSTEM: &[&str] = &[
        "rm", "rmdir", "unlink", "mkdir", "touch", "chmod", "chown", "chgrp", "truncate", "mkfifo", "mknod", "mktemp", "tee", "cp", "mv", "ln", "install", "link", "dd",
        "tar", "gzip", "gunzip", "bzip2", "xz", "zip", "unzip", "find", "ps", "shred", "split", "csplit", "patch", "make", "ip",
    ];
    let [value] = values else { return false };
    OF_SYSTEM.contains(&base) && matches!(value.text(), Some("--help" | "--version"))
}

fn dd(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    for value in values {
        if let Value::Unknown { prefix, splits: false } = value
            && prefix.starts_with("if=")
        {
            judge.path(value, Access::Read, part);
            continue;
        }
        let Some(text) = value.text() else {
            part.is(Class::Dangerous, "dd gets a word that is not known before it runs");
            judge.path(value, Access::Write, part);
            continue;
        };
        let (key, operand) = text.split_once('=').unwrap_or((text, ""));
        let operand = Value::Text(operand.to_owned());
        match key {
            "if" => judge.path(&operand, Access::Read, part),
            "of" => {
                let text = operand.text().unwrap_or_default();
                if !crate::walk::is_no_file(text, Access::Write) {
                    part.is(Class::Dangerous, "dd writes over what is there");
                    judge.path(&operand, Access::Write, part);
                }
            }
            "bs" | "ibs" | "obs" | "cbs" | "count" | "skip" | "seek" | "iseek" | "oseek" | "conv" | "iflag" | "oflag" | "status" => {}
            _ => part.has(Class::Unknown, format!("dd {text} is not known to only read")),
        }
    }
}

fn ip(values: &[Value], part: &mut Part) {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return part.is(Class::Unknown, "ip gets a word that is not known before it runs") };
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    let options_are_known = words.iter().filter(|word| word.starts_with('-')).all(|word| {
        matches!(*word, "-4" | "-6" | "-s" | "-stats" | "-d" | "-details" | "-br" | "-brief" | "-j" | "-json" | "-p" | "-pretty" | "-o" | "-oneline" | "-c" | "-color" | "-h" | "-human" | "-V" | "-r" | "-resolve" | "-t" | "-0")
    });
    let object = operands.next();
    let is_object = object.is_none_or(|object| {
        ["address", "link", "route", "neighbour", "neighbor", "rule", "maddress", "mroute", "tunnel", "netconf"].iter().any(|known| known.starts_with(object))
    });
    let is_reading = operands.next().is_none_or(|verb| matches!(*verb, "show" | "sh" | "s" | "list" | "ls" | "l" | "lst" | "get"));
    if !(options_are_known && is_object && is_reading) {
        part.is(Class::Unknown, "ip can change how the machine is connected");
    }
}

/// A pager, of which a person at a terminal could have commands run.
fn less(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    judge.needs(&[("LESSSECURE", "1")]);
    if values.iter().any(|value| value.text().is_some_and(|text| text.starts_with('+'))) {
        part.has(Class::Code, "less runs a command of its own first");
    }
    options::judge(judge, "less", values, part);
}

fn reads_packages(values: &[Value]) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    let asks = matches!(
        words.first().copied(),
        Some("-l" | "-L" | "-S" | "-s" | "-W" | "-p" | "--list" | "--listfiles" | "--search" | "--status" | "--show" | "--get-selections")
    );
    asks && words[1..].iter().all(|word| !word.starts_with('-') || word.starts_with("-f=") || word.starts_with("--showformat="))
}

//! Texts that name files of other machines, and URLs of local files.

use super::MAX_LENGTH;
use std::ops::Range;

/// Schemes of URLs whose path is not that of a local file.
const REMOTE_SCHEMES: &[&str] = &[
    "amqp",
    "amqps",
    "dict",
    "docker",
    "ftp",
    "ftps",
    "gemini",
    "git",
    "git+https",
    "git+ssh",
    "gopher",
    "gs",
    "http",
    "https",
    "imap",
    "imaps",
    "irc",
    "ldap",
    "ldaps",
    "mongodb",
    "mongodb+srv",
    "mqtt",
    "mysql",
    "nats",
    "oci",
    "pop3",
    "postgres",
    "postgresql",
    "redis",
    "rediss",
    "rsync",
    "rtmp",
    "rtsp",
    "s3",
    "scp",
    "sftp",
    "smb",
    "smtp",
    "smtps",
    "ssh",
    "svn",
    "svn+ssh",
    "tcp",
    "telnet",
    "tftp",
    "tls",
    "udp",
    "ws",
    "wss",
];

/// Programs whose operands `host:path` name files of other machines, or of containers.
const COPIERS: &[&str] = &[
    "scp", "rsync", "sftp", "rclone", "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "mutagen",
    "unison",
];

/// Returns true if a word names a file of another machine, as `host:path`.
pub(super) fn is_remote(program: &str, word: &str) -> bool {
    let Some((host, _)) = word.split_once(':').filter(|(_, path)| !path.starts_with("//")) else {
        return false;
    };
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    match host.split_once('@') {
        Some((user, host)) => is_name(user) && is_name(host),
        None => COPIERS.contains(&program) && is_host(host),
    }
}

/// Returns true if a text before a colon is the name of a host or a container, rather than a path.
fn is_host(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['.', '~', '/'])
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-[]".contains(&byte))
}

/// Returns the ranges of URLs whose path is not local.
pub(super) fn urls(word: &str) -> Vec<Range<usize>> {
    let mut urls: Vec<Range<usize>> = Vec::new();
    for (at, _) in word.match_indices("://") {
        if urls.last().is_some_and(|url| at < url.end) {
            continue;
        }
        let start = scheme_start(word, at);
        if REMOTE_SCHEMES.contains(&&*word[start..at].to_ascii_lowercase()) {
            urls.push(start..at + 3 + length(&word[at + 3..]));
        }
    }
    urls
}

/// Returns the last names in the URLs of a word, also with the query after them, as a program that stores by them may use them.
pub(super) fn names_of_urls(word: &str) -> impl Iterator<Item = String> {
    let ranges = if word.starts_with('-') { Vec::new() } else { urls(word) };
    ranges.into_iter().flat_map(|range| {
        let url = &word[range];
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let whole = path.split('#').next().unwrap_or(path);
        let plain = whole.split('?').next().unwrap_or(whole);
        let name = plain.rsplit_once('/').map(|(_, name)| name).unwrap_or_default();
        let with_query = whole.rsplit_once('/').map(|(_, name)| name).unwrap_or_default();
        [decode(name), decode(with_query), name.to_owned()]
    })
}

/// Returns true if a text is the URL of a local file, and not a path.
pub(super) fn is_file_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| is_of_files(scheme))
}

/// Returns the files of the URLs of local files in a word. A URL may have the name of a host before the path, or be relative, as some programs
/// accept it.
pub(super) fn files_of_urls(word: &str) -> impl Iterator<Item = String> {
    let colons = word.match_indices(':').map(|(at, _)| at);
    let colons = colons.filter(|at| is_of_files(&word[scheme_start(word, *at)..*at]));
    colons.flat_map(|at| {
        let rest = &word[at + 1..];
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let rest = &rest[..rest.floor_char_boundary(MAX_LENGTH)];
        let wholes = [rest, &rest[..length(rest)]];
        let paths = wholes.map(|whole| &whole[..whole.find(['?', '#']).unwrap_or(whole.len())]);
        wholes.into_iter().chain(paths).flat_map(|text| {
            let of_root = text.find('/').map(|slash| decode(&text[slash..]));
            std::iter::once(decode(text)).chain(of_root)
        })
    })
}

fn is_of_files(scheme: &str) -> bool {
    matches!(&*scheme.to_ascii_lowercase(), "file" | "fileb" | "git+file" | "local" | "path")
}

/// Returns the position of the scheme of a URL before its colon.
fn scheme_start(word: &str, colon: usize) -> usize {
    let before = word[..colon].bytes().rev();
    let length = before.take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    // An option and the text before it are no part of the scheme.
    let start = colon - length;
    let name = &word[start..colon];
    start + (name.len() - name.trim_start_matches(['-', '.', '+']).len())
}

/// Returns the length of a URL's text after its scheme.
fn length(rest: &str) -> usize {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ',' | ';' | '|' | '<' | '>' | ')' | ']' | '}')
    };
    rest.find(ends).unwrap_or(rest.len())
}

/// Decodes percent-encoded bytes.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match digit(0).zip(digit(1)).filter(|_| *first == b'%') {
            Some((high, low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! Selection of the table line by which a git command is judged.

use crate::never::is_flag;

/// Returns the table line for a command with several functions, as its words select; empty if it does not only read, or has no such
/// functions.
pub(super) fn line(name: &str, first: Option<&str>, words: &[Option<&str>], operands: usize) -> &'static str {
    match (name, first) {
        ("branch", _)
            if operands == 0
                || lists(
                    words,
                    &[
                        "-l",
                        "--list",
                        "--contains",
                        "--no-contains",
                        "--merged",
                        "--no-merged",
                        "--points-at",
                        "--show-current",
                    ],
                ) =>
        {
            "git:branch"
        }
        ("tag", _)
            if operands == 0
                || lists(
                    words,
                    &[
                        "-l",
                        "--list",
                        "--contains",
                        "--no-contains",
                        "--merged",
                        "--no-merged",
                        "--points-at",
                        "-n",
                    ],
                ) =>
        {
            "git:tag"
        }
        ("remote", None | Some("-v" | "--verbose")) if operands == 0 => "git:(none)",
        ("merge-file", _) if lists(words, &["-p", "--stdout"]) => "git:merge-file",
        // With it the files that were not tracked are shown, too.
        ("stash", Some("show")) if !words.iter().flatten().any(|word| is_flag(word, 'u')) => "git:diff",
        ("worktree" | "notes" | "sparse-checkout", Some("list"))
        | ("notes", Some("show"))
        | ("bisect", Some("log"))
        | ("remote", Some("get-url")) => "git:(text)",

        ("reflog", None | Some("show" | "list" | "exists")) | ("stash", Some("list")) => "git:log",
        ("reflog", Some(word)) if !matches!(word, "expire" | "delete" | "drop" | "write") => "git:log",
        ("config", Some("list" | "get")) => "git:config",
        (
            "config",
            Some(
                "--get" | "--get-all" | "--get-regexp" | "--get-urlmatch" | "-l" | "--list" | "--show-origin"
                | "--show-scope" | "--name-only" | "--local" | "--global" | "--system" | "--get-color"
                | "--get-colorbool" | "--file" | "-f" | "--null" | "-z" | "--type" | "--includes",
            ),
        ) if lists(
            words,
            &[
                "--get",
                "--get-all",
                "--get-regexp",
                "--get-urlmatch",
                "-l",
                "--list",
                "--get-color",
                "--get-colorbool",
            ],
        ) =>
        {
            "git:config"
        }
        ("config", _) if names_key(words) => "git:config",
        ("symbolic-ref", _) if operands <= 1 => "git:symbolic-ref",
        ("hash-object", _) => "git:hash-object",
        ("fsck", _) => "git:fsck",
        ("submodule", None | Some("status" | "summary")) => "git:submodule",
        _ => "",
    }
}

/// Returns true if the words of `git config` only select where and how to read one key, which is the last word.
fn names_key(words: &[Option<&str>]) -> bool {
    let Some((Some(key), before)) = words.split_last() else { return false };
    let says_where = |word: Option<&str>| {
        word.is_some_and(|word| {
            word.starts_with("--type=")
                || matches!(
                    word,
                    "--local"
                        | "--global"
                        | "--system"
                        | "--worktree"
                        | "--show-origin"
                        | "--show-scope"
                        | "--null"
                        | "-z"
                        | "--bool"
                        | "--int"
                        | "--path"
                        | "--includes"
                )
        })
    };
    key.contains('.') && !key.starts_with('-') && before.iter().copied().all(says_where)
}

/// Returns true if one of these options selects the function: it is the first word, or follows options without values.
fn lists(words: &[Option<&str>], options: &[&str]) -> bool {
    const PLAIN: &[&str] = &[
        "-a",
        "-r",
        "-v",
        "-vv",
        "-q",
        "-i",
        "--all",
        "--remotes",
        "--color",
        "--no-color",
        "--column",
        "--no-column",
    ];
    let is_mode = |word: &str| {
        options.iter().any(|option| {
            word == *option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        }) || (word.starts_with("-n")
            && options.contains(&"-n")
            && word[2..].bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut words = words.iter().copied().skip_while(|word| {
        word.is_some_and(|word| {
            !is_mode(word) && (PLAIN.contains(&word) || (word.starts_with("--") && word.contains('=')))
        })
    });
    words.next().flatten().is_some_and(is_mode)
}

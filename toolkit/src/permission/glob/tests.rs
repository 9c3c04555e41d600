use super::*;
use std::fs;
use std::process::Command;

/// A path of the table, within the workspace; one that ends with `/` is a directory.
fn inside(path: &str) -> PathText {
    let path = path.trim_end_matches('/');
    PathText::new(Some(path.to_owned()), format!("/srv/space/{path}"))
}

fn outside(path: &str) -> PathText {
    PathText::new(None, path.to_owned())
}

/// Patterns, paths, and the expected results: if an entry that denies matches the path, and if one that allows does.
const TABLE: &[(&str, &str, bool, bool)] = &[
    // A name without a slash: at any depth, including all contents.
    ("gen.rs", "gen.rs", true, true),
    ("gen.rs", "src/gen.rs", true, false),
    ("gen.rs", "gen.rs/below", true, false),
    ("gen.rs", "src/gen.rs/below", true, false),
    ("gen.rs", "agen.rs", false, false),
    ("*.rs", "lib.rs", true, true),
    ("*.rs", "src/deep/lib.rs", true, true),
    ("*.rs", "src/lib.rs.txt", false, false),
    ("*.rs", "src/a.rs/b", true, false),
    ("te*", "test", true, true),
    ("te*", "test/deep/a", true, true),
    ("te*", "src/test", true, false),
    ("*", "a", true, true),
    ("*", "a/b/c", true, true),
    ("**", "a/b/c", true, true),
    ("***", "a/b", true, true),
    // A slash at the beginning or within: anchored at the workspace root.
    ("src/gen.rs", "src/gen.rs", true, true),
    ("src/gen.rs", "a/src/gen.rs", false, false),
    ("src/gen", "src/gen/deep/a.rs", true, false),
    ("/src", "src", true, true),
    ("/src", "src/a", true, false),
    ("/src", "a/src", false, false),
    ("/src/*", "src/a", true, true),
    ("/src/*", "src/a/b", true, true),
    ("/src/*", "src", false, false),
    ("/src/*", "a/src/b", false, false),
    ("src/*", "src/deep/new.rs", true, true),
    ("src/*.rs", "src/a.rs", true, true),
    ("src/*.rs", "src/deep/a.rs", false, false),
    ("*/a", "b/a", true, true),
    ("*/a", "c/b/a", false, false),
    // A slash at the end: a directory, including all contents.
    ("src/", "src/a", true, true),
    ("src/", "src/a/b", true, true),
    ("src/", "a/src/b", true, false),
    ("src/", "asrc/b", false, false),
    ("/src/", "src/a", true, true),
    ("/src/", "a/src/b", false, false),
    ("a/b/", "a/b/c", true, true),
    // Two stars.
    ("src/**/gen.rs", "src/gen.rs", true, true),
    ("src/**/gen.rs", "src/a/gen.rs", true, true),
    ("src/**/gen.rs", "src/a/b/gen.rs", true, true),
    ("src/**/gen.rs", "a/src/gen.rs", false, false),
    ("src/**/gen.rs", "src/agen.rs", false, false),
    ("**/gen.rs", "gen.rs", true, true),
    ("**/gen.rs", "a/b/gen.rs", true, true),
    ("**/a/b", "x/a/b", true, true),
    ("**/a/b", "x/a/c/b", false, false),
    ("src/**", "src/a/b", true, true),
    ("src/**", "src", false, false),
    ("**/src/**", "a/src/b/c", true, true),
    ("**/src/**", "a/src", false, false),
    ("a/**/b/**/c", "a/b/c", true, true),
    ("a/**/b/**/c", "a/x/b/y/z/c", true, true),
    ("a/**/b/**/c", "a/c/b", false, false),
    ("a/**/**/b", "a/b", true, true),
    ("a**b", "axxb", true, true),
    ("a**b", "a/b", false, false),
    // One character, classes.
    ("?.rs", "a.rs", true, true),
    ("?.rs", "src/b.rs", true, false),
    ("?.rs", ".rs", false, false),
    ("a?b", "a/b", false, false),
    ("[bc].cfg", "b.cfg", true, true),
    ("[bc].cfg", "d.cfg", false, false),
    ("[!bc].cfg", "d.cfg", true, true),
    ("[^bc].cfg", "b.cfg", false, false),
    ("[a-c].cfg", "b.cfg", true, true),
    ("[]a].cfg", "].cfg", true, true),
    ("[a-].cfg", "-.cfg", true, true),
    ("[[:digit:]].cfg", "7.cfg", true, true),
    ("[[:digit:]].cfg", "x.cfg", false, false),
    ("[\\]].cfg", "].cfg", true, true),
    // Escapes.
    ("\\*.rs", "*.rs", true, true),
    ("\\*.rs", "a.rs", false, false),
    ("\\!a", "!a", true, true),
    ("a\\[b", "a[b", true, true),
    // Case, dots, hidden names.
    ("SRC/", "src/a", false, false),
    (".env", ".env", true, true),
    (".env", "a/.env", true, false),
    (".env*", "a/.env.local", true, false),
    ("*", ".env", true, true),
    ("a.c", "abc", false, false),
];

/// Cases that gitignore does not have.
const BEYOND: &[(&str, &str, bool, bool)] = &[
    // A character, not a byte.
    ("gr??e", "größe", true, true),
    ("*.{cfg,rs}", "a.cfg", true, true),
    ("*.{cfg,rs}", "src/a.rs", true, true),
    ("*.{cfg,rs}", "a.txt", false, false),
    ("{src,lib/x}/*.rs", "lib/x/a.rs", true, true),
    ("{src,lib/x}/*.rs", "src/a.rs", true, true),
    ("{a,b{c,d}}.rs", "bd.rs", true, true),
    ("{a,b{c,d}}.rs", "b.rs", false, false),
    ("a{,.bak}", "a.bak", true, true),
    ("a{,.bak}", "a", true, true),
    ("{a\\,b,c}", "a,b", true, true),
    ("{[,],x}", ",", true, true),
    ("{one}", "one", true, true),
    ("\\{a\\}", "{a}", true, true),
    ("./src/a", "src/a", true, true),
    ("./a", "b/a", false, false),
    (".//src//a", "src/a", true, true),
    ("src/./a", "src/a", true, true),
    // The directory itself, whether or not the path is known to be one.
    ("src/", "src", true, true),
    ("#a", "#a", true, true),
    ("a ", "a ", true, true),
    // The workspace itself.
    ("*", ".", true, true),
    ("src/*", ".", false, false),
    (".", ".", true, true),
    ("a\\", "b", true, false),
];

#[test]
fn a_pattern_includes_these_paths() {
    for (pattern, path, denies, allows) in TABLE.iter().chain(BEYOND) {
        let found = PathMatch::new(pattern);
        assert_eq!(found.includes(&inside(path)), *denies, "{pattern:?} denies {path:?}");
        assert_eq!(found.allows(&inside(path)), *allows, "{pattern:?} allows {path:?}");
    }
}

#[test]
fn an_entry_that_denies_means_what_git_means() {
    let root = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(root.path()).args(["-c", "core.excludesFile=/dev/null"]).args(args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap()
    };
    assert!(git(&["init", "--quiet"]).status.success());
    for (pattern, path, denies, _) in TABLE {
        fs::write(root.path().join(".gitignore"), format!("{pattern}\n")).unwrap();
        let ignored = git(&["check-ignore", "--no-index", "--quiet", "--", path]).status.code();
        assert_eq!(ignored, Some(i32::from(!denies)), "{pattern:?} {path:?}");
    }
}

#[test]
fn paths_outside_the_workspace_are_included_by_what_names_them() {
    let home = crate::shown_path::shown_path(&etcetera::home_dir().unwrap());
    let of_home = |below: &str| outside(&format!("{home}/{below}"));
    for (pattern, path, denies, allows) in [
        ("/etc/*", outside("/etc/hosts"), true, true),
        ("/etc/", outside("/etc/ssl/certs/a"), true, true),
        ("/etc", outside("/etc/hosts"), true, false),
        ("/etc/*", outside("/srv/etc/hosts"), false, false),
        ("*", outside("/etc/hosts"), true, true),
        ("**/hosts", outside("/etc/hosts"), true, true),
        ("*/hosts", outside("/etc/hosts"), true, true),
        ("*/hosts", outside("/srv/a/etc/hosts"), true, true),
        ("*/srv/*", outside("/a/srv/b/c"), true, true),
        ("*/srv/*.rs", outside("/a/srv/b/c.rs"), false, false),
        ("etc/hosts", outside("/etc/hosts"), false, false),
        ("hosts", outside("/etc/hosts"), true, false),
        ("~/notes/*", of_home("notes/a/b"), true, true),
        ("$HOME/notes/", of_home("notes/a"), true, true),
        ("${HOME}/notes/{a,b}", of_home("notes/b"), true, true),
        ("~/notes", of_home("other"), false, false),
        ("~", of_home("a"), true, false),
        ("~/", of_home("a"), true, true),
        ("~/*", outside("/etc/hosts"), false, false),
    ] {
        let found = PathPattern::parse(pattern).unwrap();
        assert_eq!(found.includes(&path), denies, "{pattern:?} denies {path:?}");
        assert_eq!(found.allows(&path), allows, "{pattern:?} allows {path:?}");
    }
    // Within the workspace, entries that ask or deny match the whole path.
    let path = inside("src/a");
    for (pattern, in_any_way) in
        [("/srv/space/src/*", true), ("/srv/", true), ("work/", false), ("/other", false)]
    {
        let found = PathPattern::parse(pattern).unwrap();
        assert_eq!(
            (found.includes_in_any_way(&path), found.allows(&path)),
            (in_any_way, false),
            "{pattern:?}"
        );
    }
}

#[test]
fn what_is_no_pattern_says_why() {
    for (pattern, reason) in [
        ("", "it is empty"),
        ("/", "it names no path"),
        ("//", "it names no path"),
        ("!a", "`!` has no meaning here"),
        ("../a", "`..` has no meaning here"),
        ("a/../b", "`..` has no meaning here"),
        ("a[b", "a `[` without a `]`"),
        ("[a/b]", "a `[` without a `]`"),
        ("[]", "a `[` without a `]`"),
        ("[z-a]", "ends before it begins"),
        ("[[:no:]]", "an unknown `[:…:]`"),
        ("a\\", "ends with a `\\`"),
        ("{a,b", "a `{` without a `}`"),
        ("a}", "a `}` without a `{`"),
        ("~other/a", "of another user"),
        ("$OTHER/a", "only the variable `$HOME`"),
        ("${OTHER}/a", "only the variable `$HOME`"),
    ] {
        let error = PathPattern::parse(pattern).unwrap_err().to_string();
        assert!(error.contains(reason), "{pattern:?}: {error}");
        // An entry that cannot be parsed is as strict as possible.
        let found = PathMatch::new(pattern);
        assert!(found.includes(&inside("x/y")) && !found.allows(&inside("x/y")), "{pattern:?}");
    }
    for braces in ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_owned(), format!("{{{}}}", "a,".repeat(40))] {
        assert!(PathPattern::parse(&braces).unwrap_err().to_string().contains("more than 32 patterns"));
    }
    assert!(PathPattern::parse(&"a".repeat(5_000)).unwrap_err().to_string().contains("4,096 bytes"));
    for plain in ["~$letter.docx", "a~", "$recycle", "a$b/c"] {
        assert!(PathPattern::parse(plain).unwrap().includes(&inside(plain)), "{plain}");
    }
}

#[test]
fn a_text_that_is_a_path_stands_for_it_whatever_is_in_it() {
    for path in ["app/[id]/page.tsx", "a\\x{ff}b", "!important", "{x", "a*b"] {
        let found = PathMatch::new(path);
        assert!(found.includes(&inside(path)) && found.allows(&inside(path)), "{path}");
        assert!(found.is_literal(&inside(path)), "{path}");
    }
    assert!(PathMatch::new(".env").is_literal(&inside(".env")));
    assert!(!PathMatch::new(".env*").is_literal(&inside(".env")));
    assert!(!PathMatch::new("{.env,.envrc}").is_literal(&inside(".env")));
}

#[test]
fn long_patterns_take_no_longer_than_their_length() {
    let begun = std::time::Instant::now();
    for pattern in ["a*".repeat(2_000) + "b", "**/a/".repeat(800) + "b", "*/".repeat(2_000) + "b"] {
        let found = PathPattern::parse(&pattern).unwrap();
        assert!(!found.includes(&inside(&"a".repeat(4_000))));
        assert!(!found.includes(&inside(&"a/".repeat(2_000))));
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(2));
}

#[test]
fn a_pattern_is_written_with_stars_alone_where_that_says_the_same() {
    for (pattern, expected) in [
        ("*.lock", &["*.lock"][..]),
        ("gen/", &["gen"]),
        ("/gen", &["/w/gen"]),
        ("src/**/schema.rs", &["/w/src/**/schema.rs"]),
        ("**/a", &["/w/**/a"]),
        ("docs/**", &["/w/docs/*"]),
        ("deep.{cfg,ini}", &["deep.cfg", "deep.ini"]),
        ("a\\[b", &["a[b"]),
        ("a\\*b", &[]),
        ("a?", &[]),
        ("[ab].rs", &[]),
        ("*", &[]),
        ("**", &[]),
        ("**/*", &[]),
    ] {
        assert_eq!(PathMatch::new(pattern).plain("/w"), expected, "{pattern}");
    }
}

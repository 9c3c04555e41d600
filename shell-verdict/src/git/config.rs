//! The configuration of a repository: whether what it sets can make git run something, or read elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

/// The largest file that is looked at, in bytes.
const LARGEST: u64 = 1 << 20;
/// The largest index that is looked at, in bytes.
const LARGEST_INDEX: u64 = 64 << 20;

/// Sections, and of them the keys, that only say how something is shown, named or sent. `*` stands for all keys.
const HARMLESS: &[(&str, &str)] = &[
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev \
         compression loosecompression bigfilethreshold preloadindex untrackedcache commitgraph multipackindex trustctime checkstat sparsecheckout \
         sparsecheckoutcone protecthfs protectntfs whitespace commentchar fscache longpaths sharedrepository usereplacerefs warnambiguousrefs \
         fsmonitor pager hookspath editor sshcommand askpass packedgitlimit packedgitwindowsize deltabasecachelimit fsync fsyncmethod maxtreedepth",
    ),
    ("extensions", "worktreeconfig refstorage compatobjectformat preciousobjects noop relativeworktrees"),
    ("user", "*"),
    ("author", "*"),
    ("committer", "*"),
    ("init", "*"),
    ("pull", "*"),
    ("push", "*"),
    ("fetch", "*"),
    ("rebase", "*"),
    ("rerere", "*"),
    ("color", "*"),
    ("column", "*"),
    ("advice", "*"),
    ("gc", "*"),
    ("pack", "*"),
    ("index", "*"),
    ("feature", "*"),
    ("http", "*"),
    ("credential", "*"),
    ("submodule", "*"),
    ("lfs", "*"),
    ("gui", "*"),
    ("commit", "gpgsign verbose cleanup status"),
    ("tag", "gpgsign sort forcesignannotated"),
    (
        "log",
        "date decorate abbrevcommit follow graphcolors mailmap showroot showsignature diffmerges initialdecorationset",
    ),
    (
        "diff",
        "renames renamelimit algorithm mnemonicprefix noprefix srcprefix dstprefix colormoved colormovedws context interhunkcontext indentheuristic \
         ignoresubmodules statgraphwidth statnamewidth suppressblankempty wserrorhighlight wordregex autorefreshindex relative tool guitool trustexitcode",
    ),
    (
        "status",
        "showuntrackedfiles short branch renames relativepaths aheadbehind displaycommentprefix showstash",
    ),
    (
        "merge",
        "ff conflictstyle log renames renamelimit stat tool guitool directoryrenames verbosity autostash defaulttoupstream branchdesc suppressdest",
    ),
    ("grep", "linenumber column patterntype extendedregexp threads fullname fallbacktonoindex"),
    ("blame", "coloring showroot blankboundary showemail date markunblamablelines markignoredlines"),
    ("stash", "*"),
    ("versionsort", "*"),
    ("transfer", "*"),
    ("receive", "*"),
    ("protocol", "*"),
    ("url", "*"),
    ("maintenance", "*"),
    ("alias", "*"),
    ("difftool", "*"),
    ("mergetool", "*"),
    ("sendemail", "*"),
    ("safe", "*"),
    ("checkout", "*"),
    ("clean", "*"),
    ("apply", "*"),
    ("am", "*"),
    ("worktree", "*"),
    ("rev-list", "*"),
    ("branch", "autosetupmerge autosetuprebase sort"),
    ("remote", "pushdefault"),
];
/// The same of sections with a name of their own in quotes.
const HARMLESS_NAMED: &[(&str, &str)] = &[
    (
        "remote",
        "url fetch pushurl push mirror tagopt prune prunetags proxy proxyauthmethod skipdefaultupdate skipfetchall gh-resolved lfsurl followremotehead",
    ),
    (
        "branch",
        "remote merge rebase description pushremote mergeoptions vscode-merge-base gh-merge-base github-pr-owner-number github-pr-base-branch base",
    ),
    ("submodule", "*"),
    ("url", "*"),
    ("http", "*"),
    ("credential", "*"),
    ("lfs", "*"),
    ("protocol", "*"),
    ("color", "*"),
    ("difftool", "*"),
    ("mergetool", "*"),
    ("alias", "*"),
    ("rebase", "*"),
    ("maintenance", "*"),
    ("gui", "*"),
    ("guitool", "*"),
    ("coderabbit", "*"),
];

/// Looks at the repository whose work tree begins in a directory, if one does. The directories that it is in.
pub(super) fn check(directory: &Path, looks_into_submodules: bool) -> Result<Vec<PathBuf>, String> {
    let is_inside = directory.file_name().is_some_and(|name| name == ".git");
    let is_bare =
        ["HEAD", "objects", "refs"].iter().all(|name| directory.join(name).symlink_metadata().is_ok());
    if is_inside || is_bare {
        return Err(format!(
            "{} is the inside of a repository, whose configuration it may have itself",
            directory.display()
        ));
    }
    let dot_git = directory.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return Ok(Vec::new()) };
    let git_dir = if metadata.is_dir() {
        dot_git
    } else {
        let text = read(&dot_git)?.unwrap_or_default();
        match text.strip_prefix("gitdir: ") {
            Some(path) => directory.join(path.trim_end_matches(['\n', '\r'])),
            None => return Err(format!("{} is not understood", dot_git.display())),
        }
    };
    let common = match read(&git_dir.join("commondir"))? {
        Some(path) => git_dir.join(path.trim_end_matches(['\n', '\r'])),
        None => git_dir.clone(),
    };
    for file in [common.join("config"), common.join("config.worktree"), git_dir.join("config.worktree")] {
        check_file(&file)?;
    }
    // What leads elsewhere is another's.
    for name in [
        "objects",
        "objects/pack",
        "objects/info",
        "refs",
        "HEAD",
        "packed-refs",
        "info",
        "logs",
        "index",
        "config",
    ] {
        if [&git_dir, &common].iter().any(|directory| directory.join(name).is_symlink()) {
            return Err(format!("{name} of the repository is a link"));
        }
    }
    for file in ["objects/info/alternates", "objects/info/http-alternates"] {
        if common.join(file).symlink_metadata().is_ok() {
            return Err("the repository takes objects of another".to_owned());
        }
    }
    if looks_into_submodules && has_submodules(&git_dir)? {
        return Err(
            "the repository has submodules, and what is configured in them can make git run something"
                .to_owned(),
        );
    }
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    Ok(vec![real(git_dir), real(common)])
}

/// Looks at a file of configuration. One that is not there says nothing.
pub(super) fn check_file(file: &Path) -> Result<(), String> {
    let Some(text) = read(file)? else { return Ok(()) };
    each_key(&text, &mut |section, name, key| {
        if is_harmless(section, name, key) {
            return Ok(());
        }
        let name = name.map_or_else(String::new, |name| format!(".{name}"));
        Err(format!(
            "{section}{name}.{key} in {} can make git run something or read elsewhere",
            file.display()
        ))
    })
    .map_err(|why| if why.is_empty() { format!("{} is not understood", file.display()) } else { why })
}

fn read(file: &Path) -> Result<Option<String>, String> {
    let unreadable = || format!("{} cannot be read", file.display());
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST => {}
        _ => return Err(unreadable()),
    }
    fs::read_to_string(file).map(Some).map_err(|_| unreadable())
}

fn is_harmless(section: &str, name: Option<&str>, key: &str) -> bool {
    let list = if name.is_some() { HARMLESS_NAMED } else { HARMLESS };
    list.iter().any(|(known, keys)| {
        *known == section && (*keys == "*" || keys.split_whitespace().any(|known| known == key))
    })
}

/// What is done with a section, its own name and a key.
type EachKey<'a> = dyn FnMut(&str, Option<&str>, &str) -> Result<(), String> + 'a;

/// Each key of a configuration, with its section. An empty error says that the text is not understood.
fn each_key(text: &str, each: &mut EachKey<'_>) -> Result<(), String> {
    let mut section: Option<(String, Option<String>)> = None;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let end = section_end(rest).ok_or_else(String::new)?;
            section = Some(header(&rest[..end]).ok_or_else(String::new)?);
            line = rest[end + 1..].trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (section, name) = section.as_ref().ok_or_else(String::new)?;
        let key: String = line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if key.is_empty() {
            return Err(String::new());
        }
        each(section, name.as_deref(), &key.to_ascii_lowercase())?;
        // A value goes on in the next line after a backslash, but a comment does not.
        if line.contains(['#', ';']) && line.ends_with('\\') {
            return Err(String::new());
        }
        let mut value = line;
        while value.ends_with('\\') && (value.len() - value.trim_end_matches('\\').len()) & 1 == 1 {
            value = lines.next().ok_or_else(String::new)?.trim_end();
            if value.contains(['#', ';']) {
                return Err(String::new());
            }
        }
    }
    Ok(())
}

/// Where a header ends, of which the name may hold brackets.
fn section_end(rest: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn header(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    if let Some((section, name)) = text.split_once('"') {
        return Some((section.trim().to_ascii_lowercase(), Some(name.strip_suffix('"')?.to_owned())));
    }
    // The old way of naming one.
    if let Some((section, name)) = text.split_once('.') {
        return Some((section.to_ascii_lowercase(), Some(name.to_owned())));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.chars().all(is_name).then(|| (text.to_ascii_lowercase(), None))
}

/// Whether the index has an entry that is another repository.
fn has_submodules(git_dir: &Path) -> Result<bool, String> {
    let index: PathBuf = git_dir.join("index");
    let unreadable = || format!("{} is not understood", index.display());
    match fs::metadata(&index) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST_INDEX => {}
        _ => return Err(unreadable()),
    }
    let bytes = fs::read(&index).map_err(|_| unreadable())?;
    index_has_submodules(&bytes).ok_or_else(unreadable)
}

/// The same of what is in the index; `None` where that is not understood. The format: git's `gitformat-index(5)`.
fn index_has_submodules(bytes: &[u8]) -> Option<bool> {
    /// What stands before the name: times, device, inode, mode, owner, size, a hash of 20 bytes, flags.
    const FIXED: usize = 62;
    const MODE: usize = 24;
    const EXTENDED: u16 = 0x4000;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(4)?, number(8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    for _ in 0..count {
        let flags = u16::from_be_bytes(bytes.get(at + FIXED - 2..at + FIXED)?.try_into().ok()?);
        // Another repository has this mode.
        if number(at + MODE)? >> 12 == 0b1110 {
            return Some(true);
        }
        let mut name = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        if version == 4 {
            // How much of the name before is kept.
            while bytes.get(name)? & 0x80 != 0 {
                name += 1;
            }
            name += 1;
        }
        let end = name + bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    // Extensions, and a hash at the end. Of a split index the entries are in another file.
    while at + 8 <= bytes.len().saturating_sub(20) {
        if &bytes[at..at + 4] == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    Some(false)
}

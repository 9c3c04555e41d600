//! The configuration of a repository: whether its settings can make git run a program, or read elsewhere.

use super::index;
use super::listing::{self, Listing};
use super::tracked::{self, Tracked};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum size of a file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Repositories that were checked, with the results.
#[derive(Debug, Default)]
pub(crate) struct Repositories {
    seen: RefCell<BTreeMap<(PathBuf, Looks), Checked>>,
    /// Resolved paths of directories.
    real: RefCell<BTreeMap<PathBuf, Option<PathBuf>>>,
    /// Size of the indexes read.
    read: Cell<u64>,
    /// The files that are tracked in a work tree, by where that begins.
    tracked: RefCell<BTreeMap<PathBuf, Option<Rc<Tracked>>>>,
    /// Size of the indexes read for these.
    read_of_tracked: Cell<u64>,
}

/// The directories of a repository, or the reason for which it is not only read.
type Checked = Result<Vec<PathBuf>, String>;

/// The files that a git command reads in addition to the repository itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Looks {
    /// True if the command looks into submodules.
    pub(crate) into_submodules: bool,
    /// True if the command compares files of the work tree with committed content, which runs filters.
    pub(crate) through_filters: bool,
    /// True if git itself runs the command in a submodule. Restrictions on git may not apply there.
    pub(crate) as_submodule: bool,
}

/// Maximum nesting depth of submodules.
const DEEPEST_SUBMODULE: usize = 4;
/// Maximum number of submodules that are checked in one repository.
const MAX_SUBMODULES: usize = 256;

impl Repositories {
    /// Checks each repository that git may use for a directory. Returns the directories of each.
    pub(crate) fn around(&self, cwd: &Path, looks: Looks) -> Vec<Checked> {
        let real = self.real(cwd);
        let is_real = |directory: &Path| real.as_ref().is_some_and(|real| real.starts_with(directory));
        // Through a link the way up is another.
        let other_way = real.iter().flat_map(|real| real.ancestors());
        let is_one_way = real.as_deref() == Some(cwd);
        let mut found = Vec::new();
        for directory in cwd.ancestors().chain(other_way.filter(|directory| !cwd.starts_with(directory))) {
            found.push(self.check(directory, is_real(directory), looks));
            // If a repository is broken, git searches further up.
            if is_one_way && is_whole(directory) {
                break;
            }
        }
        found
    }

    /// Returns the tracked files of the repository that a directory is in. If that is broken, those of the next repository above are
    /// included.
    pub(crate) fn tracked(&self, cwd: &Path) -> Vec<Rc<Tracked>> {
        let mut found = Vec::new();
        let Some(real) = self.real(cwd) else { return found };
        for directory in real.ancestors() {
            let known = self.tracked.borrow().get(directory).cloned();
            let tracked = known.unwrap_or_else(|| {
                let tracked = Tracked::of(directory, &self.read_of_tracked).map(Rc::new);
                self.tracked.borrow_mut().insert(directory.to_owned(), tracked.clone());
                tracked
            });
            found.extend(tracked);
            if tracked::is_whole(directory) {
                break;
            }
        }
        found
    }

    /// Returns the resolved path of a directory, if it exists.
    fn real(&self, cwd: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real.borrow().get(cwd) {
            return known.clone();
        }
        let real = cwd.canonicalize().ok();
        self.real.borrow_mut().insert(cwd.to_owned(), real.clone());
        real
    }

    /// Checks the repository whose work tree begins in a directory, if one does.
    fn check(&self, directory: &Path, is_real: bool, looks: Looks) -> Checked {
        let key = (directory.to_owned(), looks);
        if let Some(known) = self.seen.borrow().get(&key) {
            return known.clone();
        }
        let mut found = check(directory, looks, &self.read);
        for path in found.iter_mut().flatten() {
            // The path itself is not a symlink.
            let is_known = is_real && *path == directory.join(".git");
            if !is_known && let Ok(real) = path.canonicalize() {
                *path = real;
            }
        }
        self.seen.borrow_mut().insert(key, found.clone());
        found
    }
}

/// Keys of `core` that run something, and that are taken away from the git that a command names. Whether they are from one that it starts
/// in a submodule depends on its release.
const OVERRIDDEN: &[&str] = &["fsmonitor", "hookspath", "pager", "editor", "sshcommand", "askpass"];

/// Sections with their harmless keys, which only affect how something is displayed, named or sent. `*` stands for all keys.
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
    // With `recurse`, git reads submodule commits in other repositories.
    (
        "submodule",
        "active fetchjobs alternatelocation alternateerrorstrategy propagatebranches stickyrecursiveclone",
    ),
    (
        "lfs",
        "repositoryformatversion url pushurl fetchinclude fetchexclude fetchrecentrefsdays fetchrecentremoterefs fetchrecentcommitsdays \
         fetchrecentalways concurrenttransfers batch locksverify allowincompletepush dialtimeout tlstimeout activitytimeout keepalive \
         basictransfersonly tustransfers skipdownloaderrors setlockablereadonly pruneoffsetdays pruneverifyremotealways pruneremotetocheck",
    ),
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
        "ff conflictstyle log renames renamelimit stat tool guitool directoryrenames verbosity autostash defaulttoupstream branchdesc suppressdest \
         default renormalize",
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
    ("gpg", "format mintrustlevel"),
    ("i18n", "commitencoding"),
    ("gitflow", "*"),
    ("svn", "*"),
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
    // Its extensions are programs.
    ("lfs", "access locksverify contenttype"),
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
    // Drivers run where something is merged, which no command does that only reads.
    ("merge", "*"),
    ("gitflow", "*"),
    ("svn-remote", "*"),
    ("svn", "*"),
];

/// Returns the git directory of the work tree that begins in a directory, if one does. Symlinks in the path are not resolved.
pub(crate) fn git_dir(directory: &Path) -> Result<Option<PathBuf>, String> {
    let dot_git = directory.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return Ok(None) };
    if metadata.is_dir() {
        return Ok(Some(dot_git));
    }
    let text = read(&dot_git)?.unwrap_or_default();
    match text.strip_prefix("gitdir: ") {
        Some(path) => Ok(Some(directory.join(path.trim_end_matches(['\n', '\r'])))),
        None => Err(format!("{} is not understood", dot_git.display())),
    }
}

/// Returns true if git takes the repository of a directory, and looks no further up.
fn is_whole(directory: &Path) -> bool {
    let dot_git = directory.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return false };
    // A file names the one that is taken, or git ends.
    if metadata.is_file() {
        return true;
    }
    let is_directory = |name: &str| dot_git.join(name).symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_head = |text: &str| {
        let text = text.trim_end();
        text.strip_prefix("ref: refs/").is_some_and(|name| !name.is_empty())
            || matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    metadata.is_dir()
        && is_directory("objects")
        && is_directory("refs")
        && dot_git.join("commondir").symlink_metadata().is_err()
        && read(&dot_git.join("HEAD")).ok().flatten().is_some_and(|text| is_head(&text))
}

fn check(directory: &Path, looks: Looks, read_of_indexes: &Cell<u64>) -> Checked {
    check_to(directory, looks, read_of_indexes, 0)
}

fn check_to(directory: &Path, looks: Looks, read_of_indexes: &Cell<u64>, depth: usize) -> Checked {
    let is_inside = directory.file_name().is_some_and(|name| name == ".git");
    let is_bare =
        ["HEAD", "objects", "refs"].iter().all(|name| directory.join(name).symlink_metadata().is_ok());
    if is_inside || is_bare {
        return Err(format!(
            "{} is the inside of a repository, whose configuration it may have itself",
            directory.display()
        ));
    }
    let Some(git_dir) = git_dir(directory)? else { return Ok(Vec::new()) };
    let own = Listing::of(git_dir);
    let git_dir = own.directory();
    let commondir = if own.may_hold("commondir") { read(&git_dir.join("commondir"))? } else { None };
    let common = commondir.map(|path| git_dir.join(path.trim_end_matches(['\n', '\r'])));
    let shared = common.filter(|common| common != git_dir).map(Listing::of);
    let of_common = shared.as_ref().unwrap_or(&own);
    for (listing, name) in [(of_common, "config"), (of_common, "config.worktree"), (&own, "config.worktree")]
    {
        if listing.may_hold(name) {
            let of = Configured { looks, work_tree: Some((git_dir, directory)) };
            check_configuration(&listing.directory().join(name), of)?;
        }
    }
    // Symlinks that lead elsewhere belong to another repository.
    for name in [
        "objects",
        "refs",
        "refs/heads",
        "refs/tags",
        "refs/remotes",
        "refs/stash",
        "reftable",
        "HEAD",
        "packed-refs",
        "shallow",
        "info",
        "info/exclude",
        "info/attributes",
        "info/grafts",
        "info/sparse-checkout",
        "logs",
        "logs/HEAD",
        "logs/refs",
        "index",
        "config",
    ] {
        if own.is_link(name) || shared.as_ref().is_some_and(|shared| shared.is_link(name)) {
            return Err(format!("{name} of the repository is a link"));
        }
    }
    let common = of_common.directory();
    let info = Listing::of(common.join("objects/info"));
    let holds_link = |name: &str| listing::holds_link(&common.join(name));
    if holds_link("objects") || holds_link("objects/pack") || info.holds_link() {
        return Err("in the objects of the repository is a link, or too much to check".to_owned());
    }
    for name in ["alternates", "http-alternates"] {
        if info.may_hold(name) && info.directory().join(name).symlink_metadata().is_ok() {
            return Err("the repository takes objects of another".to_owned());
        }
    }
    let mut found: Vec<PathBuf> =
        [&own].into_iter().chain(&shared).map(|listing| listing.directory().to_owned()).collect();
    if looks.into_submodules && own.may_hold("index") {
        let names = index::submodules(git_dir, read_of_indexes)?;
        if depth == DEEPEST_SUBMODULE || names.len() > MAX_SUBMODULES {
            return Err("the repository has too many submodules to be checked".to_owned());
        }
        for name in names {
            found.extend(check_submodule(directory, &name, looks, read_of_indexes, depth)?);
        }
    }
    Ok(found)
}

/// Checks a submodule, in which git runs itself. An absent one is not checked.
fn check_submodule(
    directory: &Path,
    name: &str,
    looks: Looks,
    read_of_indexes: &Cell<u64>,
    depth: usize,
) -> Checked {
    let place = directory.join(name);
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let is_below =
        |real: PathBuf| directory.canonicalize().is_ok_and(|directory| real == directory.join(name));
    if !place.canonicalize().is_ok_and(is_below) {
        return Err(format!("the submodule {name} is behind a link"));
    }
    let looks = Looks { as_submodule: true, ..looks };
    check_to(&place, looks, read_of_indexes, depth + 1)
        .map_err(|why| format!("in the submodule {name}: {why}"))
}

/// The purpose for which a file of configuration is read.
#[derive(Clone, Copy, Default)]
struct Configured<'p> {
    looks: Looks,
    /// The git directory, and the work tree that belongs to it.
    work_tree: Option<(&'p Path, &'p Path)>,
}

/// Checks a configuration file. An absent one is harmless.
pub(crate) fn check_file(file: &Path, looks: Looks) -> Result<(), String> {
    check_configuration(file, Configured { looks, work_tree: None })
}

fn check_configuration(file: &Path, of: Configured<'_>) -> Result<(), String> {
    let Some(text) = read(file)? else { return Ok(()) };
    each_key(&text, &mut |section, name, key, value| {
        let is_known = is_harmless(section, name, key) && is_harmless_value(section, key, value);
        let runs_something = section == "core" && OVERRIDDEN.contains(&key);
        if is_known && !(runs_something && of.looks.as_submodule) {
            return Ok(());
        }
        // Filters run only where files of the work tree are compared.
        if section == "filter" && name.is_some() && !of.looks.through_filters {
            return Ok(());
        }
        // A submodule's configuration names its own work tree.
        if section == "core" && key == "worktree" && of.work_tree.is_some_and(|of| is_work_tree(value, of)) {
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

/// Returns true if `core.worktree` has the value that the work tree has anyway.
fn is_work_tree(value: &str, (git_dir, directory): (&Path, &Path)) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(&byte);
    let leads_there = |named: PathBuf| {
        named.canonicalize().is_ok_and(|named| directory.canonicalize().is_ok_and(|real| named == real))
    };
    !value.is_empty() && value.bytes().all(is_plain) && leads_there(git_dir.join(value))
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

/// Returns true if a key does no harm with its value, where that depends on it.
fn is_harmless_value(section: &str, key: &str, value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    match (section, key) {
        // References in another directory.
        ("extensions", "refstorage") => matches!(value.as_str(), "files" | "reftable"),
        // Verifying a signature runs a program.
        ("branch" | "tag", "sort") => {
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:".contains(&byte))
                && !value.contains("sig")
        }
        // They are merged anew, which writes objects.
        ("log", "diffmerges") => !value.contains('r') && !value.contains(['"', '\\']),
        _ => true,
    }
}

/// The callback for each key: a section, its own name, a key and its value in the first line.
type EachKey<'a> = dyn FnMut(&str, Option<&str>, &str, &str) -> Result<(), String> + 'a;

/// Passes each key of a configuration, with its section, to `each`. An empty error means that the text cannot be parsed.
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
        let value = line[key.len()..].trim_start().trim_start_matches('=').trim();
        each(section, name.as_deref(), &key.to_ascii_lowercase(), value)?;
        // A value continues on the next line after a backslash, but a comment does not.
        if line.contains(['#', ';']) && line.ends_with('\\') {
            return Err(String::new());
        }
        let mut value = line;
        let goes_on =
            |value: &str| !value.bytes().rev().take_while(|byte| *byte == b'\\').count().is_multiple_of(2);
        while goes_on(value) {
            value = lines.next().ok_or_else(String::new)?.trim_end();
            if value.contains(['#', ';']) {
                return Err(String::new());
            }
        }
    }
    Ok(())
}

/// Returns the end of a section header, whose name may contain brackets.
fn section_end(rest: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
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
    Some((text.to_ascii_lowercase(), None))
}

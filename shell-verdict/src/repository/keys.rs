//! Keys of a configuration that have no effect on a command that reads, and those that have.

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

/// The effect of a key on a command that only reads, and that the host contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// Git runs a program, or shows other files than its words select.
    Harm,
    /// Git reads the file that the value names.
    Reads,
    /// Git reads the file that the value names as a configuration.
    Includes,
}

/// Sections with their keys that have an effect on a contained command. Whatever else is configured is ignored by commands that read, is
/// taken away by a guard, or concerns the connections that the command cannot make.
const EFFECTS: &[(&str, &str, Effect)] = &[
    ("core", "alternaterefscommand", Effect::Harm),
    ("diff", "external command textconv", Effect::Harm),
    ("filter", "clean smudge process", Effect::Harm),
    // Then `grep` searches the files of submodules.
    ("submodule", "recurse", Effect::Harm),
    ("mailmap", "blob", Effect::Harm),
    // The host's attributes keep the content of files from being shown.
    ("attr", "tree", Effect::Harm),
    ("mailmap", "file", Effect::Reads),
    ("blame", "ignorerevsfile", Effect::Reads),
    ("core", "attributesfile excludesfile", Effect::Reads),
    ("diff", "orderfile", Effect::Reads),
    ("fsck", "skiplist", Effect::Reads),
    ("include", "path", Effect::Includes),
    ("includeif", "path", Effect::Includes),
];

/// Returns the effect of a key on a contained command.
pub(super) fn effect(section: &str, key: &str, value: &str) -> Effect {
    if !is_harmless_value(section, key, value) {
        return Effect::Harm;
    }
    let is_it = |(known, keys, _): &&(&str, &str, Effect)| {
        *known == section && keys.split(' ').any(|known| known == key)
    };
    EFFECTS.iter().find(is_it).map_or(Effect::Nothing, |(_, _, effect)| *effect)
}

/// Returns true if a key is known to have no effect on a command that only reads.
pub(super) fn is_harmless(section: &str, name: Option<&str>, key: &str, value: &str) -> bool {
    let list = if name.is_some() { HARMLESS_NAMED } else { HARMLESS };
    let is_known = |(known, keys): &(&str, &str)| {
        *known == section && (*keys == "*" || keys.split_whitespace().any(|known| known == key))
    };
    list.iter().any(is_known) && is_harmless_value(section, key, value)
}

/// Returns true if a key does no harm with its value, where that depends on it.
fn is_harmless_value(section: &str, key: &str, value: &str) -> bool {
    // A placeholder for a signature has this letter. Verifying a signature runs a program.
    if matches!((section, key), ("pretty", _) | ("format", "pretty")) {
        return !value.contains(['G', '\\']);
    }
    let value = value.to_ascii_lowercase();
    match (section, key) {
        // References in another directory.
        ("extensions", "refstorage") => matches!(value.as_str(), "files" | "reftable"),
        // Verifying a signature runs a program.
        ("branch" | "tag", "sort") => {
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:".contains(&byte))
                && !value.contains("sig")
        }
        // The other value shows the files of submodules.
        ("diff", "submodule") => matches!(value.as_str(), "short" | "log"),
        // They are merged anew, which writes objects.
        ("log", "diffmerges") => !value.contains('r') && !value.contains(['"', '\\']),
        _ => true,
    }
}

//! The skills that there are.

use super::front_matter;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toolkit::{SkillPlace, SkillSources, escape_line};

/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// The longest such file, in bytes.
const MOST_BYTES: u64 = 256 * 1024;
/// The most entries of a directory of skills that are looked at.
const MOST_ENTRIES: usize = 1_000;
/// The most skills.
const MOST_SKILLS: usize = 200;
/// The most entries that are looked at to name the files of a skill, and how deep.
const MOST_LOOKED_AT: usize = 1_000;
const DEEPEST: usize = 4;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    /// Whose it is.
    pub(super) owner: String,
    /// The real path of its directory; none for one that is in the program.
    pub(super) base: Option<PathBuf>,
}

/// All skills, and what was wrong with some.
#[derive(Debug, Default)]
pub(super) struct Library {
    /// By name.
    pub(super) skills: Vec<Skill>,
    pub(super) faults: Vec<String>,
    /// What to say of a workspace's skills that do not count.
    pub(super) untrusted: Option<String>,
}

impl Library {
    /// Reads them; of two with one name the first counts. Blocks.
    pub(super) fn load(sources: &SkillSources) -> Self {
        let mut library = Self::default();
        let mut by_name: BTreeMap<String, Skill> = BTreeMap::new();
        for source in &sources.sources {
            let found = match &source.place {
                SkillPlace::Directory(directory) => library.of_directory(directory, &source.owner),
                SkillPlace::Texts(texts) => library.of_texts(texts, &source.owner),
                _ => Vec::new(),
            };
            for skill in found {
                if let Some(first) = by_name.get(&skill.name) {
                    library.faults.push(format!(
                        "the skill `{}` of {} is left out: {} has one of this name",
                        skill.name,
                        place(&skill),
                        place(first)
                    ));
                } else if by_name.len() == MOST_SKILLS {
                    library.faults.push(format!(
                        "the skill `{}` of {} is left out: there are {MOST_SKILLS} already",
                        skill.name,
                        place(&skill)
                    ));
                } else {
                    by_name.insert(skill.name.clone(), skill);
                }
            }
        }
        library.skills = by_name.into_values().collect();
        library.untrusted = sources.untrusted.as_deref().filter(|directory| has_skill(directory)).map(|directory| {
            format!(
                "the skills in {} do not count: the workspace is not trusted. `toolkit trust` trusts a workspace by its \
                 `toolkit.json5`",
                shown(directory)
            )
        });
        library
    }

    fn of_texts(&mut self, texts: &[&str], owner: &str) -> Vec<Skill> {
        let mut found = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            match skill(text, owner, None) {
                Ok(skill) => found.push(skill),
                Err(reason) => self.faults.push(format!("skill {} of {owner}: {reason}", number + 1)),
            }
        }
        found
    }

    fn of_directory(&mut self, directory: &Path, owner: &str) -> Vec<Skill> {
        let Some(root) = real_root(directory) else { return Vec::new() };
        let (names, is_whole) = names(&root, MOST_ENTRIES);
        if !is_whole {
            self.faults.push(format!(
                "{}: only the first {MOST_ENTRIES} entries are looked at for skills",
                shown(directory)
            ));
        }
        let mut found = Vec::new();
        for name in names {
            let file = root.join(name).join(FILE);
            match read(&root, &file) {
                None => {}
                Some(text) => match text.and_then(|(text, base)| skill(&text, owner, Some(base))) {
                    Ok(skill) => found.push(skill),
                    Err(reason) => self.faults.push(format!("{}: {reason}", shown(&file))),
                },
            }
        }
        found
    }
}

impl Skill {
    /// The first of its files by name, and how many more there are.
    pub(super) fn files(&self, most: usize) -> (Vec<String>, usize) {
        let Some(base) = &self.base else { return (Vec::new(), 0) };
        let mut files = Vec::new();
        let mut left = MOST_LOOKED_AT;
        collect(base, Path::new(""), DEEPEST, &mut left, &mut files);
        files.sort_unstable();
        let more = files.len().saturating_sub(most);
        files.truncate(most);
        (files.iter().map(|file| shown(file)).collect(), more)
    }
}

/// The real path of a directory of skills; `None` where none is there, or what is called so leads out of where it stands.
fn real_root(directory: &Path) -> Option<PathBuf> {
    let real = directory.canonicalize().ok()?;
    let around = directory.parent()?.canonicalize().ok()?;
    (real.is_dir() && real.starts_with(around)).then_some(real)
}

fn has_skill(directory: &Path) -> bool {
    let Some(root) = real_root(directory) else { return false };
    names(&root, MOST_ENTRIES).0.iter().any(|name| root.join(name).join(FILE).is_file())
}

/// The names in a directory, sorted, and whether these are all.
fn names(directory: &Path, most: usize) -> (Vec<std::ffi::OsString>, bool) {
    let Ok(entries) = fs::read_dir(directory) else { return (Vec::new(), true) };
    let mut names: Vec<_> = entries.flatten().take(most + 1).map(|entry| entry.file_name()).collect();
    let is_whole = names.len() <= most;
    names.sort_unstable();
    names.truncate(most);
    (names, is_whole)
}

fn skill(text: &str, owner: &str, base: Option<PathBuf>) -> Result<Skill, String> {
    let parsed = front_matter::parse(text)?;
    Ok(Skill {
        name: parsed.name,
        description: parsed.description,
        body: parsed.body.to_owned(),
        owner: owner.to_owned(),
        base,
    })
}

/// What a file holds, and the directory that it is in; `None` where there is none.
fn read(root: &Path, file: &Path) -> Option<Result<(String, PathBuf), String>> {
    file.symlink_metadata().ok()?;
    Some(read_whole(root, file))
}

fn read_whole(root: &Path, file: &Path) -> Result<(String, PathBuf), String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {error}");
    let real = file.canonicalize().map_err(cannot)?;
    if !real.starts_with(root) {
        return Err("it is a link that leads out of the directory of skills".to_owned());
    }
    // Looked at first: opening a pipe would wait for somebody to write into it.
    let before = real.symlink_metadata().map_err(cannot)?;
    if !before.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let opened = File::open(&real).map_err(cannot)?;
    if !is_same(&before, &opened.metadata().map_err(cannot)?) {
        return Err("something else keeps changing it".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {} KiB", MOST_BYTES / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let base = real.parent().unwrap_or(root).to_owned();
    Ok((text, base))
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, other: &fs::Metadata) -> bool {
    other.is_file()
}

/// The files below a directory but for the one that makes it a skill; no link is followed.
fn collect(base: &Path, within: &Path, depth: usize, left: &mut usize, files: &mut Vec<PathBuf>) {
    for name in names(&base.join(within), *left).0 {
        *left = left.saturating_sub(1);
        let path = within.join(name);
        let Ok(kind) = base.join(&path).symlink_metadata() else { continue };
        if kind.is_file() && path != Path::new(FILE) {
            files.push(path);
        } else if kind.is_dir() && depth > 0 && *left > 0 {
            collect(base, &path, depth - 1, left, files);
        }
    }
}

fn place(skill: &Skill) -> String {
    match &skill.base {
        Some(base) => shown(&base.join(FILE)),
        None => skill.owner.clone(),
    }
}

fn shown(path: &Path) -> String {
    escape_line(&path.to_string_lossy()).into_owned()
}

//! The skills that there are.

use super::front_matter;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::{
    skills::{SkillFiles, SkillPlace, SkillSource, SkillSources},
    text::escape_line,
};

/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// Maximum number of skills.
const MAX_SKILLS: usize = 200;
/// Maximum number of entries examined to list the files of a skill, and their maximum depth.
const MAX_LOOKED_AT: usize = 1_000;
const DEEPEST: usize = 4;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    /// Owner of the skill.
    pub(super) owner: String,
    /// Real path of its directory; `None` for a skill in the program.
    pub(super) base: Option<PathBuf>,
}

/// All skills, and the problems of some.
#[derive(Debug, Default)]
pub(super) struct Library {
    /// The skills, sorted by name.
    pub(super) skills: Vec<Skill>,
    pub(super) faults: Vec<String>,
    /// The note on a workspace's skills that do not count.
    pub(super) untrusted: Option<String>,
}

impl Library {
    /// Reads them; of two with one name the first counts. Blocks.
    pub(super) fn load(sources: &SkillSources) -> Self {
        let mut library = Self::default();
        let mut by_name: BTreeMap<String, Skill> = BTreeMap::new();
        for source in &sources.sources {
            let found = match &source.place {
                SkillPlace::Directory(directory) => library.of_directory(directory, source),
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
                } else if by_name.len() == MAX_SKILLS {
                    library.faults.push(format!(
                        "the skill `{}` of {} is left out: there are {MAX_SKILLS} already",
                        skill.name,
                        place(&skill)
                    ));
                } else {
                    by_name.insert(skill.name.clone(), skill);
                }
            }
        }
        library.skills = by_name.into_values().collect();
        let untrusted = sources.untrusted.as_deref();
        let untrusted = untrusted.filter(|directory| !SkillFiles::read(directory).files.is_empty());
        if let Some(directory) = untrusted {
            library.untrusted = Some(format!(
                "the skills in {} are ignored: the workspace is not trusted. `toolkit trust` trusts a workspace by its \
                 `toolkit.json5`",
                shown(directory)
            ));
        }
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

    fn of_directory(&mut self, directory: &Path, source: &SkillSource) -> Vec<Skill> {
        // A workspace's skills are untrusted, since anyone may have written them; all others were chosen by the user.
        let found = match source.trusted {
            Some(_) => SkillFiles::read(directory),
            None => SkillFiles::read_linked(directory),
        };
        self.faults.extend(found.fault.clone());
        // The content that was read here counts, not what the file contains a moment later.
        if source.trusted.is_some() && found.sha256() != source.trusted {
            if !found.files.is_empty() {
                self.untrusted = Some(format!(
                    "the skills in {} are ignored: they changed since the workspace was trusted. `toolkit trust` \
                     shows them, and trusts them as they are",
                    shown(directory)
                ));
            }
            return Vec::new();
        }
        let mut skills = Vec::new();
        for file in found.files {
            let skill = file.content.and_then(|(base, text)| skill(&text, &source.owner, Some(base)));
            match skill {
                Ok(skill) => skills.push(skill),
                Err(reason) => self.faults.push(format!("{}: {reason}", shown(&file.path))),
            }
        }
        skills
    }
}

impl Skill {
    /// The first of its files by name, and how many more there are.
    pub(super) fn files(&self, most: usize) -> (Vec<String>, usize) {
        let Some(base) = &self.base else { return (Vec::new(), 0) };
        let mut files = Vec::new();
        let mut left = MAX_LOOKED_AT;
        collect(base, Path::new(""), DEEPEST, &mut left, &mut files);
        files.sort_unstable();
        let more = files.len().saturating_sub(most);
        files.truncate(most);
        (files.iter().map(|file| shown(file)).collect(), more)
    }
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

/// The files below a directory but for the one that makes it a skill; no link is followed.
fn collect(base: &Path, within: &Path, depth: usize, left: &mut usize, files: &mut Vec<PathBuf>) {
    for name in names(&base.join(within), *left).0 {
        *left = left.saturating_sub(1);
        // Of a repository, or secrets: nothing of the skill.
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
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

//! Records of the definitions of a server's tools: a tool whose definition has changed needs a new approval.

use crate::sorted::sorted;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The directory in that of the toolkit's data.
const DIRECTORY: &str = "mcp-tools";
/// Maximum size of the file in bytes: more than a record can have.
const LARGEST: u64 = 16 << 20;
/// Maximum number of characters that are kept of a description, to be shown beside a new one.
const MAX_OF_DESCRIPTION: usize = 1_000;
/// Maximum number of recorded tools of a server, including removed ones. Any further tool needs approval like a changed one.
const MAX_TOOLS: usize = 2_000;

/// A digest and the description of a tool's definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    /// Digest of the whole definition.
    digest: String,
    /// Description of the tool, truncated.
    pub(super) description: String,
}

impl Said {
    /// Digests the parts of a tool's definition that a model sees.
    pub(super) fn of(definition: &Map<String, Value>) -> Self {
        let mut hash = Sha256::new();
        // Icons and metadata are for user interfaces.
        for key in ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] {
            hash.update(key);
            hash.update(definition.get(key).map(|value| sorted(value).to_string()).unwrap_or_default());
            hash.update([0]);
        }
        let description = definition.get("description").and_then(Value::as_str).unwrap_or_default();
        Self {
            digest: HEXLOWER.encode(&hash.finalize()),
            description: description.chars().take(MAX_OF_DESCRIPTION).collect(),
        }
    }

    /// Returns the entry for a tool whose earlier definition should be recorded, but is not known.
    fn unknown() -> Self {
        Self { digest: String::new(), description: "(it is not known what it said before)".to_owned() }
    }
}

/// The earlier and the present definition of a tool that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) before: Said,
    pub(super) now: Said,
}

/// The recorded definitions of the tools of one server.
#[derive(Debug)]
pub(super) struct Known {
    /// File of the record; `None` if it is kept in memory only.
    file: Option<PathBuf>,
    tools: Mutex<Option<Tools>>,
}

/// The approved definitions, by the tools' local names.
#[derive(Debug, Default)]
struct Tools {
    said: BTreeMap<String, Said>,
    /// The record cannot be read: every tool needs an approval, and the file is left unchanged.
    is_unreadable: bool,
}

impl Known {
    /// Opens the record of a server in the data directory; without a directory, the record lasts as long as the process.
    pub(super) fn of(data_dir: Option<&Path>, server: &str) -> Self {
        let file = data_dir.map(|directory| {
            let name = HEXLOWER.encode(&Sha256::digest(server)[..16]);
            directory.join(DIRECTORY).join(format!("{name}.json"))
        });
        Self { file, tools: Mutex::default() }
    }

    /// Records the definitions of these tools, by their local names. Returns the tools whose definition has changed; their
    /// records stay until [`accept`](Self::accept). The second value is an error of reading or writing the record.
    pub(super) fn note(&self, said: &[(&str, Said)]) -> (BTreeMap<String, Change>, Option<String>) {
        let (mut tools, mut problem) = self.lock();
        let known = tools.get_or_insert_default();
        // A tool that is new here may have been recorded by another process.
        if !known.is_unreadable
            && said.iter().any(|(name, _)| !known.said.contains_key(*name))
            && let Ok(read) = self.read()
        {
            for (name, before) in read {
                known.said.entry(name).or_insert(before);
            }
        }
        let mut changes = BTreeMap::new();
        let mut new = BTreeMap::new();
        for (name, now) in said {
            let before = match known.said.get(*name) {
                Some(before) if before == now => continue,
                Some(before) => before.clone(),
                None if known.is_unreadable || known.said.len() >= MAX_TOOLS => Said::unknown(),
                None => {
                    known.said.insert((*name).to_owned(), now.clone());
                    new.insert((*name).to_owned(), now.clone());
                    continue;
                }
            };
            changes.insert((*name).to_owned(), Change { before, now: now.clone() });
        }
        if !new.is_empty() {
            // Records that another process made meanwhile stay: they are older.
            let keep = |said: &mut BTreeMap<String, Said>| {
                for (name, now) in new {
                    if said.len() < MAX_TOOLS {
                        said.entry(name).or_insert(now);
                    }
                }
            };
            problem = problem.or_else(|| self.keep(known, keep).err());
        }
        (changes, problem)
    }

    /// Records the definition of a changed tool as approved.
    pub(super) fn accept(&self, name: &str, now: &Said) -> Result<(), String> {
        let (mut tools, problem) = self.lock();
        let known = tools.get_or_insert_default();
        let accept = |said: &mut BTreeMap<String, Said>| {
            if said.len() < MAX_TOOLS || said.contains_key(name) {
                said.insert(name.to_owned(), now.clone());
            }
        };
        accept(&mut known.said);
        problem.map_or_else(|| self.keep(known, accept), Err)
    }

    fn lock(&self) -> (MutexGuard<'_, Option<Tools>>, Option<String>) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problem = None;
        if tools.is_none() {
            match self.read() {
                Ok(said) => *tools = Some(Tools { said, is_unreadable: false }),
                Err(why) => {
                    problem = Some(format!(
                        "{why}; each of them needs approval until the file is repaired or removed"
                    ));
                    *tools = Some(Tools { is_unreadable: true, ..Tools::default() });
                }
            }
        }
        (tools, problem)
    }

    fn read(&self) -> Result<BTreeMap<String, Said>, String> {
        let Some(file) = &self.file else { return Ok(BTreeMap::new()) };
        let unreadable = |why: &dyn std::fmt::Display| {
            format!("the cached tool list cannot be read from {}: {why}", file.display())
        };
        let mut text = String::new();
        match File::open(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(unreadable(&error)),
            Ok(opened) => {
                opened.take(LARGEST).read_to_string(&mut text).map_err(|error| unreadable(&error))?
            }
        };
        serde_json::from_str(&text).map_err(|error| unreadable(&error))
    }

    /// Saves a change of the record atomically. Records of other processes are kept.
    fn keep(&self, tools: &Tools, change: impl FnOnce(&mut BTreeMap<String, Said>)) -> Result<(), String> {
        let Some(file) = self.file.as_ref().filter(|_| !tools.is_unreadable) else { return Ok(()) };
        let unkept = |why: &dyn std::fmt::Display| {
            format!("the tool list cannot be cached in {}: {why}", file.display())
        };
        let lock = || -> io::Result<File> {
            fs::create_dir_all(file.parent().ok_or(ErrorKind::NotFound)?)?;
            let lock =
                File::options().create(true).truncate(false).write(true).open(file.with_extension("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        let _lock = lock().map_err(|error| unkept(&error))?;
        let mut said = self.read()?;
        change(&mut said);
        let write = || -> io::Result<()> {
            let temporary = file.with_extension("part");
            let text = serde_json::to_vec(&said)?;
            let written = File::create(&temporary).and_then(|mut opened| opened.write_all(&text));
            written.and_then(|()| fs::rename(&temporary, file)).inspect_err(|_| {
                let _ = fs::remove_file(&temporary);
            })
        };
        write().map_err(|error| unkept(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(definition: Value) -> Said {
        let Value::Object(definition) = definition else { panic!("no object") };
        Said::of(&definition)
    }

    #[test]
    fn what_a_model_reads_counts_and_nothing_else() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}});
        let first = said(json!({"name": "x", "description": "d", "inputSchema": schema, "icons": []}));
        let sorted = json!({"properties": {"b": {}, "a": {"type": "string"}}, "type": "object"});
        assert_eq!(
            first,
            said(json!({"inputSchema": sorted, "description": "d", "name": "x", "_meta": {"a": 1}}))
        );
        for other in [
            json!({"name": "x", "description": "d2", "inputSchema": schema}),
            json!({"name": "x", "description": "d", "inputSchema": {"type": "object"}}),
            json!({"name": "x", "description": "d", "inputSchema": schema, "outputSchema": {}}),
            json!({"name": "x", "description": "d", "inputSchema": schema, "annotations": {"readOnlyHint": true}}),
            json!({"name": "x", "description": "d", "inputSchema": schema, "title": "t"}),
        ] {
            assert_ne!(first, said(other.clone()), "{other}");
        }
    }

    #[test]
    fn a_change_stays_one_until_it_is_accepted_also_later() {
        let directory = tempfile::tempdir().unwrap();
        let known = || Known::of(Some(directory.path()), "../a server");
        let (old, new) = (said(json!({"description": "old"})), said(json!({"description": "new"})));
        assert_eq!(known().note(&[("x", old.clone()), ("y", old.clone())]), (BTreeMap::new(), None));
        for _ in 0..2 {
            let (changes, problem) = known().note(&[("x", new.clone()), ("y", old.clone())]);
            assert_eq!(problem, None);
            assert_eq!(changes.len(), 1);
            assert_eq!(changes["x"], Change { before: old.clone(), now: new.clone() });
        }
        // A tool that disappears and returns is not new.
        assert!(known().note(&[]).0.is_empty());
        known().accept("x", &new).unwrap();
        assert!(known().note(&[("x", new), ("y", old.clone())]).0.is_empty());
        // Another server's are others.
        assert!(Known::of(Some(directory.path()), "b").note(&[("x", old)]).0.is_empty());
        let files =
            fs::read_dir(directory.path().join(DIRECTORY)).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(files.filter(|file| file.extension().is_some_and(|end| end == "json")).count(), 2);
    }

    #[test]
    fn what_processes_note_at_once_is_all_kept() {
        let directory = tempfile::tempdir().unwrap();
        let known = || Known::of(Some(directory.path()), "a");
        let of = |text: &str| said(json!({"description": text}));
        // Each has read the record before either saved a change.
        let (one, other) = (known(), known());
        one.note(&[("a", of("1"))]);
        other.note(&[]);
        one.note(&[("b", of("1"))]);
        assert!(other.note(&[("c", of("1")), ("b", of("2"))]).0.contains_key("b"));
        one.accept("a", &of("3")).unwrap();
        let (changes, problem) = known().note(&[("a", of("3")), ("b", of("1")), ("c", of("1"))]);
        assert_eq!((changes, problem), (BTreeMap::new(), None));
        std::thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || known().note(&[(format!("t{number}").as_str(), of("1"))]));
            }
        });
        let all: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
        let others: Vec<(&str, Said)> = all.iter().map(|name| (name.as_str(), of("2"))).collect();
        assert_eq!(known().note(&others).0.len(), 8);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_left() {
        let directory = tempfile::tempdir().unwrap();
        let known = Known::of(Some(directory.path()), "a");
        let file = known.file.clone().unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{").unwrap();
        // It is unknown whether the definition is unchanged.
        let now = said(json!({}));
        let (changes, problem) = known.note(&[("x", now.clone())]);
        assert_eq!(changes["x"], Change { before: Said::unknown(), now: now.clone() });
        assert!(problem.unwrap().contains("cannot be read"));
        known.accept("x", &now).unwrap();
        let (changes, problem) = known.note(&[("x", now.clone()), ("y", now)]);
        assert_eq!((changes.len(), problem), (1, None));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    }

    #[test]
    fn what_is_kept_can_be_read_again_however_much_there_was() {
        let directory = tempfile::tempdir().unwrap();
        let known = || Known::of(Some(directory.path()), "a");
        // The maximum length of an escaped text.
        let long = "\u{1}".repeat(5_000);
        let names: Vec<String> = (0..MAX_TOOLS + 10).map(|number| format!("{number:064}")).collect();
        let all: Vec<(&str, Said)> = names
            .iter()
            .map(|name| (name.as_str(), said(json!({"name": name, "description": long}))))
            .collect();
        let (changes, problem) = known().note(&all);
        assert_eq!((changes.len(), problem), (10, None));
        let (changes, problem) = known().note(&all[..MAX_TOOLS]);
        assert_eq!((changes.len(), problem), (0, None));
        let other = said(json!({"name": names[0], "description": "other"}));
        assert_eq!(known().note(&[(names[0].as_str(), other)]).0.len(), 1);
    }
}

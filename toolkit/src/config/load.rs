//! From the sources to a configuration: read, check each, merge what is trusted, narrow what is not, check the whole.

use crate::arguments::{Problem, check_document};
use crate::config::configuration::{Configuration, Inner, Restriction, WorkspaceFile};
use crate::config::error::{ConfigError, ConfigProblem};
use crate::config::file::read_text;
use crate::config::merge::Document;
use crate::config::narrow::{IgnoredKey, narrow};
use crate::config::options::{FILE, LoadOptions};
use crate::config::origin::{ConfigOrigin, ConfigSource};
use crate::config::parse::{self, Parsed, Places, parse};
use crate::config::pointer::escape;
use crate::config::rules::{permissions, policy, without_permissions};
use crate::config::schema::{Schemas, schemas};
use crate::config::settle::{is_resolved, settle};
use crate::config::trust::{TrustStore, TrustedFile};
use crate::config::words::{is_key, of_environment, of_flag, of_program};
use crate::link::Linked;
use crate::permission::PermissionSettings;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Loads a configuration.
pub(super) fn load(options: &LoadOptions) -> Result<Configuration, ConfigError> {
    let mut problems = Vec::new();
    let files = read_files(options, &mut problems);
    if files.is_empty()
        && problems.is_empty()
        && options.program.is_empty()
        && options.flags.is_empty()
        && options.sections.is_empty()
        && !options.environment.keys().any(|name| is_key(name))
    {
        // Most starts: the schema need not be made.
        return Ok(Configuration::new(Inner {
            own_files: options.own_files(),
            data_dir: options.data_dir.clone(),
            ..Inner::default()
        }));
    }
    let schemas = match schemas(&options.sections) {
        Ok(schemas) => schemas,
        Err(reason) => {
            problems.push(ConfigProblem::new(None, "", reason));
            return Err(ConfigError { problems });
        }
    };
    let mut notes = Vec::new();
    let trusted = trusted_files(options, &mut notes);
    let mut sources = Sources::default();
    for value in &options.program {
        let mut document = of_program(value);
        let found = check_document(&schemas.partial, &mut document.value);
        let origin = || Some(ConfigOrigin::new(ConfigSource::Program));
        problems.extend(found.iter().map(|problem| ConfigProblem::of(problem, origin())));
        sources.add(document, &mut problems);
    }
    let (named, others): (Vec<ReadFile>, Vec<ReadFile>) =
        files.into_iter().partition(|file| file.kind == Kind::Named);
    for file in others {
        add_file(file, &trusted, &schemas, &mut sources, &mut problems);
    }
    for document in of_environment(&options.environment, &schemas, &sources.merged.value, &mut problems) {
        sources.add(document, &mut problems);
    }
    for file in named {
        add_file(file, &trusted, &schemas, &mut sources, &mut problems);
    }
    for flag in &options.flags {
        match of_flag(flag, &schemas, &sources.merged.value) {
            Ok(document) => sources.add(document, &mut problems),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    settle(sources, schemas, options, notes)
}

/// What the sources say together.
#[derive(Default)]
pub(super) struct Sources {
    /// Of those that are trusted, without permissions.
    pub(super) merged: Document,
    pub(super) permissions: Vec<PermissionSettings>,
    pub(super) restrictions: Vec<Restriction>,
    pub(super) ignored: Vec<IgnoredKey>,
    pub(super) files: Vec<WorkspaceFile>,
}

impl Sources {
    /// Adds one that is trusted.
    fn add(&mut self, document: Document, problems: &mut Vec<ConfigProblem>) {
        check_names(&document, problems);
        match permissions(&document) {
            Ok(settings)
                if settings.everybody.is_empty()
                    && settings.agents.is_empty()
                    && settings.channels.is_empty() => {}
            Ok(settings) => self.permissions.push(settings),
            Err(problem) => problems.push(problem),
        }
        self.merged.add(&without_permissions(document));
    }
}

/// What a file is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Workspace,
    Named,
}

struct ReadFile {
    path: PathBuf,
    kind: Kind,
    parsed: Parsed,
    /// The file as it would be trusted.
    identity: TrustedFile,
}

/// Reads and parses all files, each once.
fn read_files(options: &LoadOptions, problems: &mut Vec<ConfigProblem>) -> Vec<ReadFile> {
    let mut wanted: Vec<(PathBuf, Kind)> = Vec::new();
    wanted.extend(options.user_file.iter().map(|path| (path.clone(), Kind::User)));
    // A file that the user has or names is not also one of a workspace, whose place it may stand in.
    let own: Vec<PathBuf> =
        options.user_file.iter().chain(&options.files).filter_map(|path| path.canonicalize().ok()).collect();
    if let Some(workspace) = &options.workspace {
        let workspace = workspace.canonicalize().or_else(|_| std::path::absolute(workspace));
        let workspace = workspace.unwrap_or_else(|_| PathBuf::from("/"));
        let mut above: Vec<PathBuf> = workspace.ancestors().map(|directory| directory.join(FILE)).collect();
        above.reverse();
        above.retain(|path| path.canonicalize().map_or(true, |real| !own.contains(&real)));
        wanted.extend(above.into_iter().map(|path| (path, Kind::Workspace)));
    }
    wanted.extend(options.files.iter().map(|path| (path.clone(), Kind::Named)));
    wanted.into_iter().filter_map(|(path, kind)| read_file(path, kind, problems)).collect()
}

fn read_file(path: PathBuf, kind: Kind, problems: &mut Vec<ConfigProblem>) -> Option<ReadFile> {
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut fault = |place: Option<parse::Place>, reason: &str| {
        let mut origin = ConfigOrigin::new(ConfigSource::File(path.clone()));
        if let Some(place) = place {
            origin = ConfigOrigin::in_file(path.clone(), place.line, place.column);
        }
        problems.push(ConfigProblem::new(Some(origin), "", reason));
    };
    let text = match read_text(&path, parse::MOST_BYTES as u64) {
        Ok(Some(text)) => text,
        Ok(None) => {
            if kind == Kind::Named {
                fault(None, "there is no such file");
            }
            return None;
        }
        Err(reason) => {
            fault(None, &reason);
            return None;
        }
    };
    match parse(&text) {
        Ok(parsed) => {
            let identity = TrustedFile::new(path.clone(), text.as_bytes());
            Some(ReadFile { path, kind, parsed, identity })
        }
        Err(found) => {
            fault(found.place, &found.message);
            None
        }
    }
}

/// What the user trusts; nothing, with a note, where that cannot be known.
fn trusted_files(options: &LoadOptions, notes: &mut Vec<String>) -> Vec<TrustedFile> {
    let mut trusted = Vec::new();
    if let Some(store) = options.data_dir.as_ref().map(TrustStore::new) {
        match store.files() {
            Ok(files) => trusted = files,
            Err(reason) => notes.push(format!("no workspace is trusted: {reason}")),
        }
        trusted.retain(|file| {
            let reason = store.is_beside(&file.path);
            notes.extend(reason.iter().cloned());
            reason.is_none()
        });
    }
    trusted.extend(options.trusting.iter().cloned());
    trusted
}

fn add_file(
    file: ReadFile,
    trusted: &[TrustedFile],
    schemas: &Schemas,
    sources: &mut Sources,
    problems: &mut Vec<ConfigProblem>,
) {
    let ReadFile { path, kind, parsed: Parsed { mut value, places }, identity } = file;
    let found = check_document(&schemas.partial, &mut value);
    let origins = origins(&path, &places);
    let document = Document { value, origins };
    let count = problems.len();
    problems.extend(
        found.iter().map(|problem| ConfigProblem::of(problem, Some(place_of(problem, &path, &places)))),
    );
    if problems.len() > count {
        return;
    }
    let is_trusted = kind != Kind::Workspace || trusted.contains(&identity);
    if kind == Kind::Workspace {
        sources.files.push(WorkspaceFile { file: identity, is_trusted });
    }
    if is_trusted {
        sources.add(document, problems);
        return;
    }
    check_names(&document, problems);
    let narrowed = narrow(&document, &places, &path, &schemas.sections);
    sources.ignored.extend(narrowed.ignored);
    match (policy(&narrowed.document, &schemas.sections), permissions(&narrowed.document)) {
        (Ok(policy), Ok(permissions)) => sources.restrictions.push(Restriction {
            file: path.display().to_string(),
            policy,
            permissions,
            asking: narrowed.asking,
        }),
        (Err(problem), _) | (_, Err(problem)) => problems.push(problem),
    }
}

fn origins(path: &Path, places: &Places) -> BTreeMap<String, ConfigOrigin> {
    let origin = |place: parse::Place| ConfigOrigin::in_file(path, place.line, place.column);
    places.iter().map(|(pointer, place)| (pointer.to_owned(), origin(place))).collect()
}

/// Where a problem stands: at the key, where that is what is wrong.
fn place_of(problem: &Problem, path: &Path, places: &Places) -> ConfigOrigin {
    let is_key = ["the unknown `", "a second one: `", "the name `"]
        .iter()
        .any(|lead| problem.actual.starts_with(lead));
    let mut pointer = problem.pointer.as_str();
    let place = loop {
        let found = if is_key { places.key(pointer) } else { places.value(pointer) };
        match (found, pointer.rfind('/')) {
            (Some(place), _) => break Some(place),
            (None, Some(end)) => pointer = &pointer[..end],
            (None, None) => break None,
        }
    };
    match place {
        Some(place) => ConfigOrigin::in_file(path, place.line, place.column),
        None => ConfigOrigin::new(ConfigSource::File(path.to_owned())),
    }
}

/// What no schema can say.
fn check_names(document: &Document, problems: &mut Vec<ConfigProblem>) {
    misplaced(&document.value, "", document, problems);
    // Settings under another name of a tool would be nobody's.
    let tools = document.value.pointer("/tools/settings").and_then(Value::as_object);
    for name in tools.into_iter().flat_map(Map::keys) {
        let is_name = inventory::iter::<Linked>().any(|Linked(def)| def.name == name);
        let of = inventory::iter::<Linked>().find(|Linked(def)| def.aliases.contains(&name.as_str()));
        if let (false, Some(Linked(def))) = (is_name, of) {
            let pointer = format!("/tools/settings/{}", escape(name));
            let message =
                format!("expected the name of a tool, got another name of `{0}`; write `{0}`", def.name);
            problems.push(ConfigProblem::new(document.origin(&pointer), pointer, message));
        }
    }
}

/// Nothing is replaced in rules: a name that is none would deny nothing.
fn misplaced(value: &Value, pointer: &str, document: &Document, problems: &mut Vec<ConfigProblem>) {
    match value {
        Value::String(text) if text.contains("${env:") && !is_resolved(pointer) => {
            let message =
                "`${env:…}` is not replaced here: it stands in settings of tools, plugins and servers only";
            problems.push(ConfigProblem::new(document.origin(pointer), pointer, message));
        }
        Value::Object(members) => {
            for (name, member) in members {
                misplaced(member, &format!("{pointer}/{}", escape(name)), document, problems);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                misplaced(item, &format!("{pointer}/{number}"), document, problems);
            }
        }
        _ => {}
    }
}

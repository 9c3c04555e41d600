//! Loads a configuration from its sources: reads and checks each, merges trusted ones, narrows untrusted ones, and
//! checks the result.

use crate::config::configuration::{Configuration, Inner, WorkspaceFile};
use crate::config::elsewhere;
use crate::config::entries::{self, check};
use crate::config::error::{ConfigError, ConfigProblem};
use crate::config::file::read_text;
use crate::config::merge::{Document, MergeRules};
use crate::config::names::check_names;
use crate::config::narrow::{IgnoredKey, narrow};
use crate::config::options::{AsLoadOptions, FILE, LoadOptions};
use crate::config::parse::{self, Parsed, Places, parse};
use crate::config::restriction::Restriction;
use crate::config::rules::{permissions, policy, without_permissions};
use crate::config::schema::{Schemas, schemas};
use crate::config::settle::{Unavailable, check_sections, resolve};
use crate::config::stricter::take_away;
use crate::config::trust::{TrustStore, TrustedFile};
use crate::config::words::{is_key, of_environment, of_flag, of_program};
use crate::permission::PermissionSettings;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::arguments::Problem;
use toolkit_core::config_origin::{ConfigOrigin, ConfigSource};

impl Configuration {
    /// Loads a configuration. Blocks.
    ///
    /// # Errors
    ///
    /// Returns all problems at once: files that cannot be read or parsed, wrong keys and values. A missing secret is no error: the part
    /// that refers to it is unavailable, and [`section`](Self::section) returns the reason. An untrusted file must be
    /// valid too, so that its restrictions are not lost.
    pub fn load(options: impl AsLoadOptions) -> Result<Self, ConfigError> {
        load(&options.into_load_options())
    }
}

fn load(options: &LoadOptions) -> Result<Configuration, ConfigError> {
    let mut problems = Vec::new();
    let files = read_files(options, &mut problems);
    if files.is_empty()
        && problems.is_empty()
        && options.program.is_empty()
        && options.flags.is_empty()
        && options.sections.is_empty()
        && !options.environment.keys().any(|name| is_key(name))
    {
        // The usual case: nothing is configured, so the schema need not be built.
        return Ok(Configuration::of_nothing(options));
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
    let mut sources = Sources { rules: schemas.merge_rules(), ..Sources::default() };
    for value in &options.program {
        let mut document = of_program(value, &schemas.sections);
        let found = check(&schemas.partial, &mut document.value, &schemas.sections);
        let origin = |_: &Problem| Some(ConfigOrigin::new(ConfigSource::Program));
        problems.extend(elsewhere::problems(&found, origin, &schemas));
        if found.is_empty() {
            sources.add(document, &mut problems);
        }
    }
    let (named, others): (Vec<ReadFile>, Vec<ReadFile>) =
        files.into_iter().partition(|file| file.kind == Kind::Named);
    for file in others {
        add_file(file, &trusted, &schemas, &mut sources, &mut problems);
    }
    for document in
        of_environment(&options.environment, &schemas, &sources.merged.value, &mut problems, &mut notes)
    {
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

/// Builds the configuration from the merged sources.
fn settle(
    sources: Sources,
    schemas: Arc<Schemas>,
    options: &LoadOptions,
    notes: Vec<String>,
) -> Result<Configuration, ConfigError> {
    let Sources { mut merged, permissions, restrictions, ignored, files, .. } = sources;
    if merged.value.is_null() {
        merged.value = Value::Object(Map::new());
    }
    let origins = merged.shared_origins();
    let at = |problem: &Problem| origins.find(&problem.pointer).cloned();
    let found = check(&schemas.whole, &mut merged.value, &schemas.sections);
    let mut problems = elsewhere::problems(&found, at, &schemas);
    let (mut resolved, secrets, secret_files, unavailable) = if problems.is_empty() {
        resolve(&merged.value, &schemas, options, &origins, &mut problems)
    } else {
        (merged.value.clone(), Vec::new(), Vec::new(), Unavailable::default())
    };
    if problems.is_empty() {
        take_away(&mut resolved, &restrictions, &schemas);
        check_sections(&resolved, &schemas, &origins, &secrets, &unavailable, &mut problems);
    }
    let settled = Document { value: resolved, origins: merged.origins.clone(), only: None };
    let policy =
        policy(&settled, &schemas.sections).map_err(|problem| ConfigError { problems: vec![problem] });
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    Ok(Configuration::new(Inner {
        policy: policy?,
        document: merged.value,
        resolved: settled.value,
        origins,
        permissions,
        restrictions,
        ignored,
        files,
        own_files: options.own_files(),
        data_dir: options.data_dir.clone(),
        secrets,
        secret_files,
        unavailable,
        notes,
        schemas: Some(schemas),
        user_dir: options.user_dir(),
    }))
}

/// All sources together.
#[derive(Default)]
struct Sources {
    /// The merged trusted sources, without permissions.
    merged: Document,
    /// The rules of merging.
    rules: MergeRules,
    permissions: Vec<PermissionSettings>,
    restrictions: Vec<Restriction>,
    ignored: Vec<IgnoredKey>,
    files: Vec<WorkspaceFile>,
}

impl Sources {
    /// Adds a trusted source.
    fn add(&mut self, document: Document, problems: &mut Vec<ConfigProblem>) {
        check_names(&document, problems);
        match permissions(&document) {
            Ok(settings) if settings.is_empty() => {}
            Ok(settings) => self.permissions.push(settings),
            Err(problem) => problems.push(problem),
        }
        self.merged.add(&without_permissions(document), &self.rules);
    }
}

/// The role of a file for the user.
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
    /// The file in the form in which it would be trusted.
    identity: TrustedFile,
}

/// Reads and parses all files, each once.
fn read_files(options: &LoadOptions, problems: &mut Vec<ConfigProblem>) -> Vec<ReadFile> {
    let mut wanted: Vec<(PathBuf, Kind)> = Vec::new();
    wanted.extend(options.user_file.iter().map(|path| (path.clone(), Kind::User)));
    // A file that the user owns or names is not also read as a file of a workspace, even if it lies there.
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
    let mut found = Found::default();
    wanted.into_iter().filter_map(|(path, kind)| read_file(path, kind, &mut found, problems)).collect()
}

/// The most `toolkit.json5` files in a workspace and above it.
const MAX_FILES: usize = 16;

/// The files found so far in a workspace and above it. The number is limited because anyone who can create
/// directories could add a file in each.
#[derive(Default)]
struct Found {
    files: usize,
    bytes: usize,
    values: usize,
    pointer_bytes: usize,
}

impl Found {
    /// Returns the reason why the files exceed the limits. None is skipped then, because it may contain restrictions.
    fn fault(&self) -> Option<String> {
        let most = if self.files > MAX_FILES {
            format!("{MAX_FILES} files")
        } else if self.bytes > parse::MAX_BYTES {
            format!("{} bytes together", parse::MAX_BYTES)
        } else if self.values > parse::MAX_VALUES {
            format!("{} values together", parse::MAX_VALUES)
        } else if self.pointer_bytes > parse::MAX_POINTER_BYTES {
            "as many values under long keys as are taken".to_owned()
        } else {
            return None;
        };
        Some(format!(
            "with this one there are more than {most} named `{FILE}` in the workspace and above it, and each of them counts; \
             remove some, or work in another directory"
        ))
    }
}

fn read_file(
    path: PathBuf,
    kind: Kind,
    found: &mut Found,
    problems: &mut Vec<ConfigProblem>,
) -> Option<ReadFile> {
    if found.fault().is_some() {
        // Already reported.
        return None;
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut fault = |place: Option<parse::Place>, reason: &str| {
        let file = Arc::from(path.as_path());
        let origin = match place {
            Some(place) => ConfigOrigin::within(&file, place.line, place.column),
            None => ConfigOrigin::new(ConfigSource::File(file)),
        };
        problems.push(ConfigProblem::new(Some(origin), "", reason));
    };
    let text = match read_text(&path, parse::MAX_BYTES as u64) {
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
    if kind == Kind::Workspace {
        found.files += 1;
        found.bytes += text.len();
        if let Some(reason) = found.fault() {
            fault(None, &reason);
            return None;
        }
    }
    match parse(&text) {
        Ok(parsed) => {
            if kind == Kind::Workspace {
                found.values += parsed.places.iter().count();
                found.pointer_bytes += parsed.places.pointer_bytes();
                if let Some(reason) = found.fault() {
                    fault(None, &reason);
                    return None;
                }
            }
            let identity = TrustedFile::new(path.clone(), text.as_bytes());
            Some(ReadFile { path, kind, parsed, identity })
        }
        Err(found) => {
            fault(found.place, &found.message);
            None
        }
    }
}

/// Returns the files that the user trusts; empty, with a note, if the trust store cannot be read.
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
    let ReadFile { path, kind, parsed: Parsed { mut value, mut places }, identity } = file;
    let path: Arc<Path> = path.into();
    if entries::lift(&mut value, &schemas.sections) {
        places = places.moved(|pointer| entries::lifted(pointer, &schemas.sections));
    }
    let found = check(&schemas.partial, &mut value, &schemas.sections);
    let origins = origins(&path, &places);
    let document = Document { value, origins, only: None };
    let count = problems.len();
    problems.extend(elsewhere::problems(&found, |problem| Some(place_of(problem, &path, &places)), schemas));
    if problems.len() > count {
        return;
    }
    // Files trusted for this run take precedence over remembered ones.
    let known = trusted.iter().rev().find(|known| known.is_same_file(&identity));
    let is_trusted = kind != Kind::Workspace || known.is_some();
    if kind == Kind::Workspace {
        let trusted_skills = known.and_then(|known| known.skills.clone());
        let trusted_instructions = known.and_then(|known| known.instructions.clone());
        let trusted_programs = known.map(|known| known.programs.clone()).unwrap_or_default();
        sources.files.push(WorkspaceFile {
            file: identity,
            is_trusted,
            trusted_skills,
            trusted_instructions,
            trusted_programs,
        });
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
            document: narrowed.document.value,
            policy,
            permissions,
            asking: narrowed.asking,
        }),
        (Err(problem), _) | (_, Err(problem)) => problems.push(problem),
    }
}

fn origins(path: &Arc<Path>, places: &Places) -> BTreeMap<String, ConfigOrigin> {
    let origin = |place: parse::Place| ConfigOrigin::within(path, place.line, place.column);
    places.iter().map(|(pointer, place)| (pointer.to_owned(), origin(place))).collect()
}

/// Returns the place of a problem: the key's place if the key itself is wrong.
fn place_of(problem: &Problem, path: &Arc<Path>, places: &Places) -> ConfigOrigin {
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
        Some(place) => ConfigOrigin::within(path, place.line, place.column),
        None => ConfigOrigin::new(ConfigSource::File(Arc::clone(path))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_a_workspace_may_have_as_much_as_the_limits_say() {
        let none = Found::default;
        for (found, expected) in [
            (none(), None),
            (Found { files: MAX_FILES, ..none() }, None),
            (Found { files: MAX_FILES + 1, ..none() }, Some("more than 16 files")),
            (Found { bytes: parse::MAX_BYTES, ..none() }, None),
            (Found { bytes: parse::MAX_BYTES + 1, ..none() }, Some("more than 1048576 bytes together")),
            (Found { values: parse::MAX_VALUES, ..none() }, None),
            (Found { values: parse::MAX_VALUES + 1, ..none() }, Some("more than 20000 values together")),
            (Found { pointer_bytes: parse::MAX_POINTER_BYTES, ..none() }, None),
            (Found { pointer_bytes: parse::MAX_POINTER_BYTES + 1, ..none() }, Some("under long keys")),
        ] {
            let fault = found.fault();
            assert_eq!(fault.is_some(), expected.is_some(), "{fault:?}");
            assert!(expected.is_none_or(|expected| fault.unwrap().contains(expected)), "{expected:?}");
        }
    }
}

//! Settles the merged document of all sources: resolves secrets, decodes sections, and finds the parts that cannot be used.

use crate::config::entries::{check, ease_switched_off};
use crate::config::error::ConfigProblem;
use crate::config::options::LoadOptions;
use crate::config::resolve::Resolver;
use crate::config::schema::{OF_EVERY_PLUGIN, OF_EVERY_TOOL, Schemas};
use crate::config::variables::is_resolved;
use crate::section::ConfigSection;
use crate::section::pointer::{dotted, escape, join, steps};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use toolkit_core::config_origin::ConfigOrigins;
use toolkit_core::guard::guard;
use toolkit_core::redact::Redactor;

/// Resolves secrets. An entry that is switched off, such as a server, needs none. A part that refers to something missing, or whose resolved
/// value is invalid, is unavailable; everything else can be used.
pub(super) fn resolve(
    value: &Value,
    schemas: &Schemas,
    options: &LoadOptions,
    origins: &ConfigOrigins,
    problems: &mut Vec<ConfigProblem>,
) -> (Value, Vec<String>, Vec<PathBuf>, Unavailable) {
    let mut resolved = value.clone();
    let mut keeper = Resolver {
        compiled: &schemas.whole,
        environment: &options.environment,
        origins,
        secrets: Vec::new(),
        files: Vec::new(),
        problems: Vec::new(),
        unresolved: Vec::new(),
    };
    let maps = schemas.merge_rules().entries;
    for (key, member) in resolved.as_object_mut().into_iter().flatten() {
        let pointer = join([key]);
        match (key.as_str(), member) {
            (_, Value::Object(entries)) if maps.contains(&pointer) => {
                for (name, entry) in entries.iter_mut() {
                    let pointer = join([key, name]);
                    if entry["enabled"] == Value::Bool(false) {
                        keeper.leave_out(entry, &pointer);
                    } else {
                        keeper.resolve(entry, &pointer);
                    }
                }
            }
            ("agents" | "channels", Value::Object(entries)) => {
                for (name, entry) in entries.iter_mut() {
                    for (key, member) in entry.as_object_mut().into_iter().flatten() {
                        let pointer = format!("{pointer}{}", join([name, key]));
                        if is_resolved(&pointer) {
                            keeper.resolve(member, &pointer);
                        }
                    }
                }
            }
            ("tools" | "plugins", Value::Object(members)) => {
                for (name, member) in members.iter_mut() {
                    let pointer = format!("{pointer}/{}", escape(name));
                    if is_resolved(&pointer) {
                        keeper.resolve(member, &pointer);
                    }
                }
            }
            (_, member) if is_resolved(&pointer) => keeper.resolve(member, &pointer),
            _ => {}
        }
    }
    let Resolver { mut secrets, files, problems: found, unresolved, .. } = keeper;
    problems.extend(found);
    secrets.sort_unstable();
    secrets.dedup();
    let mut unavailable = Unavailable::new(schemas, &resolved);
    let redactor = secrets.iter().fold(Redactor::new(), Redactor::value);
    // Resolved values must match the schema too.
    let misfits = check(&schemas.whole, &mut resolved, &schemas.sections);
    let misfits = misfits.iter().map(|problem| {
        let mut problem = ConfigProblem::of(problem, origins.find(&problem.pointer).cloned());
        problem.message = redactor.redact(&problem.message).into_owned();
        problem
    });
    for problem in unresolved.into_iter().chain(misfits) {
        match owner(&problem.pointer, schemas) {
            Some(owner) => unavailable.add(owner, problem),
            None => problems.push(problem),
        }
    }
    unavailable.take_out(&mut resolved);
    (resolved, secrets, files, unavailable)
}

/// Returns the pointer of the part that cannot be used without the value at `pointer`: a server, a plugin, a tool, a
/// section.
fn owner(pointer: &str, schemas: &Schemas) -> Option<String> {
    let places = schemas.sections.iter().filter_map(|section| Some((section, section.place_of(pointer)?)));
    // A part of a plugin's section can be a section of its own.
    if let Some((section, at)) = places.max_by_key(|(_, at)| at.len()) {
        // The member, where the value is within one.
        let rest: Vec<&str> = pointer[at.len()..].split('/').skip(1).collect();
        return match rest.as_slice() {
            [member, ..] if section.its_entries().is_some() => Some(format!("{at}/{member}")),
            [member, _, ..] if section.has_members() => Some(format!("{at}/{member}")),
            _ => Some(at),
        };
    }
    let steps: Vec<String> = steps(pointer).take(3).collect();
    match steps.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tools", "settings", tool] => Some(join(["tools", "settings", tool])),
        [first @ ("plugins" | "tools"), second, ..] => Some(join([first, second])),
        _ => None,
    }
}

/// The parts that cannot be used, because something that they refer to is missing or invalid, by pointer.
#[derive(Debug, Default)]
pub(crate) struct Unavailable {
    by_owner: BTreeMap<String, Vec<ConfigProblem>>,
    /// The pointers of the parts of plugins' sections that are sections of their own.
    parts: BTreeSet<String>,
    /// The pointers of the sections in which a default replaces a value that cannot be used.
    lenient: BTreeSet<String>,
}

impl Unavailable {
    fn new(schemas: &Schemas, document: &Value) -> Self {
        let pointers = |is_one: fn(&ConfigSection) -> bool| {
            let sections = schemas.sections.iter().filter(|section| is_one(section));
            sections.flat_map(|section| section.places(document)).collect()
        };
        Self {
            by_owner: BTreeMap::new(),
            parts: pointers(ConfigSection::is_part),
            lenient: pointers(ConfigSection::is_lenient),
        }
    }

    fn add(&mut self, owner: String, problem: ConfigProblem) {
        self.by_owner.entry(owner).or_default().push(problem);
    }

    /// Removes unavailable values of lenient sections from a document, so that their defaults have effect.
    fn take_out(&self, resolved: &mut Value) {
        for section in &self.lenient {
            for problem in self.by_owner.get(section).into_iter().flatten() {
                let key = problem.pointer.strip_prefix(&**section).and_then(|rest| steps(rest).next());
                let members = resolved.pointer_mut(section).and_then(Value::as_object_mut);
                key.zip(members).map(|(key, members)| members.shift_remove(&key));
            }
        }
    }

    /// Returns the problems for which the section at `pointer` cannot be read: none in a lenient one, whose defaults count.
    pub(crate) fn of_section(&self, pointer: &str) -> Option<&[ConfigProblem]> {
        if self.lenient.contains(pointer) { None } else { self.of(pointer) }
    }

    /// Returns true if the value at `pointer` cannot be used as a whole.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.by_owner.contains_key(pointer)
    }

    /// The members of the section at `pointer` that cannot be used, and why.
    pub(crate) fn members<'a>(
        &'a self,
        pointer: &'a str,
    ) -> impl Iterator<Item = (String, &'a [ConfigProblem])> + 'a {
        self.by_owner.iter().filter_map(move |(owner, problems)| {
            let member = owner.strip_prefix(pointer)?.strip_prefix('/')?;
            Some((steps(&format!("/{member}")).next()?, problems.as_slice()))
        })
    }

    /// Returns the reasons why the value at `pointer`, a part of it, or a value that contains it cannot be used. A section within that of a
    /// plugin, and the rest of the plugin's section, do not depend on each other.
    pub(crate) fn of(&self, pointer: &str) -> Option<&[ConfigProblem]> {
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let concerns = |(owner, problems): &(&String, &Vec<ConfigProblem>)| {
            if owner.as_str() != pointer && is_within(owner, pointer) {
                return !self.parts.contains(*owner);
            }
            let is_part = self.parts.contains(pointer) && owner.as_str() != pointer;
            is_within(pointer, owner)
                && (!is_part || problems.iter().any(|problem| is_within(pointer, &problem.pointer)))
        };
        let found = self.by_owner.iter().find(concerns);
        found.map(|(_, problems)| problems.as_slice())
    }

    /// Returns each unavailable part, and the reasons.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &[ConfigProblem])> {
        self.by_owner.iter().map(|(owner, problems)| (owner.as_str(), problems.as_slice()))
    }
}

/// Checks that sections which match the schema also decode.
pub(super) fn check_sections(
    resolved: &Value,
    schemas: &Schemas,
    origins: &ConfigOrigins,
    secrets: &[String],
    unavailable: &Unavailable,
    problems: &mut Vec<ConfigProblem>,
) {
    let places = schemas.sections.iter().flat_map(|section| {
        let places = section.places(resolved).into_iter();
        places.map(move |place| (section, place))
    });
    for (section, pointer) in places {
        let is_unavailable = if section.has_members() {
            unavailable.has(&pointer)
        } else {
            unavailable.of_section(&pointer).is_some()
        };
        if is_unavailable {
            continue;
        }
        let Some(value) = resolved.pointer(&pointer) else { continue };
        let mut own = own_keys(value.clone(), &pointer, &schemas.sections);
        if let (true, Some(members)) = (section.has_members(), own.as_object_mut()) {
            unavailable.members(&pointer).for_each(|(member, _)| drop(members.shift_remove(&member)));
        }
        if section.its_entries().is_some() {
            let decodes =
                |value| guard(&dotted(&pointer), || section.decodes(value)).is_ok_and(|read| read.is_ok());
            ease_switched_off(&mut own, decodes);
        }
        let outcome = match guard(&dotted(&pointer), || section.decodes(own)) {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(panic) => Err(panic.message().to_owned()),
        };
        if let Err(reason) = outcome {
            // The error may contain a secret, or a part of one.
            let reason =
                if secrets.is_empty() { reason } else { "its type refuses a value in it".to_owned() };
            problems.push(ConfigProblem::new(origins.find(&pointer).cloned(), pointer, reason));
        }
    }
}

/// Returns a section without the keys that every tool or every plugin has, and without the parts that are sections of their own.
pub(super) fn own_keys(mut value: Value, pointer: &str, sections: &[ConfigSection]) -> Value {
    let is_plugin = pointer.strip_prefix("/plugins/").is_some_and(|id| !id.contains('/'));
    let base: &[&str] = if pointer.starts_with("/tools/settings/") {
        &OF_EVERY_TOOL
    } else if is_plugin {
        &OF_EVERY_PLUGIN
    } else {
        &[]
    };
    let parts = sections.iter().filter(|section| is_plugin && section.is_part());
    let parts: Vec<String> = parts.map(ConfigSection::pointer).collect();
    if let Some(members) = value.as_object_mut() {
        members.retain(|key, _| {
            let is_part = || {
                let at = format!("{pointer}/{}", escape(key));
                parts.contains(&at)
            };
            !base.contains(&key.as_str()) && !is_part()
        });
    }
    value
}

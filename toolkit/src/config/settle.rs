//! From what the sources say together to a configuration: checked as a whole, secrets in their places, sections decoded.

use crate::arguments::Problem;
use crate::config::configuration::{Configuration, Inner};
use crate::config::error::{ConfigError, ConfigProblem};
use crate::config::load::Sources;
use crate::config::merge::Document;
use crate::config::options::LoadOptions;
use crate::config::origin::ConfigOrigins;
use crate::config::pointer::{dotted, escape, join};
use crate::config::rules::policy;
use crate::config::schema::{OF_EVERY_PLUGIN, OF_EVERY_TOOL, Schemas};
use crate::config::secret::Resolver;
use crate::config::servers::check;
use crate::config::stricter::take_away;
use crate::guard::guard;
use crate::redact::Redactor;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Derives everything from what the sources say together.
pub(super) fn settle(
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
    let at = |problem: &Problem| ConfigProblem::of(problem, origins.find(&problem.pointer).cloned());
    let mut problems: Vec<ConfigProblem> = check(&schemas.whole, &mut merged.value).iter().map(at).collect();
    let (mut resolved, secrets) = if problems.is_empty() {
        resolve(&merged.value, &schemas, options, &origins, &mut problems)
    } else {
        (merged.value.clone(), Vec::new())
    };
    if problems.is_empty() {
        take_away(&mut resolved, &restrictions, &schemas);
        check_sections(&resolved, &schemas, &origins, &secrets, &mut problems);
    }
    let settled = Document { value: resolved, origins: merged.origins.clone() };
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
        notes,
        schemas: Some(schemas),
        user_dir: options.user_dir(),
    }))
}

/// Puts secrets in their places. Of a server that is switched off none is needed.
fn resolve(
    value: &Value,
    schemas: &Schemas,
    options: &LoadOptions,
    origins: &ConfigOrigins,
    problems: &mut Vec<ConfigProblem>,
) -> (Value, Vec<String>) {
    let mut resolved = value.clone();
    let mut keeper = Resolver {
        compiled: &schemas.whole,
        environment: &options.environment,
        origins,
        secrets: Vec::new(),
        problems: Vec::new(),
    };
    for (key, member) in resolved.as_object_mut().into_iter().flatten() {
        let pointer = join([key]);
        match (key.as_str(), member) {
            ("mcp", Value::Object(servers)) => {
                for (name, server) in
                    servers.iter_mut().filter(|(_, server)| server["enabled"] != Value::Bool(false))
                {
                    keeper.resolve(server, &join(["mcp", name]));
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
            ("toolAgent", member) => keeper.resolve(member, &pointer),
            _ => {}
        }
    }
    let Resolver { mut secrets, problems: found, .. } = keeper;
    problems.extend(found);
    secrets.sort_unstable();
    secrets.dedup();
    let redactor = secrets.iter().fold(Redactor::new(), Redactor::value);
    if !secrets.is_empty() {
        // What came from elsewhere has to fit too.
        for problem in check(&schemas.whole, &mut resolved) {
            let mut problem = ConfigProblem::of(&problem, origins.find(&problem.pointer).cloned());
            problem.message = redactor.redact(&problem.message).into_owned();
            problems.push(problem);
        }
    }
    (resolved, secrets)
}

/// What the schema takes has to decode too.
fn check_sections(
    resolved: &Value,
    schemas: &Schemas,
    origins: &ConfigOrigins,
    secrets: &[String],
    problems: &mut Vec<ConfigProblem>,
) {
    for section in &schemas.sections {
        let pointer = section.pointer();
        let Some(value) = resolved.pointer(&pointer) else { continue };
        let own = own_keys(value.clone(), &pointer);
        let outcome = match guard(&dotted(&pointer), || section.decodes(own)) {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(panic) => Err(panic.message().to_owned()),
        };
        if let Err(reason) = outcome {
            // It may repeat a secret, or a part of one.
            let reason =
                if secrets.is_empty() { reason } else { "its type refuses a value in it".to_owned() };
            problems.push(ConfigProblem::new(origins.find(&pointer).cloned(), pointer, reason));
        }
    }
}

/// A section without the keys that every tool or every plugin has.
pub(super) fn own_keys(mut value: Value, pointer: &str) -> Value {
    let base: &[&str] = if pointer.starts_with("/tools/settings/") {
        &OF_EVERY_TOOL
    } else if pointer.starts_with("/plugins/") {
        &OF_EVERY_PLUGIN
    } else {
        &[]
    };
    if let Some(members) = value.as_object_mut() {
        members.retain(|key, _| !base.contains(&key.as_str()));
    }
    value
}

/// Whether what stands at `pointer` may be kept elsewhere.
pub(super) fn is_resolved(pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1);
    match (steps.next(), steps.next(), steps.next()) {
        (Some("mcp" | "toolAgent"), _, _) => true,
        (Some("plugins"), Some(id), key) => id != "prefer" && key != Some("joinGroups"),
        (Some("tools"), Some(key), _) => {
            !["profile", "allow", "alsoAllow", "deny", "profiles", "byProvider", "sandbox", "subagents"]
                .contains(&key)
        }
        _ => false,
    }
}

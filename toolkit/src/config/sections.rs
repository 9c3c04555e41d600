//! Decodes the sections of a loaded configuration.

use super::configuration::Configuration;
use super::entries::ease_switched_off;
use super::error::{ConfigError, ConfigProblem, reasons};
use super::settle::own_keys;
use crate::section::ConfigSection;
use crate::section::pointer::{dotted, join};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolkit_core::arg::ToolArg;
use toolkit_core::arguments::check_document;
use toolkit_core::guard::guard;
use toolkit_core::parameter::compose;
use toolkit_core::redact::Redactor;
use toolkit_core::schema::{Compiled, SchemaFn};

impl Configuration {
    /// Decodes the section at a path with dots, `plugins.acme`. An absent section decodes from `{}`. The section does not contain the keys
    /// that every tool or plugin has, such as `enabled`.
    ///
    /// # Errors
    ///
    /// When the section does not match the type, or refers to a variable or a file that does not exist. Loading is certain to find a
    /// mismatch only if the section is [known](crate::config::ConfigSection).
    pub fn section<T: ToolArg>(&self, path: &str) -> Result<T, ConfigError> {
        self.at(&join(path.split('.')))
    }

    /// The section at a path with dots whose members [stand for themselves](crate::config::ConfigSection::members), without those that cannot be used,
    /// and the reason for each of these. Of an entry that is switched off, keys that name a variable are left out where their type takes no text.
    ///
    /// # Errors
    ///
    /// It does not fit the type, or the section as a whole names a variable or a file that is not there.
    pub fn section_members<T: ToolArg>(
        &self,
        path: &str,
    ) -> Result<(T, BTreeMap<String, String>), ConfigError> {
        let pointer = join(path.split('.'));
        let mut value = self.0.resolved.pointer(&pointer).cloned().unwrap_or_else(|| Map::new().into());
        if self.0.unavailable.has(&pointer) {
            let problems = self.0.unavailable.of(&pointer).unwrap_or_default().to_vec();
            return Err(ConfigError { problems });
        }
        let unavailable: BTreeMap<String, String> = self
            .0
            .unavailable
            .members(&pointer)
            .map(|(member, problems)| (member, reasons(problems)))
            .collect();
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| !unavailable.contains_key(name));
        }
        let is_section = |section: &&ConfigSection| section.pointer() == pointer;
        if self.sections().iter().find(is_section).is_some_and(|section| section.its_entries().is_some()) {
            ease_switched_off(&mut value, |value| T::decode(value).is_ok());
        }
        match T::decode(value) {
            Ok(section) => Ok((section, unavailable)),
            Err(error) => Err(ConfigError { problems: vec![self.fault(&pointer, &error.to_string())] }),
        }
    }

    /// Decodes a section of each agent or channel: `each_section("channels", "slack")` is that of every channel with the key `slack`, by the
    /// name of the channel, as [`section`](Self::section) decodes one.
    pub fn each_section<T: ToolArg>(&self, map: &str, key: &str) -> BTreeMap<String, Result<T, ConfigError>> {
        let entries = self.0.resolved.get(map).and_then(Value::as_object).into_iter().flatten();
        let entries = entries.filter(|(_, entry)| entry.get(key).is_some());
        entries.map(|(name, _)| (name.clone(), self.at(&join([map, name, key])))).collect()
    }

    /// Decodes the section of a tool: the section declared for the tool, otherwise `tools.settings.<tool>`.
    pub(crate) fn of_tool<T: ToolArg>(&self, tool: &str) -> Result<T, ConfigError> {
        let sections = self.0.schemas.as_ref().map_or(&[][..], |schemas| &schemas.sections);
        let section = sections.iter().find(|section| section.its_tool() == Some(tool));
        let pointer = section.map_or_else(|| join(["tools", "settings", tool]), ConfigSection::pointer);
        self.at(&pointer)
    }

    /// Decodes the section of a plugin, or the part of it that is a section of its own.
    pub(crate) fn of_plugin<T: ToolArg>(&self, id: &str, part: Option<&str>) -> Result<T, ConfigError> {
        self.at(&join(["plugins", id].into_iter().chain(part)))
    }

    fn at<T: ToolArg>(&self, pointer: &str) -> Result<T, ConfigError> {
        let given = self.0.resolved.pointer(pointer);
        let value = given.cloned().unwrap_or_else(|| Map::new().into());
        let sections = self.0.schemas.as_ref().map_or(&[][..], |schemas| &schemas.sections);
        let mut value = own_keys(value, pointer, sections);
        let fault = |at: &str, message: String| ConfigError { problems: vec![self.fault(at, &message)] };
        if let Some(problems) = self.0.unavailable.of_section(pointer) {
            return Err(ConfigError { problems: problems.to_vec() });
        }
        let is_checked = given.is_none()
            || sections.iter().any(|section| {
                section.place_of(pointer).as_deref() == Some(pointer)
                    && std::ptr::fn_addr_eq(section.schema(), T::schema as SchemaFn)
            });
        let decoded = guard(&dotted(pointer), || {
            if !is_checked {
                let schema = compose(|generator| T::schema(generator).to_value());
                let compiled = Compiled::new(&dotted(pointer), schema)
                    .map_err(|error| fault(pointer, error.message().to_owned()))?;
                let problems = check_document(&compiled, &mut value);
                if !problems.is_empty() {
                    let problems = problems.iter().map(|problem| {
                        let at = format!("{pointer}{}", problem.pointer);
                        let mut told = ConfigProblem::of(problem, self.0.origins.find(&at).cloned());
                        told.pointer = at;
                        told.message = self.redacted(&told.message);
                        told
                    });
                    return Err(ConfigError { problems: problems.collect() });
                }
            }
            T::decode(value).map_err(|error| fault(pointer, error.to_string()))
        });
        decoded.unwrap_or_else(|panic| Err(fault(pointer, panic.message().to_owned())))
    }

    /// Returns the problem of a section. One that is absent has no origin: the nearest value that is there has another.
    fn fault(&self, pointer: &str, message: &str) -> ConfigProblem {
        let message = self.redacted(message);
        if self.0.resolved.pointer(pointer).is_none() {
            let message = format!(
                "the section is not configured: {message}; set it, or give the field a default, or make it an `Option`"
            );
            return ConfigProblem::new(None, pointer, message);
        }
        ConfigProblem::new(self.0.origins.find(pointer).cloned(), pointer, message)
    }

    fn redacted(&self, text: &str) -> String {
        self.add_secrets(Redactor::new()).redact(text).into_owned()
    }
}

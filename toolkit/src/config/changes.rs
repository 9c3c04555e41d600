//! The differences between two configurations.

use crate::config::configuration::{Configuration, Inner};
use crate::permission::PermissionSettings;
use serde_json::Map;
use std::collections::BTreeSet;
use std::sync::Arc;
use toolkit_core::config_origin::ConfigOrigins;

impl Configuration {
    /// Returns the values of the secrets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.secrets.iter().map(String::as_str)
    }

    /// Returns true if another configuration has the same values, secrets and permissions, and trusts the same files of the workspace with the same
    /// content: a toolkit that is built with either does the same.
    pub fn is_same_as(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        let [one, two] = [self, other].map(|configuration| &*configuration.0);
        one.files == two.files && one.secrets == two.secrets && self.changed_since(other).is_empty()
    }

    /// Returns the top-level keys whose values are not those of another configuration, sorted.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<String> {
        let none = Map::new();
        let [after, before] = [self, before].map(|configuration| &*configuration.0);
        let [new, old] = [after, before].map(|inner| inner.resolved.as_object().unwrap_or(&none));
        let keys = new.keys().chain(old.keys()).filter(|key| new.get(*key) != old.get(*key));
        let mut changed: BTreeSet<&str> = keys.map(String::as_str).collect();
        // Permissions are not merged into the document, and restrictions only narrow the other settings.
        let rules = |inner: &'_ Inner| -> Vec<PermissionSettings> {
            let all = inner.permissions.iter();
            all.map(|settings| PermissionSettings { origins: ConfigOrigins::default(), ..settings.clone() })
                .collect()
        };
        if rules(after) != rules(before) {
            changed.insert("permission");
        }
        let [new, old] = [after, before].map(|inner| {
            let restrictions =
                inner.restrictions.iter().filter_map(|restriction| restriction.document.as_object());
            restrictions.flat_map(|document| document.iter()).collect::<Vec<_>>()
        });
        if new != old {
            changed.extend(new.iter().chain(&old).map(|(key, _)| key.as_str()));
        }
        changed.into_iter().map(str::to_owned).collect()
    }
}

//! The people of the configuration.

use std::collections::BTreeSet;

use rusqlite::params;
use serde_json::json;

use super::damage::Fault;
use super::identities::{self, CONFIGURATION, IdentityRecord};
use super::people::{self, Role};
use super::writer::Writing;
use super::{Store, StoreError, events};

/// A person whom a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredPerson {
    pub(crate) name: String,
    /// `None` keeps the one that there is.
    pub(crate) role: Option<Role>,
    /// `None` keeps the one that there is.
    pub(crate) agent: Option<String>,
    /// Each is a channel and a sender.
    pub(crate) identities: Vec<(String, String)>,
}

impl Store {
    /// Takes away the identities that the configuration named before, and names no more. Each is a person, a channel and a sender.
    pub(crate) async fn keep_configured(
        &self,
        named: BTreeSet<(String, String, String)>,
    ) -> Result<(), StoreError> {
        self.write(move |writing| remove_others(writing, &named)).await
    }

    /// Adds and changes the people whom the configuration names, and takes away the identities that it named before. Others stay as they are. Returns
    /// the names of those who have another role or agent now.
    ///
    /// # Errors
    ///
    /// A name is none, or an identity is somebody else's: nothing is changed.
    pub(crate) async fn configure_people(
        &self,
        people: Vec<ConfiguredPerson>,
        agent: String,
    ) -> Result<Vec<String>, StoreError> {
        self.write(move |writing| {
            let named = people.iter().flat_map(|person| {
                let identities = person.identities.iter();
                identities.map(|(channel, sender)| (person.name.clone(), channel.clone(), sender.clone()))
            });
            remove_others(writing, &named.collect())?;
            let mut changed = Vec::new();
            for person in &people {
                if configure(writing, person, &agent)? {
                    changed.push(person.name.clone());
                }
            }
            Ok(changed)
        })
        .await
    }
}

/// Removes the identities that the configuration named before, and names no more.
fn remove_others(writing: &Writing<'_>, named: &BTreeSet<(String, String, String)>) -> Result<(), Fault> {
    for IdentityRecord { channel, sender, person, .. } in identities::approved_by(writing.sql, CONFIGURATION)?
    {
        if !named.contains(&(person.clone(), channel.clone(), sender.clone())) {
            identities::remove(writing, &channel, &sender, &person)?;
        }
    }
    Ok(())
}

/// Returns true if a person who was there has another role or agent now.
fn configure(writing: &Writing<'_>, configured: &ConfiguredPerson, agent: &str) -> Result<bool, Fault> {
    let ConfiguredPerson { name, role, agent: own, identities } = configured;
    let agent = own.as_deref().unwrap_or(agent);
    let before = people::found(writing.sql, name)?;
    let person = match before {
        Some(person) => person,
        None => people::add(writing, name, role.unwrap_or(Role::User), agent)?,
    };
    let role = role.unwrap_or(person.role);
    let agent = own.as_ref().unwrap_or(&person.agent);
    let is_changed = (role, agent) != (person.role, &person.agent);
    if is_changed {
        let sql = "UPDATE people SET role = ?2, agent = ?3 WHERE name = ?1";
        writing.sql.prepare_cached(sql)?.execute(params![name, role, agent])?;
        let data = json!({ "person": name, "role": role });
        events::write_of_person(writing, name, "person.changed", &data)?;
    }
    for (channel, sender) in identities {
        match identities::person_of(writing.sql, channel, sender)? {
            // From now on it is the configuration's, and goes with it.
            Some(whose) if whose == *name => {
                let sql = "UPDATE identities SET approved_by = ?3 WHERE channel = ?1 AND sender = ?2";
                writing.sql.prepare_cached(sql)?.execute(params![channel, sender, CONFIGURATION])?;
            }
            Some(whose) => {
                return Err(Fault::Refused(format!(
                    "people.{name}.identities: `{channel}:{sender}` is `{whose}` already; unlink it from them first"
                )));
            }
            None => {
                let identity = IdentityRecord {
                    channel: channel.clone(),
                    sender: sender.clone(),
                    person: name.clone(),
                    name: String::new(),
                    approved_by: CONFIGURATION.to_owned(),
                    created_at: writing.now,
                };
                identities::add(writing, &identity)?;
            }
        }
    }
    Ok(is_changed)
}

//! The people whom the configuration names.

use toolkit::config::Configuration;

use super::{OWNER, People};
use crate::settings::{GatewaySettings, PeopleSettings, PersonRole, PersonSettings};
use crate::store::{ConfiguredPerson, Role, StoreError};

/// Adds and changes the people whom a configuration names, and takes away the identities that it named before.
///
/// # Errors
///
/// A text that says what is wrong, and where. Nothing is changed then.
pub(crate) async fn configure(people: &People, configuration: &Configuration) -> Result<(), String> {
    let (people_of_now, store) = (people, people.store());
    let people = PeopleSettings::of(configuration);
    let people: Result<Vec<_>, String> =
        people.0.iter().map(|(name, person)| configured(name, person)).collect();
    let agent = GatewaySettings::of(configuration).agent;
    let changed = store.configure_people(people?, agent).await.map_err(|error| error.to_string())?;
    for name in changed {
        // All that was begun with other rights ends.
        people_of_now.end(&name).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Takes away the identities that a configuration names no more, which has an error otherwise.
pub(crate) async fn keep_named(people: &People, configuration: &Configuration) -> Result<(), StoreError> {
    let settings = PeopleSettings::of(configuration);
    let named = settings.0.iter().flat_map(|(name, person)| {
        let identities = person.identities.iter().filter_map(|identity| parts(identity));
        identities.map(|(channel, sender)| (name.clone(), channel, sender))
    });
    people.store().keep_configured(named.collect()).await
}

fn configured(name: &str, person: &PersonSettings) -> Result<ConfiguredPerson, String> {
    let at = format!("people.{}", name.escape_debug());
    if name == OWNER && person.role.is_some() {
        return Err(format!("{at}.role: the owner has the role of the owner; leave it out"));
    }
    let identities = person.identities.iter().map(|identity| {
        parts(identity).ok_or_else(|| {
            format!(
                "{at}.identities: `{}` is not `CHANNEL:SENDER`, such as `telegram:123456` with the platform's stable id",
                identity.escape_debug()
            )
        })
    });
    Ok(ConfiguredPerson {
        name: name.to_owned(),
        role: person.role.map(|role| match role {
            PersonRole::User => Role::User,
            PersonRole::Approver => Role::Approver,
        }),
        agent: person.agent.clone(),
        identities: identities.collect::<Result<_, _>>()?,
    })
}

/// The channel and the sender of an identity.
fn parts(identity: &str) -> Option<(String, String)> {
    let (channel, sender) = identity.split_once(':')?;
    (!channel.is_empty() && !sender.is_empty()).then(|| (channel.to_owned(), sender.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_identity_is_named_with_its_place() {
        for wrong in ["123456", "telegram:", ":123456", ""] {
            let person = PersonSettings { identities: vec![wrong.to_owned()], ..PersonSettings::default() };
            let error = configured("ada", &person);
            assert!(error.is_err_and(|error| error.starts_with("people.ada.identities: ")), "{wrong}");
        }
    }
}

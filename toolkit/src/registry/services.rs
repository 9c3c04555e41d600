//! The toolkit as the host of its services.

use super::Inner;
use crate::config::Configuration;
use crate::service::{ServiceHost, linked_makers};
use crate::tool::Tool;
use std::any::{TypeId, type_name};
use std::panic::Location;
use std::sync::Arc;
use toolkit_core::redact::Redactor;
use toolkit_core::state::{Service, Services};

/// A service that the host provides to the builder, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    id: TypeId,
    name: &'static str,
    place: &'static Location<'static>,
}

impl Given {
    #[track_caller]
    pub(crate) fn here<T: ?Sized + Service>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>(), place: Location::caller() }
    }
}

/// Returns an error for each type of which the host provides more than one service: a tool could get only one of them.
pub(super) fn given_twice(given: &[Given]) -> Vec<String> {
    let mut given: Vec<Given> = given.to_vec();
    given.sort_by_key(|given| (given.name, given.id));
    given
        .chunk_by(|one, other| one.id == other.id)
        .filter(|same| same.len() > 1)
        .map(|same| {
            let places: Vec<String> = same.iter().map(|given| given.place.to_string()).collect();
            format!(
                "the service `{}` is provided {} times, at {}; keep one, or give each a type of its own",
                same[0].name,
                same.len(),
                places.join(" and ")
            )
        })
        .collect()
}

/// Returns an error for each service that is missing because the host provides an `Arc` of it by value.
pub(super) fn given_in_arc(
    given: &[Given],
    services: &Services,
    tools: &[Tool],
    is_linked: bool,
) -> Vec<String> {
    let makers = if is_linked { linked_makers() } else { Vec::new() };
    let needed = makers.iter().flat_map(|maker| maker.needs.iter().copied());
    let taken = tools.iter().flat_map(|tool| tool.service_defs().iter().copied()).chain(needed);
    taken
        .filter(|service| !services.contains(service.id))
        .filter_map(|service| {
            let in_arc = format!("{}<{}>", arc_name(), (service.name)());
            let given = given.iter().find(|given| given.name == in_arc)?;
            Some(format!(
                "`.service(..)` at {} provides an `Arc<{service:?}>`, but tools take `State<{service:?}>`; write \
                 `.shared_service(..)` for a value in an `Arc`",
                given.place
            ))
        })
        .collect()
}

/// The path of `Arc`, as names of types have it.
fn arc_name() -> &'static str {
    type_name::<Arc<()>>().split('<').next().unwrap_or_default()
}

impl ServiceHost for Inner {
    fn services(&self) -> &Services {
        &self.services
    }

    fn configuration(&self) -> Configuration {
        self.rules.get().configuration.clone()
    }

    fn redactor(&self) -> &Redactor {
        &self.settings.redactor
    }
}

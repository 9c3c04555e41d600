//! The toolkit as the host of its services.

use super::Inner;
use crate::config::Configuration;
use crate::service::{MakerDef, ServiceHost, linked_makers};
use crate::tool::def::ServiceDef;
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

/// The services that a host provides or a crate makes, by which errors explain a missing one.
#[derive(Default)]
pub(super) struct Near {
    /// The name of each type, and how it comes to be.
    known: Vec<(&'static str, Origin)>,
}

enum Origin {
    Given(&'static Location<'static>),
    Made(&'static MakerDef),
}

impl Near {
    pub(super) fn new(given: &[Given], is_linked: bool) -> Self {
        let makers = if is_linked { linked_makers() } else { Vec::new() };
        let given = given.iter().map(|given| (given.name, Origin::Given(given.place)));
        let made = makers.into_iter().map(|maker| ((maker.service.name)(), Origin::Made(maker)));
        Self { known: given.chain(made).collect() }
    }

    /// Returns the rest of the sentence that begins with "it takes this service": why it is missing, and the way out. `others` are further
    /// ways to provide one that has nothing near.
    pub(super) fn explain(&self, missing: &ServiceDef, others: &str) -> String {
        let name = (missing.name)();
        let near = self.known.iter().find(|(known, _)| is_within(known, name) || is_within(name, known));
        match near {
            Some((known, Origin::Given(place)))
                if is_within(known, name) && known.starts_with(arc_name()) =>
            {
                format!(
                    "but `.service(..)` at {place} provides an `Arc<{name}>`: write `.shared_service(..)` for a value in an \
                     `Arc`"
                )
            }
            Some((known, Origin::Given(place))) => {
                format!("but `.service(..)` at {place} provides a `{known}`: take `State<{known}>`")
            }
            Some((known, Origin::Made(maker))) => {
                format!(
                    "but `{}` ({}) makes a `{known}`: take `State<{known}>`, or return a `{name}`",
                    maker.name, maker.location
                )
            }
            None => {
                format!("which is not provided: call `.service(value)` on the toolkit's builder, or {others}")
            }
        }
    }
}

/// Returns true for `Wrapper<inner>`, by the names of the types.
fn is_within(wrapper: &str, inner: &str) -> bool {
    let rest = wrapper.strip_suffix('>').and_then(|rest| rest.strip_suffix(inner));
    rest.and_then(|rest| rest.strip_suffix('<')).is_some_and(|path| !path.contains(['<', ',', ' ']))
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

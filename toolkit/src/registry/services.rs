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

/// The host that services are provided to, as errors name it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Host {
    /// A toolkit with the linked tools, whose services are made by the linked functions.
    #[default]
    Linked,
    /// A toolkit without them.
    Empty,
    /// A toolkit of a test, without them.
    Test,
}

impl Host {
    pub(super) fn new(is_linked: bool, is_test: bool) -> Self {
        match (is_linked, is_test) {
            (true, _) => Self::Linked,
            (false, false) => Self::Empty,
            (false, true) => Self::Test,
        }
    }

    fn builder(self) -> &'static str {
        match self {
            Self::Linked | Self::Empty => "the toolkit's builder",
            Self::Test => "the `TestToolbox`",
        }
    }
}

/// The services that a host provides or a crate makes, by which errors explain a missing one.
#[derive(Default)]
pub(super) struct Near<'a> {
    given: &'a [Given],
    made: Vec<&'static MakerDef>,
    host: Host,
}

impl<'a> Near<'a> {
    pub(super) fn new(given: &'a [Given], host: Host) -> Self {
        Self { given, made: linked_makers(), host }
    }

    /// Returns what is there instead of a service that is missing, and the way out: the service in a wrapper, without one, or a type of the
    /// same name.
    pub(super) fn instead(&self, missing: &ServiceDef) -> Option<String> {
        let taken = (missing.name)();
        let given = self.given.iter().find_map(|given| {
            let remedy = remedy(given.name, taken)?;
            Some(format!("`.service(..)` at {} provides {}: {remedy}", given.place, with_article(given.name)))
        });
        given.or_else(|| {
            let made = if self.host == Host::Linked { &*self.made } else { &[] };
            made.iter().find_map(|maker| {
                let made = (maker.service.name)();
                let remedy = remedy(made, taken)?;
                Some(format!("`{}` ({}) makes {}: {remedy}", maker.name, maker.location, with_article(made)))
            })
        })
    }

    /// Returns the rest of the sentence that begins with "it takes this service": why it is missing, and the way out. `others` are further
    /// ways to provide one that has nothing near.
    pub(super) fn explain(&self, missing: &ServiceDef, others: &str) -> String {
        if !missing.is_shared {
            return "which threads cannot share (it is not `Send + Sync`), so that nobody can provide it: hold what changes behind a `Mutex`, a \
                    `RwLock` or an atomic instead of a `RefCell` or `Cell`, and share with `Arc` instead of `Rc`"
                .to_owned();
        }
        if let Some(instead) = self.instead(missing) {
            return format!("but {instead}");
        }
        let call = match short((missing.name)()).strip_prefix("dyn ") {
            Some(name) => format!("`.shared_service::<dyn {name}>(Arc::new(value))`"),
            None => "`.service(value)`".to_owned(),
        };
        let provide = format!("call {call} on {}", self.host.builder());
        let maker = self.made.iter().find(|maker| maker.service.id == missing.id);
        let others = if self.host == Host::Linked { others } else { "`.with_state(value)` on the tool" };
        match (maker, self.host) {
            (Some(maker), Host::Empty) => format!(
                "which is not provided: `Toolkit::empty()` leaves out the function `{}` ({}), which makes it; begin with \
                 `Toolkit::builder()`, or {provide}",
                maker.name, maker.location
            ),
            (Some(maker), Host::Test) => format!(
                "which is not provided: a `TestToolbox` leaves out the function `{}` ({}), which makes it; {provide}",
                maker.name, maker.location
            ),
            _ => format!("which is not provided: {provide}, or {others}"),
        }
    }
}

/// Returns the way out if the given type is nearly the taken one.
fn remedy(given: &str, taken: &str) -> Option<String> {
    match (wrapped(given), wrapped(taken)) {
        (Some((wrapper, inner)), _) if inner == taken && wrapper == arc_name() => {
            Some("write `.shared_service(..)` for a value in an `Arc`".to_owned())
        }
        (Some((_, inner)), _) if inner == taken => {
            Some(format!("take `State<{}>`, or provide the value within it", short(given)))
        }
        (_, Some((wrapper, inner))) if inner == given && wrapper == arc_name() => {
            Some(format!("take `State<{}>`, which shares the value already", short(given)))
        }
        (_, Some((_, inner))) if inner == given => {
            Some(format!("provide a `{}`, or take `State<{}>`", short(taken), short(given)))
        }
        _ if last(given) == last(taken) => Some(format!(
            "these are two types, `{given}` and `{taken}`: of two modules, or of two versions of a crate"
        )),
        _ => None,
    }
}

/// Returns the path of a generic type with one argument, and the argument.
fn wrapped(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix('>')?.split_once('<')
}

/// Returns the name of a type without the paths of the standard library.
pub(super) fn short(name: &str) -> String {
    let is_of_std = |name: &&str| ["alloc::", "core::", "std::"].iter().any(|start| name.starts_with(start));
    let parts = name.split_inclusive(['<', '>', ',', ' ', '&', '(', ')', '[', ']']);
    parts.map(|part| Some(part).filter(is_of_std).map_or(part, last)).collect()
}

/// Returns the last part of a path.
fn last(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |place| place + 2);
    &name[start..]
}

fn with_article(name: &str) -> String {
    let short = short(name);
    let article = if short.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} `{short}`")
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_service_that_threads_cannot_share_is_told_with_the_way_out() {
        let told = |is_shared| {
            let missing = ServiceDef { is_shared, ..ServiceDef::of::<RefCell<u8>>() };
            Near::new(&[], Host::Linked).explain(&missing, "another way")
        };
        assert!(told(false).contains("hold what changes behind a `Mutex`"), "{}", told(false));
        assert!(told(true).starts_with("which is not provided"), "{}", told(true));
    }
}

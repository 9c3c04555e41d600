//! Services: values that tools use to access the outside, one per type.

use crate::error::ToolError;
use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

/// A service that a tool function takes in addition to its arguments.
///
/// The host provides it with `Builder::service`; `T` may be a trait object.
///
/// ```standalone_crate
/// use toolkit::prelude::*;
///
/// struct Greeter { word: String }
///
/// /// Greets somebody.
/// #[tool(read_only)]
/// async fn greet(greeter: State<Greeter>, /** Whom. */ name: String) -> String {
///     format!("{}, {name}!", greeter.word)
/// }
/// ```
pub struct State<T: ?Sized>(pub Arc<T>);

impl<T> State<T> {
    /// Returns a service as a tool gets it, to call the tool's function directly.
    pub fn new(service: T) -> Self {
        Self(Arc::new(service))
    }
}

impl<T> From<T> for State<T> {
    fn from(service: T) -> Self {
        Self::new(service)
    }
}

impl<T: ?Sized> From<Arc<T>> for State<T> {
    fn from(service: Arc<T>) -> Self {
        Self(service)
    }
}

impl<T: ?Sized> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&&*self.0).finish()
    }
}

/// A type that can be a service: shared by all calls, on all threads.
#[diagnostic::on_unimplemented(
    message = "`State<{Self}>` needs a service that all threads can share",
    label = "not `Send + Sync + 'static`",
    note = "hold what changes behind a `Mutex`, a `RwLock` or an atomic instead of a `RefCell` or `Cell`, and share with `Arc` instead of `Rc`",
    note = "of a trait object, the trait itself says it: `trait Mailer: Send + Sync {{ .. }}`"
)]
pub trait Service: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> Service for T {}

/// A type-erased service: an `Arc` of an `Arc<T>`.
pub type AnyService = Arc<dyn Any + Send + Sync>;

/// The work of closing a service.
#[doc(hidden)]
pub type ClosingFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A service that is made at its first use, by a module above this one.
#[doc(hidden)]
pub trait LazyService: Any + Send + Sync {
    /// Returns the service once it is made.
    fn get(&self) -> Option<&AnyService>;

    /// Returns the work of closing the service and the service's name, if it is made and is closed by a function.
    fn closing(&self) -> Option<(String, ClosingFuture)>;
}

/// Values, one per type.
#[derive(Clone, Default)]
#[doc(hidden)]
pub struct Services(Arc<HashMap<TypeId, Provided>>);

#[derive(Clone)]
enum Provided {
    Ready(AnyService),
    Lazy(Arc<dyn LazyService>),
}

impl Services {
    #[doc(hidden)]
    pub fn insert<T: ?Sized + Service>(&mut self, service: Arc<T>) {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), Provided::Ready(Arc::new(service)));
    }

    #[doc(hidden)]
    pub fn contains(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }

    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these values, with those of `own` taking precedence.
    #[doc(hidden)]
    #[must_use]
    pub fn with(&self, own: &Self) -> Self {
        let mut all = self.clone();
        Arc::make_mut(&mut all.0).extend(own.0.iter().map(|(id, service)| (*id, service.clone())));
        all
    }

    #[doc(hidden)]
    pub fn get<T: ?Sized + Service>(&self) -> Option<Arc<T>> {
        let service = match self.0.get(&TypeId::of::<T>())? {
            Provided::Ready(service) => service,
            Provided::Lazy(lazy) => lazy.get()?,
        };
        service.downcast_ref::<Arc<T>>().cloned()
    }

    #[doc(hidden)]
    pub fn insert_lazy(&mut self, id: TypeId, lazy: Arc<dyn LazyService>) {
        Arc::make_mut(&mut self.0).insert(id, Provided::Lazy(lazy));
    }

    /// Returns the work of closing each service that is closed by a function, with the service's name.
    #[doc(hidden)]
    pub fn closings(&self) -> Vec<(String, ClosingFuture)> {
        let lazy = self.0.values().filter_map(|service| match service {
            Provided::Lazy(lazy) => Some(lazy),
            Provided::Ready(_) => None,
        });
        lazy.filter_map(|lazy| lazy.closing()).collect()
    }

    /// Returns true if any service is created at its first use.
    #[doc(hidden)]
    pub fn has_lazy(&self) -> bool {
        self.0.values().any(|service| matches!(service, Provided::Lazy(_)))
    }

    /// Returns the service of this type, if it is created at its first use.
    #[doc(hidden)]
    pub fn lazy<L: LazyService>(&self, id: TypeId) -> Option<&L> {
        match self.0.get(&id)? {
            Provided::Ready(_) => None,
            Provided::Lazy(lazy) => (&**lazy as &dyn Any).downcast_ref(),
        }
    }

    #[doc(hidden)]
    pub fn require<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.get().map(State).ok_or_else(|| {
            ToolError::unavailable(format!(
                "this tool needs the service `{}`, which the host does not provide; one of a `#[toolkit::service]` function is made \
                 only for tools that take it as a parameter, `State<..>`",
                type_name::<T>()
            ))
        })
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} services", self.0.len())
    }
}

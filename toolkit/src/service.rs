//! Services that are made when a call first needs them, and tools that are made for a caller.

use crate::caller::Caller;
use crate::config::{Config, Configured};
use crate::diagnostic::{Diagnostic, Level};
use crate::error::{IntoToolError, ToolError, ToolErrorKind};
use crate::guard::guard;
use crate::location::Location;
use crate::plugin;
use crate::registry::Inner;
use crate::state::{AnyService, LazyService, Service, Services, State};
use crate::tool::Tool;
use crate::tool_def::ServiceDef;
use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Something that is being made.
pub type MakingFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// How a service is made, as `#[toolkit::service]` states it.
#[derive(Clone, Copy)]
pub struct MakerDef {
    /// The function's name.
    pub name: &'static str,
    /// The service.
    pub service: ServiceDef,
    /// The services that it is made from.
    pub needs: &'static [&'static ServiceDef],
    /// Makes it.
    pub run: for<'a> fn(&'a Making) -> Result<MakingFuture<'a, AnyService>, ToolError>,
    /// Where it is written.
    pub location: Location,
}

/// How tools are made for a caller, as `#[toolkit::tool_factory]` states it.
#[derive(Clone, Copy)]
pub struct FactoryDef {
    /// The function's name.
    pub name: &'static str,
    /// The services that it takes.
    pub needs: &'static [&'static ServiceDef],
    /// Makes them.
    pub run: for<'a> fn(&'a Making) -> Result<MakingFuture<'a, Vec<Tool>>, ToolError>,
    /// Where it is written.
    pub location: Location,
}

/// A service that is linked into this process.
pub struct LinkedMaker(pub &'static MakerDef);

inventory::collect!(LinkedMaker);

/// A tool factory that is linked into this process.
pub struct LinkedFactory(pub &'static FactoryDef);

inventory::collect!(LinkedFactory);

/// What a service or tools are made from.
pub struct Making {
    toolkit: Arc<Inner>,
    caller: Arc<Caller>,
    location: Location,
}

impl Making {
    pub(crate) fn new(toolkit: &Arc<Inner>, caller: &Arc<Caller>, location: Location) -> Self {
        Self { toolkit: Arc::clone(toolkit), caller: Arc::clone(caller), location }
    }

    /// For whom; of no meaning for a service.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    fn state<T: ?Sized + Service>(&self) -> Result<State<T>, ToolError> {
        self.toolkit.services.require()
    }

    pub(crate) fn config<T: Configured>(&self) -> Result<Config<T>, ToolError> {
        self.toolkit.settings.configuration.of_plugin(&plugin::id_of(&self.location))
    }
}

/// A service that something is made from; made where the type of a `State<T>` is checked.
pub struct NeedOf<T: ?Sized> {
    /// What is known without the type.
    pub def: ServiceDef,
    /// Gets it.
    pub get: fn(&Making) -> Result<State<T>, ToolError>,
}

/// Checks the type of a `State<T>` of a service or a tool factory.
pub const fn need_of<T: ?Sized + Service>() -> NeedOf<T> {
    NeedOf { def: ServiceDef::of::<T>(), get: Making::state }
}

/// A service that a function makes; made where its type is checked.
pub struct ServiceOf<T: ?Sized> {
    /// What is known without the type.
    pub def: ServiceDef,
    /// Forgets the type.
    pub share: fn(Arc<T>) -> AnyService,
}

/// Checks the type of a service that a function makes.
pub const fn service_of<T: ?Sized + Service>() -> ServiceOf<T> {
    ServiceOf { def: ServiceDef::of::<T>(), share: |service| Arc::new(service) }
}

/// What a tool factory returns; made where that type is checked.
pub struct Products<R> {
    /// Converts it.
    pub convert: fn(R) -> Result<Vec<Tool>, ToolError>,
}

/// Checks what a tool factory returns.
pub const fn products<R: IntoTools>() -> Products<R> {
    Products { convert: R::into_tools }
}

/// What a [tool factory](macro@crate::tool_factory) can return: a tool, a list or an array of tools, an `Option` of one, or a `Result` of
/// these with any error that converts into a [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "a tool factory cannot return `{Self}`",
    label = "no `Tool`, and no list of tools",
    note = "return a `Vec<Tool>`, an `Option<Tool>`, a `Tool`, or a `Result` of one of these"
)]
pub trait IntoTools {
    /// The tools.
    ///
    /// # Errors
    ///
    /// What the factory failed with.
    fn into_tools(self) -> Result<Vec<Tool>, ToolError>;
}

impl IntoTools for Tool {
    fn into_tools(self) -> Result<Vec<Tool>, ToolError> {
        Ok(vec![self])
    }
}

impl IntoTools for Vec<Tool> {
    fn into_tools(self) -> Result<Vec<Tool>, ToolError> {
        Ok(self)
    }
}

impl<const N: usize> IntoTools for [Tool; N] {
    fn into_tools(self) -> Result<Vec<Tool>, ToolError> {
        Ok(self.into())
    }
}

impl IntoTools for Option<Tool> {
    fn into_tools(self) -> Result<Vec<Tool>, ToolError> {
        Ok(self.into_iter().collect())
    }
}

impl<T: IntoTools, E: IntoToolError> IntoTools for Result<T, E> {
    fn into_tools(self) -> Result<Vec<Tool>, ToolError> {
        self.map_err(IntoToolError::into_tool_error)?.into_tools()
    }
}

/// A service that is made at its first use.
pub(crate) struct Lazy {
    def: &'static MakerDef,
    made: OnceCell<AnyService>,
    /// How many attempts have failed, and the last one's error.
    failures: AtomicU64,
    error: Mutex<Option<ToolError>>,
}

impl LazyService for Lazy {
    fn get(&self) -> Option<&AnyService> {
        self.made.get()
    }
}

impl Lazy {
    /// Makes the service, unless it is there. Who comes meanwhile waits for this attempt, and gets its error too; who comes
    /// later tries again.
    async fn make(&self, toolkit: &Arc<Inner>, caller: &Arc<Caller>) -> Result<(), ToolError> {
        let before = self.failures.load(Ordering::Acquire);
        let attempt = || async {
            if self.failures.load(Ordering::Acquire) > before {
                let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
                return Err(error.clone().unwrap_or_else(|| ToolError::unavailable("it failed")));
            }
            // What it is made from comes first; the toolkit was not built if this led round in a circle.
            let made = match Box::pin(ensure(self.def.needs, &toolkit.services, toolkit, caller)).await {
                Ok(()) => self.run(toolkit, caller).await,
                Err(error) => Err(error),
            };
            made.map_err(|error| {
                let error = self.worded(&error, toolkit);
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
                self.failures.fetch_add(1, Ordering::Release);
                error
            })
        };
        self.made.get_or_try_init(attempt).await.map(|_| ())
    }

    async fn run(&self, toolkit: &Arc<Inner>, caller: &Arc<Caller>) -> Result<AnyService, ToolError> {
        let making = Making::new(toolkit, caller, self.def.location);
        let name = self.def.name;
        let mut future = guard(name, || (self.def.run)(&making)).flatten()?;
        let made = poll_fn(|task| {
            guard(name, || future.as_mut().poll(task)).unwrap_or_else(|panic| Err(panic).into())
        })
        .await;
        let _ = guard(name, || drop(future));
        made
    }

    fn worded(&self, error: &ToolError, toolkit: &Inner) -> ToolError {
        let MakerDef { service, name, location, .. } = self.def;
        let message =
            format!("the service `{service:?}` could not be made by `{name}` ({location}): {error}");
        let worded = ToolError::new(ToolErrorKind::Unavailable, message).with_retry(error.retry());
        worded.redacted(&toolkit.settings.redactor)
    }
}

impl fmt::Debug for FactoryDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.def.name)
    }
}

/// Whether any of these services is yet to be made.
pub(crate) fn is_wanting(needs: &[&'static ServiceDef], services: &Services) -> bool {
    needs.iter().any(|need| services.lazy::<Lazy>(need.id).is_some_and(|lazy| lazy.get().is_none()))
}

/// Makes those of these services that are yet to be made.
pub(crate) async fn ensure(
    needs: &[&'static ServiceDef],
    services: &Services,
    toolkit: &Arc<Inner>,
    caller: &Arc<Caller>,
) -> Result<(), ToolError> {
    for need in needs {
        if let Some(lazy) = services.lazy::<Lazy>(need.id).filter(|lazy| lazy.get().is_none()) {
            lazy.make(toolkit, caller).await?;
        }
    }
    Ok(())
}

/// What to do about a service that cannot be made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// The toolkit is not built.
    Refused,
    /// It is not there, and neither are the tools that take it.
    LeftOut,
}

/// The services that linked crates can make, in an order that is nobody's.
pub(crate) fn linked_makers() -> Vec<&'static MakerDef> {
    let mut makers: Vec<&'static MakerDef> =
        inventory::iter::<LinkedMaker>().map(|LinkedMaker(def)| *def).collect();
    makers.sort_by_key(|def| ((def.service.name)(), def.location.module, def.location.line));
    makers
}

/// Adds the services that can be made, unless the host provides them; says what is wrong with them.
pub(crate) fn add(
    services: &mut Services,
    mut makers: Vec<&'static MakerDef>,
    incomplete: Incomplete,
    problems: &mut Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    makers.retain(|def| !services.contains(def.service.id));
    for same in makers.chunk_by(|one, other| one.service.id == other.service.id) {
        if same.len() > 1 {
            let places: Vec<String> =
                same.iter().map(|def| format!("`{}` ({})", def.name, def.location)).collect();
            problems.push(format!(
                "the service `{:?}` is made more than once: by {}; keep one, or provide it with `.service(value)`",
                same[0].service,
                places.join(" and ")
            ));
        }
    }
    // To leave one out can leave out another.
    while let Some((place, missing)) = makers.iter().enumerate().find_map(|(place, def)| {
        let is_there = |need: &&&ServiceDef| {
            services.contains(need.id) || makers.iter().any(|other| other.service.id == need.id)
        };
        Some((place, *def.needs.iter().find(|need| !is_there(need))?))
    }) {
        let def = makers.remove(place);
        let fault = format!(
            "the service `{:?}`, made by `{}` ({}), takes `State<{missing:?}>`, which nobody provides: call \
             `.service(value)` on the toolkit's builder, or make it with `#[toolkit::service]`",
            def.service, def.name, def.location
        );
        match incomplete {
            Incomplete::Refused => {
                problems.push(fault);
                // So that the tools that take it are not blamed too.
                insert(services, def);
            }
            Incomplete::LeftOut => diagnostics.push(
                Diagnostic::new(Level::Warning, def.location.crate_name(), format!("left out: {fault}"))
                    .with_location(def.location),
            ),
        }
    }
    let mut done = Vec::new();
    for def in &makers {
        if let Some(chain) = circle(def, &makers, &mut Vec::new(), &mut done) {
            let mut names: Vec<String> =
                chain.iter().map(|link| format!("`{:?}` ({})", link.service, link.location)).collect();
            names.push(format!("`{:?}`", chain[0].service));
            problems.push(format!(
                "services are made from each other in a circle: {}; let one of them do without the next",
                names.join(" takes ")
            ));
        }
    }
    for def in makers {
        insert(services, def);
    }
}

fn insert(services: &mut Services, def: &'static MakerDef) {
    let lazy = Lazy { def, made: OnceCell::new(), failures: AtomicU64::new(0), error: Mutex::new(None) };
    services.insert_lazy(def.service.id, Arc::new(lazy));
}

/// The services that lead from one back to itself. What was looked at once is done with.
fn circle(
    def: &'static MakerDef,
    all: &[&'static MakerDef],
    path: &mut Vec<&'static MakerDef>,
    done: &mut Vec<&'static MakerDef>,
) -> Option<Vec<&'static MakerDef>> {
    if let Some(start) = path.iter().position(|step| std::ptr::eq(*step, def)) {
        return Some(path[start..].to_vec());
    }
    if done.iter().any(|other| std::ptr::eq(*other, def)) {
        return None;
    }
    path.push(def);
    done.push(def);
    let found = def
        .needs
        .iter()
        .filter_map(|need| all.iter().find(|other| other.service.id == need.id))
        .find_map(|next| circle(next, all, path, done));
    path.pop();
    found
}

/// The tool factories that are linked into this process, in an order that is nobody's.
pub(crate) fn linked_factories() -> Vec<&'static FactoryDef> {
    inventory::iter::<LinkedFactory>().map(|LinkedFactory(def)| *def).collect()
}

#[cfg(test)]
mod tests;

//! Adds and removes tools while the process runs.

use super::Toolkit;
use super::as_tool::AsTool;
use super::change::{RegisterError, ToolChange, ToolWatch};
use super::faults::{faults, missing_services};
use super::origins::Origins;
use super::services::Near;
use super::tools::{Edit, FIRST, Listing, Tools};
use crate::tool::Tool;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use tokio::sync::watch;
use toolkit_core::name::nearest;
use toolkit_core::source::Source;

/// The current tools. A reader takes a snapshot; a writer creates the next snapshot beside it.
pub(crate) struct Registry {
    /// Locked only to clone or replace the pointer.
    current: RwLock<Tools>,
    /// The version of `current`, for readers that only check if something has changed.
    version: AtomicU64,
    /// Locked while the next snapshot is created.
    writing: Mutex<Writing>,
    changed: watch::Sender<u64>,
}

/// The state of writers.
struct Writing {
    /// The number of the last registration.
    last: u64,
    /// The snapshot before the current one, updated to the same content, if no reader held it any more. Cloning 10,000
    /// reference counts for a copy takes longer than the rest of a change.
    spare: Option<Listing>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(Tools::default())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.snapshot().fmt(f)
    }
}

impl Registry {
    pub(super) fn new(tools: Tools) -> Self {
        Self {
            version: AtomicU64::new(tools.version()),
            current: RwLock::new(tools),
            writing: Mutex::new(Writing { last: FIRST, spare: None }),
            changed: watch::Sender::new(0),
        }
    }

    /// Returns a snapshot of the current tools.
    pub(crate) fn snapshot(&self) -> Tools {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of changes so far.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Notifies the watches although the tools are the same: others of them may exist for a caller now.
    pub(super) fn notify(&self) {
        self.changed.send_modify(|_| {});
    }

    /// Changes the tools atomically: with an error, nothing changes. Readers keep their snapshots.
    pub(super) fn change<T, E>(
        &self,
        change: impl FnOnce(&mut Edit, &mut u64) -> Result<T, E>,
    ) -> Result<T, E> {
        // The work of a change that panicked is lost with it.
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = writing.spare.take();
        let mut edit = spare.map_or_else(|| self.snapshot().edit(), Edit::of);
        let done = match change(&mut edit, &mut writing.last) {
            Ok(done) => done,
            Err(error) => {
                writing.spare = edit.unchanged();
                return Err(error);
            }
        };
        let (next, steps) = edit.finish();
        let version = next.version();
        let before = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            // A reader that sees the version finds at least these tools.
            self.version.store(version, Ordering::Release);
            std::mem::replace(&mut *current, next)
        };
        self.changed.send_replace(version);
        // A toolbox that holds it keeps it unchanged.
        if let Some(mut spare) = before.into_listing() {
            spare.follow(steps);
            writing.spare = Some(spare);
        }
        Ok(done)
    }
}

/// Changes while the process runs.
impl Toolkit {
    /// Adds a tool, from any thread. Toolboxes created from now on have it.
    ///
    /// The rules are those of building a toolkit, except that existing tools have precedence: a tool never takes a name
    /// or alias of a core tool, nor of any other tool.
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolkit = Toolkit::empty().build()?;
    /// toolkit.register(Tool::builder("now").description("Tells the time.").build(|_, _| async { "noon" })?)?;
    /// let toolbox = toolkit.toolbox(&Caller::new()).await;
    /// toolkit.unregister("now")?;
    /// let result = toolbox.call(ToolCall::new("1", "now", "{}")).await;
    /// assert!(result.text().contains("no longer there"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the problem with the tool, or the owner of the name. Nothing has changed then.
    pub fn register(&self, tool: impl AsTool) -> Result<(), RegisterError> {
        self.apply([ToolChange::Register(tool.into_tool())])
    }

    /// Removes the tool of this name, from any thread. Running calls go on; further calls get an error, even in
    /// toolboxes that were created before.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no tool of this name; an alias is not accepted.
    pub fn unregister(&self, name: &str) -> Result<(), RegisterError> {
        self.apply([ToolChange::Unregister(name.to_owned())])
    }

    /// Replaces the tool of the same name, from any thread. Toolboxes that were created before keep the tool that their
    /// model has seen.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`register`](Self::register), and an error if there is no tool of its name, or one from
    /// another source.
    pub fn replace(&self, tool: impl AsTool) -> Result<(), RegisterError> {
        self.apply([ToolChange::Replace(tool.into_tool())])
    }

    /// Makes several changes atomically, in this order: no reader sees some of them without the others.
    ///
    /// # Errors
    ///
    /// Returns the error of the first change that cannot be made. Nothing has changed then.
    pub fn apply(&self, changes: impl IntoIterator<Item = ToolChange>) -> Result<(), RegisterError> {
        // Code of tools runs before anything is locked.
        let changes = changes
            .into_iter()
            .map(|change| {
                Ok(match change {
                    ToolChange::Register(tool) => ToolChange::Register(self.0.made_ready(tool)?),
                    ToolChange::Replace(tool) => ToolChange::Replace(self.0.made_ready(tool)?),
                    unregister @ ToolChange::Unregister(_) => unregister,
                })
            })
            .collect::<Result<Vec<ToolChange>, RegisterError>>()?;
        let origins = &self.0.origins;
        self.0.registry.change(|edit, last| {
            changes.into_iter().try_for_each(|change| match change {
                ToolChange::Register(tool) => register(edit, tool, last, origins),
                ToolChange::Replace(tool) => replace(edit, tool, origins),
                ToolChange::Unregister(name) => {
                    let place = place_of(edit, &name)?;
                    edit.remove(place);
                    Ok(())
                }
            })
        })
    }

    /// Atomically sets the tools of a source: those that a server lists now. A tool with the name of one that the
    /// source had replaces it.
    ///
    /// Returns the reasons for tools that were left out; the others are registered. Tools of core crates or plugins
    /// cannot be replaced like this.
    #[must_use = "it says which tools are not there"]
    pub fn replace_source(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Vec<RegisterError> {
        // Linked tools are fixed at the start.
        if matches!(source, Source::Core | Source::Plugin { .. }) {
            let refused = |tool: Tool| RegisterError::NotItsOwn {
                tool: tool.name().to_owned(),
                owner: source.clone(),
                other: Source::Runtime,
            };
            return tools.into_iter().map(refused).collect();
        }
        let mut errors = Vec::new();
        let mut ready = Vec::new();
        for tool in tools {
            match self.0.made_ready(tool.with_source(source.clone())) {
                Ok(tool) => ready.push(tool),
                Err(error) => errors.push(error),
            }
        }
        let origins = &self.0.origins;
        let changed: Result<(), RegisterError> = self.0.registry.change(|edit, last| {
            let mut before = HashMap::new();
            for place in (0..edit.tools().len()).rev() {
                if edit.tools()[place].source() == source {
                    let (tool, registration) = edit.remove(place);
                    before.insert(tool.name().to_owned(), registration);
                }
            }
            for tool in ready {
                let inserted = match before.get(tool.name()) {
                    Some(registration) => edit.insert(tool, *registration, origins),
                    None => register(edit, tool, last, origins),
                };
                errors.extend(inserted.err());
            }
            Ok(())
        });
        errors.extend(changed.err());
        errors
    }

    /// Returns a watch that notifies when tools are added or removed, from now on.
    ///
    /// ```
    /// # use toolkit::Tool;
    /// # use toolkit::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolkit = Toolkit::empty().build()?;
    /// let mut watch = toolkit.watch_tools();
    /// toolkit.register(Tool::builder("now").build(|_, _| async { "noon" })?)?;
    /// assert!(watch.changed().await);
    /// # Ok(()) }
    /// ```
    pub fn watch_tools(&self) -> ToolWatch {
        ToolWatch::new(self.0.registry.changed.subscribe())
    }

    /// Returns the reason why a tool cannot be registered now, if there is one: for tools that a source has
    /// [for some callers alone](crate::registry::ToolSource::tools_for).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`register`](Self::register).
    pub fn check_tool(&self, tool: &Tool) -> Result<(), RegisterError> {
        let tool = self.0.made_ready(tool.clone())?;
        self.0.tools().check(&tool, &self.0.origins)
    }

    /// Notifies the watches of tools although the registered ones are the same: a source has other tools
    /// [for some callers](crate::registry::ToolSource::tools_for) now.
    pub fn announce_tools(&self) {
        self.0.registry.notify();
    }
}

fn register(edit: &mut Edit, tool: Tool, last: &mut u64, origins: &Origins) -> Result<(), RegisterError> {
    edit.insert(tool, *last + 1, origins)?;
    *last += 1;
    Ok(())
}

fn replace(edit: &mut Edit, tool: Tool, origins: &Origins) -> Result<(), RegisterError> {
    let place = place_of(edit, tool.name())?;
    let (before, registration) = edit.remove(place);
    if before.source() != tool.source() {
        return Err(RegisterError::NotItsOwn {
            tool: tool.name().to_owned(),
            owner: before.source().clone(),
            other: tool.source().clone(),
        });
    }
    edit.insert(tool, registration, origins)
}

/// Returns the index of the tool of exactly this name.
fn place_of(edit: &Edit, name: &str) -> Result<usize, RegisterError> {
    if let Some(place) = edit.place(name).filter(|place| edit.tools()[*place].name() == name) {
        return Ok(place);
    }
    let near = nearest(name, edit.tools().iter().map(Tool::name));
    let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(RegisterError::NotThere { tool: name.to_owned(), advice })
}

/// The tools, which are part of the shared state.
impl super::Inner {
    pub(crate) fn tools(&self) -> Tools {
        self.registry.snapshot()
    }

    /// Returns the tool with its owner and the host's services.
    pub(crate) fn made_ready(&self, tool: Tool) -> Result<Tool, RegisterError> {
        let tool = self.origins.place(tool);
        let mut problems = faults(&tool);
        problems.extend(missing_services(&tool, &self.services, &Near::default()));
        if problems.is_empty() {
            return Ok(tool.with_services(&self.services));
        }
        Err(RegisterError::Invalid { tool: tool.name().to_owned(), problems })
    }
}

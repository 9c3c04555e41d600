//! Tools that come and go while the process runs.

use super::Toolkit;
use super::change::{RegisterError, ToolChange, ToolWatch};
use super::faults::{faults, missing_services};
use super::origins::Origins;
use super::tools::{Edit, FIRST, Listing, Tools};
use crate::name::nearest;
use crate::source::Source;
use crate::tool::Tool;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use tokio::sync::watch;

/// The tools of now. Whoever reads takes a snapshot; whoever writes makes the next one beside it.
pub(crate) struct Registry {
    /// Locked to take or change what it points to, and for nothing that takes longer.
    current: RwLock<Tools>,
    /// That of `current`, for those who only want to know whether something has changed.
    version: AtomicU64,
    /// Locked while the next snapshot is made.
    writing: Mutex<Writing>,
    changed: watch::Sender<u64>,
}

/// What whoever writes needs.
struct Writing {
    /// The last number of a registration.
    last: u64,
    /// The snapshot before the current one, with the same content by now, where nobody held it any more. To count
    /// references of 10,000 tools for a copy takes longer than all else of a change.
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

    /// The tools of now.
    pub(crate) fn snapshot(&self) -> Tools {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many changes there were.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the tools, all at once or, with an error, not at all. Readers go on with what was.
    pub(super) fn change<T, E>(
        &self,
        change: impl FnOnce(&mut Edit, &mut u64) -> Result<T, E>,
    ) -> Result<T, E> {
        // What a change that panicked did is lost with it.
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
            // Whoever sees the version finds at least these tools.
            self.version.store(version, Ordering::Release);
            std::mem::replace(&mut *current, next)
        };
        self.changed.send_replace(version);
        // A toolbox that holds it keeps it as it is.
        if let Some(mut spare) = before.into_listing() {
            spare.follow(steps);
            writing.spare = Some(spare);
        }
        Ok(done)
    }
}

/// While the process runs.
impl Toolkit {
    /// Adds a tool, from any thread. Toolboxes made from now on have it.
    ///
    /// The rules are those of the start, but for that what is there stays: a tool never takes a name or alias of a core
    /// tool, nor of any other.
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
    /// What is wrong with the tool, or whose the name is. Nothing has changed then.
    pub fn register(&self, tool: Tool) -> Result<(), RegisterError> {
        self.apply([ToolChange::Register(tool)])
    }

    /// Takes out the tool of this name, from any thread. Calls under way go on; further ones get an error, also those of
    /// toolboxes that were made before.
    ///
    /// # Errors
    ///
    /// When there is no tool of this name; an alias is none.
    pub fn unregister(&self, name: &str) -> Result<(), RegisterError> {
        self.apply([ToolChange::Unregister(name.to_owned())])
    }

    /// Puts a tool in the place of the one of its name, from any thread. Toolboxes that were made before go on with what
    /// their model has seen.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register); when there is none of its name, or one that came from elsewhere.
    pub fn replace(&self, tool: Tool) -> Result<(), RegisterError> {
        self.apply([ToolChange::Replace(tool)])
    }

    /// Makes several changes at once, in this order: nobody sees some of them without the others.
    ///
    /// # Errors
    ///
    /// The first change that cannot be made. Nothing has changed then.
    pub fn apply(&self, changes: impl IntoIterator<Item = ToolChange>) -> Result<(), RegisterError> {
        // Code of others runs before anything is locked.
        let changes = changes
            .into_iter()
            .map(|change| {
                Ok(match change {
                    ToolChange::Register(tool) => ToolChange::Register(self.made_ready(tool)?),
                    ToolChange::Replace(tool) => ToolChange::Replace(self.made_ready(tool)?),
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

    /// Lets a source have these tools and no others, at once: those that a server lists now. What has the name of a tool
    /// that it had replaces it.
    ///
    /// Gives back why tools were left out; the others are there. What is core, or a plugin's, cannot be replaced so.
    #[must_use = "it says which tools are not there"]
    pub fn replace_source(
        &self,
        source: &Source,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Vec<RegisterError> {
        // Who linked a tool decided it at the start.
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
            match self.made_ready(tool.with_source(source.clone())) {
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

    /// Tells when tools come or go, from now on.
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

    /// The tool, knowing whose it is and with the host's services.
    fn made_ready(&self, tool: Tool) -> Result<Tool, RegisterError> {
        let tool = self.0.origins.place(tool);
        let mut problems = faults(&tool);
        problems.extend(missing_services(&tool, &self.0.services));
        if problems.is_empty() {
            return Ok(tool.with_services(&self.0.services));
        }
        Err(RegisterError::Invalid { tool: tool.name().to_owned(), problems })
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

/// The place of the tool of this very name.
fn place_of(edit: &Edit, name: &str) -> Result<usize, RegisterError> {
    if let Some(place) = edit.place(name).filter(|place| edit.tools()[*place].name() == name) {
        return Ok(place);
    }
    let near = nearest(name, edit.tools().iter().map(Tool::name));
    let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(RegisterError::NotThere { tool: name.to_owned(), advice })
}

/// The tools, where they are one value with what else is shared.
impl super::Inner {
    pub(crate) fn tools(&self) -> Tools {
        self.registry.snapshot()
    }
}

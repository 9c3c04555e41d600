//! File access of a tool.

pub(crate) mod leave;

use crate::output_store::owner_name;
use crate::permission::{DecidedPath, OwnDirs, OwnPaths, PathDecision, PathRules};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use crate::toolbox::Scope;
use crate::workspace::{self, Boundary, Bounds, Look, Obstacle, Place};
use leave::{Asked, MAX_LOOKS, Weighed, denied, restless};
use std::path::{Component, Path, PathBuf};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use toolkit_core::ask::{Access, Ask};
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::guard::{guard, panicked};

impl ToolContext {
    /// Returns the toolkit's own files and directories, for a tool that has to protect them.
    pub fn own_paths(&self) -> OwnPaths {
        let outputs = self.scope().toolkit.settings.outputs.session_dir(Some(&self.output_owner()));
        OwnPaths { outputs, ..self.scope().rules.own_dirs.paths() }
    }

    /// Returns the written rules about paths for this caller and tool, for a tool that holds another process to them. Blocks while it
    /// resolves a few directories.
    ///
    /// # Errors
    ///
    /// `Unavailable` when there is no workspace.
    pub fn path_rules(&self) -> Result<PathRules, ToolError> {
        let scope = self.scope();
        let Surroundings { boundary, own } = scope.surroundings()?;
        Ok(PathRules::new(&scope.rules.permissions, &scope.caller, self.tool(), (boundary, own)))
    }

    /// Returns the real path of a path after checking that it may be used for `access`; asks a person if necessary.
    ///
    /// Paths are relative to the workspace, and symlinks are followed. A path that is to be written need not exist, nor the directories
    /// above it.
    ///
    /// | what | reading | writing |
    /// |---|---|---|
    /// | within the workspace | allowed (kind `read`) | asked (kind `edit`) |
    /// | outside it | asked (kind `external_directory`) | asked (`external_directory` and `edit`) |
    /// | [sensitive](crate::permission::sensitive_paths), wherever it is | asked (kind `sensitive`) | asked (kind `protected`) |
    /// | [protected](crate::permission::protected_paths), wherever it is | as any other | asked (kind `protected`) |
    /// | the toolkit's own data | asked (kind `sensitive`), or denied in a host that [seals](crate::Builder::seal_data_dir) it | denied |
    /// | a whole output of the same session | allowed | denied |
    ///
    /// Rules of the configuration change which access is asked about and allowed, by the kinds named here: see
    /// [`Permissions`](crate::permission::Permissions). They match the path as a question shows it: relative to the workspace if it is within it,
    /// otherwise absolute. A rule that allows `edit` or `read` as a whole, or by a pattern with `*`, does not apply to protected and
    /// sensitive paths; a rule that names the path does. A path in several of these categories needs permission for each, but the
    /// question is asked once.
    ///
    /// Outside the workspace, the file system is not accessed before that is allowed, so the result does not reveal which files exist. If
    /// a symlink there leads elsewhere, its target is asked about too.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use toolkit::approval::Access;
    ///
    /// /// Counts the bytes of a file.
    /// #[tool(read_only)]
    /// async fn size(ctx: &ToolContext, /** The file. */ path: &Path) -> Result<String, ToolError> {
    ///     let real = ctx.check_file_access(path, Access::Read).await?;
    ///     let bytes = ctx.blocking(move |_| Ok(std::fs::metadata(real)?.len())).await?;
    ///     Ok(format!("{bytes} bytes"))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// `Denied`, with the reason; `NotFound` when there is nothing to read; `InvalidArguments` for text that cannot be a path; `Aborted`
    /// once the call is cancelled or over.
    pub async fn check_file_access(
        &self,
        path: impl AsRef<Path>,
        access: Access,
    ) -> Result<PathBuf, ToolError> {
        self.check_file_access_showing(path, access, |ask, _| ask).await
    }

    /// Checks access as [`check_file_access`](Self::check_file_access) does; `show` completes a question before a person sees it, for
    /// example with the change as a diff. `show` gets the question and the target of the path, as far as it is known.
    ///
    /// # Errors
    ///
    /// As [`check_file_access`](Self::check_file_access).
    pub async fn check_file_access_showing(
        &self,
        path: impl AsRef<Path>,
        access: Access,
        show: impl Fn(Ask, &Path) -> Ask + Send + Sync,
    ) -> Result<PathBuf, ToolError> {
        let path = path.as_ref();
        let mut granted = Vec::new();
        for _ in 0..MAX_LOOKS {
            match self.weigh_path(path, access, &granted).await? {
                Weighed::OwnOutput(path) => return Ok(path),
                Weighed::Allowed(seen) => return usable(seen.1, access),
                Weighed::Asks(asked) => {
                    let Asked { ask, granted: grant, place } = *asked;
                    // The rules have been applied already, also for the other spellings of the path.
                    self.ask_person(show(ask, &place.real), "tool").await?;
                    // The answer may have taken long, and the path may lead elsewhere by now, so it is checked again.
                    granted.push(grant);
                }
            }
        }
        Err(restless(path))
    }

    /// Returns the decision of [`check_file_access`](Self::check_file_access) about a path, without asking. Blocks while it examines a
    /// few directories.
    ///
    /// A path outside the workspace is decided by its name alone: if it is allowed, a symlink may still lead to a place that is not.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for text that cannot be a path, `Unavailable` when there is no workspace.
    pub fn decide_path(&self, path: impl AsRef<Path>, access: Access) -> Result<DecidedPath, ToolError> {
        match self.scope().look(self.tool(), self.gated_session_id(), path.as_ref(), access, Look::Inside)? {
            Looked::At(seen) => Ok(seen.0),
            Looked::OwnOutput(path) => Ok(DecidedPath::allowed(path)),
        }
    }

    /// Returns the directory that bounds file access: the session's, or else the one that the host configured, or else the process's. It
    /// is absolute, with symlinks unresolved.
    ///
    /// # Errors
    ///
    /// `Unavailable` when it is the process's working directory, and that no longer exists.
    pub fn boundary(&self) -> Result<PathBuf, ToolError> {
        workspace::sandbox_boundary(self.caller().workspace.as_deref(), None)
            .map_err(|error| ToolError::unavailable(format!("the workspace cannot be used: {error}")))
    }

    /// Returns the real path of an existing path that may be read without a question.
    ///
    /// Paths are relative to the workspace. Symlinks are followed as long as they stay inside it. The whole outputs of truncated results
    /// of the same session can be read too. Blocks while it examines a few directories. A tool that can wait for an answer calls
    /// [`check_file_access`](Self::check_file_access) instead.
    ///
    /// # Errors
    ///
    /// `Denied` when a person would have to be asked, because the path leads outside the workspace or is sensitive, even if it does not
    /// exist; `NotFound` when it does not exist.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, ToolError> {
        let (mut from, mut look) = (path.to_owned(), Look::Inside);
        loop {
            let (decided, place) =
                match self.scope().look(self.tool(), self.gated_session_id(), &from, Access::Read, look)? {
                    Looked::OwnOutput(path) => return Ok(path),
                    Looked::At(seen) => *seen,
                };
            match decided.decision {
                PathDecision::Allow => {}
                PathDecision::Deny { reason } => return Err(denied(path, Access::Read, &reason)),
                PathDecision::Ask { kind, reason } => {
                    let path = path.display();
                    return Err(ToolError::denied(format!(
                        "{path} needs approval (permission.{kind}), {reason}, and this tool cannot ask for it; use a \
                         path that needs no approval, or let the host open a workspace that contains it"
                    )));
                }
            }
            if place.is_inside() || look == Look::Everywhere {
                return usable(place, Access::Read);
            }
            (from, look) = (place.real, Look::Everywhere);
        }
    }

    /// Runs blocking work, such as reading a file, on tokio's blocking threads, and waits for it.
    ///
    /// When the call is cancelled or over, or this future is dropped, the token that `work` gets is cancelled: `work` should check it
    /// regularly, since nothing else can stop it.
    ///
    /// # Errors
    ///
    /// The error of `work`; `Aborted` when it failed because the call was cancelled, `Panicked` when it panicked, `Unavailable` when
    /// there is no tokio runtime.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::unavailable(
                "blocking work needs a tokio runtime, and none is running here",
            ));
        };
        self.check_cancelled()?;
        let token = self.cancellation_token().child_token();
        let _told = token.clone().drop_guard();
        let name = self.tool_name().to_owned();
        let task = runtime.spawn_blocking(move || {
            // The call may have been cancelled while this waited for a thread.
            if token.is_cancelled() {
                return Err(ToolError::aborted("the call was cancelled"));
            }
            guard(&name, || work(&token))?
        });
        let outcome = task.await.unwrap_or_else(|error| {
            Err(match error.try_into_panic() {
                Ok(panic) => panicked(self.tool_name(), panic),
                Err(_) => ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down"),
            })
        });
        // After cancellation, that is the reason of the failure, whatever error `work` returned.
        outcome.or_else(|error| self.check_cancelled().and(Err(error)))
    }

    /// Resolves a path and decides about it. Blocks.
    pub(crate) fn look_at(
        &self,
        path: &Path,
        access: Access,
        look: Look,
    ) -> Result<(DecidedPath, Place), ToolError> {
        self.scope().look_at(self.tool(), path, access, look, &self.scope().surroundings()?)
    }

    /// Returns the decision about reading at a resolved place. `own` contains the toolkit's own directories in comparable form.
    pub(crate) fn decide_reading(&self, place: &Place, own: &OwnDirs) -> PathDecision {
        let scope = self.scope();
        let permissions = &scope.rules.permissions;
        let whose = (&*scope.caller, self.tool());
        permissions.decide_path(whose, own, place, Access::Read, Look::Inside).decision
    }
}

/// Returns how often calls of the context's toolkit resolved the toolkit's own directories, which is the most expensive part of a path
/// check.
#[cfg(feature = "testing")]
pub fn own_path_resolutions(ctx: &ToolContext) -> usize {
    ctx.scope().rules.own_dirs.resolutions()
}

/// The result of resolving a path.
pub(crate) enum Looked {
    OwnOutput(PathBuf),
    At(Box<(DecidedPath, Place)>),
}

/// The resolved directories that a decision about a path depends on, at one moment. Resolving them is the most expensive part of a
/// decision, so it is done once for decisions at one moment, and again for later ones: a symlink may lead elsewhere by then.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) boundary: Boundary,
    /// The toolkit's own directories, in comparable form.
    pub(crate) own: OwnDirs,
}

impl Scope {
    /// Resolves the directories as they are now.
    pub(crate) fn surroundings(&self) -> Result<Surroundings, ToolError> {
        let rules = &self.rules;
        let bounds = Bounds { further: &rules.further_dirs, within: self.caller.within.as_deref() };
        let boundary = Boundary::resolve(self.caller.workspace_dir(), bounds)?;
        Ok(Surroundings { boundary, own: rules.own_dirs.folded() })
    }

    pub(crate) fn look(
        &self,
        tool: &Tool,
        session: &str,
        path: &Path,
        access: Access,
        look: Look,
    ) -> Result<Looked, ToolError> {
        if access == Access::Read
            && let Some(path) = self.own_output(session, path)
        {
            return Ok(Looked::OwnOutput(path));
        }
        Ok(Looked::At(Box::new(self.look_at(tool, path, access, look, &self.surroundings()?)?)))
    }

    pub(super) fn look_at(
        &self,
        tool: &Tool,
        path: &Path,
        access: Access,
        look: Look,
        around: &Surroundings,
    ) -> Result<(DecidedPath, Place), ToolError> {
        let place = around.boundary.find(path, look)?;
        let permissions = &self.rules.permissions;
        let decided = permissions.decide_path((&self.caller, tool), &around.own, &place, access, look);
        Ok((decided, place))
    }

    /// Returns the path, if it is a whole output of this agent and sender in this session.
    pub(super) fn own_output(&self, session: &str, path: &Path) -> Option<PathBuf> {
        let directory =
            self.toolkit.settings.outputs.session_dir(Some(&owner_name(session, &self.caller)))?;
        let mut below = path.strip_prefix(&directory).ok()?.components();
        let (Some(Component::Normal(_)), None) = (below.next(), below.next()) else { return None };
        let is_directory = directory.symlink_metadata().is_ok_and(|directory| directory.is_dir());
        let is_file = path.symlink_metadata().is_ok_and(|file| file.is_file());
        (is_directory && is_file).then(|| path.to_owned())
    }
}

/// Returns the real path, unless there is an obstacle.
pub(crate) fn usable(place: Place, access: Access) -> Result<PathBuf, ToolError> {
    match place.obstacle {
        None => Ok(place.real),
        Some(Obstacle::Absent(_)) if access == Access::Write => Ok(place.real),
        Some(Obstacle::Absent(error) | Obstacle::Unusable(error)) => Err(error),
    }
}

//! Actions of a call.

mod field;
mod go;
mod look;
mod pointer;
mod script;
mod upload;

pub(super) use go::refused_main;

use super::arguments::{BrowserAction, BrowserArguments};
use super::cdp::CdpError;
use super::failure::failure;
use super::launch::Browser;
use super::nothing_open;
use super::page::{Deadline, Page};
use crate::config::BrowserSettings;
use std::path::PathBuf;
use std::time::Duration;
use toolkit::Content;
use toolkit::prelude::*;
use toolkit_http::{Refusal, Target};

/// A call under way.
pub(super) struct Call<'a> {
    pub(super) ctx: &'a ToolContext,
    pub(super) settings: &'a BrowserSettings,
    pub(super) args: &'a BrowserArguments,
    pub(super) browser: &'a Browser,
    /// The tab. An action may go over to another one.
    pub(super) page: Page,
    /// When waiting for elements ends.
    pub(super) deadline: Deadline,
    /// The address that is named, checked and allowed.
    pub(super) target: Option<Target>,
    /// Requests of the page that were refused so far.
    pub(super) refusals: Vec<Refusal>,
}

impl Call<'_> {
    /// How long a page may take to load.
    pub(super) fn load(&self) -> Duration {
        Duration::from_secs(self.settings.load_seconds)
    }
}

/// The result of an action.
#[derive(Default)]
pub(super) struct Done {
    /// The headline, in the tool's own words.
    pub(super) said: String,
    /// Further lines of the tool's own.
    pub(super) notes: Vec<String>,
    /// Text from the page.
    pub(super) page: Option<String>,
    pub(super) pictures: Vec<Content>,
    pub(super) files: Vec<PathBuf>,
    /// True if the page may have to be waited for.
    pub(super) has_acted: bool,
    /// The tab that was closed.
    pub(super) closed: Option<u32>,
}

impl Done {
    /// An action that a page may react to.
    pub(super) fn acted(said: impl Into<String>) -> Self {
        Self { said: said.into(), has_acted: true, ..Self::default() }
    }

    /// One that only looked.
    pub(super) fn looked(said: impl Into<String>) -> Self {
        Self { said: said.into(), ..Self::default() }
    }
}

impl From<CdpError> for ToolError {
    fn from(error: CdpError) -> Self {
        failure(&error)
    }
}

pub(super) async fn act(call: &mut Call<'_>) -> Result<Done, ToolError> {
    use BrowserAction as Action;
    let action = call.args.action;
    if action == Action::Open {
        return go::open(call).await;
    }
    if action == Action::Navigate {
        return go::navigate(call).await;
    }
    if let Some(target) = call.target.clone()
        && call.page.url() != target.url().as_str()
    {
        go::to(call, &target).await?;
    }
    let needs_page = !matches!(action, Action::Tabs | Action::Close | Action::Console);
    if needs_page && matches!(&*call.page.url(), "" | "about:blank") {
        return Err(nothing_open());
    }
    match action {
        // Done above.
        Action::Navigate | Action::Open => Err(nothing_open()),
        Action::Click => pointer::click(call).await,
        Action::Hover => pointer::hover(call).await,
        Action::Drag => pointer::drag(call).await,
        Action::Scroll => pointer::scroll(call).await,
        Action::Type => field::type_text(call).await,
        Action::Press => field::press(call).await,
        Action::Select => field::select(call).await,
        Action::Upload => upload::upload(call).await,
        Action::Wait => go::wait(call).await,
        Action::Back => go::back(call).await,
        Action::Tabs => go::tabs(call).await,
        Action::Close => go::close_tab(call).await,
        Action::Snapshot => look::snapshot(call).await,
        Action::Screenshot => look::screenshot(call).await,
        Action::Pdf => look::pdf(call).await,
        Action::Console => Ok(look::console(call)),
        Action::Evaluate => script::evaluate(call).await,
    }
}

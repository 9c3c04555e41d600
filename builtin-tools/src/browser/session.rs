//! The browser of a session: started at its first use, closed when it is idle and with the session.

use super::allowed::{Allowed, allowed};
use super::launch::{Browser, Plan, Program, launch};
use super::program;
use super::remote::Remote;
use crate::config::BrowserSettings;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;
use toolkit::prelude::*;

/// The browser of one session. Dropping it ends the browser.
#[derive(Default)]
pub(super) struct Browsers(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    browser: Option<Arc<Browser>>,
    /// Why there is no browser any more, until it is told.
    lost: Option<String>,
    /// The task that closes an idle browser.
    idle: JoinSet<()>,
}

/// A browser for a call.
pub(super) struct Given {
    pub(super) browser: Arc<Browser>,
    /// Why the one before is gone, where this call is the first to notice.
    pub(super) lost: Option<String>,
}

impl Browsers {
    /// The browser that runs, if one does and may be used on.
    pub(super) async fn running(
        &self,
        ctx: &ToolContext,
        settings: &BrowserSettings,
    ) -> Result<Option<Given>, ToolError> {
        let allowed = allowed(ctx, settings)?;
        let mut slot = self.0.lock().await;
        slot.drop_unusable(&allowed);
        let Some(browser) = slot.browser.clone() else { return Ok(None) };
        Ok(Some(Given { browser, lost: slot.lost.take() }))
    }

    /// The browser that runs, or a new one.
    pub(super) async fn get(
        &self,
        ctx: &ToolContext,
        settings: &BrowserSettings,
    ) -> Result<Given, ToolError> {
        let allowed = allowed(ctx, settings)?;
        let mut slot = self.0.lock().await;
        slot.drop_unusable(&allowed);
        let browser = if let Some(browser) = &slot.browser {
            Arc::clone(browser)
        } else {
            let browser = Arc::new(launch(plan(ctx, settings, allowed).await?).await?);
            slot.browser = Some(Arc::clone(&browser));
            let limit = Duration::from_secs(settings.idle_seconds);
            slot.idle.abort_all();
            slot.idle.spawn(close_idle(Arc::downgrade(&self.0), Arc::downgrade(&browser), limit));
            browser
        };
        Ok(Given { browser, lost: slot.lost.take() })
    }

    /// Closes the browser. False where there is none.
    pub(super) async fn close(&self) -> bool {
        let mut slot = self.0.lock().await;
        slot.lost = None;
        slot.idle.abort_all();
        match slot.browser.take() {
            Some(browser) => {
                end(browser).await;
                true
            }
            None => false,
        }
    }
}

async fn plan(ctx: &ToolContext, settings: &BrowserSettings, allowed: Allowed) -> Result<Plan, ToolError> {
    let program = match Remote::of(settings)? {
        Some(remote) => Program::Remote(remote),
        None => Program::Own {
            executable: program::find(settings)?,
            without_sandbox: ctx.blocking(|_| Ok(program::sandbox_obstacle().is_some())).await?,
        },
    };
    Ok(Plan { program, allowed, viewport: (settings.viewport_width, settings.viewport_height) })
}

impl Slot {
    fn drop_unusable(&mut self, allowed: &Allowed) {
        let Some(browser) = &self.browser else { return };
        if let Some(why) = browser.commands().closed() {
            self.lost = Some(why);
        } else if browser.allowed != allowed.key {
            self.lost = Some("the configuration of what it may reach has changed".to_owned());
        } else {
            return;
        }
        self.browser = None;
    }
}

/// Ends a browser. A call that still has it finds it closed.
async fn end(browser: Arc<Browser>) {
    match Arc::try_unwrap(browser) {
        Ok(browser) => browser.close().await,
        Err(browser) => browser.commands().close("it was closed"),
    }
}

/// Closes a browser once nothing has used it for so long.
async fn close_idle(slot: Weak<Mutex<Slot>>, browser: Weak<Browser>, limit: Duration) {
    loop {
        let Some(idle) = browser.upgrade().map(|browser| browser.idle()) else { return };
        let left = limit.saturating_sub(idle);
        if !left.is_zero() {
            sleep(left).await;
            continue;
        }
        let Some(slot) = slot.upgrade() else { return };
        let mut slot = slot.lock().await;
        // A call may have come meanwhile.
        if browser.upgrade().is_some_and(|browser| browser.idle() < limit) {
            continue;
        }
        let is_this = |kept: &Arc<Browser>| Weak::as_ptr(&browser) == Arc::as_ptr(kept);
        let Some(kept) = slot.browser.take_if(|kept| is_this(kept)) else { return };
        slot.lost = Some(format!("it was closed after {} seconds without a call", limit.as_secs()));
        drop(slot);
        end(kept).await;
        return;
    }
}

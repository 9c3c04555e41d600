//! Where pages may go: the guard of the browser, and the question before a site is opened.

use super::page::Page;
use super::state::State;
use crate::config::{BrowserSettings, WebFetchSettings, WebNetworkSettings};
use crate::network::{SECTION, advice, parsed, settings};
use serde_json::json;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::text::escape_line;
use toolkit::{
    Ask, ToolErrorKind,
    permission::{Decision, PermissionRequest},
};
use toolkit_http::{ConnectError, Guard, Refused, Target};

/// Time for a tab to leave a page.
const LEAVING: Duration = Duration::from_secs(5);

/// The guard, and everything that decides what it allows, as text: a browser that was started with another one is not used.
pub(super) struct Allowed {
    pub(super) guard: Guard,
    pub(super) key: String,
}

/// The guard by the configuration.
pub(super) fn allowed(ctx: &ToolContext, own: &BrowserSettings) -> Result<Allowed, ToolError> {
    let network: WebNetworkSettings = ctx.config_section(SECTION)?;
    let fetch: WebFetchSettings = ctx.config_section("tools.web.fetch")?;
    let mut guard = settings(ctx, &network)?;
    guard.allowed_ranges = parsed(&network.allowed_ranges, "tools.web.network.allowedRanges")?;
    guard.blocked_domains = parsed(&own.blocked_domains, "tools.browser.blockedDomains")?;
    guard.blocked_domains.extend(parsed(&fetch.blocked_domains, "tools.web.fetch.blockedDomains")?);
    guard.allowed_domains = match (&own.allowed_domains, &fetch.allowed_domains) {
        (Some(domains), _) => Some(parsed(domains, "tools.browser.allowedDomains")?),
        (None, Some(domains)) => Some(parsed(domains, "tools.web.fetch.allowedDomains")?),
        (None, None) => None,
    };
    let key = (
        &network.allowed_ranges,
        &network.proxy,
        (&own.blocked_domains, &own.allowed_domains),
        (&fetch.blocked_domains, &fetch.allowed_domains),
        (&own.debugging_url, own.debugging_without_proxy),
    );
    let key = serde_json::to_string(&key)?;
    Ok(Allowed { guard: Guard::new(guard), key })
}

/// Advice for an error: the setting that controls it.
pub(super) fn explain(error: &ConnectError) -> String {
    match error {
        ConnectError::Refused(refused) => advice(refused, "tools.browser"),
        _ => String::new(),
    }
}

/// Checks an address that the model names.
pub(super) fn check(guard: &Guard, url: &str) -> Result<Target, ToolError> {
    guard.check_url(url).map_err(|refused| {
        let message = format!("{refused}{}", advice(&refused, "tools.browser"));
        match refused {
            Refused::Invalid(_) | Refused::Scheme(_) | Refused::UserInfo => {
                ToolError::new(ToolErrorKind::InvalidArguments, message)
            }
            _ => ToolError::denied(message),
        }
    })
}

/// Checks the addresses of a target, for a browser that no proxy checks.
pub(super) async fn check_addresses(guard: &Guard, target: &Target) -> Result<(), ToolError> {
    match guard.resolve(target).await {
        Ok(_) => Ok(()),
        Err(error @ ConnectError::Refused(_)) => {
            Err(ToolError::denied(format!("{error}{}", explain(&error))))
        }
        Err(error) => Err(ToolError::unavailable(error.to_string())),
    }
}

/// Checks the address that a tab shows, where no proxy checks its traffic. A page that is refused is left.
pub(super) async fn check_shown(guard: &Guard, page: &Page) -> Result<(), ToolError> {
    let url = page.url();
    if !url.starts_with("http:") && !url.starts_with("https:") {
        return Ok(());
    }
    let checked = match check(guard, &url) {
        Ok(target) => check_addresses(guard, &target).await,
        Err(error) => Err(error),
    };
    if let Err(error) = checked {
        page.call("Page.navigate", json!({ "url": "about:blank" })).await?;
        let is_left =
            |state: &mut State| state.tab(page.number).is_none_or(|tab| tab.url != url).then_some(());
        page.shared.until(LEAVING, is_left).await;
        let message = format!("the tab went to {}, and is empty now: {}", escape_line(&url), error.message());
        return Err(ToolError::denied(message));
    }
    Ok(())
}

/// Scheme, host and port.
pub(super) fn site(target: &Target) -> String {
    target.url().origin().ascii_serialization()
}

/// Asks before a site is opened, unless the configuration names it. `is_open` says that a person has allowed it for this browser: then
/// only a rule that denies counts, since the page could go there by itself.
pub(super) async fn ask(
    ctx: &ToolContext,
    guard: &Guard,
    target: &Target,
    is_open: bool,
) -> Result<(), ToolError> {
    if guard.is_named(target) {
        return Ok(());
    }
    let url = target.url().as_str();
    if is_open {
        let patterns = [url.to_owned()];
        if ctx.decide(&PermissionRequest::new("browser", &patterns)).decision != Decision::Deny {
            return Ok(());
        }
    }
    let ask =
        Ask::new("browser", format!("Open {url} in the browser, and let the model act on {}", target.host()));
    ctx.ask(ask.with_pattern(url)).await
}

//! Opening pages, waiting for them, and tabs.

use super::{Call, Done};
use crate::browser::allowed::check_addresses;
use crate::browser::cdp::CdpError;
use crate::browser::element::{Locator, find};
use crate::browser::failure::failure;
use crate::browser::page::{is_replaced, millis};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, events::Progress, output::Retry, text::escape_line};
use toolkit_http::{Refusal, Target};

/// Time for a tab to close.
const CLOSING: Duration = Duration::from_secs(5);
/// The pause before a page is looked at again that was replaced.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for a document to be told of that has come.
const COMMIT: Duration = Duration::from_secs(5);

pub(super) async fn navigate(call: &mut Call<'_>) -> Result<Done, ToolError> {
    let Some(target) = call.target.clone() else { return Err(crate::browser::nothing_open()) };
    to(call, &target).await?;
    Ok(Done::acted("Opened the page."))
}

pub(super) async fn open(call: &mut Call<'_>) -> Result<Done, ToolError> {
    // A browser that was started for this call has an empty tab already.
    let is_unused = call.page.documents() <= 2
        && call.browser.shared.lock().tabs.len() == 1
        && is_blank(&call.page.url());
    if !is_unused {
        call.page = call.browser.open().await?;
    }
    let said = format!("Opened tab t{}.", call.page.number);
    if let Some(target) = call.target.clone() {
        to(call, &target).await?;
        return Ok(Done::acted(said));
    }
    Ok(Done::looked(said))
}

fn is_blank(url: &str) -> bool {
    matches!(url, "" | "about:blank")
}

/// Opens an address in the tab, and waits until it is loaded.
pub(super) async fn to(call: &mut Call<'_>, target: &Target) -> Result<(), ToolError> {
    call.ctx.progress(Progress::new(0).with_message(format!("Loading {}", target.url())));
    if call.browser.shared.lock().tab(call.page.number).is_some_and(|tab| tab.has_crashed) {
        let crashed = call.page.target.clone();
        call.page = call.browser.open().await?;
        call.page.commands.post(None, "Target.closeTarget", &json!({ "targetId": crashed }));
    }
    if let Some(guard) = call.browser.guard() {
        check_addresses(guard, target).await?;
    }
    let page = &call.page;
    let (documents, url) = (page.documents(), target.url().as_str());
    let params = json!({ "url": url });
    let answer = page.commands.call(Some(&page.session), "Page.navigate", params, call.load()).await;
    let answer = match answer {
        Err(CdpError::TimedOut { within, .. }) => {
            page.commands.post(Some(&page.session), "Page.stopLoading", &json!({}));
            let message =
                format!("{url} did not answer within {within:?}; try again later, or use another source");
            return Err(ToolError::new(ToolErrorKind::TimedOut, message).with_retry(Retry::Now));
        }
        answer => answer?,
    };
    let failed = answer["errorText"].as_str().filter(|text| !text.is_empty());
    if answer["isDownload"] == true || failed == Some("net::ERR_ABORTED") {
        // The page stays where it is: a download, or an answer without content.
        return Ok(());
    }
    if answer["loaderId"].is_string() {
        let has_come = |state: &mut crate::browser::state::State| {
            state.tab(page.number).is_none_or(|tab| tab.documents > documents).then_some(())
        };
        page.shared.until(COMMIT, has_come).await;
    }
    if let Some(failed) = failed {
        return Err(unreachable_page(call, url, failed));
    }
    page.settle(call.load()).await;
    let refusals = call.browser.take_refusals();
    if let Some(refusal) = refused_main(&refusals, &page.url()) {
        return Err(refused(url, refusal));
    }
    call.refusals.extend(refusals);
    Ok(())
}

/// The refusal of the page itself, rather than of a part of it.
pub(in crate::browser) fn refused_main<'r>(refusals: &'r [Refusal], url: &str) -> Option<&'r Refusal> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    refusals.iter().rev().find(|refusal| refusal.target == url)
}

fn refused(url: &str, refusal: &Refusal) -> ToolError {
    let from = if refusal.target == url.split(['?', '#']).next().unwrap_or_default() {
        String::new()
    } else {
        format!("{url} leads to {}: ", escape_line(&refusal.target))
    };
    let message = format!("{from}{}", escape_line(&refusal.reason));
    if refusal.by_rule { ToolError::denied(message) } else { ToolError::unavailable(message) }
}

/// The error of a page that the browser could not open.
fn unreachable_page(call: &Call<'_>, url: &str, failed: &str) -> ToolError {
    let refusals = call.browser.take_refusals();
    let is_tunnel = failed.contains("TUNNEL") || failed.contains("PROXY");
    // Of a tunnel, which `https` needs, the browser does not show what the proxy says.
    if let Some(refusal) = refusals.iter().rev().find(|refusal| is_tunnel && !refusal.target.contains("://"))
    {
        let host = Url::host(url);
        return refused(if refusal.target.starts_with(&host) { &refusal.target } else { url }, refusal);
    }
    if let Some(refusal) = refused_main(&refusals, &call.page.url()) {
        return refused(url, refusal);
    }
    let advice = match failed {
        failed if failed.contains("CERT") => "the site's certificate is not accepted; use another source",
        _ => "check the address, or try again later",
    };
    ToolError::unavailable(format!("{url} cannot be opened: {}; {advice}", escape_line(failed)))
        .with_retry(Retry::Now)
}

/// Parts of a URL.
struct Url;

impl Url {
    /// The host, as it stands before a port in the name of a tunnel.
    fn host(url: &str) -> String {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = &rest[..end];
        match authority.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|char| char.is_ascii_digit()) => format!("{host}:"),
            _ => format!("{authority}:"),
        }
    }
}

pub(super) async fn back(call: &Call<'_>) -> Result<Done, ToolError> {
    let page = &call.page;
    let history = page.call("Page.getNavigationHistory", json!({})).await?;
    let current =
        history["currentIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
    let before = current.checked_sub(1).map(|before| &history["entries"][before]);
    let Some(before) = before.filter(|entry| !is_blank(entry["url"].as_str().unwrap_or_default())) else {
        return Err(ToolError::failed("there is no page before this one in the tab"));
    };
    page.call("Page.navigateToHistoryEntry", json!({ "entryId": before["id"] })).await?;
    Ok(Done::acted("Went back."))
}

pub(super) async fn wait(call: &Call<'_>) -> Result<Done, ToolError> {
    let (args, deadline) = (call.args, &call.deadline);
    let locator = args.locator()?;
    let what = match (&locator, &args.text, &args.address) {
        (Some(locator), ..) => locator.shown(),
        (None, Some(text), _) => format!("the text \"{}\"", escape_line(text)),
        (None, None, Some(address)) => return wait_for_address(call, address).await,
        (None, None, None) => {
            return Ok(Done::acted("Waited for the page."));
        }
    };
    let shown = |gone: bool| if gone { "is gone" } else { "is visible" };
    loop {
        let appeared = appears(call, locator.as_ref()).await;
        match appeared {
            Ok(true) => return Ok(Done::acted(format!("{what} {}.", shown(args.gone)))),
            Err(WaitError::Replaced) if !deadline.is_over() => tokio::time::sleep(PAUSE).await,
            Ok(false) | Err(WaitError::Replaced) => {
                let not = if args.gone { "is still there" } else { "did not appear" };
                return Err(ToolError::new(
                    ToolErrorKind::TimedOut,
                    format!("{what} {not} within {:?}; take a `snapshot` to see the page", deadline.within),
                ));
            }
            Err(WaitError::Failed(error)) => return Err(error),
        }
    }
}

/// Waits until the address of the tab contains a part, or does not any more.
async fn wait_for_address(call: &Call<'_>, part: &str) -> Result<Done, ToolError> {
    let (page, gone) = (&call.page, call.args.gone);
    let has_come = page.shared.until(call.deadline.left(), |state| match state.tab(page.number) {
        Some(tab) if tab.url.contains(part) == gone && call.browser.commands().is_open() => None,
        _ => Some(()),
    });
    let part = escape_line(part);
    if has_come.await.is_none() {
        return Err(ToolError::new(
            ToolErrorKind::TimedOut,
            format!(
                "the address of the tab is still {} after {:?}",
                escape_line(&page.url()),
                call.deadline.within
            ),
        ));
    }
    let has = if gone { "does not contain" } else { "contains" };
    Ok(Done::acted(format!("The address {has} \"{part}\".")))
}

enum WaitError {
    /// There is another document now.
    Replaced,
    Failed(ToolError),
}

impl From<CdpError> for WaitError {
    fn from(error: CdpError) -> Self {
        if is_replaced(&error) { Self::Replaced } else { Self::Failed(failure(&error)) }
    }
}

async fn appears(call: &Call<'_>, locator: Option<&Locator>) -> Result<bool, WaitError> {
    let (page, left) = (&call.page, call.deadline.left());
    let gone = Value::from(call.args.gone);
    let answer = match locator {
        Some(locator @ Locator::Ref(_)) => match find(page, locator, &call.deadline).await {
            Ok(element) => page.run(&element.on(), "shows", &[gone, millis(left)], left).await?,
            // An element that is no longer in the page is gone.
            Err(error) if call.args.gone && error.kind() == ToolErrorKind::NotFound => Value::Bool(true),
            Err(error) => return Err(WaitError::Failed(error)),
        },
        Some(Locator::Selector(selector)) => {
            let world = page.main_world().await?;
            let wrong = page.run(&world, "check", &[selector.as_str().into()], Duration::ZERO).await?;
            if let Some(wrong) = wrong.as_str() {
                let message = format!("`selector` cannot be read: {}", escape_line(wrong));
                return Err(WaitError::Failed(crate::browser::arguments::invalid(message)));
            }
            let arguments = [Value::Null, selector.as_str().into(), gone, millis(left)];
            page.run(&world, "appears", &arguments, left).await?
        }
        None => {
            let world = page.main_world().await?;
            let text = call.args.text.as_deref().unwrap_or_default();
            page.run(&world, "appears", &[text.into(), Value::Null, gone, millis(left)], left).await?
        }
    };
    Ok(answer == true)
}

pub(super) async fn tabs(call: &Call<'_>) -> Result<Done, ToolError> {
    let targets = call.browser.commands().call(None, "Target.getTargets", json!({}), CLOSING).await?;
    let infos = targets["targetInfos"].as_array().map(Vec::as_slice).unwrap_or_default();
    let state = call.browser.shared.lock();
    let mut list = String::new();
    for tab in &state.tabs {
        let info = infos.iter().find(|info| info["targetId"] == tab.target.as_str());
        let title = info.and_then(|info| info["title"].as_str()).unwrap_or_default();
        let active = if tab.number == state.active { " (active)" } else { "" };
        let crashed = if tab.has_crashed { " (crashed)" } else { "" };
        let title: String = title.chars().take(200).collect();
        let _ = writeln!(
            list,
            "t{}{active}{crashed}: {} {}",
            tab.number,
            escape_line(&title),
            escape_line(&tab.url)
        );
    }
    let count = state.tabs.len();
    drop(state);
    let said = format!("{count} tab{} open.", if count == 1 { " is" } else { "s are" });
    Ok(Done { page: Some(list), ..Done::looked(said) })
}

pub(super) async fn close_tab(call: &mut Call<'_>) -> Result<Done, ToolError> {
    let (number, target) = (call.page.number, call.page.target.clone());
    call.browser.commands().call(None, "Target.closeTarget", json!({ "targetId": target }), CLOSING).await?;
    let gone = |state: &mut crate::browser::state::State| state.tab(number).is_none().then_some(());
    call.browser.shared.until(CLOSING, gone).await;
    let active = call.browser.shared.lock().active;
    if let Some(page) = call.browser.page(active) {
        call.page = page;
    }
    Ok(Done { closed: Some(number), ..Done::looked(format!("Closed tab t{number}.")) })
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn hosts_of_urls() {
        for (url, expected) in [
            ("https://a.test/b:1", "a.test:"),
            ("https://a.test:8443/", "a.test:"),
            ("https://[::1]:8443/", "[::1]:"),
            ("https://a.test?x", "a.test:"),
        ] {
            assert_eq!(Url::host(url), expected);
        }
    }
}

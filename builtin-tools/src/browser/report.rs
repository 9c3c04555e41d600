//! The report of a call for the model: the headline, the page, and other events.

use super::act::{Call, Done, refused_main};
use super::allowed;
use super::cdp::CdpError;
use super::details::{BrowserDetails, BrowserDialog, BrowserDownload, BrowserRefusal, BrowserTab};
use super::failure::failure;
use super::files;
use super::state::{Download, DownloadState, Load, Notice};
use crate::{titles, untrusted};
use serde_json::Value;
use std::fmt::Write as _;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{events::Progress, output::Detailed, text::escape_line};
use toolkit_http::Refusal;

/// How long a download is waited for.
const DOWNLOADING: Duration = Duration::from_secs(30);
/// How long is waited for the address of a new tab.
const OPENING: Duration = Duration::from_secs(2);
/// How long the page may take to say its title.
const TITLE: Duration = Duration::from_secs(3);
/// The most refused requests that are listed.
const MAX_REFUSALS: usize = 5;

/// The events, as lines of text from the page, and as data.
#[derive(Default)]
struct Happened {
    lines: String,
    details: BrowserDetails,
}

impl Happened {
    fn line(&mut self, line: impl AsRef<str>) {
        self.lines.push_str(line.as_ref());
        self.lines.push('\n');
    }
}

/// Makes the result of a call. An error says what happened beside, too.
pub(super) async fn finish(
    call: &Call<'_>,
    done: Result<Done, ToolError>,
    lost: Option<String>,
) -> Result<Detailed<BrowserDetails>, ToolError> {
    let done = match done {
        Ok(done) => done,
        Err(error) => return Err(explained(call, error, lost)),
    };
    if done.has_acted {
        call.ctx.progress(Progress::new(0).with_message("Waiting for the page"));
        call.page.settle(call.load()).await;
    }
    if let Some(why) = call.browser.commands().closed() {
        return Err(failure(&CdpError::Closed(why)));
    }
    if let Some(guard) = call.browser.guard() {
        allowed::check_shown(guard, &call.page).await?;
    }
    let mut happened = Happened::default();
    let mut files = done.files.clone();
    let about = about(call).await;
    let title = about["title"].as_str().unwrap_or_default().to_owned();
    let url = call.page.url();
    happened.line(format!("URL: {}", escape_line(&url)));
    if !title.is_empty() {
        happened.line(format!("Title: {}", escape_line(&title)));
    }
    if let Some(status) = about["status"].as_u64().filter(|status| *status >= 400) {
        happened.line(format!("Status: {status}"));
    }
    downloads(call, &mut happened, &mut files).await;
    notices(call, &done, &mut happened).await;
    refusals(call, &url, &mut happened);
    let mut head = done.said.clone();
    head.push('\n');
    if let Some(lost) = lost {
        let _ = writeln!(
            head,
            "Note: the browser was restarted ({}); its earlier tabs and refs are gone.",
            escape_line(&lost)
        );
    }
    let (tabs, errors) = {
        let state = call.browser.shared.lock();
        (state.tabs.len(), state.tab(call.page.number).map_or(0, |tab| tab.console.errors()))
    };
    if tabs > 1 {
        let _ = writeln!(head, "Tab: t{} of {tabs}.", call.page.number);
    }
    if errors > 0 {
        let _ = writeln!(head, "The console has {errors} new error{}.", if errors == 1 { "" } else { "s" });
    }
    for note in &done.notes {
        let _ = writeln!(head, "{note}");
    }
    let mut is_cut = false;
    let mut body = happened.lines.clone();
    if let Some(page) = done.page {
        let shown = files::shown(call.ctx, page, call.args.max_chars).await;
        let _ = write!(body, "\n{}", shown.text);
        if let Some(note) = shown.note {
            is_cut = true;
            let _ = writeln!(head, "{note}");
        }
    }
    let details = BrowserDetails {
        action: call.args.action.name().to_owned(),
        url: url.clone(),
        title,
        tab: format!("t{}", call.page.number),
        ..happened.details
    };
    let mut output = ToolOutput::text(format!("{head}{}", untrusted::enclosed(&body)?))
        .with_metadata("truncated", is_cut)
        .with_title(format!("{} {}", call.args.action.verb(), titles::short(&url)));
    for picture in done.pictures {
        output = output.with_content(picture);
    }
    for file in files {
        output = output.with_file_modified(&file).with_attachment(file);
    }
    Ok(Detailed::new(output, details))
}

/// Adds to an error what it may come from: dialogs, refusals, a crash.
fn explained(call: &Call<'_>, error: ToolError, lost: Option<String>) -> ToolError {
    if let Some(why) = call.browser.commands().closed() {
        return failure(&CdpError::Closed(why));
    }
    let Some(lost) = lost else { return error };
    let message = format!("{}; note: the browser was restarted ({})", error.message(), escape_line(&lost));
    error.with_message(message)
}

async fn about(call: &Call<'_>) -> Value {
    let page = &call.page;
    let asked = async {
        let world = page.main_world().await?;
        page.run(&world, "about", &[], Duration::ZERO).await
    };
    match tokio::time::timeout(TITLE, asked).await {
        Ok(Ok(about)) => about,
        _ => Value::Null,
    }
}

/// Waits for downloads, and moves those that are whole to the workspace.
async fn downloads(call: &Call<'_>, happened: &mut Happened, files: &mut Vec<std::path::PathBuf>) {
    let shared = &call.browser.shared;
    if shared.lock().is_downloading() {
        call.ctx.progress(Progress::new(0).with_message("Downloading"));
        let commands = call.browser.commands();
        shared
            .until(DOWNLOADING, |state| (!state.is_downloading() || !commands.is_open()).then_some(()))
            .await;
        if shared.lock().is_downloading() {
            happened.line("Download: still under way; `wait`, or call again later, to have it saved");
        }
    }
    let ended = shared.lock().take_downloads();
    for Download { url, name, received, state } in ended {
        let shown = escape_line(&name).into_owned();
        let saved = match state {
            DownloadState::Complete(path) => {
                let directory = &call.settings.download_directory;
                match files::save_download(call.ctx, directory, &name, &url, path).await {
                    Ok(written) => {
                        let line = format!("{shown} ({received} bytes) was saved as {}", written.shown);
                        files.push(written.path);
                        let path = Some(written.shown);
                        happened.details.downloads.push(BrowserDownload { name, bytes: received, path });
                        line
                    }
                    Err(error) => {
                        happened.details.downloads.push(BrowserDownload {
                            name,
                            bytes: received,
                            path: None,
                        });
                        format!("{shown} ({received} bytes) was not saved: {}", escape_line(error.message()))
                    }
                }
            }
            DownloadState::TooLarge => format!("{shown} was stopped: it is larger than 128 MiB"),
            DownloadState::Cancelled | DownloadState::UnderWay => format!("{shown} failed"),
        };
        happened.line(format!("Download: {saved}"));
    }
}

async fn notices(call: &Call<'_>, done: &Done, happened: &mut Happened) {
    let shared = &call.browser.shared;
    let (notices, dropped) = shared.lock().notices.take();
    if dropped > 0 {
        happened.line(format!("{dropped} earlier events are left out"));
    }
    for notice in notices {
        match notice {
            Notice::Dialog { kind, message, answer } => {
                happened.line(format!(
                    "Dialog ({}, {answer}): {}",
                    escape_line(&kind),
                    escape_line(&message)
                ));
                let answer = answer.to_owned();
                happened.details.dialogs.push(BrowserDialog { kind, message, answer });
            }
            Notice::TabOpened { number } => {
                let opened = shared.until(OPENING, |state| match state.tab(number) {
                    Some(tab) if tab.documents == 0 && tab.load < Load::Committed => None,
                    Some(tab) if tab.url.is_empty() => None,
                    tab => Some(tab.map(|tab| tab.url.clone()).unwrap_or_default()),
                });
                let url = opened.await.unwrap_or_default();
                happened.line(format!("New tab t{number}: {}", escape_line(&url)));
                happened.details.new_tabs.push(BrowserTab { tab: format!("t{number}"), url });
            }
            Notice::TabClosed { number } if done.closed == Some(number) => {}
            Notice::TabClosed { number } => happened.line(format!("Tab t{number} was closed by the page")),
            Notice::TabCrashed { number } => happened.line(format!("Tab t{number} has crashed")),
            Notice::FileChooser { tab, .. } => {
                happened.line(format!("Tab t{tab} wants files: call `upload` with `files`"));
            }
        }
    }
}

fn refusals(call: &Call<'_>, url: &str, happened: &mut Happened) {
    let mut refusals: Vec<Refusal> = call.refusals.clone();
    refusals.extend(call.browser.take_refusals());
    // The page that an action led to comes first.
    if let Some(main) = refused_main(&refusals, url).cloned() {
        refusals.retain(|refusal| *refusal != main);
        refusals.insert(0, main);
    }
    for refusal in refusals.iter().take(MAX_REFUSALS) {
        happened.line(format!("Refused: {}: {}", escape_line(&refusal.target), escape_line(&refusal.reason)));
    }
    if refusals.len() > MAX_REFUSALS {
        happened.line(format!("Refused: {} more requests of the page", refusals.len() - MAX_REFUSALS));
    }
    for refusal in refusals {
        let Refusal { target, reason, .. } = refusal;
        happened.details.refused.push(BrowserRefusal { target, reason });
    }
}

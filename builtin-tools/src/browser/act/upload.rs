//! Uploading files.

use super::{Call, Done};
use crate::browser::element::{Needs, ready};
use crate::browser::page::COMMAND;
use crate::browser::remote::no_files;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind, approval::Access, files::OpenedPath, text::escape_line};

/// The most bytes of a file.
const MAX_BYTES: u64 = 128 << 20;

pub(super) async fn upload(call: &Call<'_>) -> Result<Done, ToolError> {
    let page = &call.page;
    let paths = call.args.needed(call.args.files.as_deref(), "files")?;
    if call.browser.guard().is_some() {
        return Err(no_files());
    }
    let mut params = json!({});
    let shown = match call.args.locator()? {
        Some(locator) => {
            let (element, _) = ready(page, &locator, Needs::ENABLED, &call.deadline).await?;
            if page.run(&element.on(), "isFileInput", &[], Duration::ZERO).await? != true {
                return Err(ToolError::failed(format!(
                    "{} is not a file input; name one, or click what opens the file chooser and then call `upload` without an element",
                    locator.shown()
                )));
            }
            let takes_several = page.run(&element.on(), "takesSeveral", &[], Duration::ZERO).await? == true;
            if paths.len() > 1 && !takes_several {
                return Err(ToolError::failed(format!(
                    "{} takes one file, not {}",
                    locator.shown(),
                    paths.len()
                )));
            }
            params["objectId"] = element.object.into();
            (locator.shown(), element.session)
        }
        None => {
            let node = page.shared.lock().tab(page.number).and_then(|tab| tab.file_chooser);
            let Some(node) = node else {
                return Err(ToolError::new(
                    ToolErrorKind::InvalidArguments,
                    "the page has opened no file chooser: name the file input by `ref` or `selector`",
                ));
            };
            params["backendNodeId"] = node.into();
            ("the file chooser".to_owned(), page.session.clone())
        }
    };
    let (shown, session) = shown;
    ask(call, paths).await?;
    let mut copies = Vec::new();
    for path in paths {
        copies.push(copy(call, path).await?);
    }
    params["files"] = copies.iter().map(|copy| Value::from(copy.to_string_lossy())).collect();
    page.commands.call(Some(&session), "DOM.setFileInputFiles", params, COMMAND).await?;
    if let Some(tab) = page.shared.lock().tab_mut(page.number) {
        tab.file_chooser = None;
    }
    let count = paths.len();
    Ok(Done::acted(format!("Gave {count} file{} to {shown}.", if count == 1 { "" } else { "s" })))
}

async fn ask(call: &Call<'_>, paths: &[String]) -> Result<(), ToolError> {
    let url = call.page.url();
    let names = paths.iter().map(|path| escape_line(path)).collect::<Vec<_>>().join(", ");
    let ask =
        Ask::new("browser", format!("Upload {names} to {}", escape_line(&url))).with_pattern(url).once_only();
    let ask = paths.iter().fold(ask, |ask, path| ask.with_path(path, Access::Read));
    call.ctx.ask_in_person(ask).await
}

/// Copies a file, as it may be read now, to where the browser reads it: another file at the path later is not uploaded.
async fn copy(call: &Call<'_>, path: &str) -> Result<PathBuf, ToolError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(uploads) = call.browser.uploads() else { return Err(call.browser.gone()) };
    let directory = uploads.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
    let given = path.to_owned();
    let work = move |opened, _: &_| {
        let OpenedPath::File(file) = opened else {
            return Err(ToolError::failed(format!("{} is a directory; name files", escape_line(&given))));
        };
        let shown = file.shown().to_owned();
        let name = file.path().file_name().map_or_else(|| "file".into(), ToOwned::to_owned);
        let target = directory.join(name);
        let failed = |error: &io::Error| {
            ToolError::failed(format!("{shown} cannot be copied for the browser: {error}"))
        };
        fs::create_dir(&directory).map_err(|error| failed(&error))?;
        match copy_limited(file.into_file(), &target) {
            Ok(true) => Ok(target),
            Ok(false) => Err(ToolError::failed(format!(
                "{shown} is larger than {MAX_BYTES} bytes, the limit of an upload"
            ))),
            Err(error) => Err(failed(&error)),
        }
    };
    call.ctx.workspace().open_with(path, work).await
}

fn copy_limited(file: fs::File, target: &Path) -> io::Result<bool> {
    let mut copy = fs::File::options().write(true).create_new(true).open(target)?;
    let copied = io::copy(&mut file.take(MAX_BYTES + 1), &mut copy)?;
    Ok(copied <= MAX_BYTES)
}

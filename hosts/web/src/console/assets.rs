//! The files of the console: they are in the program, and each start serves them under a name of their content.

use super::smaller::{self, ShortNames};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A file, as it is served.
pub(super) struct Asset {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) content: Cow<'static, str>,
}

/// All files.
pub(super) struct Assets {
    /// The directory of the modules, which differs when any of them does.
    pub(super) version: String,
    pub(super) page: String,
    /// The page of a gateway.
    pub(super) page_of_gateway: String,
    files: Vec<Asset>,
}

/// Lists files of the console.
macro_rules! files {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../console/", $name)))),*] };
}

const FILES: &[(&str, &str)] = &files![
    "api.js",
    "app.js",
    "channels.js",
    "chat.js",
    "configuration.js",
    "fields.js",
    "form.js",
    "icon.svg",
    "json.js",
    "list.js",
    "live.js",
    "log.js",
    "main.js",
    "nodes.js",
    "outbox.js",
    "page.js",
    "pages.js",
    "people.js",
    "questions.js",
    "questions_page.js",
    "render.js",
    "result.js",
    "schedules.js",
    "schema.js",
    "sessions.js",
    "snippets.js",
    "style.css",
    "text.js",
    "tool.js",
    "tools.js",
    "usage.js",
];

/// How the names of modules end.
const MODULE: &str = ".js";

const PAGE: &str = include_str!("../../console/index.html");

pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(Assets::new);

impl Assets {
    fn new() -> Self {
        let modules = FILES.iter().filter(|(name, _)| name.ends_with(MODULE)).map(|&(_, text)| text);
        let names = ShortNames::of(modules);
        let files: Vec<Asset> = FILES.iter().map(|&(name, text)| asset(name, text, &names)).collect();
        let mut digest = Sha256::new();
        for file in &files {
            digest.update(file.name);
            digest.update([0]);
            digest.update(&*file.content);
            digest.update([0]);
        }
        let version = data_encoding::HEXLOWER.encode(&digest.finalize()[..8]);
        let mut page = PAGE.to_owned();
        for name in ["icon.svg", "style.css", "main.js"] {
            page = page.replace(&format!("\"{name}\""), &format!("\"/console/{version}/{name}\""));
        }
        let page_of_gateway = page.replace("<div id=\"app\">", "<div id=\"app\" data-host=\"gateway\">");
        Self { version, page, page_of_gateway, files }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Asset> {
        self.files.iter().find(|file| file.name == name)
    }
}

fn asset(name: &'static str, text: &'static str, names: &ShortNames) -> Asset {
    let (kind, content) = match name.rsplit_once('.') {
        Some((_, "js")) => ("text/javascript; charset=utf-8", smaller::script(text, names).into()),
        Some((_, "css")) => ("text/css; charset=utf-8", smaller::style(text).into()),
        _ => ("image/svg+xml", text.into()),
    };
    Asset { name, kind, content }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_of_the_console_are_served_within_their_limit() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
        let there = std::fs::read_dir(directory)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> =
            there.filter(|name| name != "index.html" && !name.ends_with(".d.ts")).collect();
        there.sort();
        assert_eq!(there, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let bytes: usize =
            ASSETS.files.iter().map(|file| file.content.len()).sum::<usize>() + ASSETS.page.len();
        assert!(bytes < 150_000, "{bytes}");
    }
}

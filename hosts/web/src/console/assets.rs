//! The files of the console: they are in the program, and each start serves them under a name of their content.

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
    files: Vec<Asset>,
}

/// Lists files of the console.
macro_rules! files {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../console/", $name)))),*] };
}

const FILES: &[(&str, &str)] = &files![
    "api.js",
    "app.js",
    "fields.js",
    "form.js",
    "icon.svg",
    "json.js",
    "list.js",
    "main.js",
    "questions.js",
    "render.js",
    "result.js",
    "schema.js",
    "snippets.js",
    "style.css",
    "text.js",
    "tool.js",
];

const PAGE: &str = include_str!("../../console/index.html");

pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(Assets::new);

impl Assets {
    fn new() -> Self {
        let files: Vec<Asset> = FILES.iter().map(|&(name, text)| asset(name, text)).collect();
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
        Self { version, page, files }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Asset> {
        self.files.iter().find(|file| file.name == name)
    }
}

fn asset(name: &'static str, text: &'static str) -> Asset {
    let (kind, content) = match name.rsplit_once('.') {
        Some((_, "js")) => ("text/javascript; charset=utf-8", without_comments(text)),
        Some((_, "css")) => ("text/css; charset=utf-8", text.into()),
        _ => ("image/svg+xml", text.into()),
    };
    Asset { name, kind, content }
}

/// Leaves out comments that have lines of their own: they are a third of the modules, and their types are for the check of the sources alone.
fn without_comments(text: &str) -> Cow<'static, str> {
    let mut content = String::with_capacity(text.len());
    let mut is_in_comment = false;
    for line in text.lines() {
        let line = line.trim_start();
        let begins = line.starts_with("/**") && (line.ends_with("*/") || !line.contains("*/"));
        if is_in_comment || begins {
            is_in_comment = !line.ends_with("*/");
        } else if !line.starts_with("//") && !line.is_empty() {
            content.push_str(line);
            content.push('\n');
        }
    }
    content.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_their_own_lines_are_left_out_alone() {
        let text = "/** One. */\n/**\n * Several,\n * lines.\n */\nconst a = /** @type {any} */ (b); // c\n  // none\n  /** @type {any} */ (d);\n\n  e(`x`);\n";
        assert_eq!(
            without_comments(text),
            "const a = /** @type {any} */ (b); // c\n/** @type {any} */ (d);\ne(`x`);\n"
        );
    }

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

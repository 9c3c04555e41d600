//! Features that checks of single features have in common.
//!
//! Which features of `syn` are on depends on the crates that use it, so nearly every single feature would compile it anew, with all macros
//! and the crates that use them: half of the work. A crate that asks for the features of the whole workspace keeps them the same. It asks
//! only for crates that are below those that a member names, so a member that forgets a feature of its own dependency still fails.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use crate::manifest::Manifest;
use crate::shared_features;
use crate::source::ROOT_MANIFEST;
use crate::workspace::{Result, Workspace};

/// Crates whose features are held. None of them turns on a feature of a crate that a member names; a member that names one of these does
/// without the crate.
const HELD: &[&str] = &[
    "bitflags",
    "darling",
    "fastrand",
    "futures-task",
    "hashbrown",
    "num-traits",
    "once_cell",
    "slab",
    "smallvec",
    "stable_deref_trait",
    "syn",
];

/// The name of the crate, and of its folder.
const NAME: &str = "held";

/// Adds the crate to a copy of the sources, and to the dependencies of each member that names no crate that is held.
pub(crate) fn add(workspace: &Workspace, copy: &Path) -> Result {
    let features = shared_features::features_of_tests(workspace)?;
    let folder = copy.join(NAME);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "//! Holds features.\n")?;
    fs::write(
        folder.join("Cargo.toml"),
        manifest(features.iter().map(|(package, all)| (&**package, &all[..]))),
    )?;
    let root = Manifest::parse(&fs::read_to_string(copy.join(ROOT_MANIFEST))?);
    let members = root.get(&["workspace", "members"]).ok_or("the workspace has no members")?;
    for member in members.strings() {
        let path = copy.join(member).join("Cargo.toml");
        if names_held(&Manifest::parse(&fs::read_to_string(&path)?)) {
            continue;
        }
        let up = "../".repeat(Path::new(member).components().count());
        // Features of procedural macros are those of build dependencies.
        let tables = ["dependencies", "build-dependencies"]
            .map(|table| format!("\n[{table}.{NAME}]\npath = \"{up}{NAME}\"\n"));
        OpenOptions::new().append(true).open(&path)?.write_all(tables.concat().as_bytes())?;
    }
    Ok(())
}

/// Returns the manifest, of all crates that are compiled, each `name vX.Y.Z` with its features.
fn manifest<'a>(crates: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = format!(
        "[package]\nname = \"{NAME}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    for (package, features) in crates {
        let Some((name, version)) = package.split_once(" v") else { continue };
        if HELD.contains(&name) {
            let key = format!("{name}-{}", version.replace(['.', '+'], "-"));
            let _ = writeln!(
                text,
                "{key} = {{ package = \"{name}\", version = \"={version}\", default-features = false, features = {features:?} }}"
            );
        }
    }
    text
}

/// Returns true if a manifest names a crate that is held.
fn names_held(manifest: &Manifest) -> bool {
    let mut settings = manifest.settings.iter().map(|setting| &setting.path[..]);
    settings.any(
        |path| matches!(path, [table, name, ..] if table == "dependencies" && HELD.contains(&name.as_str())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_version_of_a_held_crate_has_its_features() {
        let crates = BTreeMap::from([
            ("serde v1.0.0", vec!["std".to_owned()]),
            ("syn v2.0.1", vec!["full".to_owned(), "visit".to_owned()]),
            ("syn v3.0.9", Vec::new()),
        ]);
        let text = manifest(crates.iter().map(|(package, features)| (*package, &features[..])));
        let parsed = Manifest::parse(&text);
        let named: Vec<_> =
            parsed.settings.iter().filter(|setting| setting.path[0] == "dependencies").collect();
        assert_eq!(named.len(), 2, "{text}");
        assert_eq!(
            named[0].value,
            "{ package = \"syn\", version = \"=2.0.1\", default-features = false, features = [\"full\", \"visit\"] }"
        );
    }

    #[test]
    fn a_member_that_names_a_held_crate_is_checked_without() {
        for (text, expected) in [
            ("[dependencies]\nsyn.workspace = true", true),
            ("[dependencies.syn]\nworkspace = true", true),
            ("[dependencies]\nsyntax.workspace = true", false),
            ("[dev-dependencies]\nsyn.workspace = true", false),
        ] {
            assert_eq!(names_held(&Manifest::parse(text)), expected, "{text}");
        }
    }
}

//! The code of the guide is that of this crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item, TableLike};

/// A block of code of the guide, with the line before it.
struct Block {
    language: String,
    heading: String,
    code: String,
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn guide() -> String {
    read("../../docs/writing-channels.md")
}

fn blocks() -> Vec<Block> {
    let (mut blocks, mut open, mut heading): (_, Option<Block>, _) = (Vec::new(), None, String::new());
    for line in guide().lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.code.extend([line, "\n"]),
            (None, Some(language)) => {
                let (language, heading) = (language.to_owned(), heading.clone());
                open = Some(Block { language, heading, code: String::new() });
            }
            (None, None) if !line.is_empty() => line.clone_into(&mut heading),
            (None, None) => {}
        }
    }
    assert!(open.is_none());
    blocks
}

/// Before a block stands the path of its file, as `path`:, or From `path`: for a part of it.
#[test]
fn each_block_of_rust_is_a_file_of_this_crate_or_a_part_of_one() {
    let mut whole = BTreeSet::new();
    for Block { language, heading, code } in blocks() {
        if language != "rust" {
            continue;
        }
        let path = heading.split('`').nth(1).unwrap_or_else(|| panic!("no path before: {code}"));
        let file = read(path);
        if heading.starts_with("From ") {
            assert!(file.contains(&code), "{path} does not contain:\n{code}");
        } else {
            assert_eq!(code, file, "{path}");
            whole.insert(path.to_owned());
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).unwrap() {
        let path = format!("src/{}", entry.unwrap().file_name().to_str().unwrap());
        assert!(whole.contains(&path), "the guide does not show {path}");
    }
}

/// Returns the dependencies of a section: names and features.
fn dependencies(manifest: &DocumentMut, section: &str) -> BTreeSet<(String, Vec<String>)> {
    let table = manifest[section].as_table_like().unwrap();
    let features = |dependency: &dyn TableLike| -> Vec<String> {
        let features = dependency.get("features").and_then(|features| features.as_array());
        features.into_iter().flatten().map(|feature| feature.as_str().unwrap().to_owned()).collect()
    };
    let each = |(name, item): (&str, &Item)| {
        (name.to_owned(), item.as_table_like().map(features).unwrap_or_default())
    };
    // It reads the manifest in this test.
    table.iter().map(each).filter(|(name, _)| name != "toml_edit").collect()
}

/// Outside of this repository, a manifest has paths and versions in place of those of the workspace.
#[test]
fn the_manifest_of_the_guide_has_the_dependencies_of_this_crate() {
    let block = blocks().into_iter().find(|block| block.language == "toml").unwrap();
    let shown: DocumentMut = block.code.parse().unwrap();
    let own: DocumentMut = read("Cargo.toml").parse().unwrap();
    let root: DocumentMut = read("../../Cargo.toml").parse().unwrap();
    for section in ["dependencies", "dev-dependencies"] {
        assert_eq!(dependencies(&shown, section), dependencies(&own, section), "{section}");
        for (name, dependency) in shown[section].as_table_like().unwrap().iter() {
            let Some(path) = dependency.get("path").and_then(|path| path.as_str()) else { continue };
            let of_root = &root["workspace"]["dependencies"][name];
            let path_of_root = of_root.get("path").and_then(|path| path.as_str());
            assert_eq!(path.strip_prefix("../toolkit/"), path_of_root, "{name}");
            let defaults = |item: &Item| item.get("default-features").and_then(Item::as_bool).unwrap_or(true);
            assert_eq!(defaults(dependency), defaults(of_root), "{name}");
        }
    }
}

#[test]
fn the_guide_names_every_check() {
    let guide = guide();
    for name in toolkit_channel::conformance::names() {
        assert!(guide.contains(&format!("`{name}`")), "the guide does not name `{name}`");
    }
}

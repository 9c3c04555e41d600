//! The pictures of `docs/canvas.md` are those that its calls draw. `RECORD=1` draws them anew.

use super::{picture, toolbox};
use image::RgbaImage;
use std::env;
use std::fs;
use std::path::Path;

/// Each call of the page with the file of its picture, in order.
fn calls(page: &str) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("```json\n") {
        let (call, after) = after.split_once("```").expect("a block ends");
        let (_, link) = after.split_once("](canvas/").expect("a picture follows each call");
        let (name, _) = link.split_once(')').expect("a link ends");
        calls.push((call.to_owned(), name.to_owned()));
        rest = after;
    }
    calls
}

/// True if two pictures look alike: processors may round differently.
fn is_alike(first: &RgbaImage, second: &RgbaImage) -> bool {
    let difference: u64 = first
        .as_raw()
        .iter()
        .zip(second.as_raw())
        .map(|(first, second)| u64::from(first.abs_diff(*second)))
        .sum();
    first.dimensions() == second.dimensions() && difference <= first.as_raw().len() as u64 / 20
}

#[tokio::test]
async fn the_gallery_is_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let calls = calls(&fs::read_to_string(docs.join("canvas.md")).unwrap());
    assert!(calls.len() >= 6);
    let toolbox = toolbox();
    for (arguments, name) in calls {
        let arguments: serde_json::Value =
            serde_json::from_str(&arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
        let call = toolbox.call(arguments).await;
        let shown = picture(&call);
        let lines = call.text().lines().count();
        assert_eq!(lines, 1, "{name}: {}", call.text());
        let path = docs.join("canvas").join(&name);
        if env::var_os("RECORD").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            shown.save(&path).unwrap();
        }
        if name == "shapes.png" {
            toolbox.workspace().write("photo.png", fs::read(&path).unwrap_or_default());
        }
        let kept = image::open(&path).map(|kept| kept.to_rgba8());
        let is_current = kept.is_ok_and(|kept| is_alike(&kept, &shown));
        assert!(is_current, "docs/canvas/{name} is not what its call draws; run this test with RECORD=1");
    }
}

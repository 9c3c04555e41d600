//! Files: those that are drawn, and those that are saved.

use super::{BLUE, RED, WHITE, at, picture, toolbox};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use std::io::Cursor;
use toolkit::testing::TestToolbox;
use toolkit::{
    ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    tool_ref,
};

fn square(save_as: &str) -> Value {
    json!({ "width": 20, "height": 10, "save_as": save_as, "commands": [
        { "type": "rect", "x": 0, "y": 0, "width": 20, "height": 10, "fill": "red" },
    ] })
}

/// A picture of two halves: red at the left, blue at the right.
fn halves(format: ImageFormat) -> Vec<u8> {
    let half = |x: u32| if x < 20 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
    let picture = DynamicImage::from(RgbImage::from_fn(40, 20, |x, _| half(x)));
    let mut data = Cursor::new(Vec::new());
    picture.write_to(&mut data, format).unwrap();
    data.into_inner()
}

#[tokio::test]
async fn a_picture_is_saved_and_told() {
    let toolbox = toolbox();
    let call = toolbox.call(square("out/a.png")).await;
    let bytes = toolbox.workspace().read_bytes("out/a.png");
    assert_eq!(picture(&call), image::load_from_memory(&bytes).unwrap().to_rgba8());
    assert_eq!(
        call.details(),
        &json!({ "path": "out/a.png", "width": 20, "height": 10, "bytes": bytes.len() })
    );
    let path = toolbox.workspace().path().canonicalize().unwrap().join("out/a.png");
    let expected = format!(
        "drew a picture of 20 × 10 pixels and saved it as out/a.png ({} bytes)\nMEDIA:{}",
        bytes.len(),
        path.display()
    );
    assert_eq!(call.text(), expected);
    assert_eq!(call.expect_ok().attachments, std::slice::from_ref(&path));
    assert!(call.asks[0].to_text().contains("a PNG picture of 20 × 10 pixels"), "{}", call.asks[0].to_text());
    // The session may replace a file that it made.
    toolbox.call(square("out/a.png")).await.expect_ok();
}

#[tokio::test]
async fn without_a_file_nothing_is_asked_or_written() {
    let toolbox = TestToolbox::new(tool_ref!(builtin_tools::canvas::canvas));
    let mut arguments = square("");
    arguments.as_object_mut().unwrap().remove("save_as");
    let call = toolbox.call(arguments).await;
    assert!(call.asks.is_empty() && toolbox.workspace().files().is_empty());
    assert_eq!(call.details()["path"], Value::Null);
    assert_eq!(at(&picture(&call), 5, 5), RED);
}

#[tokio::test]
async fn the_rules_of_paths_hold() {
    let denying = TestToolbox::new(tool_ref!(builtin_tools::canvas::canvas))
        .approve(ScriptedApprover::always(Answer::deny()));
    denying.call(square("a.png")).await.expect_error(ToolErrorKind::Denied);
    assert!(denying.workspace().files().is_empty());
    let toolbox = toolbox().file("there.png", "something else");
    for (path, kind, expected) in [
        ("a.jpg", ToolErrorKind::InvalidArguments, "the file must end with `.png`"),
        ("a", ToolErrorKind::InvalidArguments, "the file must end with `.png`"),
        ("there.png", ToolErrorKind::Failed, "there.png exists, and it was not read in this session"),
    ] {
        let call = toolbox.call(square(path)).await;
        let error = call.expect_error(kind).message().to_owned();
        assert!(error.contains(expected), "{path}: {error}");
        assert!(call.asks.is_empty());
    }
    assert_eq!(toolbox.workspace().read("there.png"), "something else");
    let outside = toolbox.call(square("../outside.png")).await;
    assert!(outside.asks[0].to_text().contains("outside"), "{}", outside.asks[0].to_text());
}

#[tokio::test]
async fn pictures_are_drawn_at_their_place() {
    let mut toolbox = toolbox();
    for (name, format) in [
        ("a.png", ImageFormat::Png),
        ("a.jpg", ImageFormat::Jpeg),
        ("a.gif", ImageFormat::Gif),
        ("a.webp", ImageFormat::WebP),
    ] {
        toolbox = toolbox.file(name, halves(format));
    }
    let near = |found: [u8; 4], expected: [u8; 4]| {
        found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) < 8)
    };
    for name in ["a.png", "a.jpg", "a.gif", "a.webp"] {
        // Its own size; a width alone; a box of another shape, filled in three ways.
        for (extra, red, blue, outside) in [
            (json!({}), (12, 15), (45, 15), (55, 15)),
            (json!({ "width": 80 }), (15, 40), (85, 40), (50, 60)),
            (json!({ "height": 40 }), (15, 40), (85, 40), (50, 60)),
            (json!({ "width": 40, "height": 40 }), (15, 30), (45, 30), (15, 15)),
            (json!({ "width": 40, "height": 40, "fit": "cover" }), (15, 15), (45, 45), (60, 30)),
            (json!({ "width": 40, "height": 40, "fit": "stretch" }), (12, 12), (47, 47), (60, 30)),
        ] {
            let mut command = json!({ "type": "image", "path": name, "x": 10, "y": 10 });
            command.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let call = toolbox.call(json!({ "width": 100, "height": 100, "commands": [command] })).await;
            let picture = picture(&call);
            assert!(near(at(&picture, red.0, red.1), RED), "{name} {extra}");
            assert!(near(at(&picture, blue.0, blue.1), BLUE), "{name} {extra}");
            assert_eq!(at(&picture, outside.0, outside.1), WHITE, "{name} {extra}");
        }
    }
    let command = json!({ "type": "image", "path": "a.png", "x": 0, "y": 0, "opacity": 0.5, "transform": "translate(50 50)" });
    let call = toolbox.call(json!({ "width": 100, "height": 100, "commands": [command] })).await;
    assert!(near(at(&picture(&call), 55, 55), [255, 127, 127, 255]));
}

#[tokio::test]
async fn a_picture_outside_the_workspace_is_asked_about() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("a.png");
    std::fs::write(&file, halves(ImageFormat::Png)).unwrap();
    let arguments =
        json!({ "width": 9, "height": 9, "commands": [{ "type": "image", "path": file, "x": 0, "y": 0 }] });
    let denying = TestToolbox::new(tool_ref!(builtin_tools::canvas::canvas));
    let call = denying.call(arguments.clone()).await;
    let error = call.expect_error(ToolErrorKind::Denied).message().to_owned();
    assert!(error.starts_with("commands[0].path: "), "{error}");
    assert_eq!(toolbox().call(arguments).await.asks.len(), 1);
}

/// A file of a few bytes that says that it holds a huge picture.
#[tokio::test]
async fn a_picture_that_would_fill_the_memory_is_refused() {
    let mut png = halves(ImageFormat::Png);
    png[16..24].copy_from_slice(&[0, 0, 0x75, 0x2f, 0, 0, 0x75, 0x2f]);
    let toolbox = toolbox().file("huge.png", png);
    let call = toolbox
        .call(json!({ "width": 9, "height": 9, "commands": [{ "type": "image", "path": "huge.png", "x": 0, "y": 0 }] }))
        .await;
    let error = call.expect_error(ToolErrorKind::Failed).message().to_owned();
    assert!(
        error.starts_with("commands[0].path: cannot read huge.png: it looks like a PNG picture"),
        "{error}"
    );
}

#[tokio::test]
async fn a_large_picture_is_shown_smaller_and_saved_whole() {
    let toolbox = toolbox();
    let call = toolbox
        .call(json!({ "width": 4000, "height": 1000, "save_as": "wide.png", "commands": [
            { "type": "rect", "x": 0, "y": 0, "width": 2000, "height": 1000, "fill": "red" },
        ] }))
        .await;
    let shown = picture(&call);
    assert_eq!((shown.width(), shown.height()), (2000, 500));
    assert!(call.text().contains("(it is shown here at 2000 × 500 pixels, as image/png)"), "{}", call.text());
    let saved = image::load_from_memory(&toolbox.workspace().read_bytes("wide.png")).unwrap();
    assert_eq!((saved.width(), saved.height()), (4000, 1000));
}

#[tokio::test]
async fn what_is_outside_the_canvas_is_told_for_each_command() {
    let toolbox = toolbox().file("a.png", halves(ImageFormat::Png));
    let commands = json!([
        { "type": "rect", "x": 200, "y": 0, "width": 20, "height": 10 },
        { "type": "circle", "x": -50, "y": 5, "radius": 20, "stroke": "red", "stroke_width": 3 },
        { "type": "ellipse", "x": 50, "y": 300, "rx": 20, "ry": 3 },
        { "type": "line", "x1": 0, "y1": -20, "x2": 100, "y2": -20 },
        { "type": "path", "d": "M 0 0 L 9 9", "stroke": "red", "transform": "translate(200 0)" },
        { "type": "text", "x": 150, "y": 50, "text": "Beside it" },
        { "type": "image", "path": "a.png", "x": 0, "y": 101 },
        { "type": "pie", "labels": ["a"], "values": [1], "x": 0, "y": -300, "width": 200, "height": 200 },
    ]);
    let count = commands.as_array().unwrap().len();
    let call = toolbox.call(json!({ "width": 100, "height": 100, "commands": commands })).await;
    for at in 0..count {
        assert!(
            call.text().contains(&format!("(commands[{at}]: it is outside the canvas)")),
            "{}",
            call.text()
        );
    }
}

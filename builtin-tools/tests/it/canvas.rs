//! `canvas`: what it draws, pixel by pixel.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod charts;
mod errors;
mod files;
mod gallery;
mod pixels;
mod properties;
mod texts;

use image::RgbaImage;
use serde_json::{Value, json};
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    Content, ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    tool_ref,
};

/// A toolbox with the tool alone, in which everything is allowed.
fn toolbox() -> TestToolbox {
    TestToolbox::new(tool_ref!(builtin_tools::canvas::canvas))
        .approve(ScriptedApprover::always(Answer::allow()))
}

/// The picture of a call that went well.
fn picture(call: &TestCall) -> RgbaImage {
    let output = call.expect_ok();
    let found = output.content.iter().find_map(|block| match block {
        Content::Image { data, .. } => Some(data.0.clone()),
        _ => None,
    });
    image::load_from_memory(&found.expect("a picture")).unwrap().to_rgba8()
}

/// Draws commands on a white canvas of 100 × 100 pixels.
async fn drawn(commands: Value) -> RgbaImage {
    drawn_with(json!({ "width": 100, "height": 100, "commands": commands })).await
}

async fn drawn_with(arguments: Value) -> RgbaImage {
    picture(&toolbox().call(arguments).await)
}

/// The error of a call.
async fn refused(arguments: Value) -> String {
    let call = toolbox().call(arguments).await;
    call.expect_error(ToolErrorKind::InvalidArguments).message().to_owned()
}

fn at(picture: &RgbaImage, x: u32, y: u32) -> [u8; 4] {
    picture.get_pixel(x, y).0
}

/// How many pixels are not white.
fn inked(picture: &RgbaImage) -> usize {
    picture.pixels().filter(|pixel| pixel.0 != WHITE).count()
}

const WHITE: [u8; 4] = [255, 255, 255, 255];
const BLACK: [u8; 4] = [0, 0, 0, 255];
const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const LIME: [u8; 4] = [0, 255, 0, 255];

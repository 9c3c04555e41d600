//! Texts: where they stand, how thick and how large they are.

use super::{at, drawn, inked, toolbox};
use image::RgbaImage;
use serde_json::{Value, json};

/// The columns and rows with ink: left, top, right, bottom.
fn extent(picture: &RgbaImage) -> (u32, u32, u32, u32) {
    let inked = picture.enumerate_pixels().filter(|(_, _, pixel)| pixel.0[0] < 128);
    inked.fold((u32::MAX, u32::MAX, 0, 0), |(left, top, right, bottom), (x, y, _)| {
        (left.min(x), top.min(y), right.max(x), bottom.max(y))
    })
}

async fn text(extra: Value) -> RgbaImage {
    let mut command = json!({ "type": "text", "x": 50, "y": 50, "text": "HHH" });
    command.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    drawn(json!([command])).await
}

#[tokio::test]
async fn a_text_stands_on_its_baseline() {
    let (left, top, right, bottom) = extent(&text(json!({})).await);
    assert!((50..=53).contains(&left) && (82..=90).contains(&right), "{left} {right}");
    // A capital letter of this font has 0.71 of its size.
    assert!((38..=40).contains(&top) && (48..=50).contains(&bottom), "{top} {bottom}");
}

#[tokio::test]
async fn anchors_size_and_weight() {
    let (_, _, right, _) = extent(&text(json!({ "anchor": "end" })).await);
    assert!((46..=50).contains(&right), "{right}");
    let (left, _, right, _) = extent(&text(json!({ "anchor": "middle" })).await);
    assert!((i64::from(50 - left) - i64::from(right - 49)).abs() <= 2, "{left} {right}");
    let (_, top, _, bottom) = extent(&text(json!({ "font_size": 32, "anchor": "middle" })).await);
    assert!((22..=24).contains(&(bottom - top)), "{top} {bottom}");
    let normal = inked(&text(json!({ "font_size": 30 })).await);
    for weight in [json!("bold"), json!(700)] {
        let bold = inked(&text(json!({ "font_size": 30, "weight": weight })).await);
        assert!(bold > normal * 11 / 10, "{weight}: {bold} and {normal}");
    }
    assert_eq!(inked(&text(json!({ "font_size": 30, "weight": "normal" })).await), normal);
}

#[tokio::test]
async fn a_text_has_the_properties_of_shapes() {
    let red = text(json!({ "fill": "red", "font_size": 40, "x": 2 })).await;
    assert!(red.pixels().any(|pixel| pixel.0 == [255, 0, 0, 255]));
    let turned = extent(&text(json!({ "transform": "rotate(90 50 50)" })).await);
    assert!(turned.3 - turned.1 > turned.2 - turned.0, "{turned:?}");
    let pale = text(json!({ "opacity": 0.2, "font_size": 40, "x": 2 })).await;
    assert!(pale.pixels().all(|pixel| pixel.0[0] >= 200));
    let outlined = text(json!({ "fill": "none", "stroke": "blue", "font_size": 40, "x": 2 })).await;
    assert!(outlined.pixels().any(|pixel| pixel.0[2] > 200 && pixel.0[0] < 50));
}

#[tokio::test]
async fn lines_stand_below_each_other() {
    let (_, top, _, bottom) = extent(&text(json!({ "text": "H\n\nH", "y": 20 })).await);
    // Two lines of 1.2 times 16 pixels between the baselines.
    assert!((46..=52).contains(&(bottom - top)), "{top} {bottom}");
}

#[tokio::test]
async fn markup_is_text() {
    let hostile = "</text></svg><rect width='100' height='100'/>&amp;<!--";
    let picture = text(json!({ "text": hostile, "x": 0, "font_size": 10 })).await;
    assert_eq!(at(&picture, 50, 90), [255, 255, 255, 255]);
    let long = inked(&picture);
    assert!(long > 100 && long < 2000, "{long}");
    let same = text(json!({ "text": "a\u{0}\u{1b}[2J\u{ffff}b", "x": 0 })).await;
    assert!(inked(&same) > 0);
}

#[tokio::test]
async fn letters_of_many_languages_are_there() {
    for sample in ["ÄÖÜßéñ", "Łódź ğış", "Ωμέγα", "Жизнь", "Tiếng Việt", "€ £ ¥ ≤ ≥ − ×"]
    {
        let call = toolbox()
            .call(json!({ "width": 200, "height": 40, "commands": [{ "type": "text", "x": 5, "y": 25, "text": sample }] }))
            .await;
        assert_eq!(call.text(), "drew a picture of 200 × 40 pixels", "{sample}");
    }
}

#[tokio::test]
async fn what_no_font_has_is_told() {
    // A character of a private area, which no font of a system should have, and a family that none has.
    let call = toolbox()
        .call(json!({ "width": 200, "height": 40, "commands": [
            { "type": "text", "x": 5, "y": 25, "text": "a\u{10fff0}b", "font": "No Such Font 27" },
        ] }))
        .await;
    let told = call.text();
    assert!(told.contains("the font `No Such Font 27` is not installed; the bundled one was used"), "{told}");
    assert!(told.contains("no installed font has these characters"), "{told}");
    assert!(inked(&super::picture(&call)) > 20);
}

#[tokio::test]
async fn a_text_that_is_cut_is_told() {
    let call = toolbox()
        .call(json!({ "width": 60, "height": 40, "commands": [
            { "type": "text", "x": 5, "y": 25, "text": "Much longer than the canvas" },
            { "type": "circle", "x": 500, "y": 500, "radius": 5 },
            { "type": "rect", "x": 0, "y": 0, "width": 0, "height": 5 },
            { "type": "rect", "x": -5, "y": -5, "width": 100, "height": 10 },
        ] }))
        .await;
    let told = call.text();
    assert!(told.contains("commands[0]: the text is cut: it reaches from (6, "), "{told}");
    assert!(told.contains("commands[1]: it is outside the canvas"), "{told}");
    assert!(told.contains("commands[2]: it draws nothing"), "{told}");
    assert!(!told.contains("commands[3]"), "{told}");
}

//! Charts: bars, lines and slices are as large as their values.

use super::{WHITE, drawn_with, picture, toolbox};
use image::RgbaImage;
use serde_json::{Value, json};

const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const LIME: [u8; 4] = [0, 255, 0, 255];

fn count(picture: &RgbaImage, color: [u8; 4]) -> usize {
    picture.pixels().filter(|pixel| pixel.0 == color).count()
}

/// The most pixels of a colour that any column has.
fn height(picture: &RgbaImage, color: [u8; 4], columns: std::ops::Range<u32>) -> usize {
    let rows = |x: u32| (0..picture.height()).filter(|y| picture.get_pixel(x, *y).0 == color).count();
    columns.map(rows).max().unwrap()
}

async fn chart(command: Value) -> RgbaImage {
    drawn_with(json!({ "width": 400, "height": 300, "commands": [command] })).await
}

#[tokio::test]
async fn bars_are_as_high_as_their_values() {
    let picture = chart(json!({
        "type": "bar", "labels": ["a", "b"], "legend": false,
        "series": [{ "values": [10, 20], "color": "#f00" }],
    }))
    .await;
    let (first, second) = (height(&picture, RED, 0..200), height(&picture, RED, 220..400));
    assert!(second > 150 && second.abs_diff(2 * first) <= 4, "{first} {second}");
}

#[tokio::test]
async fn series_stand_beside_or_upon_each_other() {
    let bars = |stacked: bool| {
        chart(json!({
            "type": "bar", "labels": ["a"], "legend": false, "stacked": stacked,
            "series": [{ "values": [10], "color": "#f00" }, { "values": [10], "color": "#00f" }],
        }))
    };
    let both = |picture: &RgbaImage| {
        let has = |x: u32, color| (0..300).any(|y| picture.get_pixel(x, y).0 == color);
        (0..400).any(|x| has(x, RED) && has(x, BLUE))
    };
    assert!(both(&bars(true).await) && !both(&bars(false).await));
}

#[tokio::test]
async fn negative_bars_hang_below_zero() {
    let picture = chart(json!({
        "type": "bar", "labels": ["a", "b"],
        "series": [{ "values": [10, -10], "color": "#f00" }],
    }))
    .await;
    let rows = |columns: std::ops::Range<u32>| {
        let rows: Vec<u32> =
            (0..300).filter(|y| columns.clone().any(|x| picture.get_pixel(x, *y).0 == RED)).collect();
        (rows[0], rows[rows.len() - 1])
    };
    let (above, below) = (rows(0..200), rows(220..400));
    assert!(above.1 <= below.0 + 2, "{above:?} {below:?}");
}

#[tokio::test]
async fn lines_rise_and_fall_with_their_values() {
    let picture = chart(json!({
        "type": "line_chart", "labels": ["a", "b", "c"],
        "series": [{ "values": [0, 10, 0], "color": "#f00" }],
    }))
    .await;
    let top = |x: u32| (0..300).find(|y| picture.get_pixel(x, *y).0 == RED);
    let inked: Vec<u32> = (0..400).filter(|x| top(*x).is_some()).collect();
    let (left, middle, right) = (inked[0], inked[inked.len() / 2], inked[inked.len() - 1]);
    assert!(top(left).unwrap() > top(middle).unwrap() + 100);
    assert!(top(right).unwrap() > top(middle).unwrap() + 100);
}

#[tokio::test]
async fn numbers_of_the_horizontal_axis_keep_their_distances() {
    let picture = chart(json!({
        "type": "line_chart", "x_values": [0, 1, 10],
        "series": [{ "values": [5, 5, 5], "color": "#f00" }],
    }))
    .await;
    // The dots are higher than the line.
    let is_red = |x: u32, y: u32| matches!(picture.get_pixel(x, y).0, [200..=255, 0..=120, 0..=120, _]);
    let dots: Vec<u32> = (0..400).filter(|x| (0..300).filter(|y| is_red(*x, *y)).count() >= 5).collect();
    let (first, last) = (dots[0], dots[dots.len() - 1]);
    let second = dots.iter().find(|x| **x > first + 10).unwrap();
    assert!((second - first) * 5 < last - first, "{dots:?}");
}

#[tokio::test]
async fn slices_are_as_large_as_their_shares() {
    let picture = chart(json!({
        "type": "pie", "labels": ["a", "b", "c"], "values": [50, 25, 25], "colors": ["#f00", "#00f", "#0f0"], "legend": false,
    }))
    .await;
    let (red, blue, lime) = (count(&picture, RED), count(&picture, BLUE), count(&picture, LIME));
    assert!(red > 20_000 && red.abs_diff(blue + lime) < red / 10, "{red} {blue} {lime}");
    assert!(blue.abs_diff(lime) < blue / 10);
    let ring = chart(json!({
        "type": "pie", "labels": ["a"], "values": [7], "colors": ["#f00"], "legend": false, "hole": 0.5,
    }))
    .await;
    assert_eq!(ring.get_pixel(200, 150).0, WHITE);
    assert!(count(&ring, RED) > 30_000);
}

#[tokio::test]
async fn titles_names_and_legends_take_room() {
    let bare = json!({
        "type": "bar", "labels": ["first", "second"],
        "series": [{ "values": [1, 2], "color": "#f00" }],
    });
    let plain = count(&chart(bare.clone()).await, RED);
    for extra in [
        json!({ "title": "A title" }),
        json!({ "y_label": "pieces" }),
        json!({ "x_label": "month" }),
        json!({ "legend": true }),
        json!({ "font_size": 24 }),
        json!({ "width": 200 }),
        json!({ "x": 100, "y": 100 }),
    ] {
        let mut command = bare.clone();
        command.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let less = count(&chart(command).await, RED);
        assert!(less > 1000 && less < plain, "{extra}: {less} of {plain}");
    }
}

#[tokio::test]
async fn many_and_long_labels_do_not_meet() {
    let labels: Vec<String> = (0..400).map(|number| format!("a long label {number}")).collect();
    let values: Vec<u32> = (0..400).collect();
    for command in [
        json!({ "type": "bar", "labels": labels, "series": [{ "values": values }] }),
        json!({ "type": "line_chart", "labels": labels, "series": [{ "values": values }] }),
        json!({ "type": "bar", "labels": ["long ".repeat(40), "b"], "series": [{ "values": [1, 2], "name": "n".repeat(200) }], "legend": true }),
        json!({ "type": "pie", "labels": ["long ".repeat(40), "b"], "values": [1, 2] }),
    ] {
        let picture = chart(command).await;
        assert!(count(&picture, WHITE) > 40_000);
    }
}

/// The relative luminance of WCAG.
fn luminance(color: [u8; 4]) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2])
}

#[tokio::test]
async fn shares_can_be_read_on_their_slices() {
    let palette: Vec<Value> = vec![Value::Null; 20];
    for color in [
        "white",
        "black",
        "#777",
        "yellow",
        "blue",
        "red",
        "lime",
        "rgba(0, 0, 0, 0.2)",
        "#f28e2b",
        "#edc948",
    ]
    .into_iter()
    .map(Value::from)
    .chain(palette.into_iter().enumerate().map(|(at, _)| Value::from(at)))
    {
        // A number is the place of a colour of the palette: slices without a size come before it.
        let chart = match color.as_u64() {
            Some(at) => {
                let values: Vec<u32> = (0..=at).map(|place| u32::from(place == at)).collect();
                let labels: Vec<String> = values.iter().map(u32::to_string).collect();
                json!({ "type": "pie", "labels": labels, "values": values, "legend": false })
            }
            None => {
                json!({ "type": "pie", "labels": ["a"], "values": [1], "colors": [color], "legend": false })
            }
        };
        let picture =
            drawn_with(json!({ "width": 120, "height": 120, "background": "#fefefe", "commands": [chart] }))
                .await;
        // The pixels of the slice, with the text on it.
        let slice = luminance(picture.get_pixel(60, 30).0);
        let within = picture.enumerate_pixels().filter(|(x, y, _)| {
            let (x, y) = (f64::from(*x) - 60.0, f64::from(*y) - 60.0);
            x.hypot(y) < 44.0
        });
        let contrast = within.map(|(_, _, pixel)| {
            let text = luminance(pixel.0);
            (slice.max(text) + 0.05) / (slice.min(text) + 0.05)
        });
        let contrast = contrast.fold(0.0, f64::max);
        assert!(contrast >= 4.4, "{color}: {contrast}");
    }
}

#[tokio::test]
async fn a_chart_that_is_not_seen_whole_is_told() {
    let chart = |extra: Value| {
        let mut chart = json!({ "type": "bar", "labels": ["a", "b"], "series": [{ "values": [1, 2] }] });
        chart.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        chart
    };
    let names: Vec<String> = (0..60).map(|at| format!("A name of a thing with number {at}")).collect();
    let values: Vec<u32> = (0..60).collect();
    let slices: Vec<u32> = (1..=50).collect();
    for (chart, expected) in [
        (
            chart(json!({ "x": 500, "y": 10, "width": 200, "height": 200 })),
            Some("commands[0]: it is outside the canvas"),
        ),
        (
            chart(json!({ "x": -400, "width": 200, "height": 200 })),
            Some("commands[0]: it is outside the canvas"),
        ),
        (
            chart(json!({ "x": 300, "width": 200, "height": 200 })),
            Some("commands[0]: the chart is cut: it reaches from (3"),
        ),
        (
            chart(json!({ "labels": ["long ".repeat(40).trim(), "b"] })),
            Some("commands[0]: 1 label is shortened for lack of room"),
        ),
        (
            json!({ "type": "line_chart", "labels": names, "series": [{ "values": values }] }),
            Some("labels are left out for lack of room"),
        ),
        (
            json!({ "type": "pie", "labels": &names[..50], "values": slices }),
            Some("labels are left out for lack of room"),
        ),
        (chart(json!({})), None),
        (json!({ "type": "line_chart", "series": [{ "values": values }] }), None),
    ] {
        let call = toolbox().call(json!({ "width": 400, "height": 300, "commands": [chart] })).await;
        picture(&call);
        match expected {
            Some(expected) => assert!(call.text().contains(expected), "{chart}: {}", call.text()),
            None => assert_eq!(call.text(), "drew a picture of 400 × 300 pixels", "{chart}"),
        }
    }
}

#[tokio::test]
async fn labels_are_light_on_a_dark_canvas() {
    let chart = |background: &str| {
        drawn_with(json!({ "width": 400, "height": 300, "background": background, "commands": [
            { "type": "pie", "labels": ["a"], "values": [1], "title": "TITLE" },
        ] }))
    };
    let has = |picture: &RgbaImage, color: [u8; 3]| {
        let part = picture.enumerate_pixels().filter(|(_, y, _)| *y < 30);
        part.into_iter().any(|(_, _, pixel)| pixel.0[..3] == color)
    };
    assert!(has(&chart("white").await, [0x33; 3]) && has(&chart("#102030").await, [0xee; 3]));
}

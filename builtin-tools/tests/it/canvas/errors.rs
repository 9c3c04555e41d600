//! Errors name the command and the property.

#![expect(clippy::needless_pass_by_value, reason = "calls write the properties in place")]

use super::{refused, toolbox};
use serde_json::{Value, json};
use toolkit::ToolErrorKind;

fn rect(extra: Value) -> Value {
    let mut command = json!({ "type": "rect", "x": 1, "y": 1, "width": 5, "height": 5 });
    command.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    command
}

#[tokio::test]
async fn each_problem_is_told_at_its_place() {
    let good = rect(json!({}));
    for (command, expected) in [
        (rect(json!({ "fill": "reed" })), "commands[1].fill: `reed` is not a CSS colour"),
        (
            rect(json!({ "stroke": "url(#no)" })),
            "commands[1].stroke: there is no gradient `no`; `gradients` has: `sky`",
        ),
        (rect(json!({ "fill": "url(sky)" })), "commands[1].fill: `url(sky)` names no gradient"),
        (rect(json!({ "transform": "spin(3)" })), "commands[1].transform: `spin(3)` is not an SVG transform"),
        (rect(json!({ "transform": "scale(1e30)" })), "commands[1].transform: "),
        (rect(json!({ "dash": [0, 0] })), "commands[1].dash: "),
        (rect(json!({ "dash": [5, -1] })), "commands[1].dash: "),
        (
            json!({ "type": "line", "x1": 0, "y1": 0, "x2": 100_000, "y2": 0, "dash": [0.1, 0.1] }),
            "commands[1].dash: the line would have about 1000000 dashes, more than 50000; give longer ones",
        ),
        (rect(json!({ "x": 1e9 })), "commands[1].x: 1e9 is too far away; the largest coordinate is 100000"),
        (
            json!({ "type": "polyline", "points": [[0, 0], [0, 1e30]] }),
            "commands[1].points[1]: it is too far away",
        ),
        (
            json!({ "type": "path", "d": "M 1 2 L 3 4 Q oh" }),
            "commands[1].d: the path data cannot be read at command 3",
        ),
        (json!({ "type": "path", "d": "  " }), "commands[1].d: the path data is empty"),
        (json!({ "type": "path", "d": "M 0 0 L 1e30 5" }), "commands[1].d: command 2 is too far away"),
        (json!({ "type": "text", "x": 1, "y": 1, "text": "a", "weight": 0 }), "commands[1].weight: "),
        (
            json!({ "type": "text", "x": 1, "y": 1, "text": "a", "font": "a, b" }),
            "commands[1].font: name one family",
        ),
        (
            json!({ "type": "bar", "labels": ["a", "b"], "series": [{ "values": [1] }] }),
            "commands[1].series[0].values: it has 1 values, and `labels` has 2; give one for each",
        ),
        (
            json!({ "type": "bar", "labels": ["a"], "series": [{ "values": [1], "color": "x" }] }),
            "commands[1].series[0].color: `x` is not a CSS colour",
        ),
        (
            json!({ "type": "line_chart", "x_values": [1], "labels": ["a"], "series": [{ "values": [1] }] }),
            "commands[1].x_values: give `labels` or `x_values`, not both",
        ),
        (
            json!({ "type": "line_chart", "series": [{ "values": [1, 1e300] }] }),
            "commands[1].series[0].values[1]: it is too large for a chart",
        ),
        (
            json!({ "type": "pie", "labels": ["a", "b"], "values": [2, -1] }),
            "commands[1].values[1]: a slice cannot be negative",
        ),
        (json!({ "type": "pie", "labels": ["a"], "values": [0] }), "commands[1].values: their sum is 0"),
        (
            json!({ "type": "pie", "labels": ["a"], "values": [1], "x": 400 }),
            "commands[1].x: the chart begins at 400, past the end of the canvas at 400 pixels",
        ),
        (
            json!({ "type": "pie", "labels": ["a", "b"], "values": [1, 2], "width": 80, "height": 60, "font_size": 40, "title": "T" }),
            "commands[1]: the chart has no room",
        ),
    ] {
        let told = refused(json!({
            "width": 400, "height": 300, "commands": [good, command], "gradients": [
                { "id": "sky", "type": "linear", "stops": [{ "offset": 0, "color": "red" }, { "offset": 1, "color": "blue" }] },
            ],
        }))
        .await;
        assert!(told.contains(expected), "{command}: {told}");
        assert!(told.starts_with("invalid arguments for `canvas` (1 problem):\n- "), "{told}");
    }
}

#[tokio::test]
async fn the_schema_checks_the_fields_of_each_type() {
    for (command, expected) in [
        (json!({ "type": "rect", "x": 1, "y": 1, "width": 5 }), "height"),
        (rect(json!({ "radius": -1 })), "commands[0].radius"),
        (rect(json!({ "opacity": 2 })), "commands[0].opacity"),
        (rect(json!({ "colour": "red" })), "colour"),
        (json!({ "type": "rectangle", "x": 1 }), "commands[0].type: expected one of \"rect\""),
        (json!({ "type": "pie_chart", "labels": ["a"], "values": [1] }), "; did you mean `pie`?"),
        (json!({ "type": "piechart", "labels": ["a"], "values": [1] }), "; did you mean `pie`?"),
        (json!({ "type": "bar_chart", "labels": ["a"] }), "; did you mean `bar`?"),
        (json!({ "type": "line_graph", "labels": ["a"] }), "; did you mean `line_chart`?"),
        (json!({ "x": 1, "y": 2 }), "type"),
        (json!({ "type": "polyline", "points": [[1, 2]] }), "commands[0].points"),
        (json!({ "type": "polyline", "points": [[1, 2], [3]] }), "commands[0].points[1]"),
        (json!({ "type": "polyline", "points": [[1, 2], ["a", 2]] }), "commands[0].points[1][0]"),
        (json!({ "type": "text", "x": 1, "y": 1, "text": "" }), "commands[0].text"),
        (json!({ "type": "text", "x": 1, "y": 1, "text": "a", "anchor": "left" }), "commands[0].anchor"),
        (json!({ "type": "circle", "x": 1, "y": 1, "radius": "wide" }), "commands[0].radius"),
        (json!({ "type": "pie", "labels": [], "values": [] }), "commands[0].labels"),
    ] {
        let told = refused(json!({ "width": 10, "height": 10, "commands": [command] })).await;
        assert!(told.contains(expected), "{command}: {told}");
        assert!(told.starts_with("invalid arguments for `canvas` ("), "{told}");
        assert!(!told.contains("/commands"), "{told}");
    }
    let many: Vec<Value> = (0..30).map(|_| rect(json!({ "opacity": 2 }))).collect();
    let told = refused(json!({ "width": 10, "height": 10, "commands": many })).await;
    assert!(
        told.contains("(more than 20 problems)") && told.contains("\n- … and more\nUsage: canvas("),
        "{told}"
    );
    let told = refused(json!({ "height": 10, "commands": [rect(json!({}))] })).await;
    assert!(told.contains("(1 problem):\n- width: expected "), "{told}");
}

#[tokio::test]
async fn all_problems_are_told_together() {
    let told = refused(json!({
        "width": 8192, "height": 8192, "background": "?", "commands": [rect(json!({ "fill": "a", "stroke": "b" })), rect(json!({ "x": 1e7 }))],
        "gradients": [
            { "id": "a", "type": "linear", "stops": [{ "offset": 0, "color": "rod" }, { "offset": 1, "color": "red" }] },
            { "id": "a", "type": "radial", "stops": [{ "offset": 0, "color": "red" }, { "offset": 1, "color": "red" }] },
        ],
    }))
    .await;
    for part in [
        "(7 problems)",
        "- width: 8192 × 8192 is too large; a picture has at most 16777216 pixels",
        "- background: `?`",
        "- gradients[0].stops[0].color: `rod`",
        "- gradients[1].id: there are two gradients `a`",
        "- commands[0].fill: `a`",
        "- commands[0].stroke: `b`",
        "- commands[1].x: ",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let many: Vec<Value> = (0..30).map(|_| rect(json!({ "fill": "a" }))).collect();
    let told = refused(json!({ "width": 9, "height": 9, "commands": many })).await;
    assert!(told.contains("(30 problems)") && told.ends_with("- and 20 more"), "{told}");
}

#[tokio::test]
async fn sums_are_limited_too() {
    let points: Vec<[u32; 2]> = (0..10_000).map(|number| [number % 100, number / 100]).collect();
    let lines: Vec<Value> = (0..21).map(|_| json!({ "type": "polyline", "points": points })).collect();
    let told = refused(json!({ "width": 9, "height": 9, "commands": lines })).await;
    assert!(
        told.contains("- commands[20]: the commands have more than 200000 points and values together"),
        "{told}"
    );
    // The values of charts and their labels count too.
    let values: Vec<u32> = (0..10_000).collect();
    let labels: Vec<String> = (0..1_000).map(|_| "a".to_owned()).collect();
    for (chart, count) in [
        (json!({ "type": "line_chart", "series": [{ "values": values }] }), 20),
        (json!({ "type": "line_chart", "x_values": values, "series": [{ "values": values }] }), 10),
        (json!({ "type": "bar", "labels": labels, "series": [{ "values": &values[..1_000] }] }), 100),
    ] {
        let place = format!("commands[{count}]");
        let charts: Vec<Value> = (0..=count).map(|_| chart.clone()).collect();
        // Below the limit of all characters.
        let told = refused(json!({ "width": 400, "height": 300, "commands": charts })).await;
        let expected = "the commands have more than 200000 points and values together";
        assert!(told.contains(&place) && told.contains(expected), "{place}: {told}");
    }
    let long = "x".repeat(5_000);
    let texts: Vec<Value> =
        (0..11).map(|_| json!({ "type": "text", "x": 0, "y": 0, "text": long })).collect();
    let told = refused(json!({ "width": 9, "height": 9, "commands": texts })).await;
    assert!(
        told.contains("- commands[10].text: the texts have more than 50000 characters together"),
        "{told}"
    );
    let images: Vec<Value> =
        (0..51).map(|_| json!({ "type": "image", "path": "a.png", "x": 0, "y": 0 })).collect();
    let told = refused(json!({ "width": 9, "height": 9, "commands": images })).await;
    assert!(told.contains("- commands: 51 pictures are more than 50"), "{told}");
}

#[tokio::test]
async fn a_picture_that_is_none_is_told_with_its_command() {
    let toolbox = toolbox().file("a.png", "no picture");
    for (path, kind, expected) in [
        (
            "a.png",
            ToolErrorKind::Failed,
            "commands[0].path: cannot read a.png: it is not a PNG, JPEG, GIF or WebP picture",
        ),
        ("b.png", ToolErrorKind::NotFound, "commands[0].path: "),
    ] {
        let call = toolbox
            .call(json!({ "width": 9, "height": 9, "commands": [{ "type": "image", "path": path, "x": 0, "y": 0 }] }))
            .await;
        let error = call.expect_error(kind).message().to_owned();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// The scan converter panics on this arc, in builds with debug assertions.
#[tokio::test]
async fn an_outline_that_breaks_the_renderer_is_refused() {
    let arc = json!({ "type": "path", "d": "M1 1V0.0A82.52369927509602 100000.0 30 1 0 0.0 0.0", "transform": "scale(1e4)" });
    let message = refused(json!({ "width": 1, "height": 1, "commands": [arc] })).await;
    assert!(
        message.contains("commands[0]: the renderer cannot draw this outline; use smaller numbers"),
        "{message}"
    );
}

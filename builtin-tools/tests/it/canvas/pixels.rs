//! Each shape and each property, by single pixels.

use super::{BLACK, BLUE, LIME, RED, WHITE, at, drawn, drawn_with, inked};
use serde_json::{Value, json};

/// Draws one command and compares pixels.
async fn check(command: Value, pixels: &[(u32, u32, [u8; 4])]) {
    let picture = drawn(json!([command])).await;
    for (x, y, expected) in pixels {
        assert_eq!(at(&picture, *x, *y), *expected, "at {x}, {y} of {command}");
    }
}

#[tokio::test]
async fn every_shape() {
    let rect = json!({ "type": "rect", "x": 10, "y": 20, "width": 30, "height": 40, "fill": "red" });
    check(rect, &[(10, 20, RED), (39, 59, RED), (9, 20, WHITE), (40, 59, WHITE), (39, 60, WHITE)]).await;
    let circle = json!({ "type": "circle", "x": 50, "y": 50, "radius": 20, "fill": "blue" });
    check(circle, &[(50, 50, BLUE), (50, 31, BLUE), (68, 50, BLUE), (33, 33, WHITE), (50, 28, WHITE)]).await;
    let ellipse = json!({ "type": "ellipse", "x": 50, "y": 50, "rx": 40, "ry": 10, "fill": "lime" });
    check(ellipse, &[(12, 50, LIME), (88, 50, LIME), (50, 41, LIME), (50, 38, WHITE), (20, 41, WHITE)]).await;
    let line = json!({ "type": "line", "x1": 0, "y1": 50, "x2": 100, "y2": 50, "stroke_width": 4 });
    check(line, &[(0, 49, BLACK), (99, 51, BLACK), (50, 47, WHITE), (50, 53, WHITE)]).await;
    let polyline = json!({ "type": "polyline", "points": [[10, 10], [90, 10], [90, 90]], "stroke": "red", "stroke_width": 2 });
    check(polyline, &[(50, 10, RED), (90, 50, RED), (70, 30, WHITE), (50, 50, WHITE)]).await;
    let polygon = json!({ "type": "polygon", "points": [[10, 10], [90, 10], [90, 90]], "fill": "red" });
    check(polygon, &[(70, 30, RED), (88, 80, RED), (30, 60, WHITE)]).await;
    let path = json!({ "type": "path", "d": "M10 10h80v80H10z M30 30v40h40V30z", "fill": "blue" });
    check(path, &[(20, 20, BLUE), (80, 80, BLUE), (50, 50, WHITE), (5, 5, WHITE)]).await;
}

#[tokio::test]
async fn what_is_not_said_is_as_one_expects() {
    let rect = |extra: Value| {
        let mut command = json!({ "type": "rect", "x": 10, "y": 10, "width": 80, "height": 80 });
        command.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        command
    };
    check(rect(json!({})), &[(50, 50, BLACK)]).await;
    // A shape with a line alone is empty.
    check(rect(json!({ "stroke": "red", "stroke_width": 4 })), &[(50, 50, WHITE), (10, 50, RED)]).await;
    check(rect(json!({ "fill": "none", "stroke": "red" })), &[(50, 50, WHITE)]).await;
    check(
        rect(json!({ "fill": "blue", "stroke": "red", "stroke_width": 4 })),
        &[(50, 50, BLUE), (11, 50, RED)],
    )
    .await;
    let line = json!({ "type": "polyline", "points": [[10, 10], [90, 10], [90, 90]] });
    check(line, &[(70, 30, WHITE)]).await;
}

#[tokio::test]
async fn colours_are_those_of_css() {
    for (color, expected) in [
        ("#f00", RED),
        ("#FF0000", RED),
        (" red ", RED),
        ("rgb(255, 0, 0)", RED),
        ("hsl(240, 100%, 50%)", BLUE),
        ("rgba(0,0,0,0)", WHITE),
        ("transparent", WHITE),
        ("none", WHITE),
        ("rgba(255, 0, 0, 0.5)", [255, 127, 127, 255]),
        ("#ff000080", [255, 127, 127, 255]),
    ] {
        let picture =
            drawn(json!([{ "type": "rect", "x": 0, "y": 0, "width": 100, "height": 100, "fill": color }]))
                .await;
        let found = at(&picture, 50, 50);
        let is_near = found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1);
        assert!(is_near, "{color}: {found:?}");
    }
}

#[tokio::test]
async fn corners_are_round() {
    let rect =
        json!({ "type": "rect", "x": 0, "y": 0, "width": 100, "height": 100, "radius": 30, "fill": "red" });
    check(rect, &[(2, 2, WHITE), (97, 97, WHITE), (50, 1, RED), (1, 50, RED), (15, 15, RED)]).await;
}

#[tokio::test]
async fn opacity_shows_what_is_below() {
    let picture = drawn(json!([
        { "type": "rect", "x": 0, "y": 0, "width": 100, "height": 100, "fill": "blue" },
        { "type": "rect", "x": 0, "y": 0, "width": 50, "height": 100, "fill": "red", "opacity": 0.5 },
    ]))
    .await;
    let [red, green, blue, alpha] = at(&picture, 20, 50);
    assert!((126..=129).contains(&red) && green == 0 && (126..=129).contains(&blue) && alpha == 255);
    assert_eq!(at(&picture, 80, 50), BLUE);
}

#[tokio::test]
async fn dashes_have_gaps() {
    let line = json!({
        "type": "line", "x1": 0, "y1": 50, "x2": 100, "y2": 50, "stroke_width": 10, "dash": [10, 20],
    });
    check(line, &[(5, 50, BLACK), (20, 50, WHITE), (35, 50, BLACK), (50, 50, WHITE)]).await;
}

/// A large picture is drawn in parts, which do not show.
#[tokio::test]
async fn high_pictures_have_no_seams() {
    let picture = drawn_with(json!({
        "width": 60, "height": 1000, "gradients": [{ "id": "g", "type": "linear", "from": [0, 0], "to": [0, 1], "stops": [
            { "offset": 0, "color": "red" }, { "offset": 1, "color": "blue" }
        ] }],
        "commands": [
            { "type": "rect", "x": 0, "y": 0, "width": 20, "height": 1000, "fill": "url(#g)" },
            { "type": "line", "x1": 22, "y1": 0, "x2": 58, "y2": 1000, "stroke_width": 3, "opacity": 0.5 },
            { "type": "circle", "x": 50, "y": 256, "radius": 6, "fill": "red" },
        ],
    }))
    .await;
    for y in 1..1000 {
        let (above, below) = (at(&picture, 10, y - 1), at(&picture, 10, y));
        assert!(
            above.iter().zip(below).all(|(above, below)| above.abs_diff(below) <= 1),
            "{y}: {above:?} {below:?}"
        );
        let line: u32 = (20..60).map(|x| 255 - u32::from(at(&picture, x, y)[2])).sum();
        // Three pixels of half a black, and the circle where it is.
        assert!((300..480).contains(&line) || (249..264).contains(&y), "{y}: {line}");
    }
    assert_eq!((at(&picture, 50, 252), at(&picture, 50, 260)), (RED, RED));
}

#[tokio::test]
async fn transforms_move_turn_and_scale() {
    for (transform, place) in [
        ("translate(50 0)", (55, 5)),
        ("translate(50,50) rotate(180)", (45, 45)),
        ("scale(4)", (35, 35)),
        ("rotate(90 50 50)", (95, 5)),
        ("matrix(1 0 0 1 30 60)", (35, 65)),
    ] {
        let rect = json!({ "type": "rect", "x": 0, "y": 0, "width": 10, "height": 10, "fill": "red", "transform": transform });
        check(rect, &[(place.0, place.1, RED), (99, 99, WHITE)]).await;
    }
}

#[tokio::test]
async fn gradients_run_between_their_colours() {
    let gradient = |extra: Value| {
        let mut gradient = json!({ "id": "g", "stops": [{ "offset": 0, "color": "red" }, { "offset": 1, "color": "blue" }] });
        gradient.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({
            "width": 100, "height": 100, "gradients": [gradient],
            "commands": [{ "type": "rect", "x": 0, "y": 0, "width": 100, "height": 100, "fill": "url(#g)" }],
        })
    };
    let near = |found: [u8; 4], expected: [u8; 4]| {
        assert!(
            found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) < 12),
            "{found:?} {expected:?}"
        );
    };
    let picture = drawn_with(gradient(json!({ "type": "linear" }))).await;
    near(at(&picture, 1, 50), RED);
    near(at(&picture, 50, 10), [127, 0, 127, 255]);
    near(at(&picture, 98, 50), BLUE);
    let picture = drawn_with(gradient(json!({ "type": "linear", "from": [0, 0], "to": [0, 1] }))).await;
    near(at(&picture, 10, 1), RED);
    near(at(&picture, 10, 98), BLUE);
    let picture =
        drawn_with(gradient(json!({ "type": "linear", "units": "canvas", "from": [0, 0], "to": [50, 0] })))
            .await;
    near(at(&picture, 1, 1), RED);
    assert_eq!(at(&picture, 60, 1), BLUE);
    let picture =
        drawn_with(gradient(json!({ "type": "radial", "center": [0.5, 0.5], "radius": 0.5 }))).await;
    near(at(&picture, 50, 50), RED);
    near(at(&picture, 25, 50), [127, 0, 127, 255]);
    assert_eq!(at(&picture, 1, 1), BLUE);
    // A colour with an alpha of its own.
    let mut arguments = gradient(json!({ "type": "linear" }));
    arguments["gradients"][0]["stops"][1]["color"] = json!("none");
    let picture = drawn_with(arguments).await;
    near(at(&picture, 98, 50), WHITE);
}

/// Such shapes have no box for the shares of a gradient, and SVG would draw nothing.
#[tokio::test]
async fn gradients_are_seen_on_flat_lines_too() {
    let near = |found: [u8; 4], expected: [u8; 4]| {
        found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) < 20)
    };
    for (shape, red, blue) in [
        (json!({ "type": "line", "x1": 0, "y1": 50, "x2": 100, "y2": 50 }), (2, 50), (97, 50)),
        (json!({ "type": "polyline", "points": [[100, 50], [0, 50], [40, 50]] }), (2, 50), (97, 50)),
        (json!({ "type": "polygon", "points": [[0, 50], [50, 50], [100, 50]] }), (2, 50), (97, 50)),
        (json!({ "type": "path", "d": "M0 50 h40 c20 0 30 0 60 0" }), (2, 50), (97, 50)),
        (
            json!({ "type": "line", "x1": 0, "y1": 0, "x2": 0, "y2": 100, "transform": "translate(50 0)" }),
            (45, 20),
            (54, 20),
        ),
        // One with an area keeps the box of SVG.
        (json!({ "type": "line", "x1": 0, "y1": 0, "x2": 100, "y2": 100 }), (3, 3), (96, 96)),
    ] {
        let mut shape = shape;
        shape["stroke"] = json!("url(#g)");
        shape["stroke_width"] = json!(10);
        let stops = json!([{ "offset": 0, "color": "red" }, { "offset": 1, "color": "blue" }]);
        let picture = drawn_with(json!({
            "width": 100, "height": 100, "commands": [shape], "gradients": [{ "id": "g", "type": "linear", "stops": stops }],
        }))
        .await;
        let found = (at(&picture, red.0, red.1), at(&picture, blue.0, blue.1));
        assert!(near(found.0, RED) && near(found.1, BLUE), "{shape}: {found:?}");
    }
    let radial = drawn_with(json!({
        "width": 100, "height": 100,
        "commands": [{ "type": "line", "x1": 0, "y1": 50, "x2": 100, "y2": 50, "stroke_width": 10, "stroke": "url(#g)" }],
        "gradients": [{ "id": "g", "type": "radial", "stops": [{ "offset": 0, "color": "red" }, { "offset": 1, "color": "blue" }] }],
    }))
    .await;
    assert!(at(&radial, 50, 50)[0] > 220 && near(at(&radial, 1, 50), BLUE));
}

#[tokio::test]
async fn the_background_is_white_unless_it_is_said() {
    let dot = json!([{ "type": "circle", "x": 2, "y": 2, "radius": 1 }]);
    for (background, expected) in [
        (json!("#0000ff"), BLUE),
        (json!("none"), [0; 4]),
        (json!("transparent"), [0; 4]),
        (Value::Null, WHITE),
    ] {
        let picture =
            drawn_with(json!({ "width": 20, "height": 10, "commands": dot, "background": background })).await;
        assert_eq!((picture.width(), picture.height()), (20, 10));
        assert_eq!(at(&picture, 15, 5), expected, "{background}");
    }
}

#[tokio::test]
async fn later_commands_cover_earlier_ones() {
    let square =
        |color| json!({ "type": "rect", "x": 10, "y": 10, "width": 50, "height": 50, "fill": color });
    let picture = drawn(json!([square("red"), square("blue")])).await;
    assert_eq!(at(&picture, 30, 30), BLUE);
    assert_eq!(inked(&picture), 2500);
}

#[tokio::test]
async fn names_of_svg_are_taken_too() {
    let picture = drawn(json!([
        { "type": "circle", "cx": 20, "cy": 20, "r": 10, "fill": "red" },
        { "type": "rect", "x": 50, "y": 50, "width": 40, "height": 40, "rx": 20, "strokeWidth": 2, "fill": "blue" },
    ]))
    .await;
    assert_eq!((at(&picture, 20, 20), at(&picture, 70, 70), at(&picture, 51, 51)), (RED, BLUE, WHITE));
}

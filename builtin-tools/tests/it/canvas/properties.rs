//! Whatever fits the schema is drawn or refused: nothing panics, and no limit is passed.

use super::{picture, toolbox};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::io::Cursor;
use toolkit::ToolErrorKind;
use toolkit::testing::TestToolbox;

/// Number of drawings; `CANVAS_CASES` sets another one.
const CASES: u32 = 64;

/// Files that drawings may name: pictures of each format, with and without transparent parts, a picture that is cut, and none.
const FILES: [&str; 7] = ["a.png", "a.jpg", "a.gif", "a.webp", "clear.png", "cut.png", "none.png"];

fn number() -> BoxedStrategy<Value> {
    prop_oneof![
        40 => (-50.0..150.0).prop_map(|number: f64| json!(number)),
        20 => (-10i32..120).prop_map(|number| json!(number)),
        1 => prop_oneof![
            Just(0.0), Just(-0.0), Just(1e-300), Just(1e5), Just(-1e5), Just(1e5 + 1.0), Just(1e15), Just(1e300), Just(f64::MAX), Just(f64::MIN_POSITIVE)
        ].prop_map(|number| json!(number)),
    ]    .boxed()
}

fn size() -> BoxedStrategy<Value> {
    prop_oneof![4 => (0.0..120.0).prop_map(|number: f64| json!(number)), 1 => Just(json!(0)), 1 => Just(json!(1e5))]
    .boxed()
}

fn words() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[ -~]{1,12}",
        "\\PC{1,8}",
        Just("\u{0}\u{1b}]]>&<!--\n\n\t".to_owned()),
        Just("\u{202e}a\u{300}\u{1f469}\u{200d}\u{1f680}".to_owned())
    ]
    .prop_map(Value::from)
}

fn paint() -> impl Strategy<Value = Value> {
    let good = prop_oneof![
        Just("red"),
        Just("none"),
        Just("url(#a)"),
        Just("rgba(1,2,3,0.4)"),
        Just("#abc"),
        Just("hsl(400, 900%, -5%)")
    ];
    let bad = prop_oneof![Just("url(#b)"), Just("reed"), Just("url(")];
    prop_oneof![30 => good, 1 => bad].prop_map(Value::from)
}

fn transform() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just("rotate(45 10 10)"),
        Just("scale(0)"),
        Just("scale(1e4)"),
        Just("skewX(89.999)"),
        Just("matrix(0 0 0 0 0 0)"),
        Just("translate(1e9)"),
        Just("matrix(1e5 1e5 -1e5 1e5 1e5 1e5)"),
        Just("")
    ]
    .prop_map(Value::from)
}

fn path() -> impl Strategy<Value = Value> {
    let letters = [
        ("M", 2),
        ("l", 2),
        ("h", 1),
        ("V", 1),
        ("c", 6),
        ("S", 4),
        ("q", 4),
        ("T", 2),
        ("z", 0),
        ("x", 1),
        ("L", 3),
    ];
    let part = (0..letters.len() - 2, 0..60, vec(number(), 6));
    let arc =
        [size(), size(), number(), number()].prop_map(|[rx, ry, x, y]| format!("A{rx} {ry} 30 1 0 {x} {y}"));
    (vec(part, 1..12), arc).prop_map(move |(parts, arc)| {
        let words = parts.into_iter().map(|(at, slip, numbers)| {
            // Now and then a letter that is none, or a wrong count.
            let (letter, count) = letters[if slip == 0 { letters.len() - 1 - at % 2 } else { at }];
            let numbers: Vec<String> = numbers.iter().take(count).map(Value::to_string).collect();
            format!("{letter}{}", numbers.join(" "))
        });
        Value::from(format!("M1 1{}{arc}", words.collect::<String>()))
    })
}

fn style() -> impl Strategy<Value = Map<String, Value>> {
    let dash = vec(prop_oneof![20 => size(), 1 => number()], 1..5).prop_map(Value::from);
    (
        option::of(paint()),
        option::of(paint()),
        option::of(0.0..1000.0),
        option::of(0.0..=1.0),
        option::weighted(0.2, dash),
        option::weighted(0.3, transform()),
    )
        .prop_map(|(fill, stroke, width, opacity, dash, transform)| {
            let pairs = [
                ("fill", fill),
                ("stroke", stroke),
                ("stroke_width", width.map(|width: f64| json!(width))),
                ("opacity", opacity.map(|opacity: f64| json!(opacity))),
                ("dash", dash),
                ("transform", transform),
            ];
            pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
        })
}

fn shape() -> impl Strategy<Value = Value> {
    let points = vec([number(), number()], 3..12).prop_map(|points| json!(points));
    let own = prop_oneof![
        [number(), number(), size(), size(), size()].prop_map(|[x, y, width, height, radius]| json!({ "type": "rect", "x": x, "y": y, "width": width, "height": height, "radius": radius })),
        [number(), number(), size()].prop_map(|[x, y, radius]| json!({ "type": "circle", "x": x, "y": y, "radius": radius })),
        [number(), number(), size(), size()].prop_map(|[x, y, rx, ry]| json!({ "type": "ellipse", "x": x, "y": y, "rx": rx, "ry": ry })),
        [number(), number(), number(), number()].prop_map(|[x1, y1, x2, y2]| json!({ "type": "line", "x1": x1, "y1": y1, "x2": x2, "y2": y2 })),
        (any::<bool>(), points).prop_map(|(closed, points)| json!({ "type": if closed { "polygon" } else { "polyline" }, "points": points })),
        path().prop_map(|d| json!({ "type": "path", "d": d })),
        (number(), number(), words(), option::of(1.0..300.0), prop_oneof![Just(json!("bold")), Just(json!(0)), Just(json!(950)), Just(json!(400))])
            .prop_map(|(x, y, text, size, weight)| json!({ "type": "text", "x": x, "y": y, "text": text, "font_size": size, "weight": weight })),
    ];
    (own, style()).prop_map(|(mut own, style)| {
        own.as_object_mut().unwrap().extend(style);
        own
    })
}

fn image() -> impl Strategy<Value = Value> {
    let fit = option::of(prop_oneof![Just("contain"), Just("cover"), Just("stretch")]);
    let side = || option::of(prop_oneof![5 => 1.0..200.0, 1 => Just(8192.0)]);
    // A file that cannot be drawn ends the whole call, so it is seldom.
    let file = prop_oneof![12 => 0..5usize, 1 => 5..FILES.len()];
    (file, [number(), number()], side(), side(), fit, option::of(0.0..=1.0), option::weighted(0.3, transform())).prop_map(
        |(file, [x, y], width, height, fit, opacity, transform)| {
            let image = json!({
                "type": "image", "path": FILES[file], "x": x, "y": y, "width": width, "height": height, "fit": fit, "opacity": opacity,
                "transform": transform,
            });
            let members = image.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
            Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
        },
    )
}

/// Writes the files that drawings may name.
fn with_files(toolbox: TestToolbox) -> TestToolbox {
    let plain = DynamicImage::from(RgbImage::from_fn(30, 20, |x, y| {
        Rgb([u8::try_from(x * 8).unwrap(), 90, u8::try_from(y * 8).unwrap()])
    }));
    let clear = DynamicImage::from(RgbaImage::from_fn(9, 40, |x, _| {
        Rgba([200, 0, 0, u8::try_from(x * 28).unwrap()])
    }));
    let encoded = |picture: &DynamicImage, format| {
        let mut data = Cursor::new(Vec::new());
        picture.write_to(&mut data, format).unwrap();
        data.into_inner()
    };
    let cut = encoded(&plain, ImageFormat::Png);
    toolbox
        .file("a.png", encoded(&plain, ImageFormat::Png))
        .file("a.jpg", encoded(&plain, ImageFormat::Jpeg))
        .file("a.gif", encoded(&plain, ImageFormat::Gif))
        .file("a.webp", encoded(&plain, ImageFormat::WebP))
        .file("clear.png", encoded(&clear, ImageFormat::Png))
        .file("cut.png", &cut[..cut.len() / 2])
}

fn chart() -> impl Strategy<Value = Value> {
    let values = (1usize..6, 1usize..4)
        .prop_flat_map(|(count, series)| (vec(words(), count), vec(vec(number(), count), series)));
    let place = (
        option::of(-50.0..150.0),
        option::of(80.0..400.0),
        option::of(60.0..400.0),
        option::of(6.0..100.0),
        option::of(any::<bool>()),
        option::of(words()),
    );
    (values, place, 0..4usize).prop_map(|((labels, series), (x, width, height, size, legend, title), kind)| {
        let first = series[0].clone();
        let series: Vec<Value> = series.into_iter().map(|values| json!({ "values": values, "name": labels[0] })).collect();
        let mut chart = match kind {
            0 => json!({ "type": "bar", "labels": labels, "series": series, "stacked": true, "y_label": labels[0] }),
            1 => json!({ "type": "bar", "labels": labels, "series": series, "x_label": labels[0] }),
            2 => json!({ "type": "line_chart", "x_values": first, "series": series }),
            _ => json!({ "type": "pie", "labels": labels, "values": first, "hole": 0.3 }),
        };
        let rest = json!({ "x": x, "width": width, "height": height, "font_size": size, "legend": legend, "title": title });
        let rest = rest.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        chart.as_object_mut().unwrap().extend(rest.map(|(name, value)| (name.clone(), value.clone())));
        chart
    })
}

#[test]
fn what_fits_the_schema_is_drawn_or_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let toolbox = with_files(toolbox());
    let cases = std::env::var("CANVAS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let commands = vec(prop_oneof![4 => shape(), 1 => chart(), 2 => image()], 1..4);
    let stop = (0.0..=1.0, paint())
        .prop_map(|(offset, color): (f64, Value)| json!({ "offset": offset, "color": color }));
    let gradient = (any::<bool>(), any::<bool>(), [number(), number()], vec(stop, 2..5)).prop_map(|(radial, canvas, point, stops)| {
        json!({ "id": "a", "type": if radial { "radial" } else { "linear" }, "units": if canvas { "canvas" } else { "shape" }, "from": point, "center": point, "stops": stops })
    });
    let arguments = (1u32..300, 1u32..300, commands, gradient);
    let (drawn, pictures) = (Cell::new(0), Cell::new(0));
    let outcome = TestRunner::new(config).run(&arguments, |(width, height, commands, gradient)| {
        let has_picture = commands.iter().any(|command| command["type"] == "image");
        let has_fault =
            commands.iter().any(|command| command["path"] == "cut.png" || command["path"] == "none.png");
        let arguments =
            json!({ "width": width, "height": height, "commands": commands, "gradients": [gradient] });
        let call = runtime.block_on(toolbox.call(arguments));
        match call.result.error() {
            None => {
                drawn.set(drawn.get() + 1);
                pictures.set(pictures.get() + u32::from(has_picture));
                prop_assert!(!has_fault);
                let picture = picture(&call);
                prop_assert_eq!((picture.width(), picture.height()), (width, height));
            }
            Some(error) if has_fault => {
                let kinds = [ToolErrorKind::InvalidArguments, ToolErrorKind::Failed, ToolErrorKind::NotFound];
                prop_assert!(kinds.contains(&error.kind()), "{}", error);
            }
            Some(error) => prop_assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{}", error),
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(drawn.get() > cases / 16, "{} of {cases} were drawn", drawn.get());
    assert!(pictures.get() > 0, "no picture was drawn");
}

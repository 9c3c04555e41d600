//! The labels of a chart are within the canvas, and none covers another one.

use super::super::commands::{BarChart, Command, LineChart, PieChart, Series};
use super::super::compose;
use super::super::fonts;
use super::super::problems::Problems;
use super::super::scene::{Scene, Theme};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use resvg::usvg::roxmltree::{Document, Node};
use std::cell::Cell;

/// Number of charts; `CANVAS_CASES` sets another one.
const CASES: u32 = 40;

/// A label: its text, and the corners of the box around it.
struct Written {
    text: String,
    corners: [[f64; 2]; 4],
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name}"))
}

fn written(node: Node<'_, '_>) -> Written {
    let text = node.text().unwrap_or_default().to_owned();
    let (x, y, size) = (number(node, "x"), number(node, "y"), number(node, "font-size"));
    let width = fonts::width(&text, size, number(node, "font-weight") > 500.0);
    let left = match node.attribute("text-anchor") {
        Some("middle") => -width / 2.0,
        Some("end") => -width,
        _ => 0.0,
    };
    let turn = node.attribute("transform").and_then(|turn| turn.strip_prefix("rotate(")?.split(' ').next());
    let (sin, cos) = turn.map_or(0.0, |turn| turn.parse::<f64>().unwrap()).to_radians().sin_cos();
    // From the top of a capital letter to the end of a descender.
    let (above, below) = (-0.72 * size, 0.18 * size);
    let corners = [[left, above], [left + width, above], [left + width, below], [left, below]];
    let corners = corners.map(|[right, down]| [x + right * cos - down * sin, y + right * sin + down * cos]);
    Written { text, corners }
}

/// True if two boxes meet: no line along a side of one of them has them on both sides.
fn meet(first: &Written, second: &Written) -> bool {
    let is_between = |corners: &[[f64; 2]; 4], at: usize| {
        let ([x, y], [next_x, next_y]) = (corners[at], corners[(at + 1) % 4]);
        let length = (next_x - x).hypot(next_y - y).max(1e-9);
        let across = [(next_y - y) / length, (x - next_x) / length];
        let extent = |written: &Written| {
            let places = written.corners.map(|[x, y]| x * across[0] + y * across[1]);
            (
                places.into_iter().fold(f64::INFINITY, f64::min),
                places.into_iter().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let ((low, high), (other_low, other_high)) = (extent(first), extent(second));
        // Half a pixel of two edges that touch is not seen.
        high <= other_low + 0.5 || other_high <= low + 0.5
    };
    !(0..4).any(|at| is_between(&first.corners, at) || is_between(&second.corners, at))
}

/// Checks the labels of a chart that fills a canvas. Returns their number, or `None` for one that is refused.
fn check(width: u32, height: u32, command: &Command) -> Result<Option<usize>, String> {
    let scene = Scene { width, height, gradients: &[], theme: Theme::on(None) };
    let mut problems = Problems::default();
    let svg = compose::compose(&scene, "commands[0]", command, &mut problems);
    if problems.message().is_some() {
        return Ok(None);
    }
    let document = svg.document(width, height, "");
    let document = Document::parse(&document).map_err(|error| error.to_string())?;
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let all: Vec<Written> = texts.map(written).filter(|written| !written.text.trim().is_empty()).collect();
    for written in &all {
        let is_within = |[x, y]: &[f64; 2]| {
            (-0.5..=f64::from(width) + 0.5).contains(x) && (-0.5..=f64::from(height) + 0.5).contains(y)
        };
        if !written.corners.iter().all(is_within) {
            return Err(format!("`{}` is cut by the edge: {:?}", written.text, written.corners));
        }
    }
    for (at, first) in all.iter().enumerate() {
        if let Some(second) = all[at + 1..].iter().find(|second| meet(first, second)) {
            let corners = (first.corners, second.corners);
            return Err(format!("`{}` and `{}` cover each other: {corners:?}", first.text, second.text));
        }
    }
    Ok(Some(all.len()))
}

fn bars(labels: &[String], series: Vec<Series>) -> BarChart {
    BarChart {
        labels: labels.to_vec(),
        series,
        stacked: None,
        x_label: None,
        y_label: None,
        title: None,
        x: None,
        y: None,
        width: None,
        height: None,
        font_size: None,
        legend: None,
    }
}

fn values(values: Vec<f64>) -> Series {
    Series { name: None, values, color: None }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z][a-z]{2,8}",
        "[A-Z][a-z]{2,8}( [a-z]{2,10}){1,5}",
        "[A-Za-z]{20,60}",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9]",
        "[0-9]{1,2}"
    ]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -100.0..1000.0,
        1 => -1e12..1e15,
        1 => 0.0..1e-6,
        1 => Just(0.0)
    ]
}

/// The properties that all charts share.
type Common = (Option<String>, Option<f64>, Option<bool>, Option<String>, Option<String>);

fn charts() -> impl Strategy<Value = Command> {
    let common = (
        option::of(name()),
        option::of(8.0..24.0),
        option::of(any::<bool>()),
        option::of(name()),
        option::of(name()),
    );
    let data = (1usize..40, 1usize..4)
        .prop_flat_map(|(count, series)| (vec(name(), count), vec(vec(value(), count), series)));
    let many = (40usize..400).prop_flat_map(|count| (vec(name(), count), vec(vec(value(), count), 1)));
    let data = prop_oneof![3 => data, 1 => many];
    (data, common, 0..5u8).prop_map(|((labels, rows), common, kind)| chart(&labels, &rows, common, kind))
}

fn chart(labels: &[String], rows: &[Vec<f64>], common: Common, kind: u8) -> Command {
    let (title, font_size, legend, x_label, y_label) = common;
    let series: Vec<Series> = rows.iter().cloned().map(values).collect();
    let bars = BarChart { x_label, y_label, title, font_size, legend, ..bars(labels, series.clone()) };
    let BarChart { title, x_label, y_label, .. } = bars.clone();
    let (x, y, width, height) = (None, None, None, None);
    match kind {
        0 => Command::Bar(bars),
        1 => Command::Bar(BarChart { stacked: Some(true), ..bars }),
        2 | 3 => {
            let (labels, x_values) =
                if kind == 2 { (Some(labels.to_vec()), None) } else { (None, Some(rows[0].clone())) };
            let chart = LineChart {
                labels,
                x_values,
                series,
                x_label,
                y_label,
                title,
                x,
                y,
                width,
                height,
                font_size,
                legend,
            };
            Command::LineChart(chart)
        }
        _ => {
            let count = labels.len().min(50);
            let values = rows[0][..count].iter().map(|value| value.abs()).collect();
            let labels = labels[..count].to_vec();
            Command::Pie(PieChart {
                labels,
                values,
                colors: None,
                hole: None,
                title,
                x,
                y,
                width,
                height,
                font_size,
                legend,
            })
        }
    }
}

#[test]
fn labels_are_whole_and_apart() {
    let cases = std::env::var("CANVAS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let drawn = Cell::new(0);
    let arguments = (charts(), 160u32..1000, 120u32..700);
    let outcome = TestRunner::new(config).run(&arguments, |(command, width, height)| {
        let labels = check(width, height, &command).map_err(TestCaseError::fail)?;
        drawn.set(drawn.get() + u32::from(labels.is_some()));
        Ok(())
    });
    outcome.unwrap();
    assert!(drawn.get() > cases / 3, "{} of {cases} charts were drawn", drawn.get());
}

#[test]
fn usual_charts_have_their_labels() {
    let names = |count: usize, name: &str| (1..=count).map(|at| format!("{name} {at}")).collect::<Vec<_>>();
    let rising = |count: u32| values((1..=count).map(|at| f64::from(at) * 1e6).collect());
    for (labels, series, least) in [
        (names(5, "Quarter"), rising(5), 15),
        (names(30, "Category number"), rising(30), 35),
        (names(12, "A long name of a category that is hard to place"), rising(12), 20),
        (names(1, "One"), rising(1), 5),
        (names(4, "Loss"), values(vec![-5.0, -10.0, 3.0, -10.0]), 12),
    ] {
        let first = labels[0].clone();
        let found = check(640, 400, &Command::Bar(bars(&labels, vec![series]))).unwrap();
        assert!(found.is_some_and(|found| found >= least), "{first}: {found:?} labels");
    }
}

/// In a low chart the scale has few steps, and a negative bar may end near the bottom: its value has no room above the turned labels.
#[test]
fn the_value_of_a_negative_bar_keeps_clear_of_turned_labels() {
    let labels = [
        "8",
        "OjAZlIpBlWzBwHVEDICvPJfmejMVjfWmKyfgUjo",
        "Weglyra",
        "2003-02-19",
        "Rwym czjaj",
        "imnFmDRhCahqUgclTwXDmybxmPIxMYUhlWDrtAioyjZzwsKJrsM",
        "Uiijxme",
        "Bpdyamb fsxbfwj znhnghrs xnpfzfswrd",
        "66",
        "35",
    ];
    let heights = vec![664.1, 6.6e-7, 0.0, 139.1, 0.0, 222.1, 454.96, -44.7, 727.0, 331.5];
    let labels = labels.map(str::to_owned);
    let chart =
        BarChart { font_size: Some(20.088), legend: Some(true), ..bars(&labels, vec![values(heights)]) };
    let found = check(898, 156, &Command::Bar(chart)).unwrap();
    assert!(found.is_some_and(|found| found >= labels.len()), "{found:?} labels");
}

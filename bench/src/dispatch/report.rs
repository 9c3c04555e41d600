//! The dispatch benchmark's section of `RESULTS.md`.

use std::fmt::Write;

use super::Options;
use crate::series::{Series, find};

const BASE: &str = "hand-written";
const OURS: &str = "toolkit";
const WITH_HISTORY: [(&str, &str); 2] =
    [("in memory", "toolkit with history"), ("in a file", "toolkit with file")];
const NO_CALL: &str = "no call";

/// How the arguments of a call come, as the measuring program names it and in words.
const FORMS: [(&str, &str); 2] = [("parsed", "parsed already"), ("text", "from text")];

pub(super) fn write(options: &Options, machine: &str, all: &[Series], versions: &[String]) -> String {
    let mut text = format!("## Dispatch\n\n{machine}\n");
    // Writing to a string can't fail.
    let _ = calls(&mut text, options, all);
    if options.only.is_empty() {
        let _ = alone(&mut text, options, all);
        let _ = aims(&mut text, all);
    }
    let _ = writeln!(text, "\n### Versions of the crates\n\n{}", versions.join(", "));
    let _ = raw(&mut text, all);
    text
}

fn calls(text: &mut String, options: &Options, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "### A call with three arguments\n\n\
         Nanoseconds, the median of {} rounds and the least and greatest round; × is the median of the rounds' ratios \
         to hand-written. Allocations of a call, and their bytes, without those of parsing the text to a value.\n\n\
         | | parsed | | × | allocations | bytes | text | | × | allocations | bytes |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        options.rounds
    )?;
    for Series { contender, .. } in all.iter().filter(|one| one.measurement == FORMS[0].0) {
        write!(text, "| {contender} |")?;
        for (form, _) in FORMS {
            if let Some(one) = find(all, form, contender) {
                let (least, greatest) = one.spread();
                write!(text, " {:.0} | {least:.0} – {greatest:.0} |", one.median())?;
                match find(all, form, BASE) {
                    Some(base) => write!(text, " {:.2} |", one.ratio(base))?,
                    None => write!(text, " – |")?,
                }
            }
            match allocations(all, form, contender) {
                Some([allocations, bytes]) => write!(text, " {allocations:.0} | {bytes:.0} |")?,
                None => write!(text, " – | – |")?,
            }
        }
        writeln!(text)?;
    }
    Ok(())
}

/// How many allocations and bytes, beyond those that the arguments themselves need.
fn allocations(all: &[Series], form: &str, contender: &str) -> Option<[f64; 2]> {
    let measurement = format!("allocations {form}");
    let of = |contender: &str| <[f64; 2]>::try_from(&*find(all, &measurement, contender)?.figures).ok();
    let ([count, bytes], [least_count, least_bytes]) = (of(contender)?, of(NO_CALL)?);
    Some([count - least_count, bytes - least_bytes])
}

fn alone(text: &mut String, options: &Options, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Of toolkit alone\n\n\
         Microseconds, the median of {} rounds, and the least and greatest round.\n\n| | | |\n|---|--:|--:|",
        options.rounds
    )?;
    for (what, measurement, contender) in [
        ("toolkit of 1,000 tools added by hand, built", "build", "added"),
        ("toolkit of 1,000 linked tools, built", "build", "linked"),
        ("the same, the first time in a process", "build", "linked, first"),
        ("toolbox of 1,000 tools made, by seven layers of policy with 48 patterns", "toolbox", "of 1,000"),
        ("the same of 10,000 tools", "toolbox", "of 10,000"),
        ("tool registered where there are 10,000", "register", "at 10,000"),
        ("first call of a tool, more than its second", "first call", OURS),
        ("the same, of the first tool that a process calls", "first call", "of the process"),
        ("call that returns 100,000 lines of 100 bytes, cut", "cut", OURS),
        ("the same, the whole kept in a file", "cut", "toolkit, keeping"),
        ("counting these lines with memchr", "cut", "memchr"),
    ] {
        if let Some(one) = find(all, measurement, contender) {
            let (least, greatest) = one.spread();
            writeln!(text, "| {what} | {:.1} | {least:.1} – {greatest:.1} |", one.median())?;
        }
    }
    Ok(())
}

fn aims(text: &mut String, all: &[Series]) -> std::fmt::Result {
    writeln!(text, "\n### Aims\n\n| aim | measured | |\n|---|---|---|")?;
    let mut aim = |aim: &str, unit: &str, measured: Option<f64>, most: f64| {
        let (measured, verdict) = match measured {
            Some(measured) => {
                (format!("{measured:.2}{unit}"), if measured <= most { "met" } else { "**missed**" })
            }
            None => ("–".to_owned(), "not measured"),
        };
        writeln!(text, "| {aim} | {measured} | {verdict} |")
    };
    let pair = |measurement: &str, one: &str, base: &str| {
        find(all, measurement, one).zip(find(all, measurement, base))
    };
    for (form, words) in FORMS {
        let ratio = pair(form, OURS, BASE).map(|(ours, base)| ours.ratio(base));
        aim(&format!("call, arguments {words}, at most 1.0 × hand-written"), " ×", ratio, 1.0)?;
        let count = allocations(all, form, OURS).map(|[count, _]| count);
        aim(&format!("call, arguments {words}, at most 4 allocations beyond them"), "", count, 4.0)?;
        for (place, contender) in WITH_HISTORY {
            let added = pair(form, contender, OURS).map(|(with, without)| with.paired(without, |a, b| a - b));
            aim(
                &format!("call, arguments {words}, history {place} adds at most 0.5 µs"),
                " ns",
                added,
                500.0,
            )?;
        }
    }
    let alone = |measurement, contender| find(all, measurement, contender).map(Series::median);
    aim("1,000 tools added by hand, built in 0.3 ms", " µs", alone("build", "added"), 300.0)?;
    aim("1,000 linked tools, built in 0.3 ms", " µs", alone("build", "linked"), 300.0)?;
    let first = alone("build", "linked, first");
    aim("1,000 linked tools, built in 0.3 ms the first time in a process", " µs", first, 300.0)?;
    let toolbox = alone("toolbox", "of 1,000");
    aim("toolbox of 1,000 tools, seven layers, 48 patterns, in 0.5 ms", " µs", toolbox, 500.0)?;
    let tenfold = alone("toolbox", "of 10,000").zip(toolbox).map(|(many, few)| many / few);
    aim("the same of ten times as many tools, at most 12 times as long", " ×", tenfold, 12.0)?;
    for (form, words) in FORMS {
        let ratio = pair(form, "toolkit with policy", BASE).map(|(ours, base)| ours.ratio(base));
        aim(
            &format!("call under that policy, arguments {words}, at most 1.0 × hand-written"),
            " ×",
            ratio,
            1.0,
        )?;
    }
    let registered = alone("register", "at 10,000");
    aim("tool registered where there are 10,000 in 0.2 ms", " µs", registered, 200.0)?;
    aim("first call of a tool, under 30 µs more than its second", " µs", alone("first call", OURS), 30.0)?;
    for (words, contender) in [("", OURS), (" and kept in a file", "toolkit, keeping")] {
        let cut = pair("cut", contender, "memchr").map(|(ours, memchr)| ours.ratio(memchr));
        aim(&format!("10 MB cut{words}, at most 2 × counting lines with memchr"), " ×", cut, 2.0)?;
    }
    Ok(())
}

fn raw(text: &mut String, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Every round of dispatch\n\n\
         Nanoseconds for parsed and text; for allocations how many a call and their bytes; microseconds for all else.\n\n\
         | | | rounds |\n|---|---|---|"
    )?;
    for Series { measurement, contender, figures } in all {
        let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:.1}")).collect();
        writeln!(text, "| {measurement} | {contender} | {} |", figures.join("; "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(lines: &[&str]) -> Vec<Series> {
        lines.iter().map(|line| Series::parse(line).unwrap()).collect()
    }

    #[test]
    fn an_aim_is_met_missed_or_not_measured() {
        let all = measured(&[
            "parsed\thand-written\t100\t100",
            "parsed\ttoolkit\t90\t110",
            "text\thand-written\t100\t100",
            "text\ttoolkit\t130\t150",
            "allocations text\tno call\t6\t397",
            "allocations text\ttoolkit\t10\t700",
            "first call\ttoolkit\t31",
        ]);
        let report = write(&Options::default(), "a machine", &all, &["serde 1.0.0".to_owned()]);
        for line in [
            "| call, arguments parsed already, at most 1.0 × hand-written | 1.00 × | met |",
            "| call, arguments from text, at most 1.0 × hand-written | 1.40 × | **missed** |",
            "| call, arguments from text, at most 4 allocations beyond them | 4.00 | met |",
            "| call, arguments from text, history in a file adds at most 0.5 µs | – | not measured |",
            "| first call of a tool, under 30 µs more than its second | 31.00 µs | **missed** |",
            "| toolkit | 100 | 90 – 110 | 1.00 | – | – | 140 | 130 – 150 | 1.40 | 4 | 303 |",
        ] {
            assert!(report.contains(line), "{line}\n{report}");
        }
    }

    #[test]
    fn a_run_of_some_contenders_states_no_aims() {
        let all = measured(&["parsed\ttoolkit\t90", "text\ttoolkit\t130"]);
        let options = Options { only: vec!["toolkit".to_owned()], ..Options::default() };
        let report = write(&options, "a machine", &all, &[]);
        assert!(!report.contains("### Aims"), "{report}");
        assert!(report.contains("| toolkit | 90 | 90 – 90 | – | – | – | 130 |"), "{report}");
    }
}

//! The compile benchmark's section of `RESULTS.md`.

use std::fmt::Write;

use super::{Measured, Options};
use crate::command::Cost;
use crate::statistics;

/// Ours may cost this much of what hand-written functions do.
const MAX_OF_HAND_WRITTEN: f64 = 0.2;

pub(super) fn write(options: &Options, machine: &str, all: &[Measured]) -> String {
    let mut text = format!("## Compile\n\n{machine}\n");
    // Writing to a string can't fail.
    let _ = crate_alone(&mut text, options, all);
    if !options.skip_cold {
        let _ = cold(&mut text, all);
    }
    let _ = aims(&mut text, options, all);
    let _ = versions(&mut text, all);
    let _ = raw(&mut text, all);
    text
}

fn crate_alone(text: &mut String, options: &Options, all: &[Measured]) -> std::fmt::Result {
    let Options { tools, rounds, .. } = options;
    writeln!(
        text,
        "### The crate alone, {tools} tools\n\n\
         User seconds, the median of {rounds} rounds; × is the ratio to hand-written. \"One tool\" is the release \
         build of the crate with a single tool: the part of the cost that the tools don't cause.\n\n\
         | | release | × | one tool | ms a further tool | × | check | × | binary KiB | × | stripped KiB | × |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )?;
    let base = find(all, "hand-written");
    for one in all {
        let release = user(&one.release);
        let check = user(&one.check);
        writeln!(
            text,
            "| {} | {release:.2} | {} | {:.2} | {:.0} | {} | {check:.2} | {} | {} | {} | {} | {} |",
            one.name,
            ratio(release, base.map(|base| user(&base.release))),
            user(&one.release_one),
            further_tool(one, *tools) * 1000.0,
            ratio(further_tool(one, *tools), base.map(|base| further_tool(base, *tools))),
            ratio(check, base.map(|base| user(&base.check))),
            one.binary / 1024,
            ratio(size(one.binary), base.map(|base| size(base.binary))),
            one.stripped / 1024,
            ratio(size(one.stripped), base.map(|base| size(base.stripped))),
        )?;
    }
    Ok(())
}

fn cold(text: &mut String, all: &[Measured]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Cold debug build of one tool\n\n\
         Crates that it depends on, by `cargo tree -e normal,build`; user and wall seconds of building them and it \
         from nothing, the median of the rounds; × is the ratio to rmcp.\n\n\
         | | crates | user | × | wall |\n\
         |---|--:|--:|--:|--:|"
    )?;
    let base = find(all, "rmcp");
    for one in all {
        let cold = user(&one.cold);
        writeln!(
            text,
            "| {} | {} | {cold:.1} | {} | {:.1} |",
            one.name,
            one.crates,
            ratio(cold, base.map(|base| user(&base.cold))),
            median(&one.cold, |cost| cost.wall),
        )?;
    }
    Ok(())
}

fn aims(text: &mut String, options: &Options, all: &[Measured]) -> std::fmt::Result {
    writeln!(text, "\n### Aims\n\n| aim | measured | |\n|---|---|---|")?;
    let mut aim = |aim: &str, against: &str, within: &dyn Fn(&Measured, &Measured) -> (String, bool)| {
        let (measured, verdict) = match (find(all, "ours"), find(all, against)) {
            (Some(ours), Some(against)) => {
                let (measured, met) = within(ours, against);
                (measured, if met { "met" } else { "**missed**" })
            }
            _ => ("–".to_owned(), "not measured"),
        };
        writeln!(text, "| {aim} | {measured} | {verdict} |")
    };
    let most = MAX_OF_HAND_WRITTEN;
    let release = format!("{} tools, release, at most {most} × hand-written", options.tools);
    aim(&release, "hand-written", &|ours, base| {
        let ratio = user(&ours.release) / user(&base.release);
        (format!("{ratio:.2} ×"), ratio <= most)
    })?;
    if options.skip_cold {
        return Ok(());
    }
    aim("cold debug build, no more crates than rmcp", "rmcp", &|ours, rmcp| {
        (format!("{} and {}", ours.crates, rmcp.crates), ours.crates <= rmcp.crates)
    })?;
    aim("cold debug build, no more user seconds than rmcp", "rmcp", &|ours, rmcp| {
        let (ours, rmcp) = (user(&ours.cold), user(&rmcp.cold));
        (format!("{ours:.1} and {rmcp:.1}"), ours <= rmcp)
    })
}

fn versions(text: &mut String, all: &[Measured]) -> std::fmt::Result {
    writeln!(text, "\n### Versions\n")?;
    for one in all {
        writeln!(text, "- {}: {}", one.name, one.direct_dependencies.join(", "))?;
    }
    Ok(())
}

fn raw(text: &mut String, all: &[Measured]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Every round\n\nSeconds: user + system, and wall.\n\n| | build | rounds |\n|---|---|---|"
    )?;
    for one in all {
        for (build, costs) in [
            ("release", &one.release),
            ("release, one tool", &one.release_one),
            ("check", &one.check),
            ("cold", &one.cold),
        ] {
            let rounds: Vec<_> = costs
                .iter()
                .map(|Cost { user, system, wall }| format!("{user:.2} + {system:.2}, {wall:.2}"))
                .collect();
            if !rounds.is_empty() {
                writeln!(text, "| {} | {build} | {} |", one.name, rounds.join("; "))?;
            }
        }
    }
    Ok(())
}

fn find<'a>(all: &'a [Measured], name: &str) -> Option<&'a Measured> {
    all.iter().find(|one| one.name == name)
}

/// User seconds that each tool after the first adds to the release build.
#[expect(clippy::cast_precision_loss, reason = "nobody generates 2^52 tools")]
fn further_tool(one: &Measured, tools: usize) -> f64 {
    (user(&one.release) - user(&one.release_one)) / (tools - 1).max(1) as f64
}

fn user(costs: &[Cost]) -> f64 {
    median(costs, |cost| cost.user)
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    statistics::median(costs.iter().map(of))
}

fn ratio(value: f64, base: Option<f64>) -> String {
    base.map_or_else(|| "–".to_owned(), |base| format!("{:.2}", value / base))
}

#[expect(clippy::cast_precision_loss, reason = "a binary has fewer than 2^52 bytes")]
fn size(bytes: u64) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &'static str, seconds: f64, crates: usize) -> Measured {
        let costs = vec![Cost { user: seconds, system: 1.0, wall: seconds }];
        Measured {
            name,
            direct_dependencies: vec!["serde 1.0.0".to_owned()],
            check: costs.clone(),
            release: costs.clone(),
            release_one: costs.clone(),
            binary: 1 << 20,
            stripped: 1 << 19,
            crates,
            cold: costs,
        }
    }

    #[test]
    fn an_aim_is_met_missed_or_not_measured() {
        let options = Options::default();
        let all = [measured("ours", 4.0, 60), measured("hand-written", 20.0, 40), measured("rmcp", 30.0, 59)];
        let report = write(&options, "a machine", &all);
        assert!(report.contains("at most 0.2 × hand-written | 0.20 × | met |"), "{report}");
        assert!(report.contains("no more crates than rmcp | 60 and 59 | **missed** |"), "{report}");
        assert!(report.contains("no more user seconds than rmcp | 4.0 and 30.0 | met |"), "{report}");
        let report = write(&options, "a machine", &all[..1]);
        assert!(report.contains("at most 0.2 × hand-written | – | not measured |"), "{report}");
    }
}

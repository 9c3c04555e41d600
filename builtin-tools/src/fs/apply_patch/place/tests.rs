use super::super::patch::HunkLine;
use super::*;

/// Returns a budget with this many remaining steps.
fn left(steps: usize) -> Budget {
    let mut budget = Budget::new();
    budget.spend(Budget::MAX - steps);
    budget
}

#[test]
fn to_compare_a_line_costs_more_the_longer_it_is() {
    for (length, cost) in [(1, 1), (63, 1), (64, 2), (128, 3)] {
        let line = "a".repeat(length);
        let lines = Lines::of(line.as_bytes(), 0);
        let index = Arc::new(Index::of(&lines, Level::Exact, std::iter::once(&*line)));
        for (steps, is_spent) in [(cost, true), (cost + 1, false)] {
            let mut budget = left(steps);
            assert!(Block::of(&[&line], Arc::clone(&index)).is_at(&lines, 0, &mut budget));
            assert_eq!(budget.is_spent(), is_spent, "{length} bytes with {steps} steps");
        }
    }
}

#[test]
fn to_look_through_lines_costs_the_more_the_more_there_are() {
    let file = "a\n".repeat(48);
    let lines = Lines::of(file.as_bytes(), 0);
    for (steps, is_spent) in [(2, true), (3, false)] {
        let mut placer = Placer { budget: left(steps), ..Placer::new(&lines, &[]) };
        assert!(placer.lines_of("b", 16, 1).is_empty());
        assert_eq!(placer.budget.is_spent(), is_spent, "{steps} steps");
    }
}

#[test]
fn what_costs_too_much_is_given_up() {
    let file = format!("{}b\n", "a\n".repeat(63));
    let lines = Lines::of(file.as_bytes(), 0);
    let line = |text| HunkLine { sign: Sign::Gone, text };
    let hunks = [Hunk { lines: vec![line("b")], anchors: vec!["c"], ..Hunk::default() }];
    for (steps, why) in [
        // The lines of the hunk take one step, and the search for the anchor another four.
        (1, Misplaced::TooAlike),
        (5, Misplaced::TooAlike),
        (6, Misplaced::AnchorAbsent { anchor: 0 }),
    ] {
        let mut placer = Placer { budget: left(steps), ..Placer::new(&lines, &hunks) };
        assert_eq!(placer.place(&hunks[0], 0), Err(why), "{steps} steps");
    }
}

//! Tables as aligned text.

use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

/// The widest column, in columns of a terminal. A wider cell is not aligned, so that one long cell does not widen every row.
const MAX_WIDTH: usize = 32;

/// Stands between cells.
const BAR: &str = " | ";

/// A table that is being read.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new(), cell: String::new() }
    }

    /// The text of the cell that is being read.
    pub(super) fn cell(&self) -> &str {
        &self.cell
    }

    /// Appends text to the cell. Line breaks become spaces.
    pub(super) fn push(&mut self, text: &str) {
        self.cell.extend(
            text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control()),
        );
    }

    /// Ends the cell.
    pub(super) fn end_cell(&mut self) {
        self.row.push(self.cell.trim().to_owned());
        self.cell.clear();
    }

    /// Ends the row. Empty cells at its end are left out.
    pub(super) fn end_row(&mut self) {
        let filled = self.row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        self.row.truncate(filled);
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Returns the lines of the table, with a line of dashes below the head.
    pub(super) fn render(&self) -> String {
        let widths = self.widths();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        let dashes: Vec<String> = widths.iter().map(|width| "-".repeat((*width).max(1))).collect();
        lines.insert(lines.len().min(1), dashes.join("-+-"));
        lines.join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut widths = vec![0; count];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().min(MAX_WIDTH).max(*width);
            }
        }
        widths
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            if column > 0 {
                line.push_str(BAR);
            }
            let missing = widths[column].saturating_sub(cell.width());
            let before = match self.alignments.get(column) {
                Some(Alignment::Right) => missing,
                Some(Alignment::Center) => missing / 2,
                _ => 0,
            };
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', missing - before));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

//! A source with its mutants in it, each behind a switch.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::listed::Mutant;

/// A file as it is compiled, and where in it each mutant stands.
pub(crate) struct Switched {
    pub(crate) text: String,
    /// The bytes of each mutant's own text.
    pub(crate) own: Vec<(usize, Range<usize>)>,
    /// The bytes of each place that has mutants, and which.
    pub(crate) places: Vec<(Range<usize>, Vec<usize>)>,
    /// Those that found no place for a switch.
    pub(crate) homeless: Vec<usize>,
}

/// Puts the mutants, each with its number, into the text of their file.
pub(crate) fn switched(source: &str, mutants: &[(usize, &Mutant)]) -> Result<Switched, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let lines = Lines::new(source);
    let mut finder = Finder { source, wanted: HashMap::new(), edits: Edits::default(), constant: 0 };
    for (id, mutant) in mutants.iter().filter(|(_, mutant)| mutant.genre != "FnValue" || !mutant.is_opaque) {
        let key = (kind(&mutant.genre), lines.offset(mutant.start), lines.offset(mutant.end));
        finder.wanted.entry(key).or_default().push((*id, mutant.replacement.clone()));
    }
    finder.visit_file(&file);
    let opaque = mutants.iter().filter(|(_, mutant)| mutant.genre == "FnValue" && mutant.is_opaque);
    let homeless = finder.wanted.values().flatten().map(|(id, _)| *id).chain(opaque.map(|(id, _)| *id)).collect();
    let mut made = Switched { text: String::new(), own: Vec::new(), places: Vec::new(), homeless };
    finder.edits.render(source, 0..source.len(), &mut made);
    Ok(made)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Operator,
    Guard,
    Arm,
    Body,
    Field,
}

fn kind(genre: &str) -> Kind {
    match genre {
        "MatchArm" => Kind::Arm,
        "MatchArmGuard" => Kind::Guard,
        "FnValue" => Kind::Body,
        "StructField" => Kind::Field,
        _ => Kind::Operator,
    }
}

/// Where lines begin, to make bytes of lines and columns.
struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(source: &'a str) -> Self {
        let starts = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { source, starts }
    }

    fn offset(&self, (line, column): (usize, usize)) -> usize {
        let start = self.starts.get(line - 1).copied().unwrap_or(self.source.len());
        self.source[start..]
            .char_indices()
            .nth(column - 1)
            .map_or(self.source.len(), |(at, _)| start + at)
    }
}

/// The changes to a file.
#[derive(Default)]
struct Edits {
    /// The switched ranges with their texts, by start and, longest first, end.
    places: BTreeMap<(usize, Reverse<usize>), Vec<(usize, String)>>,
    /// The inserted texts, by position.
    inserted: BTreeMap<usize, Vec<(usize, String)>>,
}

impl Edits {
    fn place(&mut self, range: Range<usize>, id: usize, text: String) {
        self.places.entry((range.start, Reverse(range.end))).or_default().push((id, text));
    }

    fn insert(&mut self, at: usize, id: usize, text: String) {
        self.inserted.entry(at).or_default().push((id, text));
    }

    /// Writes `range` with what is changed in it. Changes are taken as they are written, so that those left are further on.
    fn render(&mut self, source: &str, range: Range<usize>, made: &mut Switched) {
        let mut at = range.start;
        loop {
            let place = self.places.first_key_value().map(|(&(start, end), _)| start..end.0);
            let place = place.filter(|place| place.start < range.end);
            let stop = place.as_ref().map_or(range.end, |place| place.start);
            while let Some(entry) = self.inserted.first_entry().filter(|entry| *entry.key() <= stop) {
                made.text.push_str(&source[at..*entry.key()]);
                at = *entry.key();
                for (id, text) in entry.remove() {
                    made.add(id, &text);
                }
            }
            made.text.push_str(&source[at..stop]);
            let Some(place) = place else { return };
            let (_, alternatives) = self.places.pop_first().unwrap_or_default();
            let begin = made.text.len();
            made.text.push('(');
            for (id, text) in &alternatives {
                made.text.push_str(&format!("if crate::mutant_switch::is({id}) {{ "));
                made.add(*id, text);
                made.text.push_str(" } else ");
            }
            made.text.push_str("{ ");
            self.render(source, place.clone(), made);
            made.text.push_str(" })");
            let ids = alternatives.iter().map(|(id, _)| *id).collect();
            made.places.push((begin..made.text.len(), ids));
            at = place.end;
        }
    }
}

impl Switched {
    fn add(&mut self, id: usize, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.own.push((id, start..self.text.len()));
    }
}

struct Finder<'a> {
    source: &'a str,
    wanted: HashMap<(Kind, usize, usize), Vec<(usize, String)>>,
    edits: Edits,
    /// How many constants, in which nothing can be looked up, are around.
    constant: usize,
}

fn range(span: Span) -> Range<usize> {
    span.byte_range()
}

impl Finder<'_> {
    fn take(&mut self, kind: Kind, range: &Range<usize>) -> Vec<(usize, String)> {
        if self.constant > 0 {
            return Vec::new();
        }
        self.wanted.remove(&(kind, range.start, range.end)).unwrap_or_default()
    }

    fn operator(&mut self, whole: Range<usize>, operator: Range<usize>) {
        for (id, replacement) in self.take(Kind::Operator, &operator) {
            let before = &self.source[whole.start..operator.start];
            let behind = &self.source[operator.end..whole.end];
            self.edits.place(whole.clone(), id, format!("{before} {replacement} {behind}"));
        }
    }

    fn body(&mut self, block: &syn::Block) {
        let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) else { return };
        let inner = range(first.span()).start..range(last.span()).end;
        for (id, replacement) in self.take(Kind::Body, &inner) {
            let text = format!("if crate::mutant_switch::is({id}) {{ return {replacement}; }} ");
            self.edits.insert(inner.start, id, text);
        }
    }
}

/// Returns true if a condition contains a `let`, which may be combined only by `&&`.
fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant += 1;
        visit::visit_item_const(self, item);
        self.constant -= 1;
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant += 1;
        visit::visit_item_static(self, item);
        self.constant -= 1;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let constant = usize::from(item.sig.constness.is_some());
        self.constant += constant;
        self.body(&item.block);
        visit::visit_item_fn(self, item);
        self.constant -= constant;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let constant = usize::from(item.sig.constness.is_some());
        self.constant += constant;
        self.body(&item.block);
        visit::visit_impl_item_fn(self, item);
        self.constant -= constant;
    }

    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        if !has_let(&expr.left) && !has_let(&expr.right) {
            self.operator(range(expr.span()), range(expr.op.span()));
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        self.operator(range(expr.span()), range(expr.op.span()));
        visit::visit_expr_unary(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let whole = range(arm.span());
        let deleted = self.take(Kind::Arm, &whole);
        if let Some((_, guard)) = &arm.guard {
            let place = range(guard.span());
            let mut texts = self.take(Kind::Guard, &place);
            if has_let(guard) {
                texts.clear();
            } else {
                texts.extend(deleted.into_iter().map(|(id, _)| (id, "false".to_owned())));
            }
            for (id, text) in texts {
                self.edits.place(place.clone(), id, text);
            }
        } else {
            for (id, _) in deleted {
                let text = format!(" if !crate::mutant_switch::is({id}) ");
                self.edits.insert(range(arm.pat.span()).end, id, text);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        let whole = range(expr.span());
        for field in &expr.fields {
            let one = range(field.span());
            for end in [one.end, one.end + 1] {
                for (id, _) in self.take(Kind::Field, &(one.start..end)) {
                    let rest = self.source[one.end..whole.end].trim_start().trim_start_matches(',');
                    let text = format!("{}{rest}", &self.source[whole.start..one.start]);
                    self.edits.place(whole.clone(), id, text);
                }
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}

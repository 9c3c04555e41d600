//! Leaves out what browsers do not need of the console's files: comments, spaces beside signs, and letters of private names and of some words. A line
//! break stays where it may end a statement.

use std::collections::{BTreeMap, BTreeSet};

/// Words after which a `/` begins a regular expression.
const BEFORE_REGEX: [&str; 6] = ["return", "case", "typeof", "in", "of", "await"];

/// Short names of private members, which begin with `_`: the same ones in all modules.
#[derive(Default)]
pub(super) struct ShortNames(BTreeMap<String, String>);

impl ShortNames {
    /// Names the private members of modules. No text in quotes has such a name, and no value is found by one.
    pub(super) fn of<'a>(modules: impl IntoIterator<Item = &'a str>) -> Self {
        let words = modules.into_iter().flat_map(|text| text.split(|sign: char| !is_of_word(sign)));
        let names: BTreeSet<&str> = words.filter(|word| word.len() > 3 && word.starts_with('_')).collect();
        Self(
            names
                .into_iter()
                .enumerate()
                .map(|(number, name)| (name.to_owned(), format!("_{number}")))
                .collect(),
        )
    }
}

/// Returns a module as browsers get it.
pub(super) fn script(text: &str, names: &ShortNames) -> String {
    let mut writer = Script { out: String::with_capacity(text.len()), rest: text, braces: Vec::new(), names };
    while let Some(sign) = writer.rest.chars().next() {
        writer.take(sign);
    }
    writer.out
}

struct Script<'a> {
    out: String,
    rest: &'a str,
    /// For each brace that is open, true if it is that of a value in a template.
    braces: Vec<bool>,
    names: &'a ShortNames,
}

impl Script<'_> {
    fn take(&mut self, sign: char) {
        match sign {
            '"' | '\'' => self.copy(quoted(self.rest, sign)),
            '`' => self.template(1),
            '/' if self.rest.starts_with("//") || self.rest.starts_with("/*") => self.gap(),
            '/' if self.begins_regex() => self.copy(regex(self.rest)),
            '{' => {
                self.braces.push(false);
                self.copy(1);
            }
            '}' if self.braces.pop() == Some(true) => self.template(1),
            _ if sign.is_whitespace() => self.gap(),
            _ if is_of_word(sign) => self.word(),
            _ => self.copy(sign.len_utf8()),
        }
    }

    fn word(&mut self) {
        let end = self.rest.find(|sign: char| !is_of_word(sign)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let is_member = self.out.ends_with('.') && !self.out.ends_with("...");
        // The shorter ones mean the same, where these are values and declarations.
        let shorter = match word {
            "const" if !is_member && rest.starts_with(' ') => "let",
            "undefined" if !is_member && !rest.starts_with(':') => "void 0",
            "true" if !is_member && !rest.starts_with(':') => "!0",
            "false" if !is_member && !rest.starts_with(':') => "!1",
            _ => self.names.0.get(word).map_or(word, String::as_str),
        };
        self.out.push_str(shorter);
        self.rest = rest;
    }

    fn copy(&mut self, bytes: usize) {
        let (copied, rest) = self.rest.split_at(bytes);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// Copies the text of a template up to its end, or to a value within it.
    fn template(&mut self, begin: usize) {
        let mut end = begin;
        while let Some(sign) = self.rest[end..].chars().next() {
            end += sign.len_utf8();
            match sign {
                '\\' => end += self.rest[end..].chars().next().map_or(0, char::len_utf8),
                '`' => break,
                '$' if self.rest[end..].starts_with('{') => {
                    end += 1;
                    self.braces.push(true);
                    break;
                }
                _ => {}
            }
        }
        self.copy(end);
    }

    /// Writes the spaces and comments here as one line break, one space, or nothing.
    fn gap(&mut self) {
        let mut has_break = false;
        loop {
            let after = self.rest.trim_start();
            has_break |= self.rest[..self.rest.len() - after.len()].contains('\n');
            let end = match after {
                _ if after.starts_with("//") => after.find('\n'),
                _ if after.starts_with("/*") => after.find("*/").map(|end| end + 2),
                _ => Some(0),
            };
            let end = end.unwrap_or(after.len());
            self.rest = &after[end..];
            if end == 0 || self.rest.is_empty() {
                break;
            }
        }
        match (self.out.chars().next_back(), self.rest.chars().next()) {
            (None | Some('\n' | ';' | '{' | ',' | '(' | '['), _)
            | (_, Some('}' | ')' | ']' | '.' | ',' | ';')) => {}
            _ if has_break => self.out.push('\n'),
            (Some(before), Some(after)) if needs_space(before, after) => self.out.push(' '),
            _ => {}
        }
    }

    fn begins_regex(&self) -> bool {
        let before = self.out.trim_end();
        let word = before.rsplit(|sign: char| !is_of_word(sign)).next().unwrap_or_default();
        if !word.is_empty() {
            return BEFORE_REGEX.contains(&word);
        }
        before.chars().next_back().is_none_or(|sign| !matches!(sign, ')' | ']' | '}' | '"' | '\'' | '`'))
    }
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$'
}

/// Returns true if two signs would mean something else side by side.
fn needs_space(before: char, after: char) -> bool {
    let are_words = is_of_word(before) && (is_of_word(after) || after == '#');
    are_words || before == after && matches!(before, '+' | '-' | '/')
}

/// Returns the length of a text in quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    let end = text.char_indices().find(|(_, sign)| {
        let is_end = *sign == quote && !is_escaped;
        is_escaped = *sign == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}

/// Returns the length of a regular expression.
fn regex(text: &str) -> usize {
    let (mut is_escaped, mut is_in_class) = (true, false);
    let end = text.char_indices().find(|(_, sign)| {
        let is_end = *sign == '/' && !is_escaped && !is_in_class;
        if !is_escaped {
            is_in_class = *sign == '[' || is_in_class && *sign != ']';
        }
        is_escaped = *sign == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}

/// Returns a stylesheet without needless spaces. It has no comments, and no text in quotes with `{`, `}`, `;` or `,` beside a space.
pub(super) fn style(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        if !sign.is_whitespace() {
            out.push(sign);
            rest = &rest[sign.len_utf8()..];
            continue;
        }
        rest = rest.trim_start();
        let is_needless = out.ends_with(['{', '}', ';', ',', ':']) || rest.starts_with(['{', '}', ';', ',']);
        if !(is_needless || out.is_empty() || rest.is_empty()) {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_spaces_beside_signs_are_left_out_of_a_module() {
        for (text, expected) in [
            ("/** One. */\n/**\n * Several.\n */\nconst a = 1; // c\nlet b", "let a=1;let b"),
            ("const a = /** @type {any} */ (b);", "let a=(b);"),
            ("return /** @type {any} */ b;", "return b;"),
            ("a + +b - -c + d++ + e", "a+ +b- -c+d++ +e"),
            ("import { h } from \"./a  b.js\";", "import{h}from\"./a  b.js\";"),
            (
                "const t = `a  ${ b + `c  ${ d }` }  // no comment`;",
                "let t=`a  ${b+`c  ${d}`}  // no comment`;",
            ),
            ("x.replace(/ \\/ [/ \"] /g, ' \\' ');", "x.replace(/ \\/ [/ \"] /g,' \\' ');"),
            ("return / a /.test(b) ? c / 2 : (d) / 3 / e;", "return/ a /.test(b)?c/2:(d)/3/e;"),
            ("if (a) {\n    b();\n\n    // c\n    c();\n}\n", "if(a){b();c();}\n"),
            (
                "class A {\n  #b = 1;\n  static #c = 2;\n  get d() { return this.#b; }\n}",
                "class A{#b=1;static #c=2;get d(){return this.#b;}}",
            ),
            ("const f = ({ a = {} }) => `${a}}`; g", "let f=({a={}})=>`${a}}`;g"),
            (
                "schema.const = { const: [...undefined], true: true }; return false;",
                "schema.const={const:[...void 0],true:!0};return !1;",
            ),
            ("a = b / c; d = /e /.x", "a=b/c;d=/e /.x"),
            ("a = b\n  .c()\nd()\n", "a=b.c()\nd()\n"),
        ] {
            assert_eq!(script(text, &ShortNames::default()), expected);
        }
    }

    #[test]
    fn private_names_and_two_words_are_shorter_in_all_modules_alike() {
        let modules = [
            "this._load(undefined); const a = \"const _load\";",
            "page._load(); _x(`_load ${b._load}`); c.constant",
        ];
        let names = ShortNames::of(modules);
        let shorter = modules.map(|text| script(text, &names));
        assert_eq!(
            shorter,
            ["this._0(void 0);let a=\"const _load\";", "page._0();_x(`_load ${b._0}`);c.constant"]
        );
    }

    #[test]
    fn spaces_beside_signs_are_left_out_of_a_stylesheet() {
        let text = "a > b,\n.c :focus { margin: 0 1px; width: calc(1px + 2px); }\n\n@media (max-width: 9px) {\n  d { top: 0 }\n}\n";
        let expected = "a > b,.c :focus{margin:0 1px;width:calc(1px + 2px);}@media (max-width:9px){d{top:0}}";
        assert_eq!(style(text), expected);
    }
}

//! Reads which modules of its own crate a source file imports: the part of Rust's syntax that this takes.

use crate::layers::tokens::{Token, tokens};

/// The declarations of a source file that concern modules; code for tests alone is left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    pub(super) imports: Vec<Import>,
    /// Modules in files of their own that exist for tests alone.
    pub(super) test_modules: Vec<Vec<String>>,
    /// Names that a `use` brings into a module, and modules whose file has another name.
    pub(super) names: Vec<Name>,
}

/// A name in a module that stands for something elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The module that has the name, by its path below the crate's root.
    pub(super) module: Vec<String>,
    pub(super) local: String,
    /// The path that it stands for.
    pub(super) path: Vec<String>,
    /// True if the path begins at the crate's root, false if it begins in the module or with the name of a crate.
    pub(super) from_root: bool,
}

/// A path to a part of the same crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// Counted from 1.
    pub(super) line: usize,
    /// The segments below the crate's root.
    pub(super) path: Vec<String>,
}

/// Scans a file that holds the module at this path below the crate's root.
pub(super) fn scan(text: &str, module: &[String]) -> Scan {
    let tokens = tokens(text);
    let mut scanner = Scanner { tokens: &tokens, at: 0, module: module.to_vec(), scan: Scan::default() };
    scanner.items();
    scanner.scan
}

struct Scanner<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
    /// The module that the place belongs to, inline modules included.
    module: Vec<String>,
    scan: Scan,
}

impl Scanner<'_> {
    /// Reads up to the end of the file or of the enclosing inline module.
    fn items(&mut self) {
        let mut depth = 0_usize;
        let mut path_attribute = None;
        while let Some((line, token)) = self.tokens.get(self.at) {
            match token {
                Token::Sign('#') if self.is_attribute() => {
                    let is_inner = self.is_sign(self.at + 1, '!');
                    let attribute = self.attribute();
                    if is_test_only(&attribute) && is_inner {
                        self.at = self.tokens.len();
                    } else if is_test_only(&attribute) {
                        self.skip_item();
                    } else if let [Token::Word(name), Token::Sign('='), Token::Text(path)] = &attribute[..]
                        && name == "path"
                    {
                        path_attribute = Some(path.trim_end_matches(".rs").to_owned());
                    }
                    continue;
                }
                // `use<'a>` says which lifetimes a type captures.
                Token::Word(word) if word == "use" && !self.is_sign(self.at + 1, '<') => {
                    self.at += 1;
                    self.use_item(*line);
                    continue;
                }
                Token::Word(word) if word == "mod" => {
                    if let Some(name) = self.word_at(self.at + 1).map(str::to_owned) {
                        self.at += 2;
                        self.module_item(name, path_attribute.take());
                        continue;
                    }
                }
                Token::Word(word) if (word == "crate" || word == "super") && self.path_starts_here() => {
                    self.expression_path(*line);
                    continue;
                }
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => {
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                    depth -= 1;
                }
                Token::Sign(';') => path_attribute = None,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn word_at(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some((_, Token::Word(word))) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::Sign(found))) if *found == sign)
    }

    fn is_separator(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::Separator)))
    }

    fn is_attribute(&self) -> bool {
        self.is_sign(self.at + 1, '[') || self.is_sign(self.at + 1, '!') && self.is_sign(self.at + 2, '[')
    }

    /// Returns the tokens within the brackets.
    fn attribute(&mut self) -> Vec<Token> {
        while !self.is_sign(self.at, '[') {
            self.at += 1;
        }
        let start = self.at + 1;
        self.skip_group();
        let end = self.at.saturating_sub(1).max(start);
        self.tokens[start..end].iter().map(|(_, token)| token.clone()).collect()
    }

    /// Skips the bracketed group that starts here.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some((_, token)) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Skips the item, field, variant or statement that an attribute belongs to.
    fn skip_item(&mut self) {
        while self.is_sign(self.at, '#') && self.is_attribute() {
            self.attribute();
        }
        let start = self.at;
        let is_item = self.is_item();
        let (mut is_use, mut angles) = (false, 0_i32);
        while let Some((_, token)) = self.tokens.get(self.at) {
            match token {
                Token::Word(word) if word == "use" => is_use = true,
                Token::Sign('<') => angles += 1,
                Token::Sign('>') if !self.is_sign(self.at - 1, '-') && !self.is_sign(self.at - 1, '=') => {
                    angles -= 1;
                }
                Token::Word(word) if word == "mod" && self.is_sign(self.at + 2, ';') => {
                    if let Some(name) = self.word_at(self.at + 1) {
                        let path = self.module.iter().cloned().chain([name.to_owned()]).collect();
                        self.scan.test_modules.push(path);
                    }
                }
                Token::Sign(end @ (';' | ',')) if *end == ';' || !is_item && angles <= 0 => {
                    self.at += 1;
                    return;
                }
                Token::Sign('{') if !is_use => {
                    self.skip_group();
                    // An initialiser in braces is followed by more.
                    if !self.is_sign(self.at, ';') && !self.is_sign(self.at, ',') {
                        return;
                    }
                    continue;
                }
                Token::Sign('(' | '[' | '{') => {
                    self.skip_group();
                    continue;
                }
                // The end of what encloses it.
                Token::Sign(')' | ']' | '}') if self.at > start => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Returns true if an item or a statement starts here, which no comma ends, and false for a field or a variant.
    fn is_item(&self) -> bool {
        const KEYWORDS: &[&str] = &[
            "async",
            "const",
            "enum",
            "extern",
            "fn",
            "impl",
            "let",
            "macro_rules",
            "mod",
            "static",
            "struct",
            "trait",
            "type",
            "union",
            "unsafe",
            "use",
        ];
        let mut at = self.at;
        if self.word_at(at) == Some("pub") {
            at += 1;
            if self.is_sign(at, '(') {
                while at < self.tokens.len() && !self.is_sign(at, ')') {
                    at += 1;
                }
                at += 1;
            }
        }
        // A field may be called `union`.
        self.word_at(at).is_some_and(|word| KEYWORDS.contains(&word)) && !self.is_sign(at + 1, ':')
    }

    /// Reads a module after its name.
    fn module_item(&mut self, name: String, file: Option<String>) {
        if self.is_sign(self.at, '{') {
            self.at += 1;
            self.module.push(name);
            self.items();
            self.module.pop();
        } else if let Some(file) = file {
            let module = self.module.clone();
            self.scan.names.push(Name { module, local: name, path: vec![file], from_root: false });
        }
    }

    fn use_item(&mut self, line: usize) {
        let mut leaves = Vec::new();
        self.use_tree(&mut Vec::new(), &mut leaves);
        for (path, name) in leaves {
            let module = self.module.clone();
            let first = path.first().map_or("", String::as_str);
            let from_root = matches!(first, "crate" | "super" | "self");
            let path = if from_root { self.below_root(&path) } else { path };
            if from_root {
                self.scan.imports.push(Import { line, path: path.clone() });
            }
            self.scan.names.push(Name { module, local: name, path, from_root });
        }
    }

    /// Collects the paths of a tree of imports, each with the name that it brings in.
    fn use_tree(&mut self, prefix: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
        let length = prefix.len();
        while let Some((_, token)) = self.tokens.get(self.at) {
            match token {
                Token::Word(word) if word == "as" => {
                    let name = self.word_at(self.at + 1).unwrap_or_default().to_owned();
                    self.at += 2;
                    leaves.push((prefix.clone(), name));
                    prefix.truncate(length);
                    return;
                }
                // `{self}` names the module before it.
                Token::Word(word) if word == "self" && !prefix.is_empty() => {}
                Token::Word(word) => prefix.push(word.clone()),
                Token::Sign('*') => prefix.push("*".to_owned()),
                Token::Sign('{') => {
                    self.at += 1;
                    while self.at < self.tokens.len() && !self.is_sign(self.at, '}') {
                        self.use_tree(prefix, leaves);
                        if self.is_sign(self.at, ',') {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    prefix.truncate(length);
                    return;
                }
                Token::Sign(',' | '}' | ';') => break,
                _ => {}
            }
            self.at += 1;
        }
        if prefix.len() > length || !prefix.is_empty() {
            leaves.push((prefix.clone(), prefix.last().cloned().unwrap_or_default()));
        }
        prefix.truncate(length);
    }

    /// Returns true if `crate` or `super` begins a path here, which it does not in `pub(crate)`, within `a::super`, and
    /// in the `$crate` of a macro, which is resolved where the macro is used.
    fn path_starts_here(&self) -> bool {
        self.is_separator(self.at + 1)
            && !(self.at > 0 && (self.is_separator(self.at - 1) || self.is_sign(self.at - 1, '$')))
    }

    fn expression_path(&mut self, line: usize) {
        let mut path = Vec::new();
        while let Some(word) = self.word_at(self.at) {
            path.push(word.to_owned());
            self.at += 1;
            if !self.is_separator(self.at) {
                break;
            }
            self.at += 1;
        }
        let path = self.below_root(&path);
        self.scan.imports.push(Import { line, path });
    }

    /// Resolves a path that starts with `crate`, `self` or `super`.
    fn below_root(&self, path: &[String]) -> Vec<String> {
        let mut base =
            if path.first().is_some_and(|first| first == "crate") { Vec::new() } else { self.module.clone() };
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => {
                    base.pop();
                }
                _ => break,
            }
            rest = after;
        }
        base.extend_from_slice(rest);
        base
    }
}

/// Returns true if an attribute keeps its item out of every build but that of tests.
fn is_test_only(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute
        .iter()
        .filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
        .collect();
    matches!(&words[..], ["cfg", "test"]) || words.starts_with(&["cfg", "all", "test"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<String> {
        let module = ["a".to_owned(), "b".to_owned()];
        let scan = scan(text, &module);
        scan.imports.into_iter().map(|import| format!("{}:{}", import.line, import.path.join("::"))).collect()
    }

    #[test]
    fn paths_of_all_forms_are_read() {
        for (text, found) in [
            ("use crate::x::Y;", &["1:x::Y"][..]),
            ("\npub use crate::{x::{self, Y as Z}, y};", &["2:x", "2:x::Y", "2:y"]),
            ("use super::c::D; use super::super::x;", &["1:a::c::D", "1:x"]),
            ("use self::c;", &["1:a::b::c"]),
            ("mod c { use super::super::d; } use super::e;", &["1:a::d", "1:a::e"]),
            ("fn f() -> crate::x::Y<super::Z> { crate::y::g() }", &["1:x::Y", "1:a::Z", "1:y::g"]),
            ("fn f<'a>(x: &'a str) { g('x', '\\'', b'\"', crate::x::y) }", &["1:x::y"]),
            ("use crate::*;", &["1:*"]),
            ("let r#use = r#\"crate::x\"#; crate::y::z();", &["1:y::z"]),
            ("fn f<'a, T>() -> impl Fn() + use<'a, T> { crate::x::y }", &["1:x::y"]),
        ] {
            assert_eq!(imports(text), found, "{text}");
        }
    }

    #[test]
    fn other_words_are_no_paths() {
        for text in [
            "// use crate::x;",
            "/* use crate::x; /* nested */ use crate::y; */",
            "let text = \"use crate::x; \\\" use crate::y;\";",
            "let text = r##\"\"# use crate::x;\"##;",
            "pub(crate) fn f() {} pub(super) fn g() {}",
            "use std::fmt; use other::crate_name::x;",
            "/// [`crate::x::Y`]\nfn f() {}",
            "macro_rules! m { () => { $crate::x::Y } }",
        ] {
            assert_eq!(imports(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn code_for_tests_is_left_out() {
        for text in [
            "#[cfg(test)]\nmod tests { use crate::x; fn f() { crate::y::z() } }",
            "#[cfg(test)] use crate::{x, y};",
            "#[cfg(all(test, unix))] #[allow(unused)] fn f() -> crate::x::Y { { crate::z::f() } }",
            "#[cfg(test)] static X: T = T { a: crate::x::A };",
            "struct S { #[cfg(test)] a: M<u8, crate::x::Y>, }",
            "#[cfg(test)] pub(super) fn f<A, B>(a: crate::x::A, b: B) {}",
        ] {
            assert_eq!(imports(text), [""; 0], "{text}");
            let followed = format!("{text} use crate::z::after;");
            assert_eq!(imports(&followed).len(), 1, "{followed}");
        }
        assert_eq!(imports("#[cfg(not(test))] use crate::x;"), ["1:x"]);
        let scan = scan("#[cfg(test)]\npub(crate) mod tests;\nmod c;", &["a".to_owned()]);
        assert_eq!(scan.test_modules, [["a", "tests"]]);
    }

    #[test]
    fn a_module_says_where_its_names_come_from() {
        let text = "#[path = \"other.rs\"]\nmod own;\npub use x::{Y, z::W as V};\nuse core::x as y; use super::c::D;\nmod e { pub use crate::f::G; }";
        let scan = scan(text, &["a".to_owned()]);
        let names: Vec<_> = scan
            .names
            .iter()
            .map(|name| (name.module.join("::"), name.local.as_str(), name.path.join("::"), name.from_root))
            .collect();
        let expected = [
            ("a", "own", "other", false),
            ("a", "Y", "x::Y", false),
            ("a", "V", "x::z::W", false),
            ("a", "y", "core::x", false),
            ("a", "D", "c::D", true),
            ("a::e", "G", "f::G", true),
        ]
        .map(|(module, name, path, from_root)| (module.to_owned(), name, path.to_owned(), from_root));
        assert_eq!(names, expected);
    }
}

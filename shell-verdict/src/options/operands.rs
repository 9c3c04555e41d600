//! Operands of a program: the words that are not options.

use super::Reading;
use super::spec::Kind;
use crate::archive;
use crate::class::Class;
use crate::situation::Access;
use crate::walk::{Judge, is_no_file};
use crate::words::Value;

impl Reading<'_, '_> {
    /// Judges the operands.
    pub(super) fn operands(&mut self) {
        let mut operands = std::mem::take(&mut self.operands);
        if self.spec.has_expression && !self.has_expression && !operands.is_empty() {
            let expression = operands.remove(0);
            // An option could name files, and further words would be files too.
            if expression.text().is_none() && expression.may_be_option() && self.spec.is_safe {
                let base = self.base;
                self.part.has(
                    Class::Unknown,
                    format!(
                        "{base} gets an expression that may be an option, and is not known before it runs"
                    ),
                );
            }
            // It may be several, of which only the first is the expression, and which that is may change.
            if matches!(expression, Value::Listed(_) | Value::Below { .. }) {
                operands.insert(0, expression);
            }
        }
        let is_several = operands.iter().any(|operand| matches!(operand, Value::Listed(_)));
        if is_several && (self.spec.most != usize::MAX || self.spec.kinds.len() > 1) {
            let base = self.base;
            self.part.has(Class::Unknown, format!("{base} may get more words than it only reads"));
        }
        let search = self.search();
        // The command searches the tracked files below the directory, or those of them that its operands select.
        if self.name == "git:grep" && search.is_some() && self.judge.situation().search.is_some() {
            operands.retain(|operand| !stays_below(operand));
            if operands.iter().any(|operand| operand.text().is_none_or(|text| text.starts_with(':'))) {
                self.part.has(Class::Unknown, "git grep may search through the whole repository");
            }
            operands.push(Value::Text(".".to_owned()));
        }
        let most = self.spec.most.min(operands.len());
        for operand in operands.split_off(most) {
            let base = self.base;
            if !self.spec.more_writes {
                self.part.has(Class::Unknown, format!("{base} gets more words than it only reads"));
            } else if !operand.text().is_some_and(|text| text == "-" || is_no_file(text, Access::Write)) {
                self.part.has(Class::Write, format!("{base} writes to its last word"));
                self.judge.path(&operand, Access::Write, self.part);
            }
        }
        // The command only prints the requested list.
        let only_lists_types = self.lists_types && operands.is_empty() && !self.has_expression;
        if self.tells_of_itself && self.base != "less" || only_lists_types {
            return;
        }
        let reads_input = self.base == "rg" && self.judge.reads_pipe && !self.is_listing && !self.has_file;
        // Some releases of these read the apparent first operand as the value of an option.
        let may_be_none = matches!(self.base, "eza" | "exa");
        // Newer ones read the names of files from their input, if they are given none and it is not a terminal.
        if may_be_none && operands.is_empty() {
            let base = self.base;
            self.part.has(Class::Unknown, format!("{base} may read the names of files from its input"));
        }
        let may_be_empty = operands.iter().all(|operand| matches!(operand, Value::Listed(_)));
        if (may_be_empty || may_be_none) && !reads_input && (self.spec.default_is_here || self.tree.is_some())
        {
            operands.push(Value::Text(".".to_owned()));
        }
        for (index, operand) in operands.iter().enumerate() {
            let kinds = &self.spec.kinds;
            let Some(kind) = kinds.get(index).or(kinds.last()).copied() else { continue };
            let is_tree = kind == Kind::Tree || self.tree == Some(false);
            match &search {
                Some(search) if is_tree => self.judge.searched(operand, search, self.part),
                _ => self.operand(kind, operand),
            }
        }
    }

    fn operand(&mut self, kind: Kind, operand: &Value) {
        let base = self.base;
        let tree = |follows_links| Access::ReadTree { follows_links };
        let access = match (kind, self.tree) {
            (Kind::Text, _) => return,
            (Kind::Plus, _) => {
                let (Value::Text(begin) | Value::Unknown { prefix: begin, splits: false }) = operand else {
                    return self.part.has(Class::Dangerous, format!("{base} may set what it shows"));
                };
                if !begin.starts_with('+') {
                    self.part.has(Class::Dangerous, format!("{base} may set what it shows"));
                }
                return;
            }
            (Kind::Write, _) => Access::Write,
            (Kind::Names, Some(true)) => tree(true),
            (Kind::Names, _) => Access::ReadNames,
            (Kind::Tree, None) if self.is_listing => Access::ReadNames,
            (Kind::Tree, follows) => tree(follows.unwrap_or(false)),
            (Kind::Read, Some(follows)) => tree(follows),
            (Kind::Read, None) => Access::Read,
        };
        // For a directory they read the file with the name of the other operand.
        let is_directory = |judge: &Judge<'_>| {
            operand.text().and_then(|text| judge.absolute(text)).is_some_and(|path| path.is_dir())
        };
        let access = match access {
            Access::Read if self.compares && (is_directory(self.judge) || operand.may_split()) => tree(true),
            access => access,
        };
        if matches!(base, "nm" | "size" | "objdump" | "readelf")
            && operand.text().is_some_and(|file| archive::is_thin(self.judge, file))
        {
            self.part.has(Class::Unknown, "the archive names files elsewhere, which are read");
        }
        // Some read a file of this name, if there is one.
        let is_input = operand.text() == Some("-")
            && self.judge.absolute("-").is_some_and(|path| path.symlink_metadata().is_err());
        if base == "getfacl" && operand.text() == Some("-") {
            self.part.has(Class::Unknown, "getfacl reads the names of files from its input");
        }
        if !is_input {
            self.judge.path(operand, access, self.part);
        }
    }
}

/// Returns true if an operand of `git grep` names a revision, or only files below the directory.
fn stays_below(operand: &Value) -> bool {
    operand.text().is_some_and(|text| {
        let leaves_out = text.starts_with(":!") || text.starts_with(":^");
        leaves_out || !text.starts_with(['/', ':']) && !text.split('/').any(|name| name == "..")
    })
}

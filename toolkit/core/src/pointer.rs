//! The place of a value in the arguments.

use std::fmt;

/// The place of a value, formatted as a JSON pointer only on demand.
#[derive(Clone, Copy)]
pub(crate) struct Pointer<'a> {
    parent: Option<&'a Pointer<'a>>,
    step: Step<'a>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

impl<'a> Pointer<'a> {
    pub(crate) const ROOT: Pointer<'static> = Pointer { parent: None, step: Step::Item(0), depth: 0 };

    pub(crate) fn member(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Member(name), depth: self.depth + 1 }
    }

    pub(crate) fn item(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Item(index), depth: self.depth + 1 }
    }

    /// Returns the same place, described by a schema within the schema.
    pub(crate) fn same(&self) -> Self {
        Self { depth: self.depth + 1, ..*self }
    }

    /// Returns the number of steps from the arguments, including those into schemas.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.step {
            Step::Member(name) => write!(f, "/{}", escape(name)),
            Step::Item(index) => write!(f, "/{index}"),
        }
    }
}

/// Escapes a name as a step of a JSON pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the steps of a JSON pointer, unescaped.
pub fn steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(unescape)
}

/// Returns the name that a step of a JSON pointer stands for.
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_a_pointer() {
        let root = Pointer::ROOT;
        let (member, same) = (root.member("a/b~c"), root.same());
        let (item, within) = (member.item(3), same.member("d"));
        let part = item.same();
        for (pointer, text, depth) in [
            (root, "", 0),
            (same, "", 1),
            (member, "/a~1b~0c", 1),
            (within, "/d", 2),
            (item, "/a~1b~0c/3", 2),
            (part, "/a~1b~0c/3", 3),
        ] {
            assert_eq!((pointer.to_string().as_str(), pointer.depth()), (text, depth));
        }
        assert_eq!(steps(&part.to_string()).collect::<Vec<_>>(), ["a/b~c", "3"]);
        assert_eq!(steps("").count(), 0);
    }
}

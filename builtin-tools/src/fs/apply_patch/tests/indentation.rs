//! Hunks whose old lines are indented differently from the file, with the expected file for each.

use super::*;

const CLASS: &str = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        pass\n";

#[track_caller]
fn check_table(table: &[(&str, &str, &str, Option<&str>)]) {
    for (name, file, hunks, expected) in table {
        match (patched(file, &begin(hunks)), expected) {
            (Ok(patched), Some(expected)) => assert_eq!(patched, *expected, "{name}"),
            (Err(error), None) => assert!(error.contains("Indented"), "{name}: {error}"),
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
}

#[test]
fn new_lines_get_the_indentation_of_the_file() {
    check_table(&[
        (
            "old too deep, new right",
            CLASS,
            "@@\n-        def f(self):\n-            return 1\n+    def f(self):\n+        return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "both too deep",
            CLASS,
            "@@\n-        def f(self):\n-            return 1\n+        def f(self):\n+            return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "context too deep, the added line as the context",
            CLASS,
            "@@\n         def f(self):\n+            x = 1\n             return 1",
            Some(
                "class A:\n    def f(self):\n        x = 1\n        return 1\n\n    def g(self):\n        pass\n",
            ),
        ),
        (
            "context too shallow, the added line right",
            "def f():\n        a()\n        b()\n",
            "@@\n a()\n+        x()\n b()",
            Some("def f():\n        a()\n        x()\n        b()\n"),
        ),
        (
            "a method at the depth of the file after one that is too deep",
            CLASS,
            "@@\n         def f(self):\n             return 1\n+\n+    def h(self):\n+        return 2",
            Some(
                "class A:\n    def f(self):\n        return 1\n\n    def h(self):\n        return 2\n\n    def g(self):\n        \
                 pass\n",
            ),
        ),
        (
            "the first line right, the rest as in old",
            CLASS,
            "@@\n-def f(self):\n-    return 1\n+    def f(self):\n+    return 2",
            None,
        ),
        ("neither depth", CLASS, "@@\n-            return 1\n+      return 2", None),
        (
            "flattened by a level, a line between two others of its depth",
            "class A:\n    def f(self):\n        a\n        b\n",
            "@@\n def f(self):\n     a\n+    x = 1\n     b",
            Some("class A:\n    def f(self):\n        a\n        x = 1\n        b\n"),
        ),
        (
            "flattened by a level, a line after the last",
            "class A:\n    def f(self):\n        a\n        b\n",
            "@@\n def f(self):\n     a\n     b\n+    x = 1",
            None,
        ),
        (
            "a recipe",
            "all: a\n\tcc a.c\n",
            "@@\n all: a\n-    cc a.c\n+\tcc -O2 a.c\n+\tstrip a",
            Some("all: a\n\tcc -O2 a.c\n\tstrip a\n"),
        ),
    ]);
}

#[test]
fn lines_without_any_indentation_get_that_of_the_lines_in_their_place() {
    check_table(&[
        (
            "one line for another",
            CLASS,
            "@@\n class A:\n def f(self):\n-return 1\n+return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "lines that are given again",
            CLASS,
            "@@\n-class A:\n-def f(self):\n-return 1\n+class A:\n+def f(self):\n+return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        (
            "a line after one that opens a block",
            CLASS,
            "@@\n class A:\n def f(self):\n+x = 1\n return 1",
            Some(
                "class A:\n    def f(self):\n        x = 1\n        return 1\n\n    def g(self):\n        pass\n",
            ),
        ),
        (
            "several lines go",
            "if a:\n    b\n    c\nd\n",
            "@@\n if a:\n-b\n-c\n+x\n d",
            Some("if a:\n    x\nd\n"),
        ),
        (
            "the new line has its indentation",
            CLASS,
            "@@\n class A:\n def f(self):\n-return 1\n+        return 2",
            Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n"),
        ),
        ("lines go", "if a:\n    b\n    c\nd\n", "@@\n if a:\n-b\n c\n d", Some("if a:\n    c\nd\n")),
        ("a block comes", CLASS, "@@\n class A:\n def f(self):\n-return 1\n+if x:\n+return 2", None),
        ("between two depths", CLASS, "@@\n def f(self):\n return 1\n+x = 1\n \n def g(self):", None),
        (
            "other lines in place of several depths",
            "if a:\n    b\n        c\nd\n",
            "@@\n if a:\n-b\n-c\n+x\n d",
            None,
        ),
        (
            "the new line at another depth",
            CLASS,
            "@@\n class A:\n def f(self):\n-return 1\n+      return 2",
            None,
        ),
        ("after the last line", "if a:\n    b\n", "@@\n if a:\n b\n+c", None),
    ]);
}

#[test]
fn a_first_line_that_alone_lost_its_indentation_gets_it_once() {
    const TABS: &str = "a {\n\t\tif b {\n\t\t\tc();\n\t\t}\n}\n";
    let changed = Some("class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        pass\n");
    check_table(&[
        (
            "old without, new with",
            CLASS,
            "@@\n-def f(self):\n-        return 1\n+    def f(self):\n+        return 2",
            changed,
        ),
        (
            "old without, new without",
            CLASS,
            "@@\n-def f(self):\n-        return 1\n+def f(self):\n+        return 2",
            changed,
        ),
        (
            "old with a part, new with the same part",
            CLASS,
            "@@\n-  def f(self):\n-        return 1\n+  def f(self):\n+        return 2",
            changed,
        ),
        (
            "old with a part, new with all",
            CLASS,
            "@@\n-  def f(self):\n-        return 1\n+    def f(self):\n+        return 2",
            changed,
        ),
        (
            "old without, new with a part",
            CLASS,
            "@@\n-def f(self):\n-        return 1\n+  def f(self):\n+        return 2",
            None,
        ),
        ("the line that stays", CLASS, "@@\n def f(self):\n-        return 1\n+        return 2", changed),
        (
            "tabs, new with",
            TABS,
            "@@\n-if b {\n-\t\t\tc();\n \t\t}\n+\t\td();",
            Some("a {\n\t\t}\n\t\td();\n}\n"),
        ),
        (
            "tabs, new with spaces",
            TABS,
            "@@\n-if b {\n-\t\t\tc();\n+        if d {\n+\t\t\tc();\n \t\t}",
            None,
        ),
        (
            "another line lost it too",
            CLASS,
            "@@\n-def f(self):\n-        return 1\n+def f(self):\n+return 2",
            None,
        ),
    ]);
}

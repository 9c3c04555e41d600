use crate::fs::apply_patch::{Action, parse};

#[test]
fn a_command_before_a_patch_names_a_directory_or_is_refused() {
    let names = |before: &str| {
        let patch = format!("{before}\n*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch");
        parse(&patch).map_err(|error| format!("line {}: {}", error.line, error.problem)).map(|patch| {
            let Action::Update { to: Some(to), .. } = &patch.changes[0].action else { panic!("{patch:?}") };
            format!("{} {to}", patch.changes[0].path)
        })
    };
    for (before, expected) in [
        ("apply_patch <<'EOF'", "f g"),
        ("cat <<EOF | apply_patch", "f g"),
        ("bash -lc \"apply_patch <<'EOF'", "f g"),
        ("cd sub && apply_patch <<'EOF'", "sub/f sub/g"),
        ("cd  'sub dir' && apply_patch <<'EOF'", "sub dir/f sub dir/g"),
        ("cd ../other; apply_patch <<'EOF'", "../other/f ../other/g"),
        ("cd /srv/x && apply_patch <<'EOF'", "/srv/x/f /srv/x/g"),
        ("bash -lc 'cd sub && apply_patch <<\"EOF\"", "sub/f sub/g"),
        ("```\ncd sub && apply_patch <<'EOF'", "sub/f sub/g"),
    ] {
        assert_eq!(names(before).as_deref(), Ok(expected), "{before}");
    }
    for (before, part) in [
        ("rm -r sub && apply_patch <<'EOF'", "rm -r sub"),
        ("cd sub && rm x && apply_patch <<'EOF'", "rm x"),
        ("cd $HOME && apply_patch <<'EOF'", "cd $HOME"),
        ("cd a && cd b && apply_patch <<'EOF'", "cd b"),
        ("cd - && apply_patch <<'EOF'", "cd -"),
    ] {
        let expected = format!("line 1: unexpected line before the patch, and `{part}` is not run");
        let said = names(before).unwrap_err();
        assert!(said.starts_with(&expected), "{before}: {said}");
    }
    for (before, call) in [
        ("git -C sub apply <<'EOF'", "git -C sub apply <<'EOF'"),
        ("env -C sub apply_patch <<'EOF'", "env -C sub apply_patch <<'EOF'"),
        ("apply_patch --directory=sub <<EOF", "apply_patch --directory=sub <<EOF"),
        ("patch -R -p1 <<EOF", "patch -R -p1 <<EOF"),
        ("rm -r sub | apply_patch <<EOF", "rm -r sub | apply_patch <<EOF"),
        ("cd sub & apply_patch <<EOF", "cd sub & apply_patch <<EOF"),
        ("cat > sub/f <<EOF", "cat > sub/f <<EOF"),
        ("apply_patch `ls` <<EOF", "apply_patch `ls` <<EOF"),
    ] {
        let expected = format!(
            "line 1: unexpected line before the patch, and only a plain call of `apply_patch` may, not `{call}`"
        );
        let said = names(before).unwrap_err();
        assert!(said.starts_with(&expected), "{before}: {said}");
    }
    for (before, expected) in [
        ("cd sub", "line 1: unexpected line before the patch; remove it"),
        (
            "cd sub/../x && apply_patch <<EOF",
            "line 1: unexpected line before the patch, and `cd sub/../x` is not run",
        ),
        (
            "cd a && cat <<A\ncd b && apply_patch <<B",
            "line 2: a line before this one names another directory",
        ),
    ] {
        let said = names(before).unwrap_err();
        assert!(said.starts_with(expected), "{before}: {said}");
    }
}

#[test]
fn a_command_before_a_unified_diff_is_heeded_too() {
    let name = |before: &str| {
        let patch = format!("{before}\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
        let parsed = parse(&patch).map_err(|error| format!("line {}: {}", error.line, error.problem));
        parsed.map(|patch| patch.changes[0].path.clone())
    };
    for (before, expected) in [
        ("git apply <<'EOF'", "f"),
        ("patch -p1 <<'EOF'", "f"),
        ("cd sub && git apply - <<'EOF'", "sub/f"),
        ("$ (cd sub && patch -p1 <<'EOF'", "sub/f"),
        ("Here it is, with a shift << 2:", "f"),
        ("From 1234\nSubject: apply it with << EOF\n\ncd sub && rm -r x", "f"),
    ] {
        assert_eq!(name(before).as_deref(), Ok(expected), "{before}");
    }
    for before in [
        "cd sub",
        "pushd sub",
        "cd sub && rm x; git apply <<EOF",
        "git -C sub apply <<EOF",
        "patch -p2 <<EOF",
        "patch -R <<EOF",
    ] {
        let said = name(before).unwrap_err();
        assert!(said.starts_with("line 1: unexpected line before the patch"), "{before}: {said}");
    }
}

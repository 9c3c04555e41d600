//! Tests that no deny rule and no untrusted file weakens a decision about a path.

use super::*;
use crate::permission::{PermissionEntry, PermissionRule, PermissionRules, PermissionSettings};
use proptest::prelude::*;
use proptest::sample::select;

const KINDS: [&str; 5] = ["read", "edit", "external_directory", "sensitive", "protected"];
const PATHS: [&str; 5] = ["a.rs", ".env", ".git/config", "/elsewhere/a.rs", "/elsewhere/.git/.env"];
const PATTERNS: [&str; 8] =
    ["*", "*.rs", "a.rs", ".env", ".git/*", ".git/config", "/elsewhere/a.rs", "/elsewhere/.git/.env"];

fn rules() -> impl Strategy<Value = PermissionRules> {
    let decision = || select(vec![Decision::Allow, Decision::Allow, Decision::Ask, Decision::Deny]);
    let entry = (select(&PATTERNS[..]), decision())
        .prop_map(|(pattern, decision)| PermissionEntry { pattern: pattern.to_owned(), decision });
    let rule = prop_oneof![
        decision().prop_map(PermissionRule::Always),
        prop::collection::vec(entry, 0..4).prop_map(PermissionRule::List),
    ];
    prop::collection::btree_map(select(&KINDS[..]).prop_map(str::to_owned), rule, 0..5)
}

fn settings(everybody: PermissionRules) -> PermissionSettings {
    PermissionSettings { everybody, ..PermissionSettings::default() }
}

/// Returns a place whose link, if it has one, was given by another name.
fn place(given: &str, real: &str) -> Place {
    let workspace = PathBuf::from("/no such workspace");
    let (given, real) = (workspace.join(given), workspace.join(real));
    Place {
        real,
        given,
        links: Vec::new(),
        is_link: false,
        workspace,
        further: Vec::new(),
        within: None,
        obstacle: None,
    }
}

fn decide(permissions: &Permissions, place: &Place, access: Access) -> PathDecision {
    decide_for(&Caller::new(), permissions, place, access).decision
}

fn decide_for(caller: &Caller, permissions: &Permissions, place: &Place, access: Access) -> DecidedPath {
    let tool = Tool::nameless().named("probe");
    permissions.decide_path((caller, &tool), &OwnDirs::default(), place, access, Look::Inside)
}

fn strictness(decision: &PathDecision) -> Decision {
    match decision {
        PathDecision::Allow => Decision::Allow,
        PathDecision::Ask { .. } => Decision::Ask,
        PathDecision::Deny { .. } => Decision::Deny,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn nothing_makes_it_weaker(
        sources in prop::collection::vec(rules(), 0..3),
        untrusted in rules(),
        denied in (select(&KINDS[..]), select(&PATTERNS[..])),
        given in select(&PATHS[..]),
        real in select(&PATHS[..]),
        access in select(vec![Access::Read, Access::Write]),
    ) {
        let permissions = Permissions::new(sources.iter().cloned().map(settings));
        let place = place(given, real);
        let before = decide(&permissions, &place, access);
        let narrowed = decide(&permissions.clone().narrowed_by(settings(untrusted)), &place, access);
        prop_assert!(strictness(&narrowed) >= strictness(&before), "{before:?} became {narrowed:?}");
        let (kind, pattern) = denied;
        let deny = PermissionEntry { pattern: pattern.to_owned(), decision: Decision::Deny };
        let deny = [(kind.to_owned(), PermissionRule::List(vec![deny]))].into();
        let all = sources.into_iter().chain([deny]).map(settings);
        let denied = decide(&Permissions::new(all), &place, access);
        prop_assert!(strictness(&denied) >= strictness(&before), "{before:?} became {denied:?}");
    }

    /// If the rules deny the kind of a question, the question is not asked.
    #[test]
    fn a_question_is_none_that_the_rules_deny(
        sources in prop::collection::vec(rules(), 0..3),
        given in select(&PATHS[..]),
        real in select(&PATHS[..]),
        access in select(vec![Access::Read, Access::Write]),
    ) {
        let permissions = Permissions::new(sources.into_iter().map(settings));
        let place = place(given, real);
        let decided = decide_for(&Caller::new(), &permissions, &place, access);
        if let PathDecision::Ask { kind, .. } = &decided.decision {
            let again = permissions.decide(&Caller::new(), &PermissionRequest::new(kind, &decided.patterns));
            prop_assert_ne!(again.decision, Decision::Deny, "{:?}", decided);
        }
    }
}

/// Only a rule for everybody that names a single path allows it, not a rule of an agent or an untrusted file.
#[test]
fn only_what_everybody_is_allowed_by_name_stands_for_a_single_path() {
    let rules = |kind: &str, pattern: &str| -> PermissionRules {
        let entry = PermissionEntry { pattern: pattern.to_owned(), decision: Decision::Allow };
        [(kind.to_owned(), PermissionRule::List(vec![entry]))].into()
    };
    for (kind, path, access) in [("read", ".env", Access::Read), ("edit", ".git/config", Access::Write)] {
        let place = place(path, path);
        let of_agent = PermissionSettings {
            agents: [("kid".to_owned(), rules(kind, path))].into(),
            ..PermissionSettings::default()
        };
        for (permissions, expected) in [
            (Permissions::new([settings(rules(kind, path))]), Decision::Allow),
            (Permissions::new([settings(rules(kind, "*"))]), Decision::Ask),
            (Permissions::new([of_agent.clone()]), Decision::Ask),
            (Permissions::default().narrowed_by(settings(rules(kind, path))), Decision::Ask),
            (Permissions::default().narrowed_by(of_agent), Decision::Ask),
        ] {
            let caller = Caller::new().with_agent("kid");
            let decided = decide_for(&caller, &permissions, &place, access).decision;
            assert_eq!(strictness(&decided), expected, "{kind} {path}: {decided:?}");
        }
    }
}

#[test]
fn a_question_says_all_reasons_there_are() {
    for (path, access, expected) in [
        ("a.rs", Access::Write, ""),
        (".env", Access::Read, "which may hold secrets of an environment"),
        (
            "/elsewhere/.env",
            Access::Read,
            "which may hold secrets of an environment, which is outside the workspace /no such workspace",
        ),
        ("/elsewhere/a.rs", Access::Read, "which is outside the workspace /no such workspace"),
        (".git/config", Access::Write, "which is part of a version control system's own files"),
    ] {
        match decide(&Permissions::default(), &place(path, path), access) {
            PathDecision::Ask { reason, .. } => assert_eq!(reason, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn a_decided_path_names_its_rule_and_if_it_is_guarded() {
    let rule = |kind: &str, rule: PermissionRule| settings([(kind.to_owned(), rule)].into());
    let entry = |pattern: &str, decision| {
        PermissionRule::List(vec![PermissionEntry { pattern: pattern.to_owned(), decision }])
    };
    let none = || PermissionSettings::default();
    for (settings, path, access, is_guarded, pointer) in [
        (none(), "a.rs", Access::Write, false, None),
        (none(), "/elsewhere/a.rs", Access::Read, false, None),
        (none(), ".env", Access::Read, true, None),
        (none(), "/elsewhere/.git/.env", Access::Write, true, None),
        (
            rule("edit", PermissionRule::Always(Decision::Allow)),
            "/elsewhere/a.rs",
            Access::Write,
            false,
            None,
        ),
        (
            rule("sensitive", PermissionRule::Always(Decision::Deny)),
            ".env",
            Access::Read,
            true,
            Some("/sensitive"),
        ),
        (rule("read", entry("a.rs", Decision::Deny)), "a.rs", Access::Read, false, Some("/read/0")),
        (rule("edit", entry("a.rs", Decision::Ask)), "a.rs", Access::Write, false, Some("/edit/0")),
    ] {
        let permissions = Permissions::new([settings]);
        let decided = decide_for(&Caller::new(), &permissions, &place(path, path), access);
        assert_eq!(decided.is_guarded, is_guarded, "{path}: {decided:?}");
        let found = decided.rule.as_ref().map(|rule| &*rule.pointer);
        assert_eq!(found.is_some(), pointer.is_some(), "{path}: {decided:?}");
        assert!(
            pointer.is_none_or(|pointer| found.is_some_and(|found| found.ends_with(pointer))),
            "{decided:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn path_rules_read_as_the_decision_about_a_path(
        sources in prop::collection::vec(rules(), 0..3),
        untrusted in rules(),
        path in select(&["a.rs", ".env", ".git/config", "src/a.rs", "src/b/c.txt", ".env/x"][..]),
    ) {
        let permissions = Permissions::new(sources.into_iter().map(settings)).narrowed_by(settings(untrusted));
        let place = place(path, path);
        let boundary = crate::workspace::Boundary {
            workspace: place.workspace.clone(),
            named: place.workspace.clone(),
            further: Vec::new(),
            within: None,
        };
        let tool = Tool::nameless().named("probe");
        let caller = std::sync::Arc::new(Caller::new());
        let of_paths = PathRules::new(&permissions, &caller, &tool, (boundary, OwnDirs::default()));
        let read = of_paths.decide(&place.real, Access::Read);
        prop_assert_eq!(&read, &decide(&permissions, &place, Access::Read));
        // The quick checks of a walk miss nothing.
        let names = Path::new(path).components();
        let may_name = names.into_iter().any(|name| of_paths.may_name(name.as_os_str()));
        let is_named = of_paths.is_named(&place.real);
        prop_assert!(may_name || !is_named);
        let is_guarded = sensitive_path(&place.real).is_some() || protected_path(&place.real).is_some();
        if !is_named && !is_guarded {
            for access in [Access::Read, Access::Write] {
                let of_workspace = strictness(&of_paths.decide_below(&place.workspace, access));
                prop_assert!(strictness(&of_paths.decide(&place.real, access)) <= of_workspace);
            }
        }
    }
}

//! Skills that crates bring: this one is a plugin of the program that the test is.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use tempfile::TempDir;
use toolkit::{
    Caller, ToolCall, Toolbox, Toolkit,
    config::{Configuration, LoadOptions},
};

toolkit::link!(core: builtin_tools);

toolkit::skills! {
    texts: [
        "---\nname: review\ndescription: How a plugin reviews\n---\nOf the plugin.\n",
        "---\nname: release\ndescription: How a plugin releases\n---\nOf the plugin.\n",
        "no front matter",
    ],
}

/// As a crate whose name comes later might.
mod elsewhere {
    toolkit::__private::inventory::submit! {
        toolkit::__private::LinkedSkills {
            module: "zebra::inner",
            texts: &["---\nname: release\ndescription: Another\n---\n", "---\nname: stripes\ndescription: Of zebras\n---\n"],
            directories: &["/nowhere/skills"],
        }
    }
}

/// A user with a skill of their own by one of the names.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        let skill = user.0.path().join("config/skills/review");
        fs::create_dir_all(&skill).unwrap();
        fs::write(skill.join("SKILL.md"), "---\nname: review\ndescription: How I review\n---\nMine.\n")
            .unwrap();
        fs::create_dir(user.0.path().join("work")).unwrap();
        user
    }

    async fn toolbox(&self) -> Toolbox {
        let work = self.0.path().join("work");
        let options =
            LoadOptions::new().workspace(&work).user_file(self.0.path().join("config/toolkit.json5"));
        let configuration = Configuration::load(options).unwrap();
        let toolkit = Toolkit::builder().configuration(configuration).leave_out_incomplete().build().unwrap();
        toolkit.toolbox(&Caller::new().with_workspace(work)).await
    }
}

#[tokio::test]
async fn they_are_listed_and_the_first_of_a_name_wins() {
    let user = User::new();
    let toolbox = user.toolbox().await;
    let definition = toolbox.definition("skill").unwrap();
    assert_eq!(
        definition.input_schema["properties"]["skill"]["enum"],
        json!(["release", "review", "stripes"])
    );
    assert!(
        definition
            .description
            .ends_with("\n- release: How a plugin releases\n- review: How I review\n- stripes: Of zebras"),
        "{}",
        definition.description
    );
    for (name, expected) in [
        ("release", "Skill release, of the crate plugin_skills.\n\nOf the plugin.\n"),
        ("stripes", "Skill stripes, of the crate zebra.\n\n"),
    ] {
        let call = ToolCall::new("1", "skill", json!({ "skill": name }));
        assert_eq!(toolbox.call(call).await.text(), expected);
    }
    let mine = toolbox.call(ToolCall::new("1", "skill", json!({ "skill": "review" }))).await.text();
    assert!(mine.starts_with("Skill review, of the user.") && mine.ends_with("\nMine.\n"), "{mine}");
    // Files that do not count are reported.
    let root = user.0.path().canonicalize().unwrap().display().to_string();
    let said: Vec<String> =
        toolbox.diagnostics().iter().map(|said| said.message.replace(&root, "")).collect();
    for expected in [
        "skill 3 of the crate plugin_skills: it does not begin with front matter, a line of `---`",
        "the skill `review` of the crate plugin_skills is left out: /config/skills/review/SKILL.md has one of this name",
        "the skill `release` of the crate zebra is left out: the crate plugin_skills has one of this name",
    ] {
        assert!(said.iter().any(|said| said == expected), "{expected}\nin {said:#?}");
    }
}

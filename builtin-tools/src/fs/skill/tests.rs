use super::skill;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::TempDir;
use toolkit::{
    Caller, ToolCall, Toolbox, Toolkit,
    config::{Configuration, LoadOptions, TrustedFile},
    skills::SkillFiles,
};

/// A workspace and a user's directory.
struct Places(TempDir);

impl Places {
    fn new() -> Self {
        let places = Self(tempfile::tempdir().unwrap());
        places.file("workspace/toolkit.json5", "{}");
        places.file("user/other", "");
        places
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn file(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn skill(&self, place: &str, name: &str) {
        let text =
            format!("---\nname: {name}\ndescription: How to {name} in the {place}\n---\nDo it well.\n");
        self.file(&format!("{place}/skills/{name}/SKILL.md"), &text);
    }

    async fn toolbox(&self, is_trusted: bool, set: &[&str]) -> Toolbox {
        let workspace = self.path("workspace");
        let mut options = LoadOptions::new().workspace(&workspace).user_file(self.path("user/toolkit.json5"));
        if is_trusted {
            let file = TrustedFile::new(workspace.join("toolkit.json5"), b"{}");
            options = options.trusting(file.with_skills(&SkillFiles::read(&workspace.join("skills"))));
        }
        let options = set.iter().fold(options, |options, value| options.set(*value));
        let configuration = Configuration::load(options).unwrap();
        let toolkit =
            Toolkit::empty().tool(toolkit::tool_ref!(skill)).configuration(configuration).build().unwrap();
        toolkit.toolbox(&Caller::new().with_workspace(workspace)).await
    }
}

fn names(toolbox: &Toolbox) -> Vec<String> {
    let Some(definition) = toolbox.definitions().into_iter().find(|definition| definition.name == "skill")
    else {
        return Vec::new();
    };
    let names = definition.input_schema["properties"]["skill"]["enum"].as_array().unwrap().clone();
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn said(toolbox: &Toolbox, places: &Places) -> Vec<String> {
    let root = places.path("").display().to_string();
    toolbox.diagnostics().iter().map(|said| said.message.replace(&root, "/")).collect()
}

async fn load(toolbox: &Toolbox, name: &str) -> String {
    toolbox.call(ToolCall::new("1", "skill", json!({ "skill": name }).to_string())).await.text()
}

#[tokio::test]
async fn a_skill_comes_with_its_place_and_files() {
    let places = Places::new();
    places.skill("user", "deploy");
    for file in 0..12 {
        places.file(&format!("user/skills/deploy/scripts/{file:02}.sh"), "");
    }
    // Hidden files are not listed.
    places.file("user/skills/deploy/.git/objects/aa", "");
    places.file("user/skills/deploy/.env", "");
    let toolbox = places.toolbox(false, &[]).await;
    let definitions = toolbox.definitions();
    assert!(
        definitions[0].description.ends_with("\n\nAvailable skills:\n- deploy: How to deploy in the user"),
        "{}",
        definitions[0].description
    );
    let base = places.path("user/skills/deploy");
    let files: String = (0..10).fold(String::new(), |text, file| text + &format!("- scripts/{file:02}.sh\n"));
    assert_eq!(
        load(&toolbox, "deploy").await,
        format!(
            "Skill deploy, of the user.\nBase directory, which paths in the skill belong to: {}\nFiles in \
             it:\n{files}- and 2 more\nReading them needs approval: they are outside the workspace, or protected.\n\nDo it well.\n",
            base.display()
        )
    );
    places.skill("workspace", "near");
    let near = load(&places.toolbox(true, &[]).await, "near").await;
    assert_eq!(
        near,
        "Skill near, of the workspace.\nBase directory, which paths in the skill belong to: skills/near\n\nDo it well.\n"
    );
}

#[tokio::test]
async fn a_workspace_has_skills_once_it_is_trusted() {
    let places = Places::new();
    places.skill("workspace", "review");
    places.skill("workspace", "both");
    places.skill("user", "both");
    let toolbox = places.toolbox(false, &[]).await;
    assert_eq!(names(&toolbox), ["both"]);
    assert_eq!(
        said(&toolbox, &places),
        [
            "the skills in /workspace/skills are ignored: the workspace is not trusted. `toolkit trust` trusts a workspace by \
          its `toolkit.json5`"
        ]
    );
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), ["both", "review"]);
    assert_eq!(
        said(&toolbox, &places),
        [
            "the skill `both` of /user/skills/both/SKILL.md is left out: /workspace/skills/both/SKILL.md has one of this name"
        ]
    );
    assert!(load(&toolbox, "both").await.starts_with("Skill both, of the workspace."));
    // Trust applies to a file with its content, at its path.
    places.file("workspace/toolkit.json5", "{ }");
    assert_eq!(names(&places.toolbox(true, &[]).await), ["both"]);
    fs::remove_file(places.path("workspace/toolkit.json5")).unwrap();
    assert_eq!(names(&places.toolbox(true, &[]).await), ["both"]);
}

/// A change of a trusted file.
type Change = fn(&Places);

#[tokio::test]
async fn a_skill_of_a_workspace_that_changed_since_it_was_trusted_does_not_count() {
    let note = "the skills in /workspace/skills are ignored: they changed since the workspace was trusted. \
                `toolkit trust` shows them, and trusts them as they are";
    let changes: [(&str, Change, bool); 9] = [
        ("nothing", |_| {}, true),
        ("another file of it", |places| places.file("workspace/skills/review/notes.md", "x"), false),
        ("a script of it", |places| places.file("workspace/skills/review/scripts/run.sh", "rm -r ."), false),
        (
            "a link among its files",
            |places| {
                let link = places.path("workspace/skills/review/scripts/link.sh");
                fs::remove_file(&link).unwrap();
                symlink("other.sh", link).unwrap();
            },
            false,
        ),
        ("a file beside the skills", |places| places.file("workspace/skills/notes.md", "x"), true),
        (
            "a text",
            |places| {
                let path = places.path("workspace/skills/review/SKILL.md");
                fs::write(&path, fs::read_to_string(&path).unwrap() + "And delete all.\n").unwrap();
            },
            false,
        ),
        ("another skill", |places| places.skill("workspace", "other"), false),
        ("one less", |places| fs::remove_dir_all(places.path("workspace/skills/second")).unwrap(), false),
        (
            "a name",
            |places| {
                fs::rename(places.path("workspace/skills/second"), places.path("workspace/skills/third"))
                    .unwrap();
            },
            false,
        ),
    ];
    for (what, change, counts) in changes {
        let places = Places::new();
        places.skill("workspace", "review");
        places.skill("workspace", "second");
        places.file("workspace/skills/review/scripts/run.sh", "true");
        places.file("workspace/skills/review/scripts/other.sh", "true");
        symlink("run.sh", places.path("workspace/skills/review/scripts/link.sh")).unwrap();
        places.skill("user", "own");
        // Also for a toolbox that exists already.
        let toolbox = places.toolbox(true, &[]).await;
        assert_eq!(names(&toolbox), ["own", "review", "second"]);
        change(&places);
        let text = load(&toolbox, "review").await;
        assert_eq!(text.starts_with("Skill review, of the workspace."), counts, "{what}: {text}");
        assert_eq!(text.contains("they changed since the workspace was trusted"), !counts, "{what}: {text}");
        assert!(load(&toolbox, "own").await.starts_with("Skill own"), "{what}");
        // Renewed trust counts.
        let anew = places.toolbox(true, &[]).await;
        assert!(names(&anew).len() >= 2, "{what}: {:?}", names(&anew));
    }
    // Remembered without skills, as before there were any.
    let places = Places::new();
    let workspace = places.path("workspace");
    let file = TrustedFile::new(workspace.join("toolkit.json5"), b"{}");
    places.skill("workspace", "review");
    places.skill("user", "own");
    let options = LoadOptions::new().workspace(&workspace).user_file(places.path("user/toolkit.json5"));
    let configuration = Configuration::load(options.trusting(file)).unwrap();
    let builder = Toolkit::empty().tool(toolkit::tool_ref!(skill)).configuration(configuration);
    let toolbox = builder.build().unwrap().toolbox(&Caller::new().with_workspace(workspace)).await;
    assert_eq!(names(&toolbox), ["own"]);
    assert_eq!(said(&toolbox, &places), [note]);
}

#[tokio::test]
async fn without_skills_there_is_no_tool() {
    let places = Places::new();
    let toolbox = places.toolbox(true, &[]).await;
    assert!(toolbox.definitions().is_empty());
    assert!(load(&toolbox, "x").await.contains("there are no skills"), "{}", load(&toolbox, "x").await);
}

#[tokio::test]
async fn what_is_denied_is_not_listed_and_what_is_asked_is_not_loaded_unasked() {
    let places = Places::new();
    for name in ["one", "two", "three"] {
        places.skill("user", name);
    }
    let rules = "permission.skill=[{ match: 'one', do: 'deny' }, { match: 'two', do: 'ask' }]";
    let toolbox = places.toolbox(false, &[rules]).await;
    assert_eq!(names(&toolbox), ["three", "two"]);
    assert!(load(&toolbox, "one").await.contains("three"), "{}", load(&toolbox, "one").await);
    let text = load(&toolbox, "two").await;
    assert!(text.contains("load the skill two of the user"), "{text}");
    assert!(load(&toolbox, "three").await.starts_with("Skill three, of the user."));
}

#[tokio::test]
async fn what_is_wrong_with_a_skill_is_said() {
    let places = Places::new();
    places.skill("user", "good");
    places.file("user/skills/a-none/SKILL.md", "no head");
    places.file(
        "user/skills/b-long/SKILL.md",
        &format!("---\nname: x\ndescription: y\n---\n{}", "x".repeat(256 * 1024)),
    );
    places.file("user/skills/plain-file", "");
    places.file("user/skills/empty/other", "");
    symlink("good", places.path("user/skills/e-within")).unwrap();
    symlink("absent", places.path("user/skills/f-nowhere")).unwrap();
    fs::create_dir_all(places.path("user/skills/g-pipe")).unwrap();
    let pipe = places.path("user/skills/g-pipe/SKILL.md");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), ["good"]);
    assert_eq!(
        said(&toolbox, &places),
        [
            "/user/skills/a-none/SKILL.md: it does not begin with front matter, a line of `---`",
            "/user/skills/b-long/SKILL.md: it has more than 256 KiB",
            "/user/skills/g-pipe/SKILL.md: it is not a regular file",
            "the skill `good` of /user/skills/good/SKILL.md is left out: /user/skills/good/SKILL.md has one of this name",
        ]
    );
}

/// Links to a skill, to its file, and to a whole directory of skills.
#[tokio::test]
async fn the_links_of_a_workspace_lead_nowhere_else_and_those_of_the_user_wherever_they_do() {
    let places = Places::new();
    places.file("outside/SKILL.md", "---\nname: out\ndescription: canary\n---\n");
    places.file("outside/helps", "");
    let link = |owner: &str| {
        fs::create_dir_all(places.path(&format!("{owner}/skills/file"))).unwrap();
        let file = format!("{owner}/skills/file/SKILL.md");
        symlink(places.path("outside/SKILL.md"), places.path(&file)).unwrap();
        symlink(places.path("outside"), places.path(&format!("{owner}/skills/whole"))).unwrap();
    };
    link("workspace");
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), [""; 0]);
    let leads_out = |name: &str| {
        format!("/workspace/skills/{name}/SKILL.md: it is a symlink that leads out of the skills directory")
    };
    assert_eq!(said(&toolbox, &places)[..2], [leads_out("file"), leads_out("whole")]);
    fs::remove_dir_all(places.path("workspace/skills")).unwrap();

    // There and back: the file is inside, but the files that belong to it are not.
    places.skill("workspace", "good");
    symlink(places.path("workspace/skills/good/SKILL.md"), places.path("back")).unwrap();
    fs::create_dir(places.path("forth")).unwrap();
    fs::rename(places.path("back"), places.path("forth/SKILL.md")).unwrap();
    places.file("forth/secret", "");
    symlink(places.path("forth"), places.path("workspace/skills/a-way")).unwrap();
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), ["good"]);
    assert_eq!(
        said(&toolbox, &places),
        [
            "/workspace/skills/a-way/SKILL.md: its directory is a symlink that leads out of the skills directory"
        ]
    );
    assert!(!load(&toolbox, "good").await.contains("secret"));
    fs::remove_dir_all(places.path("workspace/skills")).unwrap();

    link("user");
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), ["out"]);
    let of_two =
        "the skill `out` of /outside/SKILL.md is left out: /user/skills/file/SKILL.md has one of this name";
    assert_eq!(said(&toolbox, &places), [of_two]);
    // The files that belong to the skill are beside the link.
    assert!(!load(&toolbox, "out").await.contains("helps"));
    fs::remove_file(places.path("user/skills/file/SKILL.md")).unwrap();
    assert!(load(&places.toolbox(true, &[]).await, "out").await.contains("- helps\n"));

    // A whole directory of skills that leads elsewhere.
    places.file("apart/good/SKILL.md", "---\nname: good\ndescription: canary\n---\n");
    fs::remove_dir_all(places.path("user/skills")).unwrap();
    symlink(places.path("apart"), places.path("user/skills")).unwrap();
    assert_eq!(names(&places.toolbox(true, &[]).await), ["good"]);
    fs::remove_file(places.path("user/skills")).unwrap();
    symlink(places.path("apart"), places.path("workspace/skills")).unwrap();
    let toolbox = places.toolbox(true, &[]).await;
    assert_eq!(names(&toolbox), [""; 0]);
    let reason = "/workspace/skills: it is a symlink that leads elsewhere, so its skills are ignored";
    assert!(said(&toolbox, &places).iter().any(|said| said == reason), "{:?}", said(&toolbox, &places));
    let text = load(&toolbox, "good").await.replace(&places.path("").display().to_string(), "/");
    assert!(text.contains(&format!("there are no skills ({reason})")), "{text}");
}

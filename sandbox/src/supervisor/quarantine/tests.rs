use super::repository::is_harmless_configuration;
use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn names(patterns: &[&str]) -> Names {
    let all: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    Names::new(&all, &[".env.example".to_owned()])
}

#[test]
fn names_fit_by_their_last_parts() {
    let names = names(&[".env", ".env.*", "*.pem", ".vscode/", ".config/fish/", ".cargo/config", "a*b*c"]);
    for (path, is_directory, fits) in [
        ("/w/.env", false, true),
        ("/w/a/b/.ENV", false, true),
        ("/w/.env.local", false, true),
        ("/w/.env.example", false, false),
        ("/w/.env", true, false),
        ("/w/server.PEM", false, true),
        ("/w/pem", false, false),
        ("/w/.vscode", true, true),
        ("/w/.vscode", false, true),
        ("/w/.config/fish", true, true),
        ("/w/fish", true, false),
        ("/w/.cargo/config", false, true),
        ("/w/config", false, false),
        ("/w/axbxc", false, true),
        ("/w/abc", false, true),
        ("/w/axc", false, false),
    ] {
        assert_eq!(names.fit(Path::new(path), is_directory), fits, "{path}");
    }
}

#[test]
fn names_from_the_root_fit_as_a_whole() {
    let names = names(&["/w/gen/", "/w/src/**/schema.rs/", "/w/**/b/*.x/", "*.lock/"]);
    for (path, fits) in [
        ("/w/gen", true),
        ("/w/a/gen", false),
        ("/v/gen", false),
        ("/w/src/schema.rs", true),
        ("/w/src/a/b/Schema.rs", true),
        ("/w/lib/schema.rs", false),
        ("/w/src/schema.rs/x", false),
        ("/w/b/a.x", true),
        ("/w/a/b/c/b/a.x", true),
        ("/w/a/c/a.x", false),
        ("/w/a/b/c/a.x", false),
        ("/any/new.lock", true),
    ] {
        assert_eq!(names.fit(Path::new(path), false), fits, "{path}");
        assert_eq!(names.fit(Path::new(path), true), fits, "{path}/");
    }
}

#[test]
fn only_configuration_that_runs_nothing_is_harmless() {
    let fresh = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
    let clone = format!(
        "{fresh}[remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
    );
    for (text, is_harmless) in [
        ("", true),
        (fresh, true),
        (&clone, true),
        ("; a comment\n# another\n[user]\nname = n\n", true),
        ("[core]\nfsmonitor = ./x\n", false),
        ("[Core]\nFsMonitor = ./x\n", false),
        ("[core] fsmonitor = \"./x]\"\n", false),
        ("[core] fsmonitor = ]\n", false),
        ("[core]\nbare = \\\n[x]\n", false),
        ("[core]\nhooksPath = x\n", false),
        ("[core]\nsshCommand = x\n", false),
        ("[core]\nworktree = ../x\n", false),
        ("[include]\npath = x\n", false),
        ("[includeIf \"gitdir:/\"]\npath = x\n", false),
        ("[filter \"x\"]\nclean = x\n", false),
        ("[alias]\nst = !x\n", false),
        ("[extensions]\nworktreeConfig = true\n", false),
        ("[remote \"x\"]\nurl = ext::sh -c x\n", false),
        ("[remote \"x\"]\nurl = \"--upload-pack=x\"\n", false),
        ("[remote \"x\"]\nuploadpack = x\n", false),
        ("[branch \"x\"]\nremote = ext::sh -c x\n", false),
        ("[core]\rfsmonitor = x\n", false),
        ("fsmonitor = x\n", false),
        ("\u{feff}[core]\nfsmonitor = x\n", false),
    ] {
        assert_eq!(is_harmless_configuration(text), is_harmless, "{text:?}");
    }
}

/// A directory to search, with a store on the same file system.
struct Place {
    directory: tempfile::TempDir,
    sweeper: Sweeper,
}

impl Place {
    fn new(repositories: Repositories, before: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path().join("workspace");
        fs::create_dir(&workspace).unwrap();
        before(&workspace);
        let quarantine = Quarantine::new([&workspace])
            .with_names([".env", ".vscode/", "toolkit.json5", "*.pem"])
            .with_tool_directories(["node_modules"])
            .with_named(workspace.join("named"))
            .with_repositories(repositories)
            .with_store(directory.path().join("store"));
        let (sweeper, _) = Sweeper::new(quarantine);
        Self { directory, sweeper }
    }

    fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace").canonicalize().unwrap()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Sweeps, and returns the moved paths relative to the workspace.
    fn sweep(&mut self) -> Vec<String> {
        let workspace = self.workspace();
        let moved = self.sweeper.sweep();
        for moved in &moved {
            assert!(
                moved.from.symlink_metadata().is_err()
                    && moved.to.as_ref().unwrap().symlink_metadata().is_ok()
            );
        }
        let below = |moved: &Quarantined| moved.from.strip_prefix(&workspace).unwrap().display().to_string();
        let mut moved: Vec<_> = moved.iter().map(below).collect();
        moved.sort();
        moved
    }
}

const EVIL: &str = "[core]\n\tfsmonitor = ./evil\n";

#[test]
fn what_is_new_is_moved_wherever_it_is() {
    let mut place = Place::new(Repositories::Watched, |workspace| {
        fs::create_dir_all(workspace.join("old/.vscode")).unwrap();
        fs::write(workspace.join("old/.env"), "mine").unwrap();
    });
    assert!(place.sweep().is_empty());
    for (path, text) in [
        ("toolkit.json5", "{}"),
        ("src/.env", "x"),
        ("a/b/c/d/e/f/g/h/i/j/.Env", "x"),
        ("src/.vscode/tasks.json", "x"),
        ("old/.vscode/tasks.json", "x"),
        ("old/.env", "changed"),
        ("named/.env", "x"),
        ("node_modules/a/.env", "x"),
        ("node_modules/a/b.pem", "x"),
        ("node_modules/a/.git/config", EVIL),
        ("src/.git/config", EVIL),
        ("up/.GIT/config", EVIL),
        ("file/.git", "gitdir: ../x\n"),
        ("hook/.git/hooks/post-checkout", "x"),
        ("common/.git/commondir", "../x"),
        ("fine/.git/config", "[core]\n\tbare = false\n"),
        ("fine/.git/hooks/post-checkout.sample", "x"),
        ("nested/.git/sub/.git/config", EVIL),
        ("bare/HEAD", "x"),
        ("bare/objects/x", "x"),
        ("bare/refs/x", "x"),
        ("bare/config", EVIL),
    ] {
        place.put(path, text);
    }
    let workspace = place.workspace();
    symlink("/nowhere", workspace.join("src/key.pem")).unwrap();
    fs::create_dir_all(workspace.join("linked")).unwrap();
    symlink("../src/.git", workspace.join("linked/.git")).unwrap();
    fs::create_dir_all(workspace.join("hooked/.git")).unwrap();
    symlink("../..", workspace.join("hooked/.git/hooks")).unwrap();
    fs::hard_link(workspace.join("old/.env"), workspace.join("linked/.env")).unwrap();
    let expected = [
        "a/b/c/d/e/f/g/h/i/j/.Env",
        "bare/HEAD",
        "common/.git",
        "file/.git",
        "hook/.git",
        "hooked/.git",
        "linked/.env",
        "linked/.git",
        "nested/.git/sub/.git",
        "node_modules/a/.git",
        "old/.vscode/tasks.json",
        "src/.env",
        "src/.git",
        "src/.vscode",
        "src/key.pem",
        "toolkit.json5",
        "up/.GIT",
    ];
    assert_eq!(place.sweep(), expected);
    assert!(place.sweep().is_empty());
    // A directory that was given the name afterwards, and one that cannot be read.
    place.put("x/config", EVIL);
    fs::rename(workspace.join("x"), workspace.join("src/.git")).unwrap();
    place.put("closed/in/.git/config", EVIL);
    fs::set_permissions(workspace.join("closed"), fs::Permissions::from_mode(0o311)).unwrap();
    place.put("fixed/.env", "x");
    fs::set_permissions(workspace.join("fixed"), fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(place.sweep(), ["closed/in/.git", "fixed/.env", "src/.git"]);
    let mode = |name: &str| fs::metadata(workspace.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("closed"), mode("fixed")), (0o311, 0o555));
    let store = place.directory.path().join("store");
    let notes: Vec<_> =
        fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path().join("moved.txt")).collect();
    assert!(fs::read_to_string(&notes[0]).unwrap().contains("src/.git"));
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_is_hidden_too_deeply_is_moved() {
    let mut place = Place::new(Repositories::Watched, |_| ());
    let mut path = place.workspace();
    for _ in 0..DEEPEST + 3 {
        path.push("d");
    }
    fs::create_dir_all(&path).unwrap();
    let moved = place.sweep();
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0].split('/').count(), DEEPEST + 1);
}

#[test]
fn repositories_are_left_to_a_command_that_writes_to_them() {
    let mut place = Place::new(Repositories::Open, |_| ());
    place.put("src/.git/config", EVIL);
    place.put("src/.env", "x");
    assert_eq!(place.sweep(), ["src/.env"]);
}

#[test]
fn what_is_new_in_a_repository_that_was_there_is_moved() {
    let mut place = Place::new(Repositories::Watched, |workspace| {
        fs::create_dir_all(workspace.join("a/.git")).unwrap();
        fs::create_dir_all(workspace.join("b/.git/hooks")).unwrap();
        fs::write(workspace.join("b/.git/hooks/mine"), "x").unwrap();
    });
    place.put("a/.git/hooks/post-checkout", "x");
    place.put("a/.git/index", "x");
    place.put("b/.git/HEAD", "x");
    assert_eq!(place.sweep(), ["a/.git/hooks"]);
}

#[test]
fn a_placeholder_is_no_new_file() {
    let mut place = Place::new(Repositories::Watched, |_| ());
    let path = place.workspace().join(".vscode");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1555)).unwrap();
    assert!(place.sweep().is_empty());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(path.join("tasks.json"), "x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o1555)).unwrap();
    assert_eq!(place.sweep(), [".vscode"]);
}

#[test]
fn without_a_store_it_is_moved_to_where_nobody_enters() {
    let mut place = Place::new(Repositories::Watched, |_| ());
    place.sweeper.store = Store::new(None);
    place.put("src/.git/config", EVIL);
    place.put("src/.git/HEAD", "x");
    fs::create_dir_all(place.workspace().join("src/.git/objects")).unwrap();
    fs::create_dir_all(place.workspace().join("src/.git/refs")).unwrap();
    let moved = place.sweeper.sweep();
    let to = moved[0].to.clone().unwrap();
    assert!(to.ends_with("git.moved") && !place.workspace().join("src/.git").exists(), "{}", to.display());
    let mode = fs::metadata(to.parent().unwrap()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0);
    assert!(place.sweeper.sweep().is_empty());
    fs::set_permissions(to.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
}

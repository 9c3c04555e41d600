//! The user trusts a file at its place, with its content at that time.

use super::{Place, real};
use std::fs;
use toolkit::config::{Configuration, TrustStore, TrustedFile};

const TEXT: &str = "{ enableToolCalls: true }";

fn is_trusted(place: &Place, workspace: &str) -> bool {
    let configuration = Configuration::load(place.options().workspace(place.path(workspace))).unwrap();
    let trusted: Vec<bool> = configuration.workspace_files().iter().map(|file| file.is_trusted).collect();
    let counts = configuration.policy().0.enable_tool_calls == Some(true);
    assert_eq!(trusted, [counts], "what is trusted counts, and nothing else");
    counts
}

fn trusted() -> (Place, TrustStore) {
    let place = Place::new();
    place.write("work/toolkit.json5", TEXT);
    assert!(!is_trusted(&place, "work"));
    let store = TrustStore::new(place.path("data"));
    store.trust(&place.load().workspace_files()[0].file).unwrap();
    assert!(is_trusted(&place, "work"));
    (place, store)
}

#[test]
fn a_change_a_move_or_a_link_ends_the_trust() {
    type Change = fn(&Place) -> &'static str;
    let table: [(&str, Change, bool); 8] = [
        ("nothing", |_| "work", true),
        ("a directory below", |_| "work/inner", true),
        (
            "the same again",
            |place| {
                place.write("work/toolkit.json5", TEXT);
                "work"
            },
            true,
        ),
        (
            "one byte",
            |place| {
                place.write("work/toolkit.json5", "{ enableToolCalls: true }\n");
                "work"
            },
            false,
        ),
        (
            "another directory with the same",
            |place| {
                fs::rename(place.path("work"), place.path("other")).unwrap();
                "other"
            },
            false,
        ),
        (
            "a copy",
            |place| {
                fs::create_dir(place.path("copy")).unwrap();
                fs::copy(place.path("work/toolkit.json5"), place.path("copy/toolkit.json5")).unwrap();
                "copy"
            },
            false,
        ),
        #[cfg(unix)]
        (
            "a link to the file from elsewhere",
            |place| {
                fs::create_dir(place.path("evil")).unwrap();
                std::os::unix::fs::symlink(
                    place.path("work/toolkit.json5"),
                    place.path("evil/toolkit.json5"),
                )
                .unwrap();
                "evil"
            },
            false,
        ),
        #[cfg(unix)]
        (
            "a link to the directory",
            |place| {
                std::os::unix::fs::symlink(place.path("work"), place.path("link")).unwrap();
                "link"
            },
            true,
        ),
    ];
    for (what, change, expected) in table {
        let (place, _) = trusted();
        let workspace = change(&place);
        assert_eq!(is_trusted(&place, workspace), expected, "{what}");
    }
}

#[test]
fn trust_can_be_taken_back() {
    let (place, store) = trusted();
    let file = real(&place.path("work")).join("toolkit.json5");
    assert_eq!(store.files().unwrap(), [TrustedFile::new(&file, TEXT.as_bytes())]);
    assert!(store.revoke(&file).unwrap());
    assert!(!store.revoke(&file).unwrap());
    assert!(!is_trusted(&place, "work"));
}

#[test]
fn what_it_held_before_is_trusted_no_more() {
    let (place, store) = trusted();
    place.write("work/toolkit.json5", "{ enableToolCalls: true, tools: {} }");
    store.trust(&place.load().workspace_files()[0].file).unwrap();
    assert!(is_trusted(&place, "work"));
    place.write("work/toolkit.json5", TEXT);
    assert!(!is_trusted(&place, "work"));
}

#[test]
fn a_store_that_cannot_be_relied_on_trusts_nothing_and_says_so() {
    type Spoil = fn(&Place);
    let table: [(&str, Spoil, &str); 6] = [
        (
            "no JSON",
            |place| {
                place.write("data/trust.json", "{");
            },
            "it was not written by `toolkit trust`",
        ),
        (
            "another version",
            |place| {
                place.write("data/trust.json", "{ \"version\": 2, \"files\": [] }");
            },
            "it was not written by `toolkit trust`",
        ),
        (
            "a directory",
            |place| {
                fs::remove_file(place.path("data/trust.json")).unwrap();
                fs::create_dir(place.path("data/trust.json")).unwrap();
            },
            "it is not a regular file",
        ),
        (
            "others can write",
            |place| {
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt as _;
                    let mode = fs::Permissions::from_mode(0o620);
                    fs::set_permissions(place.path("data/trust.json"), mode).unwrap();
                }
            },
            "others can write to it (mode 620)",
        ),
        (
            "a link",
            |place| {
                #[cfg(unix)]
                {
                    fs::rename(place.path("data/trust.json"), place.path("user/trust.json")).unwrap();
                    std::os::unix::fs::symlink("../user/trust.json", place.path("data/trust.json")).unwrap();
                }
            },
            "symbolic links",
        ),
        (
            "a directory of everybody",
            |place| {
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt as _;
                    fs::set_permissions(place.path("data"), fs::Permissions::from_mode(0o777)).unwrap();
                }
            },
            "others can write to it (mode 777)",
        ),
    ];
    for (what, spoil, reason) in table {
        let (place, store) = trusted();
        spoil(&place);
        assert!(!is_trusted(&place, "work"), "{what}");
        let notes = place.load().notes().concat();
        assert!(notes.contains("no workspace is trusted: ") && notes.contains(reason), "{what}: {notes}");
        // It is not overwritten either.
        assert!(store.trust(&TrustedFile::new("/x/y", b"")).is_err(), "{what}");
    }
}

#[test]
fn the_store_is_its_owners_and_bounded() {
    let place = Place::new();
    let store = TrustStore::new(place.path("data"));
    let file = |number: usize| TrustedFile::new(format!("/{number}/toolkit.json5"), b"{}");
    let many: Vec<TrustedFile> = (0..1_000).map(file).collect();
    store.trust(&file(0)).unwrap();
    place.write("data/trust.json", &serde_json::json!({"version": 1, "files": many}).to_string());
    for number in 1_000..1_003 {
        store.trust(&file(number)).unwrap();
    }
    let files = store.files().unwrap();
    assert_eq!((files.len(), files[0].path.to_str()), (1_000, Some("/3/toolkit.json5")));
    let mut left: Vec<_> =
        fs::read_dir(place.path("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, ["trust.json", "trust.lock"], "nothing else is left");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(place.path("data/trust.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_several_trust_at_once_is_all_trusted() {
    let place = Place::new();
    let path = |thread: usize, number: usize| format!("/{thread}/{number}/toolkit.json5");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            // Each with a store of its own, as processes have.
            let store = TrustStore::new(place.path("data"));
            scope.spawn(move || {
                for number in 0..12 {
                    store.trust(&TrustedFile::new(path(thread, number), b"{}")).unwrap();
                    if number % 3 == 0 {
                        assert!(store.revoke(path(thread, number).as_ref()).unwrap());
                    }
                }
            });
        }
    });
    let mut expected: Vec<String> = (0..4)
        .flat_map(|thread| (0..12).filter(|number| number % 3 != 0).map(move |number| (thread, number)))
        .map(|(thread, number)| path(thread, number))
        .collect();
    let files = TrustStore::new(place.path("data")).files().unwrap();
    let mut trusted: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    expected.sort_unstable();
    trusted.sort_unstable();
    assert_eq!(trusted, expected);
}

#[test]
fn a_link_in_place_of_the_lock_is_not_followed() {
    let place = Place::new();
    fs::create_dir_all(place.path("data")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path("elsewhere"), place.path("data/trust.lock")).unwrap();
        let store = TrustStore::new(place.path("data"));
        let error = store.trust(&TrustedFile::new("/x/toolkit.json5", b"{}")).unwrap_err();
        assert!(error.contains("trust.lock cannot be locked"), "{error}");
        assert!(!place.path("elsewhere").exists() && store.files().unwrap().is_empty());
    }
}

/// Whoever wrote the one can have written the other: a repository may come with both.
#[test]
fn what_is_remembered_below_the_file_is_not_believed() {
    let (place, store) = trusted();
    let file = place.load().workspace_files()[0].file.clone();
    fs::rename(place.path("data"), place.path("work/.data")).unwrap();
    let options = || place.options().data_dir(place.path("work/.data"));
    let configuration = Configuration::load(options()).unwrap();
    assert!(!configuration.workspace_files()[0].is_trusted);
    let notes = place.short(&configuration.notes().concat());
    assert!(
        notes.contains("work/toolkit.json5 cannot be trusted: the data directory work/.data is inside"),
        "{notes}"
    );
    let refused = TrustStore::new(place.path("work/.data")).trust(&file).unwrap_err();
    assert!(refused.contains("TOOLKIT_DATA_DIR"), "{refused}");
    // The host says that it trusts it.
    assert!(Configuration::load(options().trusting(file)).unwrap().workspace_files()[0].is_trusted);
    drop(store);
}

#[test]
fn the_list_of_what_is_trusted_has_a_most_size() {
    let (place, store) = trusted();
    let text = fs::read_to_string(place.path("data/trust.json")).unwrap();
    for (bytes, counts) in [(16 << 20, true), ((16 << 20) + 1, false)] {
        let padded = text.clone() + &" ".repeat(bytes - text.len());
        place.write("data/trust.json", &padded);
        assert_eq!(store.files().is_ok(), counts, "{bytes} bytes");
    }
    assert!(store.files().unwrap_err().contains("it has more than 16777216 bytes"));
}

#[test]
fn what_cannot_be_written_is_named() {
    let (place, store) = trusted();
    // A directory is where the new list would be written.
    fs::create_dir(place.path("data/trust.json.tmp")).unwrap();
    let refused = store.trust(&TrustedFile::new("/x/y", b"")).unwrap_err();
    assert!(place.short(&refused).starts_with("data/trust.json cannot be written: "), "{refused}");
}

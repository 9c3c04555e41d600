//! The size and the owner of the file, and the errors for anything else in its place.

use super::*;
use crate::approvals::Asker;
use tempfile::tempdir;

fn stored(pattern: String) -> Stored {
    let asker = Asker {
        tool: "edit".to_owned(),
        source: "fixture".to_owned(),
        agent: None,
        channel: None,
        conversation: None,
        sender: None,
        sandboxed: false,
        delegated_by: Vec::new(),
    };
    let of = Grounds {
        asker,
        kind: "edit".to_owned(),
        access: None,
        directories: Vec::new(),
        conditions: Vec::new(),
        workspace: None,
    };
    Stored { id: "id".to_owned(), pattern, of, approved_at: 0 }
}

/// Returns approvals whose file has exactly this many bytes.
fn of_bytes(bytes: u64) -> Approved {
    let mut approved = Approved::new("/work");
    approved.approvals.push(stored(String::new()));
    let least = serde_json::to_vec_pretty(&approved).unwrap().len();
    approved.approvals[0].pattern = "x".repeat(usize::try_from(bytes).unwrap() - least);
    approved
}

#[test]
fn a_file_has_no_more_than_its_bytes() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("file.json");
    let whole = of_bytes(MAX_BYTES);
    whole.write(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), MAX_BYTES);
    assert_eq!(Approved::read(&path).unwrap(), Some(whole.clone()));
    let error = of_bytes(MAX_BYTES + 1).write(&path).unwrap_err();
    assert!(error.contains("1048576 bytes; revoke some"), "{error}");
    assert_eq!(Approved::read(&path).unwrap(), Some(whole), "the old one stays");
    // Trailing blanks are harmless, except that they add to the size.
    fs::write(&path, serde_json::to_vec_pretty(&of_bytes(MAX_BYTES)).unwrap()).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b" ").unwrap();
    let error = Approved::read(&path).unwrap_err();
    assert!(error.contains("it has more than 1048576 bytes"), "{error}");
}

#[test]
fn a_file_has_no_more_than_its_approvals() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("file.json");
    let mut approved = Approved::new("/work");
    approved.approvals = (0..MAX_APPROVALS).map(|number| stored(number.to_string())).collect();
    approved.write(&path).unwrap();
    assert_eq!(Approved::read(&path).unwrap().unwrap().approvals.len(), MAX_APPROVALS);
    approved.approvals.push(stored("one more".to_owned()));
    assert!(approved.write(&path).unwrap_err().contains("more than 1000 approvals"));
    // Without approvals there is no file.
    Approved::new("/work").write(&path).unwrap();
    assert_eq!(Approved::read(&path).unwrap(), None);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing unfinished is left");
}

#[test]
fn what_is_not_there_is_removed_and_what_is_no_file_is_not() {
    let directory = tempdir().unwrap();
    assert_eq!(remove(&directory.path().join("absent")), Ok(()));
    let error = remove(directory.path()).unwrap_err();
    assert!(error.contains("cannot be removed"), "{error}");
}

#[test]
fn only_where_nothing_is_there_is_no_directory() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    assert_eq!(check_directory(directory.path()), Ok(true));
    assert_eq!(check_directory(&directory.path().join("absent")), Ok(false));
    for (path, what) in [(file.clone(), "it is not a directory"), (file.join("below"), "is not read")] {
        let error = check_directory(&path).unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_somebody_elses_does_not_count() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let directory = tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let own = fs::metadata(&file).unwrap();
    assert_eq!(own_id(), Some(own.uid()));
    assert_eq!(check_owner(&own), Ok(()));
    // Only the superuser can change a file's owner; for any other user, a file of the superuser
    // serves instead.
    let foreign = if own.uid() == 0 {
        chown(&file, Some(1), None).unwrap();
        fs::metadata(&file).unwrap()
    } else {
        fs::metadata("/etc/passwd").unwrap()
    };
    let error = check_owner(&foreign).unwrap_err();
    assert_eq!(error, format!("it belongs to the user {} instead of {}", foreign.uid(), own.uid()));
}

#[test]
fn a_lock_is_waited_for_but_not_for_ever() {
    let directory = tempdir().unwrap();
    let held = Lock::take(directory.path()).unwrap();
    let error = Lock::take_within(directory.path(), Duration::from_millis(20)).err().unwrap();
    assert!(error.ends_with("another process has held it for 20ms"), "{error}");
    let waiting = std::thread::spawn({
        let path = directory.path().to_owned();
        move || Lock::take(&path).map(drop)
    });
    drop(held);
    assert_eq!(waiting.join().unwrap(), Ok(()));
}

use super::*;
use std::os::unix::fs::symlink;

/// Opening in one call and step by step accepts and refuses the same paths.
#[test]
fn no_link_is_followed_either_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir_all(path("a/b")).unwrap();
    std::fs::write(path("a/b/file"), "").unwrap();
    symlink("a", path("to_a")).unwrap();
    symlink("b/file", path("a/to_file")).unwrap();
    symlink("/", path("a/to_root")).unwrap();
    symlink("absent", path("dangling")).unwrap();
    symlink("circle", path("circle")).unwrap();
    let dir = Dir::open_root(directory.path()).unwrap();
    let raced = Err("raced");
    for (path, expected) in [
        ("a/b/file", Ok(())),
        ("a", Ok(())),
        ("", Ok(())),
        (".", Ok(())),
        ("./a/./b", Ok(())),
        ("to_a", raced),
        ("to_a/b/file", raced),
        ("a/to_file", raced),
        ("a/to_root/etc", raced),
        ("dangling", raced),
        ("circle", raced),
        ("absent", Err("refused")),
        ("a/b/file/x", Err("refused")),
        ("a/../a", Err("refused")),
        ("/etc", Err("refused")),
    ] {
        let told = |opened: io::Result<OwnedFd>| match opened {
            Ok(_) => Ok(()),
            Err(error) if is_raced(&error) => raced,
            Err(_) => Err("refused"),
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let at = Path::new(if path.is_empty() { "." } else { path });
        for flags in [flags | OFlags::CLOEXEC, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW] {
            assert_eq!(told(dir.open_stepwise(at, flags, Mode::empty())), expected, "{path}, {flags:?}");
        }
        // In one call, a path with `..` stays within; it is refused nevertheless where the path is split into
        // names.
        if path != "a/../a" {
            assert_eq!(told(dir.open(Path::new(path), flags, Mode::empty())), expected, "{path}");
        }
    }
}

#[test]
fn a_handle_is_of_what_was_asked_for_and_no_child_inherits_it() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("a")).unwrap();
    std::fs::write(directory.path().join("f"), "text").unwrap();
    let name = OsStr::new;
    let dir = Dir::open_root(directory.path()).unwrap();
    let inner = dir.open_dir(Path::new("a")).unwrap();
    let (Any::File(read, _), Any::Directory(listed)) =
        (dir.open_file(Path::new("f")).unwrap(), dir.open_any(Path::new("a")).unwrap())
    else {
        panic!("a file and a directory")
    };
    let made = dir.create(name("made"), false).unwrap();
    let locked = inner.lock(Duration::ZERO).unwrap();
    let clone = dir.try_clone().unwrap();
    for (what, handle) in [
        ("root", dir.0.as_fd()),
        ("inner", inner.0.as_fd()),
        ("read", read.as_fd()),
        ("listed", listed.0.as_fd()),
        ("made", made.as_fd()),
        ("locked", locked.as_fd()),
        ("clone", clone.0.as_fd()),
        ("stepwise", dir.open_stepwise(Path::new("a"), OFlags::CLOEXEC, Mode::empty()).unwrap().as_fd()),
    ] {
        assert!(rustix::io::fcntl_getfd(handle).unwrap().contains(rustix::io::FdFlags::CLOEXEC), "{what}");
    }
    assert!(rustix::fs::fcntl_getfl(&read).unwrap().contains(OFlags::NONBLOCK));
    // A file is no directory, and an existing name is not created again.
    for refused in [Dir::open_root(&directory.path().join("f")), dir.open_dir(Path::new("f"))] {
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }
    for taken in ["f", "made", "a"] {
        let error = dir.create(name(taken), true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{taken}");
    }
    symlink("absent", directory.path().join("dangling")).unwrap();
    assert!(dir.create(name("dangling"), true).is_err() && !directory.path().join("absent").exists());
    io::Write::write_all(&mut &made, b"written").unwrap();
}

#[test]
fn a_lock_is_waited_for_no_longer_than_told() {
    let directory = tempfile::tempdir().unwrap();
    let dir = Dir::open_root(directory.path()).unwrap();
    let held = dir.lock(Duration::ZERO).unwrap();
    let start = Instant::now();
    assert!(dir.lock(Duration::from_millis(50)).is_none());
    assert!(start.elapsed() >= Duration::from_millis(50));
    drop(held);
    assert!(dir.lock(Duration::ZERO).is_some());
}

#[test]
fn what_stands_under_a_name_is_told_of_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("f"), "text").unwrap();
    std::fs::hard_link(path("f"), path("again")).unwrap();
    std::fs::set_permissions(path("f"), std::fs::Permissions::from_mode(0o4751)).unwrap();
    let dir = Dir::open_root(directory.path()).unwrap();
    let (stat, metadata) = (dir.stat(OsStr::new("f")).unwrap(), std::fs::metadata(path("f")).unwrap());
    assert_eq!((stat.kind, stat.size, stat.names, stat.mode), (FileKind::File, 4, 2, 0o4751));
    assert_eq!((stat.modified, stat.identity), (metadata.modified().ok(), identity(&metadata)));
    assert_eq!(stat.owner, Some((metadata.uid(), metadata.gid())));
    let changed = UNIX_EPOCH.checked_add(Duration::new(
        u64::try_from(metadata.ctime()).unwrap(),
        u32::try_from(metadata.ctime_nsec()).unwrap(),
    ));
    assert_eq!(stat.changed, changed);
    assert_eq!(time(-1, 0), None);
    symlink("f", path("link")).unwrap();
    assert_eq!(dir.stat(OsStr::new("link")).unwrap().kind, FileKind::Link);
    let own = std::fs::metadata(directory.path()).unwrap();
    assert_eq!(dir.identity(), Some((own.dev(), own.ino())));
}

#[test]
fn of_names_so_many_are_told_and_whether_there_are_more() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(directory.path().join(name), "").unwrap();
    }
    let dir = Dir::open_root(directory.path()).unwrap();
    for (most, expected) in [(0, (0, true)), (2, (2, true)), (3, (3, false)), (4, (3, false))] {
        let (entries, has_more) = dir.entries(most, || true).unwrap();
        assert_eq!((entries.len(), has_more), expected, "{most}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_and_notes_are_given_and_where_a_list_cannot_be_nobody_in_it_may() {
    use rustix::fs::{XattrFlags, fgetxattr, setxattr};
    use std::os::unix::fs::PermissionsExt as _;
    const LIST: &str = "system.posix_acl_access";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    std::fs::write(&path, "text").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4_674)).unwrap();
    // Version 2; entries for the owner, a user by id, the group, the mask, and others: tag, permissions, id.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 5, 54_321), (4, 7, u32::MAX), (0x10, 7, u32::MAX), (0x20, 4, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, may, number) in entries {
        list.extend([&tag.to_le_bytes()[..], &may.to_le_bytes(), &number.to_le_bytes()].concat());
    }
    // Not every file system supports lists, and only root may set trusted attributes.
    if setxattr(&path, LIST, &list, XattrFlags::empty()).is_err() {
        return;
    }
    let is_noted = setxattr(&path, "user.note", b"text", XattrFlags::empty()).is_ok();
    let _ = setxattr(&path, "trusted.note", b"text", XattrFlags::empty());
    let dir = Dir::open_root(directory.path()).unwrap();
    let mode = |file: &File| file.metadata().unwrap().mode() & 0o7_777;
    let attribute = |file: &File, name: &str| {
        let mut buffer = [0; 256];
        fgetxattr(file, name, &mut buffer[..]).ok().map(|length| buffer[..length].to_vec())
    };
    let like = File::create(directory.path().join("like")).unwrap();
    dir.give_attributes(OsStr::new("f"), &like);
    assert_eq!(attribute(&like, LIST), Some(list));
    assert_eq!(attribute(&like, "user.note"), is_noted.then(|| b"text".to_vec()));
    assert_eq!(attribute(&like, "trusted.note"), None);
    assert_eq!(mode(&like) & 0o777, 0o674);
    // A pipe has no list.
    let (pipe, _writer) = std::io::pipe().unwrap();
    let pipe = File::from(OwnedFd::from(pipe));
    dir.give_attributes(OsStr::new("f"), &pipe);
    assert_eq!(mode(&pipe), 0o4_604);
}

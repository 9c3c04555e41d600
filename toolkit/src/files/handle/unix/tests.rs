use super::*;
use std::os::unix::fs::symlink;

/// In one call and step by step the same is opened, and the same refused.
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
        assert_eq!(told(dir.open_stepwise(at, flags | OFlags::CLOEXEC, Mode::empty())), expected, "{path}");
        // A path that goes up stays within in one call, and is refused all the same where it is made of names.
        if path != "a/../a" {
            assert_eq!(told(dir.open(Path::new(path), flags, Mode::empty())), expected, "{path}");
        }
    }
}

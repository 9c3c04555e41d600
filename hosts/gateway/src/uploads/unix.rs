//! The directory on Unix, below a handle.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ftruncate, linkat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::{DIRECTORY, MAX_NAME_BYTES, Upload, UploadError};
use crate::store::Moment;

/// The most files of a directory, and their bytes together.
const MAX_FILES: usize = 1_000;
const MAX_BYTES: u64 = 1 << 30;
/// The most entries of the directory that are looked at.
const MAX_LOOKED_AT: usize = 10_000;
/// The most files of one name, which get numbers.
const MAX_OF_NAME: usize = 100;
/// Begins the names of files that are not whole.
const UNFINISHED: &str = ".upload-";
/// Age at which one is left over from a process that was killed.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// Held while room is looked for and taken: two uploads at once do not both take the last of it.
static RESERVING: Mutex<()> = Mutex::new(());

impl From<Errno> for UploadError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// The directory. Its functions block.
#[derive(Debug)]
pub(crate) struct Uploads(OwnedFd);

impl Uploads {
    /// Opens the directory of a workspace, and makes it if it is not there.
    pub(crate) fn open(workspace: &Path) -> Result<Self, UploadError> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let workspace = rustix::fs::open(workspace, flags, Mode::empty())?;
        match mkdirat(&workspace, DIRECTORY, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let opened = openat(&workspace, DIRECTORY, flags | OFlags::NOFOLLOW, Mode::empty());
        Ok(Self(opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => io::Error::other("it is a link, or no directory"),
            error => error.into(),
        })?))
    }

    /// Lists the files, by their names.
    pub(crate) fn list(&self) -> Result<Vec<Upload>, UploadError> {
        let mut uploads = Vec::new();
        for entry in Dir::read_from(&self.0)?.take(MAX_LOOKED_AT) {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name.starts_with('.')
                && let Some(upload) = self.upload(name)?
            {
                uploads.push(upload);
            }
        }
        uploads.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(uploads)
    }

    /// Returns a regular file, if it is there.
    fn upload(&self, name: &str) -> Result<Option<Upload>, UploadError> {
        let stat = match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        #[allow(clippy::useless_conversion, reason = "the types differ between systems")]
        let (seconds, bytes) = (i64::from(stat.st_mtime), u64::try_from(stat.st_size).unwrap_or(0));
        Ok(Some(Upload {
            name: name.to_owned(),
            path: format!("{DIRECTORY}/{name}"),
            bytes,
            changed_at: Moment(seconds.saturating_mul(1_000)),
        }))
    }

    /// Stores a file, under its name or the name with a number: no file is replaced. Returns it with the SHA-256 of its content.
    pub(crate) fn save(&self, name: &str, content: &[u8]) -> Result<(Upload, String), UploadError> {
        check_name(name)?;
        let (unfinished, mut file) = self.reserve(content.len() as u64)?;
        file.write_all(content)?;
        file.sync_all()?;
        for number in 1..=MAX_OF_NAME {
            let name = numbered(name, number);
            match linkat(&self.0, &*unfinished.name, &self.0, &*name, AtFlags::empty()) {
                Ok(()) => {
                    drop(unfinished);
                    rustix::fs::fsync(&self.0)?;
                    let upload = self.upload(&name)?.ok_or_else(|| io::Error::other("it was removed"))?;
                    return Ok((upload, data_encoding::HEXLOWER.encode(&Sha256::digest(content))));
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(UploadError::Full(format!("{MAX_OF_NAME} files have this name already")))
    }

    /// Stores a file as [`save`](Self::save) does, unless one with its name and its content is there, such as of a try that was interrupted.
    pub(crate) fn save_once(&self, name: &str, content: &[u8]) -> Result<Upload, UploadError> {
        check_name(name)?;
        if let Some(upload) = self.upload(name)?
            && upload.bytes == content.len() as u64
            && self.has_content(name, content)?
        {
            return Ok(upload);
        }
        self.save(name, content).map(|(upload, _)| upload)
    }

    fn has_content(&self, name: &str, content: &[u8]) -> Result<bool, UploadError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Ok(false);
        }
        let (mut file, mut rest, mut block) = (file, content, vec![0; 1 << 16]);
        loop {
            let count = file.read(&mut block)?;
            match rest.split_at_checked(count) {
                Some((here, later)) if here == &block[..count] => rest = later,
                _ => return Ok(false),
            }
            if count == 0 {
                return Ok(rest.is_empty());
            }
        }
    }

    /// Makes a file that is not whole yet and has the room of its content, if there is so much.
    fn reserve(&self, wanted: u64) -> Result<(Unfinished<'_>, File), UploadError> {
        let _reserving = RESERVING.lock().unwrap_or_else(PoisonError::into_inner);
        self.remove_left_over()?;
        let (files, bytes) = self.taken()?;
        if files >= MAX_FILES {
            return Err(UploadError::Full(format!("{MAX_FILES} files were uploaded already, the limit")));
        }
        if bytes.saturating_add(wanted) > MAX_BYTES {
            return Err(UploadError::Full(format!(
                "uploaded files have {MAX_BYTES} bytes at most, and {bytes} are there already"
            )));
        }
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let unfinished = Unfinished {
            directory: &self.0,
            name: format!("{UNFINISHED}{}", data_encoding::HEXLOWER.encode(&random)),
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.0, &*unfinished.name, flags, Mode::RUSR | Mode::WUSR)?;
        ftruncate(&file, wanted)?;
        Ok((unfinished, file.into()))
    }

    /// The number of files and their bytes, with those that are not whole yet.
    fn taken(&self) -> Result<(usize, u64), UploadError> {
        let (mut files, mut bytes) = (0, 0_u64);
        for entry in Dir::read_from(&self.0)?.take(MAX_LOOKED_AT) {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if (!name.starts_with('.') || name.starts_with(UNFINISHED))
                && let Some(upload) = self.upload(name)?
            {
                files += 1;
                bytes = bytes.saturating_add(upload.bytes);
            }
        }
        Ok((files, bytes))
    }

    /// Removes files that a killed process has left.
    fn remove_left_over(&self) -> Result<(), UploadError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for entry in Dir::read_from(&self.0)?.take(MAX_LOOKED_AT) {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name.starts_with(UNFINISHED)
                && let Some(upload) = self.upload(name)?
                && Duration::from_millis(upload.changed_at.0.unsigned_abs()) + LEFT_OVER < now
            {
                let _ = unlinkat(&self.0, name, AtFlags::empty());
            }
        }
        Ok(())
    }

    /// Removes a file. Returns false if it is not there.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, UploadError> {
        check_name(name)?;
        if self.upload(name)?.is_none() {
            return Ok(false);
        }
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A file that is not whole yet, or has its name; removed when this is dropped.
struct Unfinished<'a> {
    directory: &'a OwnedFd,
    name: String,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let _ = unlinkat(self.directory, &*self.name, AtFlags::empty());
    }
}

fn check_name(name: &str) -> Result<(), UploadError> {
    let is_wrong = name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.starts_with('.')
        || name.chars().any(|char| char.is_control() || matches!(char, '/' | '\\'))
        || toolkit::text::escape_hidden(name) != name;
    if is_wrong { Err(UploadError::Name) } else { Ok(()) }
}

/// Returns the name of the file of a number: `photo.jpg`, `photo-2.jpg`.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let (stem, rest) = match name.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!("-{number}.{extension}")),
        None => (name, format!("-{number}")),
    };
    // A name that is too long could not be removed.
    let room = MAX_NAME_BYTES.saturating_sub(rest.len());
    let stem = &stem[..stem.floor_char_boundary(room)];
    // An extension without room for a stem is none.
    if stem.is_empty() { format!("upload-{number}") } else { format!("{stem}{rest}") }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_that_is_saved_again_is_there_once() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let save =
            |name: &str, content: &str| uploads.save_once(name, content.as_bytes()).expect("saved").name;
        let saved = [save("a", "one"), save("a", "one"), save("a", "two"), save("a", "on")];
        assert_eq!(saved, ["a", "a", "a-2", "a-3"]);
        symlink(workspace.path().join("uploads/a"), workspace.path().join("uploads/link")).expect("linked");
        assert_eq!(save("link", "one"), "link-2", "a link is no file");
    }

    #[test]
    fn files_get_numbers_where_their_names_are_taken() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let save = |name: &str, content: &str| uploads.save(name, content.as_bytes()).expect("saved").0.name;
        assert_eq!(save("a.txt", "1"), "a.txt");
        assert_eq!(save("a.txt", "22"), "a-2.txt");
        assert_eq!((save("b", "3"), save("b", "3")), ("b".to_owned(), "b-2".to_owned()));
        // A name that has grown can still be removed.
        let long = format!("{}.txt", "ä".repeat(48));
        for number in 1..=12 {
            let name = save(&long, "x");
            assert!(name.len() <= MAX_NAME_BYTES && name.rsplit('.').next() == Some("txt"), "{name}");
            assert_eq!(name.contains('-'), number > 1, "{name}");
        }
        for left in uploads.list().expect("listed").iter().filter(|upload| upload.name.starts_with('ä')) {
            assert!(uploads.remove(&left.name).expect("removed"));
        }
        let only_extension = format!("a.{}", "b".repeat(MAX_NAME_BYTES - 2));
        assert_eq!(
            [save(&only_extension, "1"), save(&only_extension, "1")],
            [only_extension.clone(), "upload-2".to_owned()]
        );
        assert!(
            uploads.remove(&only_extension).expect("removed") && uploads.remove("upload-2").expect("removed")
        );
        let (upload, digest) = uploads.save("ünïcode ?.txt", b"abc").expect("saved");
        assert_eq!(upload.path, "uploads/ünïcode ?.txt");
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(fs::read(workspace.path().join("uploads/a-2.txt")).expect("there"), b"22");
        let names: Vec<_> = uploads.list().expect("listed").into_iter().map(|upload| upload.name).collect();
        assert_eq!(names, ["a-2.txt", "a.txt", "b", "b-2", "ünïcode ?.txt"]);
        assert!(uploads.remove("a.txt").expect("removed") && !uploads.remove("a.txt").expect("gone"));
        let left = fs::read_dir(workspace.path().join(DIRECTORY)).expect("listed").count();
        assert_eq!(left, 4, "nothing unfinished stays");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let long = "x".repeat(MAX_NAME_BYTES + 1);
        for name in ["", ".", "..", ".bashrc", "a/b", "/a", "..\\a", "a\0", "a\nb", "a\u{202e}b", &*long] {
            assert!(matches!(uploads.save(name, b""), Err(UploadError::Name)), "{name:?}");
            assert!(matches!(uploads.remove(name), Err(UploadError::Name)), "{name:?}");
        }
    }

    #[test]
    fn links_and_directories_of_the_workspace_are_not_followed() {
        let (workspace, outside) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
        fs::write(outside.path().join("secret"), "secret").expect("written");
        symlink(outside.path(), workspace.path().join(DIRECTORY)).expect("linked");
        let error = Uploads::open(workspace.path()).expect_err("a link").to_string();
        assert!(error.contains("it is a link, or no directory"), "{error}");
        fs::remove_file(workspace.path().join(DIRECTORY)).expect("removed");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let inside = workspace.path().join(DIRECTORY);
        symlink(outside.path().join("secret"), inside.join("link")).expect("linked");
        fs::create_dir(inside.join("directory")).expect("made");
        assert_eq!(uploads.list().expect("listed"), []);
        assert!(!uploads.remove("link").expect("no file") && !uploads.remove("directory").expect("no file"));
        assert_eq!(uploads.save("link", b"mine").expect("saved").0.name, "link-2");
        assert_eq!(fs::read_to_string(outside.path().join("secret")).expect("there"), "secret");
        // The handle stays what it was when the directory is exchanged.
        fs::rename(&inside, workspace.path().join("moved")).expect("renamed");
        symlink(outside.path(), &inside).expect("linked");
        uploads.save("late", b"x").expect("saved");
        assert!(!outside.path().join("late").exists() && workspace.path().join("moved/late").exists());
    }

    #[test]
    fn a_full_directory_takes_no_more() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let large = File::create(workspace.path().join("uploads/large")).expect("made");
        large.set_len(MAX_BYTES - 2).expect("sparse");
        uploads.save("a", b"12").expect("room");
        let error = uploads.save("b", b"1").expect_err("full").to_string();
        assert!(error.contains("1073741824 bytes at most") && error.contains("DELETE"), "{error}");
    }

    #[test]
    fn uploads_at_once_have_no_more_room_together_than_there_is() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let uploads = Uploads::open(workspace.path()).expect("opened");
        let large = File::create(workspace.path().join("uploads/large")).expect("made");
        large.set_len(MAX_BYTES - 3).expect("sparse");
        // One that is being written, of which nothing is there yet.
        let other = Uploads::open(workspace.path()).expect("opened");
        let (unfinished, _file) = other.reserve(2).expect("room");
        let error = uploads.save("a", b"12").expect_err("its room is taken").to_string();
        assert!(error.contains("1073741824 bytes at most"), "{error}");
        uploads.save("b", b"1").expect("room");
        drop(unfinished);
        uploads.save("c", b"12").expect("room");
    }
}

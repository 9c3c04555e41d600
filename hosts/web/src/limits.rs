//! The limits that are not options.

use std::time::Duration;

/// Clients whose sessions are kept at once. Beyond it, the one that was unused for the longest time ends first.
pub(crate) const MAX_CLIENTS: usize = 1_000;
/// Bytes of answers and files of all clients that are kept at once: 256 MiB.
pub(crate) const MAX_KEPT_BYTES: usize = 256 << 20;

/// Bytes of answers and events of all clients that are on their way: 256 MiB.
pub(crate) const MAX_SENT_BYTES: usize = 256 << 20;
/// Bytes of those of one client: 64 MiB.
pub(crate) const MAX_CLIENT_SENT_BYTES: usize = 64 << 20;
/// Bytes of the answer of a call that are taken before it begins: 64 KiB. An answer without room is replaced by one of this size that says so.
pub(crate) const MAX_RESERVED_BYTES: usize = 64 << 10;

/// Bytes of memory for arguments that are read, of all clients: 512 MiB.
pub(crate) const MAX_READ_BYTES: usize = 512 << 20;
/// Bytes of memory for the arguments of one client, and so of one request: 256 MiB.
pub(crate) const MAX_CLIENT_READ_BYTES: usize = 256 << 20;

/// Keyed calls of one client that are remembered. Beyond it, the oldest one that has ended is forgotten.
pub(crate) const MAX_KEYS: usize = 1_000;
/// Bytes of keyed calls of one client: 16 MiB.
pub(crate) const MAX_KEY_BYTES: usize = 16 << 20;
/// Bytes of one answer that is kept under a key: 4 MiB.
pub(crate) const MAX_KEPT_ANSWER: usize = 4 << 20;
/// Characters of a key.
pub(crate) const MAX_KEY_CHARS: usize = 200;
/// Time for which a keyed call is remembered after its end.
pub(crate) const KEY_LIFETIME: Duration = Duration::from_hours(24);

/// Results of one client whose files are kept.
pub(crate) const MAX_RESULTS: usize = 100;
/// Bytes of files of one client that are kept: 32 MiB.
pub(crate) const MAX_MEDIA_BYTES: usize = 32 << 20;
/// Time for which the files of a result are kept.
pub(crate) const MEDIA_LIFETIME: Duration = Duration::from_hours(1);

/// Bytes of one file of a result: 8 MiB.
pub(crate) const MAX_FILE_BYTES: usize = 8 << 20;
/// Bytes of all pictures, sounds, documents and files of one result: 16 MiB.
pub(crate) const MAX_RESULT_MEDIA: usize = 16 << 20;
/// Files of one result.
pub(crate) const MAX_FILES: usize = 50;
/// Time in which a file of a result is opened and read.
pub(crate) const FILE_WITHIN: Duration = Duration::from_secs(10);

/// Events of one call that wait for a slow reader. Beyond it, further progress, output and log messages are dropped and counted; questions and answers are
/// beyond the double of it.
pub(crate) const MAX_EVENTS: usize = 256;
/// Bytes of such events: 1 MiB.
pub(crate) const MAX_EVENT_BYTES: usize = 1 << 20;

/// Tools with metrics of their own. Calls of further ones are counted together.
pub(crate) const MAX_MEASURED: usize = 500;

//! Events in a browser that no call asked for.

use std::collections::VecDeque;
use std::path::PathBuf;

/// The most notices that are kept until a call reports them.
const MAX_NOTICES: usize = 50;

/// The most bytes of a download.
pub(in crate::browser) const MAX_DOWNLOAD_BYTES: u64 = 128 << 20;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::browser) enum Notice {
    /// A dialog was opened and answered.
    Dialog { kind: String, message: String, answer: &'static str },
    /// The page opened a tab.
    TabOpened { number: u32 },
    /// The page closed a tab, or a tab's process was ended.
    TabClosed { number: u32 },
    /// The process of a tab crashed.
    TabCrashed { number: u32 },
    /// The page wants files, through this input.
    FileChooser { tab: u32, node: i64 },
}

/// The last notices.
#[derive(Debug, Default)]
pub(in crate::browser) struct Notices {
    notices: VecDeque<Notice>,
    dropped: usize,
}

impl Notices {
    pub(super) fn push(&mut self, notice: Notice) {
        if self.notices.len() == MAX_NOTICES {
            self.notices.pop_front();
            self.dropped += 1;
        }
        self.notices.push_back(notice);
    }

    /// Takes all notices, and how many older ones were dropped.
    pub(in crate::browser) fn take(&mut self) -> (Vec<Notice>, usize) {
        (self.notices.drain(..).collect(), std::mem::take(&mut self.dropped))
    }
}

/// A download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::browser) struct Download {
    pub(in crate::browser) url: String,
    /// The name that the page suggests: any text.
    pub(in crate::browser) name: String,
    pub(in crate::browser) received: u64,
    pub(in crate::browser) state: DownloadState,
}

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::browser) enum DownloadState {
    UnderWay,
    /// Where the browser put the file.
    Complete(PathBuf),
    Cancelled,
    /// It was larger than [`MAX_DOWNLOAD_BYTES`], and was stopped.
    TooLarge,
}

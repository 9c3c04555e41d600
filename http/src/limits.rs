//! Limits of time and size of a request.

use std::time::Duration;

/// Maximum number of headers of a response.
pub(crate) const MAX_HEADERS: usize = 200;

/// Limits of one request, redirects included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Time to connect, TLS included; for each redirect anew. 10 seconds.
    pub connect: Duration,
    /// Time from the request to the end of the response's headers; for each redirect anew. 20 seconds.
    pub first_byte: Duration,
    /// Time without a byte of the body. 15 seconds.
    pub idle: Duration,
    /// Total time. 30 seconds.
    pub total: Duration,
    /// Bytes of a body, after decompression. 10 MiB.
    pub body_bytes: usize,
    /// Bytes of a response's status line and headers. 64 KiB.
    pub header_bytes: usize,
    /// Redirects that are followed. 5.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(20),
            idle: Duration::from_secs(15),
            total: Duration::from_secs(30),
            body_bytes: 10 << 20,
            header_bytes: 64 << 10,
            redirects: 5,
        }
    }
}

impl Limits {
    /// Sets the total time. Limits of parts are lowered to it.
    #[must_use]
    pub fn with_total(mut self, total: Duration) -> Self {
        self.total = total;
        self.connect = self.connect.min(total);
        self.first_byte = self.first_byte.min(total);
        self.idle = self.idle.min(total);
        self
    }

    /// Sets the number of redirects that are followed.
    #[must_use]
    pub fn with_redirects(mut self, redirects: usize) -> Self {
        self.redirects = redirects;
        self
    }

    /// Sets the maximum number of bytes of a body, after decompression.
    #[must_use]
    pub fn with_body_bytes(mut self, bytes: usize) -> Self {
        self.body_bytes = bytes;
        self
    }
}

//! Standard streams where they are file descriptors.
//!
//! A client starts a server with a pipe or a socket for each. Both are read and written on the async runtime, without another thread
//! in between. Non-blocking mode is a property of the open file description, which other processes may share, so it is never changed:
//! a pipe is opened again, and a socket is read with a per-call flag. Everything else, such as a file or a terminal, is read and
//! written on threads that may block.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::stdio::{dup2_stdin, dup2_stdout};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// Takes standard input and output. From now on, for all other code, standard input is empty, and standard output is standard error.
pub(in crate::stdio) fn take() -> io::Result<(Input, Output, Reader)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&nothing)?;
    dup2_stdout(io::stderr())?;
    let reader = Reader(output.try_clone()?);
    Ok((Input::of(input), Output::of(output), reader))
}

/// The reader of the output, at the other end of a copy of its descriptor.
#[derive(Debug)]
pub(in crate::stdio) struct Reader(OwnedFd);

impl Reader {
    /// Returns true if the output is a pipe or a socket whose other end is closed.
    pub(in crate::stdio) fn is_gone(&self) -> bool {
        let mut polled = [PollFd::new(&self.0, PollFlags::empty())];
        let gone = PollFlags::ERR | PollFlags::HUP;
        poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(gone)
    }
}

/// The stream that messages are read from.
pub(in crate::stdio) type Input = Stream<pipe::Receiver>;

/// The stream that messages are written to.
pub(in crate::stdio) type Output = Stream<pipe::Sender>;

/// A stream, by the kind of its descriptor.
#[derive(Debug)]
pub(in crate::stdio) enum Stream<P> {
    Pipe(P),
    Socket(Socket),
    Blocking(tokio::fs::File),
}

impl Input {
    fn of(fd: OwnedFd) -> Self {
        Self::with(fd, OFlags::RDONLY, pipe::Receiver::from_owned_fd)
    }
}

impl Output {
    fn of(fd: OwnedFd) -> Self {
        Self::with(fd, OFlags::WRONLY, pipe::Sender::from_owned_fd)
    }
}

impl<P> Stream<P> {
    /// Chooses the kind. `access` is the direction of the stream, and `pipe` makes a pipe of this direction.
    fn with(fd: OwnedFd, access: OFlags, pipe: fn(OwnedFd) -> io::Result<P>) -> Self {
        let chosen = match kind(&fd) {
            Some(FileType::Fifo) => reopen(&fd, access).and_then(|fd| pipe(fd).ok()).map(Self::Pipe),
            Some(FileType::Socket) => Socket::of(&fd).map(Self::Socket),
            _ => None,
        };
        chosen.unwrap_or_else(|| Self::Blocking(tokio::fs::File::from_std(File::from(fd))))
    }
}

fn kind(fd: &OwnedFd) -> Option<FileType> {
    fstat(fd).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Opens the same pipe again, so that it can be non-blocking without an effect on its other holders. `None` without the `/proc` of
/// Linux, or if the pipe belongs to another user.
fn reopen(fd: &OwnedFd, access: OFlags) -> Option<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// A socket that blocks for its other holders.
#[derive(Debug)]
pub(in crate::stdio) struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    #[expect(
        deprecated,
        reason = "what takes its place is unsafe: a descriptor must stay open and the same. One that is owned does"
    )]
    fn of(fd: &OwnedFd) -> Option<Self> {
        AsyncFd::new(fd.try_clone().ok()?).ok().map(Self)
    }

    fn poll_read(&self, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(task))?;
            let read = |fd: &AsyncFd<OwnedFd>| {
                let (_, bytes) = recv(fd.get_ref(), buffer.initialize_unfilled(), RecvFlags::DONTWAIT)?;
                Ok(bytes)
            };
            match guard.try_io(read) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => {
                    buffer.advance(read?);
                    return Poll::Ready(Ok(()));
                }
                Err(_would_block) => {}
            }
        }
    }

    fn poll_write(&self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // A closed peer results in an error, not in a signal.
        #[cfg(not(target_vendor = "apple"))]
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        #[cfg(target_vendor = "apple")]
        let flags = SendFlags::DONTWAIT;
        loop {
            let mut guard = ready!(self.0.poll_write_ready(task))?;
            match guard.try_io(|fd| Ok(send(fd.get_ref(), bytes, flags)?)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) => return Poll::Ready(written),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(task, buffer),
            Self::Socket(socket) => socket.poll_read(task, buffer),
            Self::Blocking(file) => Pin::new(file).poll_read(task, buffer),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(task, bytes),
            Self::Socket(socket) => socket.poll_write(task, bytes),
            Self::Blocking(file) => Pin::new(file).poll_write(task, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Blocking(file) => Pin::new(file).poll_flush(task),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Blocking(file) => Pin::new(file).poll_shutdown(task),
            _ => Poll::Ready(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fcntl_getfl;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// More bytes than a pipe or a socket holds.
    const MUCH: usize = 4 << 20;

    fn blocks(fd: &OwnedFd) -> bool {
        !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
    }

    async fn goes_both_ways(
        (input, mut to): (OwnedFd, impl io::Write + Send + 'static),
        (output, mut from): (OwnedFd, impl io::Read + Send + 'static),
    ) {
        // Copies that stand for other holders of the same streams.
        let (other_input, other_output) = (input.try_clone().unwrap(), output.try_clone().unwrap());
        let (mut input, mut output) = (Input::of(input), Output::of(output));
        assert!(!matches!(input, Input::Blocking(_)) && !matches!(output, Output::Blocking(_)));
        assert!(blocks(&other_input) && blocks(&other_output));
        drop((other_input, other_output));
        // There is nothing to read yet.
        let mut byte = [0];
        let early = tokio::time::timeout(Duration::ZERO, input.read(&mut byte)).await;
        assert!(early.is_err());
        let writing = std::thread::spawn(move || to.write_all(&vec![7; MUCH]));
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            from.read_to_end(&mut all).map(|_| all)
        });
        let mut all = Vec::new();
        input.read_to_end(&mut all).await.unwrap();
        writing.join().unwrap().unwrap();
        assert!(all == vec![7; MUCH]);
        output.write_all(&all).await.unwrap();
        output.flush().await.unwrap();
        drop(output);
        assert!(reading.join().unwrap().unwrap() == all);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn pipes_are_waited_for_and_stay_as_they_were_for_others() {
        let (read, to) = io::pipe().unwrap();
        let (from, write) = io::pipe().unwrap();
        goes_both_ways((read.into(), to), (write.into(), from)).await;
    }

    #[tokio::test]
    async fn sockets_are_waited_for_and_stay_as_they_were_for_others() {
        let (near, far) = UnixStream::pair().unwrap();
        let (other_near, other_far) = UnixStream::pair().unwrap();
        goes_both_ways((near.into(), far), (other_near.into(), other_far)).await;
    }

    #[tokio::test]
    async fn whoever_closed_the_other_end_is_told_by_an_error() {
        let (near, far) = UnixStream::pair().unwrap();
        drop(far);
        let mut output = Output::of(near.into());
        assert!(output.write_all(b"x").await.is_err());
        let (from, write) = io::pipe().unwrap();
        let mut output = Output::of(write.into());
        drop(from);
        let mut written = output.write_all(b"x").await;
        if written.is_ok() {
            written = output.flush().await;
        }
        assert!(written.is_err());
    }

    #[test]
    fn a_reader_is_gone_once_the_other_end_is_closed() {
        let (near, far) = UnixStream::pair().unwrap();
        let (from, write) = io::pipe().unwrap();
        let [socket, pipe, file] =
            [near.into(), write.into(), tempfile::tempfile().unwrap().into()].map(Reader);
        assert!(![&socket, &pipe, &file].into_iter().any(Reader::is_gone));
        far.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(!socket.is_gone(), "it still reads");
        drop((from, far));
        assert!(socket.is_gone() && pipe.is_gone() && !file.is_gone());
    }

    #[tokio::test]
    async fn files_are_read_and_written_too() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"text").unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut input = Input::of(file.try_clone().unwrap().into());
        assert!(matches!(input, Input::Blocking(_)));
        let mut text = String::new();
        input.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "text");
        let mut output = Output::of(file.try_clone().unwrap().into());
        output.write_all(b" more").await.unwrap();
        output.flush().await.unwrap();
        io::Seek::rewind(&mut file).unwrap();
        text.clear();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text more");
    }
}

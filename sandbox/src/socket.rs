//! Sockets that carry descriptors beside bytes.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// No message carries more descriptors.
const MAX_DESCRIPTORS: usize = 4 + crate::sys::MAX_GIVEN;

/// Two ends of a stream.
pub(crate) fn stream() -> Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// Two ends of a socket that keeps the bounds of messages.
pub(crate) fn packets() -> Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Sends bytes, and descriptors with the first of them. Returns how many bytes went.
pub(crate) fn send(
    socket: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
    wait: bool,
) -> Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::TOOBIG);
    }
    let flags = if wait { SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL | SendFlags::DONTWAIT };
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, flags) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// A received message.
pub(crate) struct Received {
    /// Number of bytes; 0 means that the other end is closed.
    pub(crate) length: usize,
    pub(crate) descriptors: Vec<OwnedFd>,
    /// Process id of the sender, if the socket was set to report it.
    pub(crate) sender: Option<i32>,
}

/// Receives bytes with their ancillary data.
pub(crate) fn receive(socket: impl AsFd, buffer: &mut [u8], wait: bool) -> Result<Received> {
    let mut space =
        [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS), ScmCredentials(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = if wait { RecvFlags::CMSG_CLOEXEC } else { RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT };
    let length = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
            Ok(message) => break message.bytes,
        }
    };
    let (mut descriptors, mut sender) = (Vec::new(), None);
    for message in ancillary.drain() {
        match message {
            RecvAncillaryMessage::ScmRights(rights) => descriptors.extend(rights),
            RecvAncillaryMessage::ScmCredentials(from) => sender = Some(from.pid.as_raw_nonzero().get()),
            _ => {}
        }
    }
    Ok(Received { length, descriptors, sender })
}

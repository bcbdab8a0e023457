//! A connection whose other end must read: one that takes nothing for too long is let go.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that is not written to for ever.
#[derive(Debug)]
pub struct Patience<S> {
    stream: S,
    /// Something that is sent is taken within this time.
    longest: Duration,
    /// Runs while something waits to be taken.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Patience<S> {
    /// Each byte that is sent has so long to be taken.
    pub fn new(stream: S, longest: Duration) -> Self {
        Self { stream, longest, waits: None }
    }

    /// What came of a write; an error where nothing has been taken for too long.
    fn judged(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let longest = self.longest;
        if written.is_ready() {
            self.waits = None;
        } else if self.waits.get_or_insert_with(|| Box::pin(sleep(longest))).as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judged(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const LONGEST: Duration = Duration::from_millis(400);

    #[tokio::test]
    async fn who_reads_now_and_then_is_kept_and_who_never_does_is_let_go() {
        let (near, mut far) = duplex(16);
        let mut near = Patience::new(near, LONGEST);
        let reading = tokio::spawn(async move {
            for _ in 0..4 {
                sleep(LONGEST / 4).await;
                far.read_exact(&mut [0; 16]).await.unwrap();
            }
            far
        });
        near.write_all(&[7; 80]).await.unwrap();
        let _kept_open = reading.await.unwrap();
        assert_eq!(near.write_all(&[7; 80]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}

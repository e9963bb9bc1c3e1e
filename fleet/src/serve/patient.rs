//! A connection whose other side must go on: one that takes nothing of an answer for a while is closed.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream with a limit to how long a write may wait.
pub struct Patient<S> {
    stream: S,
    most: Duration,
    /// Runs while a write waits.
    waiting: bool,
    until: Pin<Box<Sleep>>,
}

impl<S> Patient<S> {
    pub fn new(stream: S, most: Duration) -> Patient<S> {
        Patient { stream, most, waiting: false, until: Box::pin(sleep(most)) }
    }

    fn bounded<T>(&mut self, context: &mut Context<'_>, done: Poll<Result<T>>) -> Poll<Result<T>> {
        if done.is_ready() {
            self.waiting = false;
            return done;
        }
        if !self.waiting {
            self.waiting = true;
            self.until.as_mut().reset(Instant::now() + self.most);
        }
        ready!(self.until.as_mut().poll(context));
        Poll::Ready(Err(Error::from(ErrorKind::TimedOut)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, to)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.bounded(context, done)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_flush(context);
        this.bounded(context, done)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_shutdown(context);
        this.bounded(context, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn a_client_that_reads_slowly_is_served_and_one_that_does_not_read_is_not() {
        let most = Duration::from_secs(2);
        let (near, mut far) = duplex(16);
        let mut near = Patient::new(near, most);
        let reader = tokio::spawn(async move {
            let (mut byte, mut all) = ([0u8; 16], 0);
            while all < 160 {
                sleep(most / 8).await;
                all += far.read(&mut byte).await.unwrap();
            }
            far
        });
        near.write_all(&[7; 160]).await.unwrap();
        let _kept = reader.await.unwrap();
        let ended = near.write_all(&[7; 1000]).await;
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}

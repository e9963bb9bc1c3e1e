//! The page of metrics, for whoever asks: it is made by the agent and only handed out here.
//!
//! Nothing that a client sends is used but for the name of the page, which is compared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zwhy_serve::{Page, Server, Site};

/// The newest page.
#[derive(Default)]
pub(crate) struct Board(Mutex<String>);

impl Board {
    pub(crate) fn put(&self, page: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

impl Site for Board {
    fn page(&self, name: &str, _query: &str) -> Result<Option<Page>, String> {
        Ok(match name {
            "metrics" => {
                let page = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                Some(Page::metrics(page.as_str()))
            }
            "" => Some(Page::text("zwhy agent: metrics for Prometheus are at /metrics\n")),
            _ => None,
        })
    }
}

/// Serves the board until `over` is set; when the socket fails, it is tried again.
pub(crate) fn serve(server: &Server, board: &Board, over: &AtomicBool) {
    while server.run(board, over).is_err() && !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Ends the server when the agent ends, however it does.
pub(crate) struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

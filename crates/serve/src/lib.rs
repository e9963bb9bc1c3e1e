//! Shows finished pages to the browsers of this machine, and to nobody else unless that is asked for.
//!
//! `Server::bind` listens on 127.0.0.1 alone. Whoever asks must know the token in the address, which is drawn at random,
//! and must call the server by its own name, so that no web site can read a page under a name of its own (DNS rebinding).
//! `Server::open` is for pages without secrets, such as metrics: without a token, and elsewhere where that is asked for.
//! What is asked for is compared with the names of the pages that there are: nothing that a client sends ever reaches
//! a file system. What a client may send is bounded in size and in time.

mod request;
mod response;
mod server;

pub use response::Page;
pub use server::{ServeError, Server, Site};

//! A tool of ZFS that is asked something while other things go on.
//!
//! Invariant: nobody waits for it, even where it hangs on a suspended pool; it is given up after its time.

use crate::facts::{ASKING_THREAD, Output, Patience};
use crate::monotonic_ns;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// A command that runs.
#[derive(Debug)]
pub struct Question {
    answer: Receiver<(u64, Output)>,
}

impl Question {
    /// Starts a command, also one that lies where only root looks for it, for at most `limit`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn ask(program: &str, args: &[&str], limit: Duration) -> std::io::Result<Question> {
        let (send, answer) = sync_channel(1);
        let (program, args) =
            (program.to_owned(), args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        std::thread::Builder::new().name(ASKING_THREAD.to_owned()).spawn(move || {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let output = Patience::of(limit).run(&program, &args, limit);
            // Who asked may be gone.
            let _ = send.send((monotonic_ns(), output));
        })?;
        Ok(Question { answer })
    }

    /// What came of it, with the monotonic clock when it came; `None` before.
    pub fn answer(&self) -> Option<(u64, Output)> {
        self.answer.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn nobody_waits_and_the_answer_comes() {
        let before = monotonic_ns();
        let question = Question::ask("sh", &["-c", "read -r a; echo b"], Duration::from_secs(60)).unwrap();
        let begin = Instant::now();
        let (at, output) = loop {
            assert!(begin.elapsed() < Duration::from_secs(60));
            if let Some(answer) = question.answer() {
                break answer;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(at >= before);
        assert_eq!(output, Output::Text("b\n".to_owned()), "it has no input");
    }
}

//! Labels of samples that name a thread, in the spellings of known writers.

use super::tables::Tables;
use crate::interchange::protobuf::Fields;
use zwhy_profile::{Profile, ThreadId};

/// Where a sample ran, as far as its labels say.
#[derive(Clone, Debug, Default)]
pub struct Context {
    comm: String,
    pid: Option<i32>,
    tid: Option<i32>,
    pub cpu: Option<i32>,
}

impl Context {
    pub fn clear(&mut self) {
        self.comm.clear();
        (self.pid, self.tid, self.cpu) = (None, None, None);
    }

    /// Takes one label; those that are not of a thread do not matter.
    pub fn take(&mut self, tables: &Tables, label: &[u8]) {
        let (mut key, mut text, mut number) = (0, 0, None);
        for field in Fields::new(label) {
            match field.number {
                1 => key = field.value.number(),
                2 => text = field.value.number(),
                3 => number = Some(field.value.number() as i64),
                _ => {}
            }
        }
        // Encoders leave out numbers that are 0.
        let number = if text == 0 { Some(number.unwrap_or(0)) } else { number };
        let text = tables.label_text(text);
        let number = || number.or_else(|| text.trim().parse().ok()).and_then(|n| i32::try_from(n).ok());
        match Key::of(&tables.label_text(key)) {
            Key::Thread if text.is_empty() => self.tid = number(),
            Key::Comm | Key::Thread => self.comm.replace_range(.., &text),
            Key::Pid => self.pid = number(),
            Key::Tid => self.tid = number(),
            Key::Cpu => self.cpu = number(),
            Key::Other => {}
        }
    }

    pub fn thread(&self, profile: &mut Profile) -> ThreadId {
        profile.thread(self.pid.unwrap_or(-1), self.tid.unwrap_or(-1), &self.comm)
    }
}

/// What the key of a label or attribute says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Comm,
    /// A name when it is text, an id when it is a number.
    Thread,
    Pid,
    Tid,
    Cpu,
    Other,
}

impl Key {
    /// `thread_name`, `thread name`, `thread.name` and `ThreadName` are one key.
    pub fn of(key: &str) -> Key {
        if key.len() > 24 {
            return Key::Other;
        }
        let mut plain = key.to_ascii_lowercase();
        plain.retain(|c| !matches!(c, ' ' | '.' | '_' | '-'));
        match plain.as_str() {
            "comm" | "threadname" | "threadcomm" => Key::Comm,
            "thread" => Key::Thread,
            "pid" | "processid" | "processpid" => Key::Pid,
            "tid" | "threadid" => Key::Tid,
            "cpu" | "cpuid" | "cpulogicalnumber" => Key::Cpu,
            _ => Key::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_key() {
        for key in ["thread_id", "thread id", "thread.id", "tid"] {
            assert_eq!(Key::of(key), Key::Tid, "{key}");
        }
        assert_eq!(Key::of("cpu.logical_number"), Key::Cpu);
        assert_eq!(Key::of("span id"), Key::Other);
    }
}

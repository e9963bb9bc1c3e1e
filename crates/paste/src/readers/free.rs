//! `free` of Linux in any unit, which stands in the command or behind each figure; all become MiB.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;

const MIB: f64 = 1048576.0;

/// `free`, `free -m`, `free -h`, old and new: `Mem:  64316  9212  …` under a line of names.
pub struct Free;

impl Block for Free {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header: Vec<&str> = lines.first()?.text.split_whitespace().take(12).collect();
        if header.len() < 3 || header[..3] != ["total", "used", "free"] {
            return None;
        }
        // Without a suffix the unit is in the command; kibibytes are the default. All become MiB.
        let command = sink.command.as_deref().unwrap_or("");
        let unit = ["-b", "-m", "-g", "--mega", "--giga", "-h"]
            .iter()
            .find(|u| command.split(' ').any(|w| w == **u));
        let scale = match unit {
            Some(&"-b") => 1.0,
            Some(&"-m" | &"--mega") => MIB,
            Some(&"-g" | &"--giga") => 1024.0 * MIB,
            _ => 1024.0,
        };
        let mut rows = Vec::new();
        for line in &lines[1..] {
            let Some((name, figures)) = line.text.trim().split_once(':') else { break };
            if !matches!(name, "Mem" | "Swap" | "-/+ buffers/cache" | "Total" | "Low" | "High") {
                break;
            }
            let cell = |w: &str| match w.parse::<f64>() {
                Ok(value) => Some(cells::show(value * scale / MIB)),
                Err(_) => cells::bytes(w).map(|bytes| cells::show(bytes / MIB)),
            };
            let Some(cells) = figures.split_whitespace().map(cell).collect::<Option<Vec<String>>>() else {
                break;
            };
            let mut row = vec![name.to_owned()];
            row.extend(cells);
            if name.starts_with("-/+") {
                row.insert(1, String::new());
            }
            row.resize(header.len() + 1, String::new());
            rows.push(row);
        }
        if rows.is_empty() {
            return None;
        }
        let used = rows.len() + 1;
        let origin = sink.origin("free", &lines[..used]);
        let columns = cells::names(&[&["name"], &header[..]].concat());
        cells::table(sink, "free (MiB)", columns, rows, origin);
        Taken::kept(used)
    }
}

//! Tables without names: a column that holds names of one kind says so in its head, other cells are texts.

use super::known::{is_public_disk, is_public_process};
use super::names::Names;
use zwhy_evidence::Table;

/// What the cells of a column name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Pools and what they are made of, as tools of OpenZFS list them.
    Storage,
    Disk,
    Process,
    Host,
    User,
    /// Sizes; a name with a blank in it moves the cells behind it, so what is no size is part of a name.
    Size,
    Text,
}

fn role(tool: &str, column: &str) -> Role {
    let lower = column.trim_end_matches(':').to_ascii_lowercase();
    match lower.as_str() {
        "pool" | "name" | "vdev" if tool.starts_with("zpool") => Role::Storage,
        "device" | "disk" | "kname" | "serial" | "serialno" | "wwn" | "uuid" | "partuuid" | "ptuuid"
        | "label" | "partlabel" => Role::Disk,
        "task" | "comm" | "command" | "process" | "thread" | "program" | "cmd" => Role::Process,
        "user" | "username" | "uid" | "owner" | "group" => Role::User,
        "host" | "hostname" => Role::Host,
        "used" | "avail" | "refer" | "size" | "alloc" | "free" | "lused" | "lrefer" => Role::Size,
        _ => Role::Text,
    }
}

/// `1.20T`, `97`, `12%`, `-`.
fn is_figure(cell: &str) -> bool {
    let rest = cell.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+'));
    rest.len() <= 3 && (rest.len() < cell.len() || cell == "none" || cell.is_empty())
}

pub(super) fn learn(table: &Table, names: &mut Names) {
    for (at, column) in table.columns.iter().enumerate() {
        let cells = table.rows.iter().filter_map(|row| row.get(at)).filter(|cell| !is_figure(cell));
        match role(&table.tool, column) {
            // A pool is listed before what it is made of.
            Role::Storage => cells.enumerate().for_each(|(row, cell)| match row {
                0 if !is_public_disk(cell) => names.pool_of(cell),
                _ if names.is_pool(cell) => {}
                _ => names.disk(cell),
            }),
            Role::Disk => cells.for_each(|cell| names.disk(cell)),
            Role::Process => cells
                .filter(|cell| !cell.contains(' ') && !is_public_process(cell))
                .for_each(|cell| names.process(cell)),
            Role::Host => cells.for_each(|cell| names.host(cell)),
            Role::User | Role::Size | Role::Text => {}
        }
    }
}

pub(super) fn rewrite(table: &mut Table, names: &mut Names) {
    let roles: Vec<Role> = table.columns.iter().map(|column| role(&table.tool, column)).collect();
    for cell in &mut table.columns {
        *cell = names.text(cell);
    }
    for row in &mut table.rows {
        let last = row.len().saturating_sub(1);
        for (at, cell) in row.iter_mut().enumerate() {
            *cell = match roles.get(at).copied().unwrap_or(Role::Text) {
                _ if is_figure(cell) => names.text(cell),
                Role::Storage if names.is_pool(cell) => names.dataset(cell),
                Role::Storage | Role::Disk => names.device(cell),
                Role::Process if !cell.contains(' ') => names.comm(cell),
                Role::User if cell != "root" => names.stand_in("user", cell),
                Role::Size if at != last => names.stand_in("fs", cell),
                // A mount point with blanks in it is the end of a row.
                _ if at == last && cell.contains(" /") || cell.starts_with('/') => {
                    let from = cell.find('/').unwrap_or(0);
                    format!("{}{}", names.text(&cell[..from]), names.path(&cell[from..]))
                }
                _ => names.text(cell),
            };
        }
    }
}

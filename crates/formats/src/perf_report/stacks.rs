//! Trees to stacks with absolute percentages, root first.
//!
//! A tree below a row is either *callee* order (the row's function first, then its callers) or *caller*
//! order (the root first). In a report with children the row's tree also holds what the row's function
//! calls: those paths begin at the function, their callers are not known.

use super::Entry;
use super::row::NO_SYMBOL;
use super::tree::Node;
use crate::text::roots::is_thread_start;
use zwhy_evidence::{OriginId, PctKind, PctStack};

/// Whether percentages in trees are of the parent or of all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relative {
    Yes,
    No,
    /// The trees do not show it.
    Unknown,
}

impl Relative {
    /// Looks at all branches of a report: one branch larger than its parent shows relative figures,
    /// branches that add up to their parent show absolute ones.
    pub fn of(entries: &[Entry]) -> Relative {
        let (mut relative, mut absolute) = (0, 0);
        for entry in entries {
            let top = entry.row.children_pct.or(entry.row.pct);
            judge(&entry.tree, top, &mut relative, &mut absolute);
        }
        match (relative, absolute) {
            (0, 0) => Relative::Unknown,
            (0, _) => Relative::No,
            (_, 0) => Relative::Yes,
            (r, a) if r > a * 4 => Relative::Yes,
            _ => Relative::Unknown,
        }
    }
}

fn judge(nodes: &[Node], parent: Option<f64>, relative: &mut u32, absolute: &mut u32) {
    const ROUNDING: f64 = 0.02;
    let printed: Vec<f64> = nodes.iter().filter_map(|n| n.pct).collect();
    if let (Some(parent), false) = (parent, printed.is_empty()) {
        let sum: f64 = printed.iter().sum();
        let slack = ROUNDING * (printed.len() + 1) as f64;
        let most = printed.iter().fold(0.0, |a: f64, b| a.max(*b));
        if most > parent + slack || sum > parent + slack + 0.05 {
            *relative += 1;
        } else if (sum - parent).abs() <= slack && parent < 99.0 {
            *absolute += 1;
        }
    }
    for node in nodes {
        judge(&node.children, node.pct.or(parent), relative, absolute);
    }
}

/// In which direction a row's tree goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// From the row's function to its callers.
    Callee,
    /// From the root to the row's function.
    Caller,
    /// From the row's function to what it calls.
    Down,
}

struct Emit<'a> {
    /// The row's function.
    symbol: &'a str,
    comm: Option<&'a str>,
    relative: Relative,
    with_children: bool,
    max_depth: usize,
    out: &'a mut dyn FnMut(PctStack),
}

/// Percentage of a node and whether perf printed it (or one above it) without saying of what.
#[derive(Clone, Copy)]
struct Amount {
    pct: Option<f64>,
    unclear: bool,
}

/// Gives every stack that a row's tree tells of.
pub fn emit(entry: &Entry, relative: Relative, max_depth: usize, out: &mut dyn FnMut(PctStack)) {
    let row = &entry.row;
    let mut emit = Emit {
        symbol: &row.symbol,
        comm: row.comm.as_deref(),
        relative,
        with_children: row.children_pct.is_some(),
        max_depth,
        out,
    };
    let top = Amount { pct: row.children_pct.or(row.pct), unclear: false };
    for node in &entry.tree {
        let order = emit.order(node);
        let mut path = Vec::new();
        if order != Order::Caller && emit.symbol != NO_SYMBOL && !begins_with(node, emit.symbol) {
            path.push(emit.symbol);
        }
        emit.node(node, order, top, &mut path);
    }
}

impl Emit<'_> {
    fn order(&self, node: &Node) -> Order {
        if self.symbol == NO_SYMBOL {
            let from_root = node.names.first().is_some_and(|n| is_thread_start(n.as_bytes()));
            return if ends_in_root(node) && !from_root { Order::Callee } else { Order::Caller };
        }
        if !begins_with(node, self.symbol) {
            // Sorted by symbol, perf leaves out a row's function in its own tree, where its callers follow, or with
            // children what it calls. Root first, a tree ends in it, or begins where threads start.
            let from_root = node.names.first().is_none_or(|n| is_thread_start(n.as_bytes()));
            let beyond = !from_root && !has(node, self.symbol);
            return match (beyond, self.with_children) {
                (false, _) => Order::Caller,
                (true, true) => Order::Down,
                (true, false) => Order::Callee,
            };
        }
        let alone = node.names.len() == 1 && node.children.is_empty();
        if !self.with_children || alone || ends_in_root(node) { Order::Callee } else { Order::Down }
    }

    fn node<'n>(&mut self, node: &'n Node, order: Order, parent: Amount, path: &mut Vec<&'n str>) {
        if is_rest(node) || path.len() + node.names.len() > self.max_depth {
            return; // stays with the parent
        }
        let pct = match (node.pct, parent.pct, self.relative) {
            (Some(pct), Some(parent), Relative::Yes) => Some(pct * parent / 100.0),
            (None, parent, _) => parent,
            (pct, ..) => pct,
        };
        let unclear = parent.unclear || (node.pct.is_some() && self.relative == Relative::Unknown);
        let amount = Amount { pct, unclear };
        let before = path.len();
        path.extend(node.names.iter().map(String::as_str));
        let told = node.children.iter().any(|c| !is_rest(c));
        match order {
            Order::Down => self.stack(path.to_vec(), PctKind::Inclusive, amount),
            // A branch that tells all its samples to its own branches has none left.
            _ if told && node.children.iter().all(|c| c.pct.is_none()) => {}
            _ => {
                let rest = self.rest(node, pct);
                const NOTHING: f64 = 0.05;
                if !told || rest.is_some_and(|r| r > NOTHING) {
                    self.path(path, order, told, Amount { pct: rest, unclear });
                }
            }
        }
        for child in &node.children {
            self.node(child, order, amount, path);
        }
        path.truncate(before);
    }

    /// What is left of a node after its branches.
    fn rest(&self, node: &Node, pct: Option<f64>) -> Option<f64> {
        let told: f64 = node.children.iter().filter(|c| !is_rest(c)).filter_map(|c| c.pct).sum();
        pct.map(|pct| match self.relative {
            Relative::Yes => pct * (1.0 - told / 100.0),
            _ => pct - told,
        })
    }

    /// A path that ends at, or (with `more`) is a part of the way to, the row's function.
    fn path(&mut self, path: &[&str], order: Order, more: bool, amount: Amount) {
        let mut frames = path.to_vec();
        // With children the row's function need not be the leaf of what was sampled below it.
        let mut kind = PctKind::Own;
        if order == Order::Callee {
            frames.reverse();
            if self.with_children && path.len() > 1 {
                kind = PctKind::Inclusive;
            }
        } else if self.symbol != NO_SYMBOL && frames.last() != Some(&self.symbol) {
            if more || !self.with_children {
                // Branches too small to print lie between, or the drawing was cut; without children all samples of the
                // row end in its function.
                frames.push(self.symbol);
            } else {
                kind = PctKind::Unclear; // the drawing was cut before the row's function
            }
        }
        self.stack(frames, kind, amount);
    }

    fn stack(&mut self, frames: Vec<&str>, kind: PctKind, amount: Amount) {
        if frames.is_empty() {
            return;
        }
        (self.out)(PctStack {
            // Two decimals are what perf prints; more would be rounding noise of ours.
            pct: amount.pct.map(|pct| (pct * 100.0).round() / 100.0),
            kind: if amount.unclear { PctKind::Unclear } else { kind },
            comm: self.comm.map(str::to_owned),
            waiting: false,
            frames: frames.into_iter().map(str::to_owned).collect(),
            origin: OriginId::default(),
        });
    }
}

fn begins_with(node: &Node, symbol: &str) -> bool {
    node.names.first().is_some_and(|n| n == symbol)
}

fn has(node: &Node, symbol: &str) -> bool {
    node.names.iter().any(|n| n == symbol) || node.children.iter().any(|c| has(c, symbol))
}

/// Some path of the tree ends where threads start: it goes from callee to caller.
fn ends_in_root(node: &Node) -> bool {
    if node.children.is_empty() {
        return node.names.last().is_some_and(|n| is_thread_start(n.as_bytes()));
    }
    node.children.iter().any(ends_in_root)
}

/// `[...]`: the branches that were too small to print.
fn is_rest(node: &Node) -> bool {
    node.names.iter().any(|n| n == "[...]")
}

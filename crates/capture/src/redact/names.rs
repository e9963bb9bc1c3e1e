//! Stand-ins for names: the same name always gets the same one, numbered in order of first sight.

use super::identity;
use super::known::{
    is_device_id, is_public_disk, is_public_group, is_public_node, is_public_process, is_stand_in,
    is_system_path, of_kernel, pool_of_kstat,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// All names that were replaced so far, by kind of thing.
#[derive(Default)]
pub(super) struct Names {
    stand_ins: FxHashMap<(&'static str, String), String>,
    used: FxHashMap<&'static str, usize>,
    pools: FxHashSet<String>,
    hosts: FxHashSet<String>,
    processes: FxHashSet<String>,
    devices: FxHashSet<String>,
    /// Paths that are values of their own.
    places: FxHashSet<String>,
    /// Names that are no single word, longest last, with their stand-ins.
    phrases: BTreeMap<(usize, String), String>,
    /// Names of the host that look like stand-ins: no other name may get them.
    taken: FxHashSet<String>,
    /// What was taken out instead of replaced.
    pub left_out: usize,
}

/// Shorter names are looked for as whole words only.
const INSIDE: usize = 3;

impl Names {
    pub fn len(&self) -> usize {
        self.stand_ins.len()
    }

    pub fn left_out(&mut self, how_many: usize) {
        self.left_out += how_many;
    }

    /// How many names were replaced, by the word of their stand-ins.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        self.stand_ins.keys().for_each(|(kind, _)| *counts.entry(*kind).or_default() += 1);
        counts
    }

    /// Registers a host by its name; a domain is part of it. Small and capital letters are the same in it.
    pub fn host(&mut self, name: &str) {
        let name = name.to_lowercase();
        if !name.is_empty() && !self.is_taken(&name) {
            self.hosts.extend(name.split('.').next().map(str::to_owned));
            self.hosts.insert(name);
        }
    }

    pub fn is_pool(&self, name: &str) -> bool {
        self.pools.contains(name.split(['/', '@', '#']).next().unwrap_or_default())
    }

    /// Registers a path that is known as a whole.
    pub fn place(&mut self, path: &str) {
        if path.len() > 1 && path.contains(|c| !in_word(c)) {
            self.places.insert(path.to_owned());
        }
    }

    /// Registers the pool of a dataset or pool name.
    pub fn pool_of(&mut self, name: &str) {
        for part in name.split(['/', '@', '#']) {
            self.is_taken(part);
        }
        let pool = name.split(['/', '@', '#']).next().unwrap_or_default();
        if !pool.is_empty() && !is_stand_in(pool) {
            self.pools.insert(pool.to_owned());
        }
    }

    pub fn process(&mut self, comm: &str) {
        if !self.is_taken(comm) {
            self.processes.insert(comm.to_owned());
        }
    }

    /// Registers a disk by the name that a pool has for it.
    pub fn disk(&mut self, name: &str) {
        if !self.is_taken(name) && !is_public_disk(name) {
            self.devices.insert(name.to_owned());
            // `ata-MODEL_SERIAL`
            let serial =
                name.rsplit_once('_').filter(|(id, serial)| is_device_id(id) && serial.len() >= INSIDE);
            if let Some((_, serial)) = serial {
                self.devices.insert(serial.to_owned());
            }
        }
    }

    /// Once all names are registered: those that are no single word get their stand-ins, as texts are looked
    /// through word by word.
    pub fn settle(&mut self, datasets: &[&str]) {
        let odd = |name: &str| name.len() >= 3 && name.contains(|c| !in_word(c));
        let sorted = |names: &FxHashSet<String>, wanted: &dyn Fn(&str) -> bool| {
            let mut names: Vec<String> = names.iter().filter(|name| wanted(name)).cloned().collect();
            names.sort_unstable();
            names
        };
        self.add_phrases(sorted(&self.processes, &odd), Names::comm);
        let datasets = datasets.iter().filter(|name| odd(name)).map(|name| (*name).to_owned());
        self.add_phrases(datasets.collect(), Names::dataset);
        // Also of disks whose names are several words of a text.
        let many = |name: &str| name.contains(['@', ':', '/', '%', '#', '+']) || odd(name);
        self.add_phrases(sorted(&self.devices, &|disk| many(disk) && !disk.starts_with('/')), Names::device);
        self.add_phrases(sorted(&self.places, &|_| true), Names::path);
    }

    fn add_phrases(&mut self, names: Vec<String>, stand_in: fn(&mut Names, &str) -> String) {
        for name in names {
            let stand_in = stand_in(self, &name);
            self.phrases.insert((name.len(), name), stand_in);
        }
    }

    fn is_taken(&mut self, name: &str) -> bool {
        let taken = is_stand_in(name);
        if taken {
            self.taken.insert(name.to_owned());
        }
        taken
    }

    /// The name of a thread or process.
    pub fn comm(&mut self, comm: &str) -> String {
        match of_kernel(comm) {
            _ if is_public_process(comm) => comm.to_owned(),
            Some(name) if comm.starts_with("kworker/") && !name.is_empty() => {
                format!("{}{}", &comm[..comm.len() - name.len()], self.stand_in("process", name))
            }
            _ => self.stand_in("process", comm),
        }
    }

    /// A frame that may be a process instead of a function.
    pub fn root(&mut self, name: &str) -> String {
        match name {
            _ if self.processes.contains(name) => self.comm(name),
            // `main (/home/joe/app.py:12)`
            _ if name.contains('/') => self.text(name),
            _ => name.to_owned(),
        }
    }

    /// The object that user code is in; libraries are public, programs are named as their process.
    pub fn module(&mut self, module: &str) -> String {
        let is_library = module.contains(".so") || module.starts_with('[') || module.starts_with("ld-");
        let cut: String = module.chars().take(15).collect();
        match module {
            "" | "kernel" | "zfs" | "spl" | "unknown" => module.to_owned(),
            _ if is_library || is_public_process(module) => self.text(module),
            _ if self.processes.contains(&cut) => self.stand_in("process", &cut),
            _ if module.contains('/') => self.text(module),
            _ => self.stand_in("program", module),
        }
    }

    /// Free text with every name in it replaced.
    pub fn text(&mut self, text: &str) -> String {
        if self.processes.contains(text) {
            return self.comm(text);
        }
        let mut whole = String::new();
        for ((_, phrase), stand_in) in
            self.phrases.iter().rev().filter(|((_, p), _)| text.contains(p.as_str()))
        {
            let from = if whole.is_empty() { text } else { whole.as_str() };
            whole = from.replace(phrase.as_str(), stand_in);
        }
        let text = if whole.is_empty() { text } else { whole.as_str() };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(in_word) {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            // A full stop or colon after a name belongs to the sentence.
            let word = rest[..end].trim_end_matches(['.', ':']);
            if word.is_empty() {
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            } else {
                out.push_str(&self.word(word));
                rest = &rest[word.len()..];
            }
        }
        out.push_str(rest);
        out
    }

    /// A run of characters that names are made of.
    fn word(&mut self, word: &str) -> String {
        let pool = word.split(['/', '@', '#']).next().unwrap_or_default();
        if self.pools.contains(pool) {
            return self.dataset(word);
        }
        if word.starts_with('/') && word.len() > 1 {
            return self.path(word);
        }
        if let Some((scheme, rest)) = word.split_once("://") {
            let scheme = if is_scheme(scheme) { scheme.to_owned() } else { self.word(scheme) };
            return format!("{scheme}://{}", self.below_scheme(rest));
        }
        if self.processes.contains(word) {
            return self.comm(word);
        }
        // `joe@db7`
        if let Some((user, host)) = word.split_once('@')
            && self.is_host(host.split([':', '.']).next().unwrap_or_default())
            && !user.is_empty()
            && user != "root"
        {
            return format!("{}@{}", self.stand_in("user", user), self.word(host));
        }
        if let Some(kind) = identity::kind(word) {
            return self.stand_in(kind, word);
        }
        // `vdev/tank//srv/disk1`: of a pool that has a file for a disk.
        if let Some((pool, path)) = word.split_once("//").filter(|(pool, _)| pool.starts_with("vdev/")) {
            return format!("{}/{}", self.word(pool), self.path(&format!("/{path}")));
        }
        // `root@host:~`, `pool/tank/iostats`: pieces, some of which may be names.
        let mut out = String::with_capacity(word.len());
        for piece in word.split_inclusive(['@', ':', '/', '%', '#', '+']) {
            let name = piece.trim_end_matches(['@', ':', '/', '%', '#', '+']);
            out.push_str(&self.piece(name));
            out.push_str(&piece[name.len()..]);
        }
        out
    }

    fn piece(&mut self, name: &str) -> String {
        if self.is_host(name) {
            // The short and the full name are one host.
            let short = name.split('.').next().unwrap_or(name).to_lowercase();
            return self.stand_in("host", &short);
        }
        if let Some(stem) = name.split('.').next().filter(|s| self.is_host(s) && s.len() < name.len()) {
            return format!("{}{}", self.stand_in("host", &stem.to_lowercase()), &name[stem.len()..]);
        }
        if self.pools.contains(name) {
            return self.stand_in("pool", name);
        }
        if is_device_id(name) || self.devices.contains(name) {
            return self.stand_in("device", name);
        }
        if name.len() >= 3 && self.processes.contains(name) {
            return self.comm(name);
        }
        if identity::is_ipv4(name) {
            return self.stand_in("address", name);
        }
        if let Some(kind) = identity::kind(name) {
            return self.stand_in(kind, name);
        }
        // `10.1.2.3-10.1.2.9`
        if name.split('-').any(identity::is_ipv4) {
            let ends: Vec<String> = name.split('-').map(|end| self.piece(end)).collect();
            return ends.join("-");
        }
        self.inside(name)
    }

    fn is_host(&self, name: &str) -> bool {
        self.hosts.contains(name) || self.hosts.contains(&name.to_lowercase())
    }

    /// A value that is an address as a whole, blanks and all: `file:///root/my key`, `https://keys.example.org/one`.
    pub fn address(&mut self, url: &str) -> String {
        match url.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
            Some((scheme, rest)) => format!("{scheme}://{}", self.below_scheme(rest)),
            None => self.text(url),
        }
    }

    fn below_scheme(&mut self, rest: &str) -> String {
        self.place_of(&format!("/{}", rest.strip_prefix('/').unwrap_or(rest)))
    }

    /// `6.1.0-db7`: hosts and pools within a longer word.
    fn inside(&mut self, name: &str) -> String {
        let long = |names: &FxHashSet<String>, kind| -> Vec<(usize, String, &'static str)> {
            let found = names.iter().filter(|known| known.len() >= INSIDE && bounded(name, known).is_some());
            found.map(|known| (known.len(), known.clone(), kind)).collect()
        };
        let mut found = [long(&self.hosts, "host"), long(&self.pools, "pool")].concat();
        found.sort_unstable();
        let mut out = name.to_owned();
        for (_, known, kind) in found.into_iter().rev() {
            // Neither is in a stand-in that another one got here.
            while let Some(at) = bounded(&out, &known).filter(|_| !is_stand_in(&known)) {
                let short = if kind == "host" { known.split('.').next().unwrap_or(&known) } else { &known };
                let stand_in = self.stand_in(kind, short);
                out.replace_range(at..at + known.len(), &stand_in);
            }
        }
        out
    }

    /// `tank/games@move`: each part for itself, so that what is below one dataset stays below it.
    /// The kstats of a pool have its name in front too.
    pub fn dataset(&mut self, name: &str) -> String {
        let is_kstat = pool_of_kstat(name).is_some();
        let mut out = String::new();
        let mut kind = "pool";
        for part in name.split_inclusive(['/', '@', '#']) {
            let bare = part.trim_end_matches(['/', '@', '#']);
            let public = bare.is_empty() || (is_kstat && kind != "pool");
            out.push_str(&if public { bare.to_owned() } else { self.stand_in(kind, bare) });
            out.push_str(&part[bare.len()..]);
            kind = if part.ends_with(['@', '#']) { "snap" } else { "fs" };
        }
        out
    }

    pub fn path(&mut self, path: &str) -> String {
        if is_system_path(path) {
            return self.system_path(path);
        }
        if let Some(group) = path.strip_prefix("/sys/fs/cgroup/") {
            return format!("/sys/fs/cgroup/{}", self.group(group));
        }
        self.place_of(path)
    }

    /// `/proc/spl/kstat/zfs/tank/iostats`, `/usr/bin/secretd`.
    fn system_path(&mut self, path: &str) -> String {
        if let Some(kstat) = path.strip_prefix("/proc/spl/kstat/zfs/") {
            return match pool_of_kstat(kstat) {
                Some(_) => format!("/proc/spl/kstat/zfs/{}", self.dataset(kstat)),
                None => path.to_owned(),
            };
        }
        let parts: Vec<String> = path.split('/').map(|part| self.piece(part)).collect();
        parts.join("/")
    }

    /// A path none of whose directories every host has, but for /dev.
    fn place_of(&mut self, path: &str) -> String {
        // Device nodes say sda or nvme0n1; links to them and zvols say more.
        let node = path.strip_prefix("/dev/");
        if node.is_some_and(is_public_node) {
            return path.to_owned();
        }
        let mut out = String::new();
        for part in path.split_inclusive('/') {
            let bare = part.trim_end_matches('/');
            let public = ["", "dev", "disk", "by-id", "by-path", "by-vdev", "by-partuuid", "mapper", "zvol"];
            let known = public.contains(&bare) || is_stand_in(bare);
            out.push_str(&match (known, node) {
                (true, _) => bare.to_owned(),
                (_, Some(_)) => self.stand_in("device", bare),
                _ => self.stand_in("path", bare),
            });
            out.push_str(&part[bare.len()..]);
        }
        out
    }

    /// A source file of somebody's program.
    pub fn file(&mut self, path: &str) -> String {
        let part = |part: &str| match part {
            "" | "." | ".." => part.to_owned(),
            part => self.stand_in("path", part),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// A disk of a pool: names that every host has stay.
    pub fn device(&mut self, name: &str) -> String {
        match name {
            // Rules of udev give nodes any name.
            _ if let Some(node) = name.strip_prefix("/dev/").filter(|node| !node.contains('/')) => {
                format!("/dev/{}", self.device(node))
            }
            _ if name.starts_with('/') => self.path(name),
            _ if is_public_disk(name) => name.to_owned(),
            _ => self.stand_in("device", name),
        }
    }

    /// The path of a control group, part by part.
    pub fn group(&mut self, path: &str) -> String {
        let mut part = |part: &str| match is_public_group(part) {
            true => part.to_owned(),
            false => self.stand_in("process", part),
        };
        path.split('/').map(&mut part).collect::<Vec<_>>().join("/")
    }

    pub fn stand_in(&mut self, kind: &'static str, name: &str) -> String {
        if is_stand_in(name) {
            return name.to_owned();
        }
        if let Some(given) = self.stand_ins.get(&(kind, name.to_owned())) {
            return given.clone();
        }
        let number = self.used.entry(kind).or_default();
        let stand_in = loop {
            *number += 1;
            let stand_in = format!("{kind}{number}");
            if !self.taken.contains(&stand_in) {
                break stand_in;
            }
        };
        self.stand_ins.insert((kind, name.to_owned()), stand_in.clone());
        stand_in
    }
}

/// Where `known` begins in `text` with neither letter nor digit beside it.
fn bounded(text: &str, known: &str) -> Option<usize> {
    let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    // Names of hosts are kept in small letters.
    let lower = text.to_ascii_lowercase();
    let text = if known.bytes().any(|b| b.is_ascii_uppercase()) { text } else { lower.as_str() };
    let mut found = text.match_indices(known).map(|(at, _)| at);
    found.find(|at| {
        !beside(text[..*at].chars().next_back()) && !beside(text[at + known.len()..].chars().next())
    })
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '+' | '%' | '@' | '#' | '/' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.host("db7.example.org");
        names.pool_of("tank/games");
        names.process("secretd");
        names
    }

    #[test]
    fn names_in_sentences_are_found() {
        let mut names = names();
        let said =
            names.text("root@db7:~# zfs send tank/games@move, then /home/joe/x; secretd from 10.1.2.3.");
        assert_eq!(
            said,
            "root@host1:~# zfs send pool1/fs1@snap1, then /path1/path2/path3; process1 from address1."
        );
        assert_eq!(names.text("tank/games/old at 97 %, db7.example.org"), "pool1/fs1/fs2 at 97 %, host1");
    }

    #[test]
    fn vdevs_keep_their_pool_and_a_file_is_a_path() {
        let mut names = names();
        assert_eq!(names.text("vdev/tank/nvme0n1"), "vdev/pool1/nvme0n1");
        assert_eq!(names.text("vdev/tank/wwn-0x5000c5"), "vdev/pool1/device1");
        assert_eq!(names.text("vdev/tank//srv/acme-1"), "vdev/pool1//path1/path2");
        assert_eq!(names.text("/srv/acme-1"), "/path1/path2");
    }

    #[test]
    fn what_is_no_name_stays() {
        let mut names = names();
        for text in [
            "",
            "a: b",
            "/proc/self/mounts",
            "/dev/sda1",
            "/",
            "zio_write...",
            "GNU/Linux 12",
            "2.3.2-1~bpo12",
        ] {
            assert_eq!(names.text(text), text);
        }
        assert_eq!(names.len(), 0);
    }

    #[test]
    fn kstats_of_a_pool_keep_their_own_names() {
        let mut names = names();
        assert_eq!(names.text("tank/iostats"), "pool1/iostats");
        assert_eq!(names.text("pool/tank/objset-0x36"), "pool/pool1/objset-0x36");
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_redacting_twice_changes_nothing(text in "[ -~é:./@#]{0,60}") {
            let mut names = names();
            let once = names.text(&text);
            prop_assert_eq!(names.text(&once), once.clone());
            prop_assert!(!once.contains("tank/games"));
        }
    }
}

//! Names of addresses in programs and libraries, from the very objects that were mapped.
//!
//! An object is used only when its build-id is the recorded one, or, where none was recorded, its
//! inode; otherwise the frame stays `object+offset` with the reason.

use super::known::{ImageKey, KnownName, KnownNames};
use super::spaces::Image;
use crate::ImportOptions;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use zwhy_perf::label;
use zwhy_symbols::{
    ElfSymbol, ElfSymbols, FileId, ImageKind, Reason, SymbolGroup, demangle, load_elf, module_name,
};

#[derive(Debug)]
struct Object {
    key: ImageKey,
    module: String,
    symbols: Option<Result<ElfSymbols, &'static str>>,
    /// What was asked and answered, if that is kept.
    answers: KnownNames,
}

#[derive(Debug, PartialEq, Eq)]
pub enum UserName<'a> {
    Named {
        function: Cow<'a, str>,
        module: &'a str,
    },
    Unnamed {
        module: &'a str,
        /// Of the function's first byte where the object tells functions apart, else of its page, or as asked where
        /// the object itself is not at hand.
        offset: u64,
        reason: &'a str,
        /// Named functions before and after that function.
        between: Option<(String, String)>,
    },
}

#[derive(Debug, Default)]
pub struct UserNames {
    objects: Vec<Object>,
    ids: FxHashMap<ImageKey, Image>,
    /// Folders that hold `.build-id/ab/cdef…`.
    dirs: Vec<PathBuf>,
    host: bool,
    known: FxHashMap<ImageKey, KnownNames>,
    /// Keep what is answered, for a bundle.
    pub keep: bool,
}

impl UserNames {
    pub fn new(options: &ImportOptions, known: FxHashMap<ImageKey, KnownNames>) -> UserNames {
        let mut dirs = options.debug_dirs.clone();
        if options.host_symbols {
            dirs.extend(std::env::var_os("HOME").map(|home| Path::new(&home).join(".debug")));
            dirs.push("/usr/lib/debug".into());
        }
        UserNames { dirs, host: options.host_symbols, known, ..UserNames::default() }
    }

    /// The image of a mapping.
    pub fn image(&mut self, key: ImageKey) -> Image {
        let next = Image(self.objects.len() as u32);
        match self.ids.get(&key) {
            Some(image) => *image,
            None => {
                let path = String::from_utf8_lossy(&key.path);
                let module = module_name(&path).to_owned();
                self.ids.insert(key.clone(), next);
                let answers = KnownNames::default();
                self.objects.push(Object { module, key, symbols: None, answers });
                next
            }
        }
    }

    /// Gives images that came without a build-id the one that the file lists for their path.
    pub fn add_build_ids(&mut self, known: &FxHashMap<Vec<u8>, Vec<u8>>) {
        for object in &mut self.objects {
            if object.key.build_id.is_none() {
                object.key.build_id = known.get(&object.key.path).cloned();
            }
            object.answers = self.known.remove(&object.key).unwrap_or_default();
        }
    }

    /// The objects and the name of each offset that was asked for, to be known elsewhere.
    pub fn into_known(self) -> impl Iterator<Item = (ImageKey, KnownNames)> {
        self.objects.into_iter().filter(|o| !o.answers.is_empty()).map(|o| (o.key, o.answers))
    }

    /// What all offsets of one function have in common, once the object was opened by
    /// [`UserNames::resolve`]; `None` where each has to be asked for.
    pub fn group(&self, image: Image, offset: u64) -> Option<SymbolGroup> {
        let object = self.objects.get(image.0 as usize).filter(|_| !self.keep)?;
        let symbols = object.symbols.as_ref()?.as_ref().ok()?;
        symbols.group(symbols.address_of_offset(offset)?)
    }

    /// The virtual address of an offset of an object that [`UserNames::resolve`] has opened.
    pub fn address(&self, image: Image, offset: u64) -> Option<u64> {
        let symbols = self.objects.get(image.0 as usize)?.symbols.as_ref()?;
        symbols.as_ref().ok()?.address_of_offset(offset)
    }

    /// Where the file of an object may be, and what must hold for it.
    pub fn files(&self, image: Image) -> (Vec<PathBuf>, FileId<'_>) {
        let object = self.objects.get(image.0 as usize);
        let files = object.and_then(|o| files(&o.key, &self.dirs, self.host).ok());
        files.unwrap_or_default()
    }

    /// The name of the code at an offset of an object.
    pub fn resolve(&mut self, image: Image, offset: u64) -> UserName<'_> {
        let (dirs, host) = (&self.dirs, self.host);
        let Some(object) = self.objects.get_mut(image.0 as usize) else {
            return unnamed("", offset, Reason::NotMapped.text());
        };
        let module = object.module.as_str();
        // Looked up twice, as the borrow of a first answer would last.
        if !object.answers.contains_key(&offset) {
            let key = &object.key;
            let symbols = match object.symbols.get_or_insert_with(|| load(key, dirs, host)) {
                Ok(symbols) => symbols,
                Err(reason) => return unnamed(module, offset, reason),
            };
            let symbol = symbols.address_of_offset(offset).map(|address| symbols.resolve(address));
            if !self.keep {
                return name_of(symbol, module, offset);
            }
            object.answers.insert(offset, name_of(symbol, module, offset).into_known());
        }
        match object.answers.get(&offset) {
            Some(KnownName::Function(name)) => UserName::Named { function: Cow::Borrowed(name), module },
            Some(KnownName::Unnamed(offset, reason, between)) => {
                UserName::Unnamed { module, offset: *offset, reason, between: between.clone() }
            }
            None => unnamed(module, offset, Reason::NoSymbol.text()),
        }
    }
}

fn name_of<'a>(symbol: Option<ElfSymbol>, module: &'a str, offset: u64) -> UserName<'a> {
    let reason = Reason::NoSymbol.text();
    match symbol {
        Some(ElfSymbol::Named { name, .. }) => {
            UserName::Named { function: Cow::Owned(demangle(&name).into_owned()), module }
        }
        Some(ElfSymbol::Unnamed { start: Some(offset), between }) => {
            UserName::Unnamed { module, offset, reason, between }
        }
        _ => unnamed(module, label::page(offset), reason),
    }
}

fn unnamed<'a>(module: &'a str, offset: u64, reason: &'a str) -> UserName<'a> {
    UserName::Unnamed { module, offset, reason, between: None }
}

impl UserName<'_> {
    fn into_known(self) -> KnownName {
        match self {
            UserName::Named { function, .. } => KnownName::Function(function.into_owned()),
            UserName::Unnamed { offset, reason, between, .. } => {
                KnownName::Unnamed(offset, reason.to_owned(), between)
            }
        }
    }
}

fn load(key: &ImageKey, dirs: &[PathBuf], host: bool) -> Result<ElfSymbols, &'static str> {
    let (candidates, id) = files(key, dirs, host)?;
    load_elf(&candidates, id).map_err(Reason::text)
}

/// Files that may be an object, the likeliest first.
fn files<'a>(
    key: &'a ImageKey,
    dirs: &[PathBuf],
    host: bool,
) -> Result<(Vec<PathBuf>, FileId<'a>), &'static str> {
    let path = key.path.strip_suffix(b" (deleted)").unwrap_or(&key.path);
    let kind = ImageKind::of_path(&String::from_utf8_lossy(&key.path));
    if kind == ImageKind::Anonymous {
        return Err(Reason::Anonymous.text());
    }
    if key.build_id.is_none() && key.inode.is_none() {
        return Err("no build-id in the recording");
    }
    let on_host = host && !matches!(kind, ImageKind::Vdso | ImageKind::Memfd);
    let own = path_of(path);
    // Opening a pipe or a device that a hostile recording names could block for ever.
    let own = (on_host && own.is_absolute() && own.is_file()).then_some(own);
    let Some(build_id) = key.build_id.as_deref() else {
        return Ok((own.into_iter().collect(), FileId { inode: key.inode, build_id: None }));
    };
    let hex: String = build_id.iter().map(|b| format!("{b:02x}")).collect();
    let (head, tail) = hex.split_at_checked(2).unwrap_or_default();
    let entries = || dirs.iter().map(|dir| dir.join(".build-id").join(head));
    // The object itself, plain or as perf's cache keeps it (a folder an object); a debug file
    // last, as its offsets may not be those of the object.
    let mut candidates: Vec<PathBuf> = own.into_iter().collect();
    candidates.extend(entries().flat_map(|e| ["elf", "vdso"].map(|file| e.join(tail).join(file))));
    candidates.extend(entries().map(|e| e.join(tail)));
    candidates.extend(entries().map(|e| e.join(format!("{tail}.debug"))));
    Ok((candidates, FileId { inode: None, build_id: Some(build_id) }))
}

/// The path that a recording has as bytes.
fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes);
    #[cfg(not(unix))]
    let name = &*String::from_utf8_lossy(bytes);
    PathBuf::from(name)
}

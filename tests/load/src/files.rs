//! Many small files in one folder: made and removed, read, or given extended attributes.

use crate::count::Count;
use crate::data::{self, Noise};
use crate::settings::Settings;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub fn run(folder: &Path, settings: &Settings) -> io::Result<()> {
    let each: fn(&Path, &mut Noise) -> io::Result<()> = match settings.operation.as_str() {
        "create" => recreate,
        "read" => |path, _| fs::read(path).map(drop),
        "xattr" => attributes,
        other => {
            return Err(io::Error::other(format!("cannot do {other}; there are create, read and xattr")));
        }
    };
    let mut noise = Noise::new(11);
    let mut content = vec![0; settings.size as usize];
    data::fill(&mut content, settings.data, &mut noise);
    fs::create_dir_all(folder)?;
    let name = |i: u32| -> PathBuf { folder.join(format!("file{i:06}")) };
    for i in 0..settings.count {
        if !name(i).exists() {
            fs::write(name(i), &content)?;
        }
    }
    let mut clock = settings.clock();
    let count = Count::kept()?;
    while settings.seconds > 0 && clock.another_pass() {
        for i in 0..settings.count {
            if clock.over() {
                break;
            }
            clock.pace();
            each(&name(i), &mut noise)?;
            count.add(settings.size);
        }
    }
    Ok(())
}

fn recreate(path: &Path, _: &mut Noise) -> io::Result<()> {
    let content = fs::read(path)?;
    fs::remove_file(path)?;
    fs::write(path, content)
}

/// Four values, set and read again.
fn attributes(path: &Path, noise: &mut Noise) -> io::Result<()> {
    let mut value = [0; 64];
    for n in 0..4 {
        data::fill(&mut value, data::Kind::Random, noise);
        let name = format!("user.test{n}");
        setxattr(path, &name, &value, XattrFlags::empty())?;
        getxattr(path, &name, &mut value[..])?;
    }
    Ok(())
}

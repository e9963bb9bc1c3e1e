//! Many files in one folder: made and removed, copied, read, or given or asked for extended attributes.

use crate::count::Count;
use crate::data::{self, Noise};
use crate::settings::Settings;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;

pub fn run(folder: &Path, settings: &Settings) -> io::Result<()> {
    let each: fn(&Path, &mut Noise) -> io::Result<()> = match settings.operation.as_str() {
        "create" => recreate,
        "read" => |path, _| fs::read(path).map(drop),
        "xattr" => attributes,
        "probe" => probed,
        "copy" => copied,
        other => {
            let known = "there are create, copy, read, xattr and probe";
            return Err(io::Error::other(format!("cannot do {other}; {known}")));
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
            sleep(settings.pause);
        }
    }
    Ok(())
}

fn recreate(path: &Path, _: &mut Noise) -> io::Result<()> {
    let content = fs::read(path)?;
    fs::remove_file(path)?;
    fs::write(path, content)
}

/// Removed, and copied anew from one of them as `cp` does: blocks are cloned where the file system can.
fn copied(path: &Path, _: &mut Noise) -> io::Result<()> {
    let source = path.with_file_name("source");
    if !source.exists() {
        fs::rename(path, &source)?;
    } else if path.exists() {
        fs::remove_file(path)?;
    }
    fs::copy(source, path).map(drop)
}

/// Asked for one of the values of [`attributes`], which the file may have or not.
fn probed(path: &Path, _: &mut Noise) -> io::Result<()> {
    match getxattr(path, "user.test0", &mut [0_u8; 64][..]) {
        Ok(_) | Err(Errno::NODATA) => Ok(()),
        Err(e) => Err(e.into()),
    }
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

//! A place for one result on a system with files.

use crate::error::{PlaceError, Reason};
use crate::find::{self, Kind};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufWriter, IsTerminal, Seek, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A place for one result, looked at but not yet touched.
#[derive(Debug)]
pub struct Place {
    /// As the user named it.
    path: PathBuf,
    kind: Kind,
}

impl Place {
    /// Looks at `path` without opening it, so that a place that cannot be written is told of before
    /// the work for it begins.
    ///
    /// # Errors
    /// When the place is a folder, a socket or a disk, lies in no folder, or is a file that this user
    /// may not write.
    pub fn of(path: &Path) -> Result<Place, PlaceError> {
        let kind = find::kind(path)?;
        Ok(Place { path: path.to_owned(), kind })
    }

    /// Whether a file stands there already.
    pub fn is_taken(&self) -> bool {
        matches!(self.kind, Kind::File { there: Some(_), .. })
    }

    /// Whether the place takes bytes one after the other and keeps none: no file comes of it.
    pub fn is_stream(&self) -> bool {
        !matches!(self.kind, Kind::File { .. })
    }

    /// Whether the place is standard output under a name such as `/dev/stdout`.
    pub fn is_stdout(&self) -> bool {
        matches!(self.kind, Kind::Descriptor) && find::is_own_descriptor(&self.path, 1)
    }

    /// Whether what is written there is shown to somebody by a terminal.
    pub fn is_terminal(&self) -> bool {
        // Opening a pipe and closing it again would end what its reader reads.
        let is_device = || std::fs::metadata(&self.path).is_ok_and(|m| m.file_type().is_char_device());
        self.is_stream() && is_device() && self.open_stream().is_ok_and(|file| file.is_terminal())
    }

    /// Writes what `make` makes. On an error a file that stood there stays as it was; a stream has
    /// what came before the error.
    pub fn write<E: From<PlaceError>>(
        &self,
        make: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let Kind::File { target, there } = &self.kind else {
            return ignore_leavers(|| {
                let mut out = Watched { out: BufWriter::new(self.open_stream()?), reader_left: false };
                let made = make(&mut out);
                let flushed = if made.is_ok() { out.flush() } else { Ok(()) };
                let left = out.reader_left;
                drop(out);
                Ok((made.and_then(|()| flushed.map_err(|e| self.failed(e).into())), left))
            });
        };
        self.replace(target, there.as_ref(), |file| {
            let mut out = BufWriter::with_capacity(1 << 16, file);
            make(&mut out)?;
            out.flush().map_err(|e| self.failed(e).into())
        })
    }

    /// As [`Place::write`] for formats whose writer goes back in the file; for a stream the whole is
    /// made in an unnamed temporary file first. What is written is on disk when this returns.
    pub fn write_seekable<E: From<PlaceError>>(
        &self,
        make: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        let Kind::File { target, there } = &self.kind else {
            let mut whole =
                tempfile::tempfile().map_err(|e| PlaceError::new(&self.path, Reason::Temporary(e)))?;
            make(&mut whole)?;
            whole.rewind().map_err(|e| PlaceError::new(&self.path, Reason::Temporary(e)))?;
            return self.write(|out| match io::copy(&mut whole, out) {
                Ok(_) => Ok(()),
                Err(e) => Err(self.failed(e).into()),
            });
        };
        self.replace(target, there.as_ref(), |file| {
            make(file)?;
            file.sync_all().map_err(|e| self.failed(e).into())
        })
    }

    /// Makes a temporary file beside `target` under a name that nobody can foresee, never through a
    /// link, and gives it the name of `target` when it is whole.
    fn replace<E: From<PlaceError>>(
        &self,
        target: &Path,
        there: Option<&Metadata>,
        make: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        // A new file gets the mode that the user's umask gives; a temporary one in place of another is
        // for nobody else's eyes until it has that one's owner.
        let mode = if there.is_some() { 0o600 } else { 0o666 };
        let mut temporary = tempfile::Builder::new()
            .prefix(".zwhy-")
            .suffix(".tmp")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(find::folder_of(target))
            .map_err(|e| self.failed(e))?;
        make(temporary.as_file_mut())?;
        if let Some(there) = there {
            take_over(temporary.as_file(), there).map_err(|e| self.failed(e))?;
        }
        temporary.persist(target).map_err(|e| self.failed(e.error))?;
        Ok(())
    }

    fn open_stream(&self) -> Result<File, PlaceError> {
        let mut options = File::options();
        // Whoever opened a descriptor decides whether its file is cut; never creates anything.
        let open = match self.kind {
            Kind::Descriptor => options.append(true),
            _ => options.write(true).custom_flags(rustix::fs::OFlags::NOCTTY.bits().cast_signed()),
        };
        let file = open.open(&self.path).map_err(|e| self.failed(e))?;
        let kind = file.metadata().map_err(|e| self.failed(e))?.file_type();
        // The place may have been replaced since it was looked at.
        if !matches!(self.kind, Kind::Descriptor) && !kind.is_fifo() && !kind.is_char_device() {
            return Err(self.failed(io::Error::other("it changed while the result was made")));
        }
        Ok(file)
    }

    fn failed(&self, source: io::Error) -> PlaceError {
        PlaceError::refused(&self.path, source)
    }
}

/// Gives `file` the owner and the mode of the file it will replace.
fn take_over(file: &File, there: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::fchown;
    let own = file.metadata()?;
    let mut mode = there.mode() & 0o7777;
    if (own.uid(), own.gid()) != (there.uid(), there.gid())
        && fchown(file, Some(there.uid()), Some(there.gid())).is_err()
    {
        // Only root gives files away; a group of one's own can be kept. Set-id bits would speak for
        // another owner.
        mode &= 0o777;
        let _ = fchown(file, None, Some(there.gid()));
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// A stream that remembers whether its reader went away.
struct Watched<W: Write> {
    out: W,
    reader_left: bool,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.reader_left |= result.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.watch(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.watch(flushed)
    }
}

/// The outcome of writing to a stream; a reader that had enough (`| head`) is no error.
fn ignore_leavers<E>(write: impl FnOnce() -> Result<(Result<(), E>, bool), PlaceError>) -> Result<(), E>
where
    E: From<PlaceError>,
{
    let (written, reader_left) = write()?;
    if reader_left { Ok(()) } else { written }
}

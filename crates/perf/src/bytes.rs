//! Numbers and texts at offsets of a byte slice, in the byte order of the file.
//!
//! Invariant: every access is checked; what is not there is `None`, never a panic.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub bytes: &'a [u8],
    pub order: Order,
}

impl<'a> View<'a> {
    pub fn new(bytes: &'a [u8], order: Order) -> Self {
        View { bytes, order }
    }

    #[inline]
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    #[inline]
    pub fn u16(&self, at: usize) -> Option<u16> {
        let raw = self.array(at)?;
        Some(if self.order == Order::Little { u16::from_le_bytes(raw) } else { u16::from_be_bytes(raw) })
    }

    #[inline]
    pub fn u32(&self, at: usize) -> Option<u32> {
        let raw = self.array(at)?;
        Some(if self.order == Order::Little { u32::from_le_bytes(raw) } else { u32::from_be_bytes(raw) })
    }

    #[inline]
    pub fn i32(&self, at: usize) -> Option<i32> {
        self.u32(at).map(u32::cast_signed)
    }

    #[inline]
    pub fn u64(&self, at: usize) -> Option<u64> {
        let raw = self.array(at)?;
        Some(if self.order == Order::Little { u64::from_le_bytes(raw) } else { u64::from_be_bytes(raw) })
    }

    /// A C bit field of 64 bits: its first member is bit 0.
    ///
    /// Compilers give big-endian bit fields from the top bit of the first byte on, so there each
    /// byte is mirrored and the bytes keep their places.
    pub fn bit_field(&self, at: usize) -> Option<u64> {
        let raw: [u8; 8] = self.array(at)?;
        Some(match self.order {
            Order::Little => u64::from_le_bytes(raw),
            Order::Big => u64::from_le_bytes(raw.map(u8::reverse_bits)),
        })
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Everything from `at` on; empty beyond the end.
    pub fn from(&self, at: usize) -> View<'a> {
        View { bytes: self.bytes.get(at..).unwrap_or_default(), order: self.order }
    }

    /// `len` bytes at `at`.
    pub fn part(&self, at: usize, len: usize) -> Option<View<'a>> {
        let bytes = self.bytes.get(at..at.checked_add(len)?)?;
        Some(View { bytes, order: self.order })
    }

    /// The bytes at `at` up to a zero byte or the end.
    pub fn c_bytes(&self, at: usize) -> &'a [u8] {
        let tail = self.bytes.get(at..).unwrap_or_default();
        let end = tail.iter().position(|b| *b == 0).unwrap_or(tail.len());
        &tail[..end]
    }
}

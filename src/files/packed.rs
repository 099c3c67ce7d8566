//! Files that gzip or Zstandard packed: told by their first bytes, read a part at a time, and never unpacked to more than a
//! bound.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::read_up_to_at;

/// Bytes to which a small file may be unpacked in memory: while a list grows, it takes three times as many.
const MOST_IN_MEMORY: u64 = 96 << 20;
/// Times and bytes by which a file may grow where it is read a part at a time.
const MOST_GROWTH: u64 = 64;
const SMALL_GROWTH: u64 = 64 << 20;

/// Bytes of the window that a frame of Zstandard may ask for: what its own program takes without being told to.
const MOST_WINDOW: u64 = 128 << 20;

/// What packed a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilePacking {
    Gzip,
    Zstd,
}

impl FilePacking {
    /// What packed a file that begins so; `None` of one that is not packed.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The same of a file that is open.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn of_file(file: &File) -> io::Result<Option<Self>> {
        let mut head = [0; 4];
        let read = read_up_to_at(file, &mut head, 0)?;
        Ok(Self::of(head.get(..read).unwrap_or_default()))
    }

    /// The ending of its files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "Zstandard (zst)",
        }
    }

    /// What unpacks a file.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Gzip => "gunzip -k FILE",
            Self::Zstd => "zstd -d FILE",
        }
    }

    /// Reads what is packed.
    pub(crate) fn reader<'a>(self, from: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        let from = BufReader::with_capacity(1 << 16, from);
        match self {
            Self::Gzip => Box::new(GzipReader { member: Some(GzDecoder::new(from)) }),
            Self::Zstd => Box::new(ZstdReader::new(from)),
        }
    }

    /// The beginning of what is packed, as far as there are bytes of it; nothing where they are damaged.
    pub(crate) fn beginning(self, head: &[u8], most: usize) -> Vec<u8> {
        let mut plain = Vec::new();
        // The end of what is packed is not there.
        drop(self.reader(head).take(most as u64).read_to_end(&mut plain));
        plain
    }
}

/// The name of a file without the ending that says how it is packed.
pub(crate) fn unpacked_name(name: &str) -> &str {
    let endings = [FilePacking::Gzip, FilePacking::Zstd].map(FilePacking::ending);
    endings.into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Bytes to which a file of so many may be unpacked in memory.
pub(crate) fn most_in_memory(packed: u64) -> u64 {
    packed.saturating_mul(4).max(MOST_IN_MEMORY)
}

/// Bytes that may come of a file of so many where they are not kept.
pub(crate) fn most_in_parts(packed: u64) -> u64 {
    packed.saturating_mul(MOST_GROWTH).saturating_add(SMALL_GROWTH)
}

/// Reads what gzip packed, one part behind the other. Zeros behind the last one fill a block of a tape or a disk, and are
/// passed over as gzip does.
struct GzipReader<R> {
    /// Always there, but while the next one is begun.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() || !has_more_than_zeros(member.get_mut())? {
                return Ok(read);
            }
            self.member = self.member.take().map(|ended| GzDecoder::new(ended.into_inner()));
        }
        Ok(0)
    }
}

/// Passes over zeros; whether something else is behind them.
fn has_more_than_zeros(from: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let has_more = zeros < bytes.len();
        from.consume(zeros);
        if has_more {
            return Ok(true);
        }
    }
}

/// Reads frames of Zstandard, one behind the other.
struct ZstdReader<R> {
    from: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(from: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_WINDOW);
        Self { from, decoder }
    }

    /// Begins the next frame; whether there is one.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.from.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.from) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.from).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Where nothing more comes, the file ends too soon.
    fn failed(&mut self, error: FrameDecoderError) -> io::Error {
        let is_at_end = self.from.fill_buf().is_ok_and(<[u8]>::is_empty);
        let kind =
            if is_at_end { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData };
        io::Error::new(kind, error)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                if !self.next_frame()? {
                    return Ok(0);
                }
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.from, one) {
                return Err(self.failed(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn packed(packing: FilePacking, bytes: &[u8]) -> Vec<u8> {
        match packing {
            FilePacking::Gzip => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            FilePacking::Zstd => compress_to_vec(bytes, CompressionLevel::Fastest),
        }
    }

    #[test]
    fn what_was_packed_comes_back_whole_and_as_far_as_it_goes() {
        let bytes: Vec<u8> = (0..500_000_u32).map(|at| (at / 7 % 251) as u8).collect();
        for packing in [FilePacking::Gzip, FilePacking::Zstd] {
            let one = packed(packing, &bytes);
            assert_eq!(FilePacking::of(&one), Some(packing));
            // Two, one behind the other.
            let two = [one.clone(), one.clone()].concat();
            let mut all = Vec::new();
            packing.reader(&*two).read_to_end(&mut all).unwrap();
            assert!(all == [bytes.clone(), bytes.clone()].concat(), "{packing:?}");
            assert_eq!(packing.beginning(&one, 100), bytes[..100]);
            for end in [5, one.len() / 2, one.len() - 1] {
                let mut found = Vec::new();
                let error = packing.reader(&one[..end]).read_to_end(&mut found).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{packing:?}, {end}");
                assert!(bytes.starts_with(&found));
            }
        }
    }

    #[test]
    fn zeros_behind_what_gzip_packed_are_padding() {
        let read = |bytes: &[u8]| {
            let mut all = Vec::new();
            FilePacking::Gzip.reader(bytes).read_to_end(&mut all).map(|_| all)
        };
        let one = packed(FilePacking::Gzip, b"one");
        let padding = vec![0; 1 << 17];
        assert_eq!(read(&[&*one, &padding].concat()).unwrap(), b"one");
        assert_eq!(read(&[&*one, &padding, &one, &[0]].concat()).unwrap(), b"oneone");
        let error = read(&[&*one, &padding, b"x"].concat()).unwrap_err();
        assert!(["invalid gzip header", "unexpected end of file"].contains(&&*error.to_string()));
    }

    #[test]
    fn what_damages_a_frame_is_an_error() {
        let mut one = packed(FilePacking::Zstd, &[7; 1000]);
        // A reserved kind of block.
        one[6..].fill(0xFF);
        let error = FilePacking::Zstd.reader(&*one).read_to_end(&mut Vec::new()).unwrap_err();
        assert!([io::ErrorKind::InvalidData, io::ErrorKind::UnexpectedEof].contains(&error.kind()));
        // A window of a terabyte.
        let frame = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF0, 1, 0, 0, 1, 0, 0];
        assert!(FilePacking::Zstd.reader(&frame[..]).read_to_end(&mut Vec::new()).is_err());
        // A frame that is to be skipped.
        let skipped = [
            &[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3][..],
            &packed(FilePacking::Zstd, b"abc"),
        ];
        let mut found = Vec::new();
        FilePacking::Zstd.reader(&*skipped.concat()).read_to_end(&mut found).unwrap();
        assert_eq!(found, b"abc");
    }
}

//! WAV files with plain samples: read, and joined to one.

/// Samples of a WAV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wav {
    /// The format, as a file has it: kind, channels, rate, bytes a second, bytes a frame, bits a sample.
    format: [u8; 16],
    /// The samples.
    pub(super) data: Vec<u8>,
}

impl Wav {
    /// Reads a file. Sizes of files that were written to a pipe are unknown there: then the samples go to the end.
    pub(super) fn read(file: &[u8]) -> Result<Self, &'static str> {
        if file.len() < 12 || &file[..4] != b"RIFF" || &file[8..12] != b"WAVE" {
            return Err("it is not a WAV file");
        }
        let mut format = None;
        let mut rest = &file[12..];
        while rest.len() >= 8 {
            let (name, size) = (&rest[..4], u32::from_le_bytes([rest[4], rest[5], rest[6], rest[7]]));
            let body = &rest[8..];
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if name == b"data" {
                let format: [u8; 16] = format.ok_or("it has samples before their format")?;
                let frame = usize::from(u16::from_le_bytes([format[12], format[13]]));
                let length = size.min(body.len());
                return match frame {
                    0 => Err("its frames have no bytes"),
                    _ => Ok(Self { format, data: body[..length - length % frame].to_vec() }),
                };
            }
            if name == b"fmt " {
                let fields = body.get(..16).ok_or("its format is cut")?;
                let mut found = [0; 16];
                found.copy_from_slice(fields);
                // Extensible files of plain samples say so further behind.
                if found[..2] == [0xfe, 0xff] {
                    found[..2].copy_from_slice(body.get(24..26).ok_or("its format is cut")?);
                }
                if u16::from_le_bytes([found[0], found[1]]) != 1 {
                    return Err("its samples are compressed");
                }
                format = Some(found);
            }
            let next = size.saturating_add(size % 2);
            rest = body.get(next..).unwrap_or_default();
        }
        Err("it has no samples")
    }

    /// Appends the samples of another file of the same format.
    pub(super) fn join(&mut self, other: &Self) -> Result<(), &'static str> {
        if self.format != other.format {
            return Err("its pieces have different formats");
        }
        self.data.extend_from_slice(&other.data);
        Ok(())
    }

    /// The length in seconds.
    pub(super) fn seconds(&self) -> f64 {
        let format = &self.format;
        let bytes = u32::from_le_bytes([format[8], format[9], format[10], format[11]]);
        #[expect(clippy::cast_precision_loss, reason = "a file has much fewer bytes")]
        let length = self.data.len() as f64;
        if bytes == 0 { 0.0 } else { length / f64::from(bytes) }
    }

    /// The file.
    pub(super) fn write(&self) -> Vec<u8> {
        let size = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
        let padding = self.data.len() % 2;
        let mut file = Vec::with_capacity(self.data.len() + 44 + padding);
        file.extend_from_slice(b"RIFF");
        file.extend_from_slice(&size.saturating_add(36 + u32::from(padding == 1)).to_le_bytes());
        file.extend_from_slice(b"WAVEfmt \x10\0\0\0");
        file.extend_from_slice(&self.format);
        file.extend_from_slice(b"data");
        file.extend_from_slice(&size.to_le_bytes());
        file.extend_from_slice(&self.data);
        file.resize(file.len() + padding, 0);
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One channel, 8,000 frames a second, 16 bits.
    const FORMAT: [u8; 16] = [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0];

    #[test]
    fn files_are_read_joined_and_written() {
        let mut wav = Wav { format: FORMAT, data: vec![1, 0, 2, 0] };
        let file = wav.write();
        assert_eq!(file.len(), 48);
        assert_eq!(Wav::read(&file).unwrap(), wav);
        wav.join(&Wav { format: FORMAT, data: vec![0; 16_000 - 4] }).unwrap();
        assert!((wav.seconds() - 1.0).abs() < 1e-9);
        let mut other = FORMAT;
        other[4] = 0;
        assert!(wav.join(&Wav { format: other, data: Vec::new() }).is_err());
    }

    #[test]
    fn files_of_pipes_and_with_other_parts_are_read() {
        let wav = Wav { format: FORMAT, data: vec![1, 0, 2, 0] };
        let mut streamed = wav.write();
        streamed[40..44].copy_from_slice(&[0xff; 4]);
        // Half a frame at the end.
        streamed.push(9);
        assert_eq!(Wav::read(&streamed).unwrap(), wav);
        let mut listed = wav.write();
        listed.splice(12..12, *b"LIST\x03\0\0\0abc\0");
        assert_eq!(Wav::read(&listed).unwrap(), wav);
    }

    #[test]
    fn what_is_none_is_refused() {
        let mut compressed = Wav { format: FORMAT, data: vec![0; 4] }.write();
        compressed[20] = 0x55;
        let mut frameless = Wav { format: FORMAT, data: vec![0; 4] }.write();
        frameless[32] = 0;
        for file in
            [&b""[..], b"RIFF", b"ID3\x03", &compressed, &frameless, b"RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd"]
        {
            assert!(Wav::read(file).is_err(), "{file:?}");
        }
    }

    proptest! {
        #[test]
        fn no_file_panics(mut file in proptest::collection::vec(any::<u8>(), 0..80), at in 0usize..48, value: u8) {
            let _ = Wav::read(&file);
            let mut good = Wav { format: FORMAT, data: vec![1; 20] }.write();
            good[at] = value;
            good.append(&mut file);
            let _ = Wav::read(&good);
        }
    }
}

//! The memory that decoding a JPEG file takes beside its pixels.

/// Number of components that a file can have.
const MAX_COMPONENTS: u8 = 4;

/// Returns the number of components of which a decoder keeps all coefficients: none where the one scan of the file has all of them, all where
/// several scans complete each other, as in a progressive file. A head that cannot be read counts as the worst.
pub(super) fn kept_components(data: &[u8]) -> u64 {
    u64::from(kept(data).unwrap_or(MAX_COMPONENTS))
}

fn kept(data: &[u8]) -> Option<u8> {
    let (mut rest, mut components, mut is_progressive) = (data.strip_prefix(b"\xff\xd8")?, 0, false);
    loop {
        let [0xff, marker, after @ ..] = rest else { return None };
        // Bytes that fill up.
        if *marker == 0xff {
            rest = &rest[1..];
            continue;
        }
        let length = usize::from(u16::from_be_bytes(*after.first_chunk()?));
        let (segment, next) = after.split_at_checked(length)?;
        let body = segment.get(2..)?;
        match marker {
            0xc0..=0xc2 => {
                components = *body.get(5)?;
                is_progressive |= *marker == 0xc2;
            }
            0xda => {
                let is_whole = !is_progressive && *body.first()? == components;
                return Some(if is_whole { 0 } else { components.min(MAX_COMPONENTS) });
            }
            _ => {}
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_scans_keep_their_coefficients() {
        let file = |frame: u8, components: u8, scan: u8| {
            let frame = [0xff, frame, 0, 8, 8, 0, 1, 0, 1, components];
            let others = [0xff, 0xfe, 0, 4, 0xff, 0xc2];
            [&b"\xff\xd8"[..], &others, &[0xff], &frame, &[0xff, 0xda, 0, 3, scan]].concat()
        };
        for (data, expected) in [
            (file(0xc0, 3, 3), 0),
            (file(0xc1, 1, 1), 0),
            (file(0xc0, 3, 1), 3),
            (file(0xc2, 3, 3), 3),
            (file(0xc2, 1, 1), 1),
            (file(0xc0, 200, 1), 4),
            (b"\xff\xd8\xff".to_vec(), 4),
            (b"\xff\xd8\xff\xc0\0\0".to_vec(), 4),
            (b"\xff\xd8garbage".to_vec(), 4),
            (Vec::new(), 4),
        ] {
            assert_eq!(kept_components(&data), expected, "{data:?}");
        }
        let long = file(0xc0, 3, 3);
        (0..long.len()).for_each(|end| assert_eq!(kept_components(&long[..end]), 4));
    }
}

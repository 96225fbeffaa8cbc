//! The format of messages on a pipe: a length, a checksum, and a JSON document.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum length of a message, in bytes.
const MAX_BYTES: u32 = 64 << 20;

/// Writes one message.
///
/// # Errors
/// If the pipe is closed or the message is longer than 64 MiB.
pub fn write(pipe: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok().filter(|&n| n <= MAX_BYTES);
    let length =
        length.ok_or_else(|| invalid(format!("a message of {} bytes is too long", body.len())))?;
    pipe.write_all(&length.to_le_bytes())?;
    pipe.write_all(&checksum(&body))?;
    pipe.write_all(&body)?;
    pipe.flush()
}

/// Reads one message; `None` at the end of the stream.
///
/// # Errors
/// If the stream ends inside a message, or the bytes are not a message.
pub fn read<T: DeserializeOwned>(pipe: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match pipe.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_BYTES {
        return Err(invalid(format!("a message of {length} bytes is too long")));
    }
    let mut sum = [0; 4];
    pipe.read_exact(&mut sum)?;
    let mut body = vec![0; length as usize];
    pipe.read_exact(&mut body)?;
    if checksum(&body) != sum {
        return Err(invalid("a message has a wrong checksum".into()));
    }
    Ok(Some(serde_json::from_slice(&body)?))
}

/// The checksum of a message. It detects text that a kernel writes to the pipe, which would otherwise be read as a
/// message.
fn checksum(body: &[u8]) -> [u8; 4] {
    let mut sum = [0; 4];
    sum.copy_from_slice(&blake3::hash(body).as_bytes()[..4]);
    sum
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was_written() {
        let mut pipe = Vec::new();
        write(&mut pipe, &("text", 7_u64)).unwrap();
        let back: Option<(String, u64)> = read(&mut pipe.as_slice()).unwrap();
        assert_eq!(back, Some(("text".to_owned(), 7)));
    }

    #[test]
    fn a_torn_or_damaged_message_is_an_error_and_an_end_is_not() {
        let mut pipe = Vec::new();
        write(&mut pipe, &"text").unwrap();
        assert_eq!(read::<String>(&mut [].as_slice()).unwrap(), None);
        assert!(read::<String>(&mut &pipe[..pipe.len() - 1]).is_err());
        for byte in 0..pipe.len() {
            let mut damaged = pipe.clone();
            damaged[byte] ^= 0x10;
            assert!(
                !matches!(read::<String>(&mut damaged.as_slice()), Ok(Some(text)) if text == "text")
            );
        }
    }
}

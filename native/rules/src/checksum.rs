//! CRC-32 as zlib has it, of the UTF-8 of characters that come one by one: a word is five of them, for which
//! a library's set-up costs more than its work.

use crate::characters::encoded;

const POLYNOMIAL: u32 = 0xedb8_8320;

static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ POLYNOMIAL } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// The checksum of what was added so far.
#[derive(Clone, Copy)]
pub struct Checksum(u32);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(u32::MAX)
    }
}

impl Checksum {
    /// Of a whole text.
    pub fn of(text: &[u32]) -> u32 {
        let mut sum = Checksum::default();
        sum.add(text);
        sum.value()
    }

    pub fn add(&mut self, text: &[u32]) {
        for &code in text {
            if code < 0x80 {
                self.add_byte(code as u8);
            } else {
                let (bytes, count) = encoded(code);
                bytes[..count].iter().for_each(|&byte| self.add_byte(byte));
            }
        }
    }

    #[inline]
    fn add_byte(&mut self, byte: u8) {
        self.0 = TABLE[usize::from(self.0 as u8 ^ byte)] ^ self.0 >> 8;
    }

    pub fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_zlib() {
        let codes = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        assert_eq!(Checksum::of(&codes("123456789")), 0xcbf4_3926);
        assert_eq!(Checksum::of(&codes("")), 0);
        let mut parts = Checksum::default();
        parts.add(&codes("1234"));
        parts.add(&codes("56789"));
        assert_eq!(parts.value(), 0xcbf4_3926);
    }
}

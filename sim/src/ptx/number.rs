//! Parses constants (PTX ISA 4.5).

/// An integer: decimal, `0x`, `0b` or octal, with an optional suffix `U`.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['U', 'u']).unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        return u64::from_str_radix(digits, 2).ok();
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => u64::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// The bits of an `f32`, written as `0f` and eight hexadecimal digits.
pub(super) fn float(text: &str) -> Option<u32> {
    let digits = text
        .strip_prefix("0f")
        .or_else(|| text.strip_prefix("0F"))?;
    (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The bits of an `f64`, written as `0d` and sixteen hexadecimal digits, or as a decimal number with a point.
pub(super) fn double(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        return (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?;
    }
    text.contains('.')
        .then(|| text.parse::<f64>().ok().map(f64::to_bits))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_four_bases_and_a_suffix() {
        assert_eq!(integer("0x1F"), Some(31));
        assert_eq!(integer("0b101"), Some(5));
        assert_eq!(integer("017U"), Some(15));
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("12a"), None);
    }

    #[test]
    fn floats_are_their_bits() {
        assert_eq!(float("0f3F800000"), Some(0x3f80_0000));
        assert_eq!(float("0f3F8"), None);
        assert_eq!(double("0d3FF0000000000000"), Some(1f64.to_bits()));
        assert_eq!(double("1.5"), Some(1.5f64.to_bits()));
        assert_eq!(double("15"), None);
    }
}

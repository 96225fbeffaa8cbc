//! Reads arrays in NumPy's file format, version 1, in C order.

/// The elements of an array in `tests/fixtures/pac/`. Its header must have this type and shape.
pub fn read(name: &str, ty: &str, shape: &[usize]) -> Vec<f64> {
    let path = kiln_tests::command::workspace()
        .join("tests/fixtures/pac")
        .join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "{name}");
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..data]);
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let want = format!(
        "{{'descr': '{ty}', 'fortran_order': False, 'shape': ({}), }}",
        extents.join(", ")
    );
    assert_eq!(header.trim(), want, "{name}");
    let elements: Vec<f64> = match ty {
        "<f4" => bytes[data..]
            .chunks_exact(4)
            .map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]]).into())
            .collect(),
        _ => bytes[data..]
            .chunks_exact(8)
            .map(|x| f64::from_le_bytes(x.try_into().expect("eight bytes")))
            .collect(),
    };
    assert_eq!(elements.len(), shape.iter().product::<usize>(), "{name}");
    elements
}

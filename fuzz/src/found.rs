//! What campaigns under libFuzzer found, a file for each target: inputs that reach what no seed reaches, none
//! of them for its own sake. As a file for each input they would be thousands.

/// The inputs as one file: each behind its length, 32 bits, the least byte first.
///
/// # Panics
///
/// If an input has 4 GiB or more.
pub fn pack(inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for input in inputs {
        file.extend(u32::try_from(input.len()).expect("an input is small").to_le_bytes());
        file.extend(input);
    }
    file
}

/// The inputs of a file.
///
/// # Panics
///
/// If the file was not written by [`pack`].
pub fn unpack(mut file: &[u8]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    while let Some((len, rest)) = file.split_first_chunk() {
        let (input, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        inputs.push(input.to_vec());
        file = rest;
    }
    assert!(file.is_empty(), "a file of found inputs ends within a length");
    inputs
}

//! Any fuzz body under libFuzzer: the one that `COMITY_FUZZ_TARGET` names when this is built. No other body
//! is in the binary, whose counters libFuzzer clears before each input.

#![no_main]

const BODY: comity_fuzz::Body = comity_fuzz::body(env!("COMITY_FUZZ_TARGET"));

libfuzzer_sys::fuzz_target!(|data: &[u8]| BODY(data));

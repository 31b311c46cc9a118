//! Ciphers beside AES: DES and triple DES, ChaCha20; and encryption of whole messages in counter mode.
//!
//! A value is one number whose hex reads as the standards print it.

mod chacha;
mod counter;
mod des;
mod des_boxes;

pub use chacha::chacha20;
pub use counter::{aes_ctr_program, chacha20_program};
pub use des::{des, des_decrypt, triple_des};

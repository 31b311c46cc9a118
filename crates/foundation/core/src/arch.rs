//! What depends on the machine. The only code of comity that is `unsafe`.

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod clear;
pub(crate) mod erasure;
pub(crate) mod garble;
pub(crate) mod gather;
pub(crate) mod half_tree;
mod instantiate;
mod kernels;
mod lanes;
pub(crate) mod portable;
mod secrecy;
pub(crate) mod subset;
pub(crate) mod table;
pub(crate) mod vole;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use kernels::Vectorize;
#[cfg(feature = "ct")]
pub use secrecy::ct;
pub use secrecy::{classify, declassify, declassify_all, mask, verdict};

/// The round keys of AES-128 as in FIPS 197, whatever the backend.
pub(crate) type RoundKeys = [crate::memory::block::Block; 11];

/// A backend that the machine can run: a capability, made only after asking the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi,
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    #[cfg(target_arch = "x86_64")]
    Vaes,
    #[cfg(target_arch = "aarch64")]
    Armv8,
}

impl Backend {
    /// The names of all backends, on whatever machine.
    pub const NAMES: [&str; 5] = ["vaes", "vaes256", "aesni", "armv8", "portable"];

    /// The fastest backend of this machine.
    pub fn detect() -> Backend {
        Backend::available()[0]
    }

    /// Every backend that this machine can run, the fastest first; the last one is always `portable`.
    pub fn available() -> Vec<Backend> {
        #[allow(unused_mut)]
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let aesni = has!("aes") && has!("avx2") && has!("pclmulqdq") && has!("ssse3") && has!("sse4.1");
            let vaes256 = aesni && has!("vaes") && has!("vpclmulqdq");
            let vaes =
                vaes256 && has!("gfni") && has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
            if vaes {
                found.push(Backend(Kind::Vaes));
            }
            if vaes256 {
                found.push(Backend(Kind::Vaes256));
            }
            if aesni {
                found.push(Backend(Kind::AesNi));
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            use std::arch::is_aarch64_feature_detected as has;
            if has!("neon") && has!("aes") && has!("pmull") {
                found.push(Backend(Kind::Armv8));
            }
        }
        found.push(Backend(Kind::Portable));
        found
    }

    /// The backend of this name, if the machine can run it.
    pub fn named(name: &str) -> Option<Backend> {
        Backend::available().into_iter().find(|b| b.name() == name)
    }

    /// The backend's name, one of [`NAMES`](Backend::NAMES).
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aesni",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => "vaes",
            #[cfg(target_arch = "aarch64")]
            Kind::Armv8 => "armv8",
        }
    }
}

impl core::fmt::Display for Backend {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

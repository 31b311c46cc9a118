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

use std::sync::OnceLock;

pub use kernels::Vectorize;
#[cfg(feature = "ct")]
pub use secrecy::ct;
pub use secrecy::{classify, declassify, declassify_all, mask, verdict};

/// The round keys of AES-128 as in FIPS 197, whatever the backend.
pub(crate) type RoundKeys = [crate::memory::block::Block; 11];

/// A backend that the machine can run. Only code that has asked the machine makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi128,
    #[cfg(target_arch = "x86_64")]
    AesNi,
    #[cfg(target_arch = "x86_64")]
    Vaes256,
    #[cfg(target_arch = "x86_64")]
    Vaes,
    #[cfg(target_arch = "aarch64")]
    Armv8,
    #[cfg(target_arch = "aarch64")]
    Armv8Sha3,
}

/// The backend that this process is forced to.
static FORCED: OnceLock<Backend> = OnceLock::new();

impl Backend {
    /// The names of all backends, on whatever machine.
    pub const NAMES: [&str; 7] = ["vaes", "vaes256", "aesni", "aesni128", "armv8sha3", "armv8", "portable"];

    /// The backend of this process: the one that it is [forced](Backend::force) to, or else the fastest of
    /// this machine.
    pub fn detect() -> Backend {
        FORCED.get().copied().unwrap_or_else(Backend::fastest)
    }

    /// The fastest backend of this machine, whatever the process is forced to.
    pub fn fastest() -> Backend {
        Backend::available()[0]
    }

    /// Makes this the backend of the whole process, wherever one is detected from now on. `false` if the
    /// process was forced to another one before. Programs call it at their start.
    pub fn force(self) -> bool {
        *FORCED.get_or_init(|| self) == self
    }

    /// Every backend that this machine can run, the fastest first; the last one is always `portable`.
    pub fn available() -> Vec<Backend> {
        #[allow(unused_mut)]
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let aesni128 = has!("aes") && has!("pclmulqdq") && has!("ssse3") && has!("sse4.1");
            let aesni = aesni128 && has!("avx2");
            let vaes256 = aesni && has!("vaes") && has!("vpclmulqdq");
            let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
            let vaes = vaes256 && has!("gfni") && avx512 && has!("avx512vpopcntdq");
            if vaes {
                found.push(Backend(Kind::Vaes));
            }
            if vaes256 {
                found.push(Backend(Kind::Vaes256));
            }
            if aesni {
                found.push(Backend(Kind::AesNi));
            }
            if aesni128 {
                found.push(Backend(Kind::AesNi128));
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            use std::arch::is_aarch64_feature_detected as has;
            let armv8 = has!("neon") && has!("aes") && has!("pmull");
            if armv8 && has!("sha3") {
                found.push(Backend(Kind::Armv8Sha3));
            }
            if armv8 {
                found.push(Backend(Kind::Armv8));
            }
        }
        found.push(Backend(Kind::Portable));
        found
    }

    /// The backend of this name; `None` if the machine cannot run it.
    pub fn named(name: &str) -> Option<Backend> {
        Backend::available().into_iter().find(|b| b.name() == name)
    }

    /// The backend's name, one of [`NAMES`](Backend::NAMES).
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi128 => "aesni128",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aesni",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes256 => "vaes256",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => "vaes",
            #[cfg(target_arch = "aarch64")]
            Kind::Armv8Sha3 => "armv8sha3",
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

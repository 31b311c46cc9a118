//! What depends on the machine. The only code of comity that is `unsafe`.

#![allow(unsafe_code)]

pub(crate) mod garble;
mod kernels;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lanes;
pub(crate) mod lockstep;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// The round keys of AES-128 as in FIPS 197, whatever the backend.
pub(crate) type RoundKeys = [crate::Block; 11];

/// What the machine can run: a capability, made only after asking the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi,
    #[cfg(target_arch = "x86_64")]
    Vaes,
}

impl Backend {
    /// The names of all backends, on whatever machine.
    pub const NAMES: [&str; 3] = ["vaes", "aesni", "portable"];

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
            let vaes = aesni
                && has!("gfni")
                && has!("vaes")
                && has!("vpclmulqdq")
                && has!("avx512f")
                && has!("avx512bw")
                && has!("avx512vl")
                && has!("avx512dq");
            if vaes {
                found.push(Backend(Kind::Vaes));
            }
            if aesni {
                found.push(Backend(Kind::AesNi));
            }
        }
        found.push(Backend(Kind::Portable));
        found
    }

    /// The backend of this name, if the machine can run it.
    pub fn named(name: &str) -> Option<Backend> {
        Backend::available().into_iter().find(|b| b.name() == name)
    }

    /// `vaes`, `aesni` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::AesNi => "aesni",
            #[cfg(target_arch = "x86_64")]
            Kind::Vaes => "vaes",
        }
    }
}

impl core::fmt::Display for Backend {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

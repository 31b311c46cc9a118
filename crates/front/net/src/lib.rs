//! TCP, TLS and the system's randomness for comity.

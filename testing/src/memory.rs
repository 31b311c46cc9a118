//! What the system says of the memory of a process, in KiB.

/// The most memory that this process ever had; `None` where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    field("self", "VmHWM:")
}

/// The memory that a process has now; without a number, this process. `None` if the system does not tell.
pub fn resident_memory(process: Option<u32>) -> Option<u64> {
    field(&process.map_or_else(|| "self".to_owned(), |process| process.to_string()), "VmRSS:")
}

fn field(process: &str, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

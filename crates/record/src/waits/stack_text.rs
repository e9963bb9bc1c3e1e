//! The text of /proc/PID/stack: one function a line, leaf first.
//!
//! Layout: `fs/proc/base.c`, `proc_pid_stack` (Linux 6.12): `[<0>] function+0x10/0x80 [module]`;
//! kernels before 4.15 print the address in the brackets. Lines of another form give no function.

/// Functions and their modules, leaf first; the kernel's own are of module `kernel`.
pub(crate) fn functions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (_, rest) = line.trim().strip_prefix("[<")?.split_once(">]")?;
        let (symbol, module) = match rest.trim().split_once(" [") {
            Some((symbol, module)) => (symbol, module.trim_end_matches(']')),
            None => (rest.trim(), "kernel"),
        };
        let function = symbol.split_once('+').map_or(symbol, |(name, _)| name).trim();
        // The end of a stack was once marked by an address of all ones.
        let named = !function.is_empty() && !function.starts_with("0x");
        named.then_some((function, module))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_modules_are_read_and_garbage_is_not() {
        let text = "[<0>] cv_wait_common+0xf7/0x130 [spl]\n[<ffffffffa0c1>] zio_wait+0x1/0x2 [zfs]\n\
                    [<0>] kthread+0x1/0x2\n[<ffffffffffffffff>] 0xffffffffffffffff\ngarbage\n[<\n";
        let want = [("cv_wait_common", "spl"), ("zio_wait", "zfs"), ("kthread", "kernel")];
        assert_eq!(functions(text).collect::<Vec<_>>(), want);
    }
}

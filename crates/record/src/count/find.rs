//! From what a person wrote to probes: in the kernel, in an object named before a colon, or in the
//! target.

use super::error::CountError;
use super::kernel::KernelFunctions;
use super::objects::{find_in, find_object, of_target};
use super::pattern::Pattern;
use super::probe::Probe;
use crate::target::Target;

/// Each needs a descriptor on every CPU, and each call of any is a trap.
const MOST: usize = 64;
const ABSENT: &str = "; it may be inlined into its callers, be called otherwise in this version, or \
                      belong to a module or library that is not loaded";

/// `OBJECT:FUNCTION` in its parts; the `::` of C++ and Rust names is none.
fn parts(spec: &str) -> (Option<&str>, &str) {
    let bytes = spec.as_bytes();
    let single = |at: &usize| {
        bytes[*at] == b':' && bytes.get(at + 1) != Some(&b':') && (*at == 0 || bytes[at - 1] != b':')
    };
    match (0..bytes.len()).find(single) {
        Some(at) => (Some(&spec[..at]), &spec[at + 1..]),
        None => (None, spec),
    }
}

/// The pattern of the function alone, for looking at frames.
pub(super) fn frame_pattern(spec: &str) -> Pattern {
    Pattern::new(parts(spec).1)
}

/// A caller named without an object is looked for where the function is.
pub(super) fn beside(function: &str, caller: &str) -> String {
    match (parts(function).0, parts(caller).0) {
        (Some(object), None) => format!("{object}:{caller}"),
        _ => caller.to_owned(),
    }
}

/// All functions meant, at least one.
pub(super) fn find(spec: &str, target: &Target, kernel: &KernelFunctions) -> Result<Vec<Probe>, CountError> {
    let (object, function) = parts(spec);
    if function.is_empty() || object == Some("") {
        return Err(CountError::Usage(format!(
            "`{spec}` names no function; give FUNCTION, MODULE:FUNCTION or LIBRARY:FUNCTION"
        )));
    }
    let pattern = Pattern::new(function);
    let probes = match object {
        Some("kernel") => in_kernel(&pattern, Some("kernel"), kernel)?,
        Some(module) if kernel.has_module(module) => in_kernel(&pattern, Some(module), kernel)?,
        Some(object) => in_object(&pattern, object, target)?,
        None => anywhere(&pattern, target, kernel)?,
    };
    if probes.len() > MOST {
        let names: Vec<&str> = probes.iter().take(3).map(|p| p.function.as_str()).collect();
        return Err(CountError::TooMany {
            pattern: spec.to_owned(),
            found: probes.len(),
            most: MOST,
            hint: format!("{}, …: be more specific", names.join(", ")),
        });
    }
    Ok(probes)
}

fn in_kernel(
    pattern: &Pattern,
    module: Option<&str>,
    kernel: &KernelFunctions,
) -> Result<Vec<Probe>, CountError> {
    let probes = kernel.find(pattern, module)?;
    if probes.is_empty() {
        let near = kernel.suggest(pattern.text());
        return Err(CountError::Unknown {
            function: pattern.text().to_owned(),
            place: format!("in {}", module.unwrap_or("the kernel")),
            hint: format!("{}{}", kernel.without_zfs(), if near.is_empty() { ABSENT } else { &near }),
        });
    }
    Ok(probes)
}

fn in_object(pattern: &Pattern, name: &str, target: &Target) -> Result<Vec<Probe>, CountError> {
    let object = find_object(name, target)?;
    let found = find_in(&object, pattern)?;
    if !found.probes.is_empty() {
        return Ok(found.probes);
    }
    let hint = if found.indirect {
        "; there it is chosen among several at run time, and those have no names here: install the debug \
         symbols of the library"
            .to_owned()
    } else if found.suggestion.is_empty() {
        format!(
            "; {} functions have names there{}",
            found.named,
            ABSENT.trim_end_matches(" that is not loaded")
        )
    } else {
        found.suggestion
    };
    Err(CountError::Unknown {
        function: pattern.text().to_owned(),
        place: format!("in {}", object.path.display()),
        hint,
    })
}

fn anywhere(pattern: &Pattern, target: &Target, kernel: &KernelFunctions) -> Result<Vec<Probe>, CountError> {
    let probes = kernel.find(pattern, None)?;
    if !probes.is_empty() {
        return Ok(probes);
    }
    let mut probes: Vec<Probe> = Vec::new();
    let mut near = kernel.suggest(pattern.text());
    for object in of_target(target) {
        // An object that cannot be read only matters when it is named.
        let Ok(found) = find_in(&object, pattern) else { continue };
        probes.extend(found.probes);
        if !found.suggestion.is_empty() {
            near = format!("{} (in {})", found.suggestion, object.module);
        }
    }
    probes.dedup_by(|a, b| a.point == b.point);
    if !probes.is_empty() {
        return Ok(probes);
    }
    let place = match target {
        Target::System | Target::Cgroup(_) => "in the kernel; a function of a library is LIBRARY:FUNCTION",
        Target::Pid(_) => "in the kernel or in what the process maps",
        Target::Command(_) => "in the kernel or in the program; a function of a library is LIBRARY:FUNCTION",
    };
    let of_zfs = if matches!(target, Target::System) { kernel.without_zfs() } else { "" };
    Err(CountError::Unknown {
        function: pattern.text().to_owned(),
        place: place.to_owned(),
        hint: format!("{of_zfs}{}", if near.is_empty() { ABSENT } else { &near }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_colon_parts_object_and_function() {
        assert_eq!(parts("zio_read"), (None, "zio_read"));
        assert_eq!(parts("libzpool.so.6:dmu_read"), (Some("libzpool.so.6"), "dmu_read"));
        assert_eq!(parts("./prog:foo::bar"), (Some("./prog"), "foo::bar"));
        assert_eq!(parts("foo::bar"), (None, "foo::bar"));
        assert_eq!(parts(":x"), (Some(""), "x"));
        assert_eq!(beside("libc.so.6:strcmp", "main"), "libc.so.6:main");
        assert_eq!(beside("libc.so.6:strcmp", "./prog:main"), "./prog:main");
        assert_eq!(beside("zio_read", "dmu_read"), "dmu_read");
    }
}

# Sourced: how the set-up speaks: one line for a step, one paragraph for a failure.

say() { printf 'setup: %s\n' "$*"; }

# die WHAT [LINE…]: what failed, then what to try, one line each; ends the set-up.
die() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    if (($#)); then printf '  %s\n' "$@" >&2; fi
    exit 1
}

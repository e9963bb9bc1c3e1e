# Sourced: runs named steps in order, stops at the first that fails, and ends with the time each took.

steps_done=()

# step NAME COMMAND…
step() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if ! "$@"; then
        printf '\n== %s FAILED after %d s: %s\n' "$name" $((SECONDS - start)) "$*" >&2
        exit 1
    fi
    steps_done+=("$(printf '%-28s %4d s' "$name" $((SECONDS - start)))")
}

steps_summary() {
    printf '\n== all steps passed\n'
    printf '%s\n' "${steps_done[@]}"
}

# Runs a command for at most so many seconds: `limited SECONDS COMMAND...`; its status is the command's. What hangs in the
# kernel, as commands on a suspended pool do, no signal ends: it is left behind, where timeout(1) would wait for it.
limited() {
    limit=$1
    shift
    "$@" &
    command=$!
    {
        sleep "$limit" &
        sleeper=$!
        trap 'kill "$sleeper"; exit 0' TERM
        wait "$sleeper"
        kill "$command" && sleep 1 && kill -9 "$command" && sleep 1
        kill -USR1 "$$"
    } >/dev/null 2>&1 &
    watcher=$!
    wait "$command" 2>/dev/null
    status=$?
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    return "$status"
}

# Ends `wait` of a command that is left behind.
trap : USR1
trap 'kill "$watcher" "$command" 2>/dev/null; exit 1' HUP INT TERM

# Runs a command, its line before its output.
say() {
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '\n$ %s\n' "$*"
    limited 20 "$@" 2>&1
}

# The same of a command that looks several times: its last look, as the first tells of the time since the start, or of a
# moment. Each begins with such a line.
say_last() {
    begins=$1
    shift
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '\n$ %s\n' "$*"
    limited 20 "$@" 2>&1 | awk -v "begins=$begins" '
        $0 ~ begins { look = "" }
        { look = look $0 "\n" }
        END { printf "%s", look }'
}

# Sourced by what runs in the VM: steps with a name, and what each leaves in /out for the tests.

# say TEXT…: a line on the console, with the machine's time.
say() { echo "[$(cut -d' ' -f1 /proc/uptime)] $*"; }

# must COMMAND…: the whole run is worth nothing without this.
must() {
    if ! "$@"; then
        say "failed: $*"
        exit 1
    fi
}

# try NAME COMMAND…: keeps the exit code, the seconds it took, its CPU time and what it printed. A
# command that has not ended after two minutes ($try_limit seconds) hangs, and is left behind: it may not even be
# killed.
try() {
    try_name=$1
    shift
    try_start=$(cut -d. -f1 /proc/uptime)
    (
        "$@" >"/out/$try_name.log" 2>&1
        try_exit=$?
        times >"/out/$try_name.cpu"
        echo $try_exit >"/out/$try_name.exit"
    ) &
    try_left=${try_limit:-120}
    while [ ! -s "/out/$try_name.exit" ] && [ $try_left -gt 0 ]; do
        sleep 1
        try_left=$((try_left - 1))
    done
    echo $(($(cut -d. -f1 /proc/uptime) - try_start)) >"/out/$try_name.seconds"
    say "$try_name: exit $(cat "/out/$try_name.exit" 2>/dev/null || echo none), $(cat "/out/$try_name.seconds") s"
}

# during SECONDS NAME COMMAND…: records the whole host while the command runs, with what $record
# holds of further options. NAME.load says what the load moved meanwhile.
during() {
    during_seconds=$1 during_name=$2
    shift 2
    rm -rf /run/counts
    mkdir /run/counts
    (ZWHY_LOAD_COUNTS=/run/counts && export ZWHY_LOAD_COUNTS && "$@") >"/out/$during_name.load.log" 2>&1 &
    during_load=$!
    sleep 2
    during_before=$(moved)
    # shellcheck disable=SC2086
    try "$during_name" zwhy record -a -F 199 ${record:-} -d "$during_seconds" -o "/out/$during_name.zwhy"
    echo "$during_before $(moved) $(tail -n 1 "/out/$during_name.cpu" | tr ms '  ')" |
        awk '{ printf "{\"bytes\": %.0f, \"operations\": %.0f, \"seconds\": %.2f, \"cpu_seconds\": %.2f}\n",
            $5 - $1, $6 - $2, $7 - $3, $8 - $4 - 60 * $9 - $10 - 60 * $11 - $12 }' >"/out/$during_name.load"
    say "$during_name: $(cat "/out/$during_name.load")"
    # The load may be a function, whose program is a child of the shell that runs it.
    kill $during_load 2>/dev/null
    killall -q zwhy-load
    wait $during_load 2>/dev/null
}

# moved: bytes and operations of the load so far, the time, and the CPU seconds of the whole machine.
moved() {
    cat /run/counts/* 2>/dev/null | awk '{ bytes += $1; operations += $2 } END { printf "%.0f %.0f ", bytes, operations }'
    awk '{ printf "%s ", $1 }' /proc/uptime
    # Ticks of /proc/stat are lost on a busy emulated machine.
    awk '/^cpu/ { seconds += $8 / 1e9 } END { print seconds }' /proc/schedstat
}

# counted OPERATIONS: what a load that is not zwhy-load has done since it was last said.
counted() {
    counted_all=$((${counted_all:-0} + $1))
    echo "0 $counted_all" >"$ZWHY_LOAD_COUNTS/shell"
}

# underway CAPTURE: waits until a recording has written samples and counters.
underway() {
    underway_left=120
    while [ "$(find "$1.part" -name 'series-*' 2>/dev/null | wc -l)" -lt 2 ] ||
        [ "$(find "$1.part" -name 'samples-*' | wc -l)" -lt 2 ]; do
        sleep 1
        underway_left=$((underway_left - 1))
        if [ $underway_left = 0 ]; then
            say "$1 never began"
            return 1
        fi
    done
}

# begin NAME COMMAND…: runs it until `finish NAME`, which asks it to end and waits for that.
begin() {
    begin_name=$1
    shift
    "$@" >"/out/$begin_name.log" 2>&1 &
    echo $! >"/run/$begin_name.pid"
}

finish() {
    # A shell has what it starts in the background ignore SIGINT.
    kill -TERM "$(cat "/run/$1.pid")"
    finish_left=120
    while [ -d "/proc/$(cat "/run/$1.pid")" ] && [ $finish_left -gt 0 ]; do
        sleep 1
        finish_left=$((finish_left - 1))
    done
    if [ $finish_left -gt 0 ]; then
        wait "$(cat "/run/$1.pid")"
        echo $? >"/out/$1.exit"
    fi
    say "$1: exit $(cat "/out/$1.exit" 2>/dev/null || echo none)"
}

# goes_on CAPTURE: waits until a recording has written twice more, so that it has seen what is now.
goes_on() {
    goes_on_until=$(($(find "$1.part" -name 'samples-*' | wc -l) + 2))
    goes_on_left=120
    while [ "$(find "$1.part" -name 'samples-*' | wc -l)" -lt $goes_on_until ]; do
        sleep 1
        goes_on_left=$((goes_on_left - 1))
        if [ $goes_on_left = 0 ]; then
            say "$1 does not go on"
            return 1
        fi
    done
}

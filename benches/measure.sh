# Sourced: CPU time and memory of commands that run in turn, as a table with bars and ratios.
#
# Each command runs REPEAT times in turn with the others, and its smallest CPU time counts, because
# machines are shared.
# shellcheck shell=bash disable=SC2154 # dir is where the caller keeps its files

names=()
commands=()
bars=()
beside=()

# The row whose CPU time the bars are parts of: machines differ, and the same one differs from hour to hour.
yardstick=

# add NAME BAR PEER COMMAND: BAR is `part of the yardstick's CPU time/MB` (each may be empty), PEER the row to compare with.
add() {
    names+=("$1")
    bars+=("$2")
    beside+=("$3")
    commands+=("$4")
}

declare -A cpu memory

# once INDEX: runs a command and keeps the better figures.
once() {
    local i=$1 user system kilobytes now
    if ! /usr/bin/time -o "$dir/time" -f '%U %S %M' bash -c "set -o pipefail; ${commands[i]}" \
        >/dev/null 2>"$dir/stderr" </dev/null; then
        cat "$dir/stderr" >&2
        echo "failed: ${commands[i]}" >&2
        exit 1
    fi
    read -r user system kilobytes <"$dir/time"
    now=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
    if [[ -z ${cpu[$i]:-} ]] || awk -v a="$now" -v b="${cpu[$i]}" 'BEGIN { exit !(a < b) }'; then
        cpu[$i]=$now
    fi
    if ((kilobytes > ${memory[$i]:-0})); then memory[$i]=$kilobytes; fi
}

# table: runs all commands and prints one row for each.
table() {
    local i round bar_cpu bar_memory peer
    for ((round = 0; round < ${REPEAT:-3}; round++)); do
        for i in "${!names[@]}"; do once "$i"; done
    done
    echo "| step | CPU s | of ${names[yardstick]} | bar | peak MB | bar | x of zwhy |"
    echo "|---|---:|---:|---:|---:|---:|---:|"
    for i in "${!names[@]}"; do
        IFS=/ read -r bar_cpu bar_memory <<<"${bars[i]}"
        peer=${beside[i]}
        # How many times the CPU time of the row it is beside is in its own.
        awk -v name="${names[i]}" -v cpu="${cpu[$i]}" -v bar_cpu="$bar_cpu" -v kilobytes="${memory[$i]}" \
            -v bar_memory="$bar_memory" -v peer="${peer:+${cpu[$peer]}}" -v yardstick="${cpu[$yardstick]}" 'BEGIN {
                part = bar_cpu == "" ? "" : sprintf("%.2f", cpu / yardstick)
                printf "| %s | %.2f | %s | %s | %d | %s | %s |\n", name, cpu, part, bar_cpu, kilobytes / 1024, bar_memory,
                    peer == "" ? "" : sprintf("%.1f", cpu / (peer > 0 ? peer : 0.01))
            }'
    done
}

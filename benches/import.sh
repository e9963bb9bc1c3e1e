#!/usr/bin/env bash
# Reading a perf.data: CPU time and memory of zwhy beside perf and inferno, in one run, as a table.
#
# Records its own file of about 270,000 samples with call graphs (FRESH=1 records again). Each
# command runs REPEAT times in turn with the others, and its smallest CPU time counts, because
# machines are shared.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh

repeat=${REPEAT:-3}
samples=${SAMPLES:-272000}
dir=target/bench
data=$dir/perf.data
zwhy=${CARGO_TARGET_DIR:-target}/release/zwhy
inferno=.tools/inferno

for tool in perf /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install linux-perf time" >&2; exit 1; }
done
[[ -x $zwhy ]] || { echo "$zwhy is missing: run \`make build\`" >&2; exit 1; }
if [[ ! -x $inferno/bin/inferno-flamegraph ]]; then
    cargo install --quiet --locked --root "$inferno" --target-dir target/bench/inferno inferno
fi

mkdir -p "$dir"
if [[ ! -s $data || -n ${FRESH:-} ]]; then
    seconds=$((samples / (4999 * $(nproc)) + 1))
    echo "Recording for $seconds s." >&2
    perf record -F 4999 -g -a -o "$data" -- benches/workload.sh "$seconds" >/dev/null 2>"$dir/record.log" \
        || { cat "$dir/record.log" >&2; exit 1; }
fi
text=$dir/perf.script
if [[ ! -s $text || $data -nt $text ]]; then perf script -i "$data" >"$text" 2>/dev/null; fi

names=()
commands=()
add() { names+=("$1"); commands+=("$2"); }
collapse=$inferno/bin/inferno-collapse-perf
flame=$inferno/bin/inferno-flamegraph
add "zwhy: perf.data to folded" "$zwhy export $data -o $dir/zwhy.folded"
add "zwhy: perf.data to HTML report" "$zwhy report $data -o $dir/zwhy.html"
add "perf report --no-children -g none" "perf report -i $data --no-children -g none"
add "perf script" "perf script -i $data"
add "perf script to inferno: folded" "perf script -i $data | $collapse"
add "perf script to inferno: SVG" "perf script -i $data | $collapse | $flame"
add "zwhy: perf script text to folded" "$zwhy export $text -o $dir/text.folded"
add "inferno: perf script text to folded" "$collapse $text"

declare -A cpu memory
for ((round = 0; round < repeat; round++)); do
    for i in "${!names[@]}"; do
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
    done
done

# ratio A B: how many times the CPU time of A is in that of B.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b / (a > 0 ? a : 0.01) }'; }

echo "perf.data: $(stat -c %s "$data") bytes, perf script text: $(stat -c %s "$text") bytes, $(nproc) CPUs"
echo
echo "| step | CPU s | peak MB | x of zwhy |"
echo "|---|---:|---:|---:|"
for i in "${!names[@]}"; do
    case $i in
        [01]) own=$i ;;    # zwhy itself
        [234]) own=0 ;;    # names, no picture: beside folded
        5) own=1 ;;        # a picture: beside the page
        *) own=6 ;;        # from text
    esac
    printf '| %s | %.2f | %d | %s |\n' "${names[i]}" "${cpu[$i]}" $((memory[$i] / 1024)) \
        "$(ratio "${cpu[$own]}" "${cpu[$i]}")"
done

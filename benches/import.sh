#!/usr/bin/env bash
# Reading a perf.data: CPU time and memory of zwhy beside perf and inferno, in one run, as a table.
#
# Records its own file of about 270,000 samples with call graphs (FRESH=1 records again), and makes
# larger ones of it: time and memory must grow no faster than the file.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/path.sh
. benches/measure.sh

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

larger=$dir/larger.data
times=${TIMES:-$((8000000 / samples + 1))}
if [[ ! -s $larger || $data -nt $larger ]]; then perl benches/repeat.pl "$data" "$times" "$larger"; fi
text_times=${TEXT_TIMES:-12}
longer=$dir/longer.script
if [[ ! -s $longer || $text -nt $longer ]]; then
    for ((i = 0; i < text_times; i++)); do cat "$text"; done >"$longer"
fi
capture=$dir/bench.zwhy
# A capture is never written over.
rm -f "$capture" "$dir/tiny.zwhy" "$dir/many.zwhy"
"$zwhy" import "$data" -o "$capture" >/dev/null
printf 'dd;read;zfs_read;dmu_read;arc_read 30\n' >"$dir/tiny.folded"
"$zwhy" import "$dir/tiny.folded" -o "$dir/tiny.zwhy" >/dev/null
python3 benches/many_stacks.py 300000 45000 >"$dir/many.script"
"$zwhy" import "$dir/many.script" -o "$dir/many.zwhy" >/dev/null

collapse=$inferno/bin/inferno-collapse-perf
flame=$inferno/bin/inferno-flamegraph
add "zwhy: perf.data to HTML report" 0.35/100 "" "$zwhy report $data -o $dir/zwhy.html"
add "perf script to inferno: SVG" "" 0 "perf script -i $data | $collapse | $flame"
add "zwhy: perf.data to folded" "" "" "$zwhy export $data -o $dir/zwhy.folded"
add "perf script to inferno: folded" "" 2 "perf script -i $data | $collapse"
yardstick=${#names[@]}
add "perf script" "" 2 "perf script -i $data"
add "perf report --no-children -g none" "" 2 "perf report -i $data --no-children -g none"
add "zwhy: perf script text to folded" 0.35/ "" "$zwhy export $text -o $dir/text.folded"
add "inferno: perf script text to folded" "" 6 "$collapse $text"
add "zwhy: perf.data $times times as large to folded" /500 2 "$zwhy export $larger -o $dir/larger.folded"
add "zwhy: text $text_times times as large to folded" /500 6 "$zwhy export $longer -o $dir/longer.folded"
add "zwhy: explain a capture of the same samples" 0.42/ "" "$zwhy explain $capture"
add "zwhy: explain 300,000 samples of 45,000 different stacks" 0.14/ "" "$zwhy explain $dir/many.zwhy"
# Ten times, since CPU time is read to a hundredth of a second.
add "zwhy: explain a capture of one stack, ten times" 0.21/ "" "for _ in {1..10}; do $zwhy explain $dir/tiny.zwhy; done"

bytes() { stat -c %s "$1"; }
echo "perf.data: $(bytes "$data") bytes, and $times times that in $(bytes "$larger"); perf script text:" \
    "$(bytes "$text") bytes, and $text_times times that; $(nproc) CPUs"
echo
table

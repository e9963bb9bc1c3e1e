# Runs in the VM: each scenario named, once with its fault and once without it, as healthy control.
. /job/lib.sh
. /job/scenario.sh

scenario() {
    prepare "$1" "$2"
    during 8 "$scenario_name.$variant" load
    if [ "$variant" = fault ] && grep -q '^# remedy: ' "/job/$scenario_name.sh"; then remedy; fi
    leave
}

# remedy: runs what zwhy says, records the same load again, takes it back, and records once more.
remedy() {
    remedy_answer=/out/$scenario_name.fault.json
    zwhy explain "/out/$scenario_name.fault.zwhy" --json >"$remedy_answer"
    # The scenario says which choice, and what stands for words in capitals.
    remedy_words=$(sed -n 's/^# remedy: commands *//p; s/^# remedy: \(choice=.*\)/\1/p' "/job/$scenario_name.sh")
    for way in run undo; do
        # shellcheck disable=SC2086
        try "$scenario_name.$way.remedy" zwhy-load remedy "$remedy_answer" $way $remedy_words
        renew
        during 8 "$scenario_name.$way" load
    done
}

for name in "$@"; do
    scenario "$name" fault
    scenario "$name" control
done
exit 0

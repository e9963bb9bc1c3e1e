# Sourced: what the Python recipes of docs/FLEET.md need. Only tests need it.

fleet_wheels=('duckdb~=2.0' 'pandas>=2' 'pyarrow>=21')

# A recipe whose module is missing is left out by its test, which says so.
ensure_fleet_python() {
    local venv=$repo/.tools/fleet-python
    if "$venv/bin/python3" -c 'import duckdb, pandas, pyarrow' 2>/dev/null; then return; fi
    say "installing ${fleet_wheels[*]} into .tools/fleet-python (PyPI)"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --retries 5 --only-binary :all: "${fleet_wheels[@]}" ||
        say "could not fetch them: tests of the recipes that need them are left out"
}

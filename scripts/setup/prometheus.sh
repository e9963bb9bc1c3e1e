# Sourced: Prometheus and its promtool, for the tests of the agent's metrics, alerts and dashboard. They are unpacked into
# .tools/prometheus and not installed: the package would start a service that listens on all addresses.

has_prometheus() { has prometheus && has promtool; }

ensure_prometheus() {
    if has_prometheus; then return; fi
    local folder=$repo/.tools/prometheus packages
    say "unpacking Debian's prometheus into .tools/prometheus"
    apt_knows prometheus || refresh apt_knows prometheus ||
        die "apt cannot find prometheus" "Please install prometheus and promtool by hand, then run this again."
    rm -rf "$folder"
    mkdir -p "$folder"
    packages=$(mktemp -d)
    # As root apt would fetch as a user who may not write there, and complain.
    (cd "$packages" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download prometheus) ||
        die "apt-get could not fetch prometheus" "Its own message is above."
    dpkg-deb --extract "$packages"/prometheus_*.deb "$folder"
    rm -rf "$packages"
    hash -r
    has_prometheus || die "the prometheus in .tools/prometheus does not run" "Remove it and run this again, or install it by hand."
}

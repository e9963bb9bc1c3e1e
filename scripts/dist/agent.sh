# Sourced by dist.sh: the Debian package of the agent as a service. It has the unit and its options; the program is zwhy's.
# shellcheck disable=SC2154 # folders and names are those of dist.sh

agent_control() {
    head_of_control zwhy-agent all "zwhy (>= $version)"
    cat <<'END'
Description: record what OpenZFS does, all the time, as a service
 Runs the agent of zwhy under a user of its own with three capabilities:
 samples of all CPUs, names of the kernel's functions, and counters of all
 processes. What it records stays in /var/lib/zwhy, bounded in time and size,
 so that what happened last night can be explained in the morning.
 .
 Options of the agent are in /etc/default/zwhy-agent.
END
}

# agent_overrides: what lintian warns of and is meant so.
agent_overrides() {
    cat <<'END'
# Keys of a store may stand in it.
zwhy-agent: non-standard-file-perm 0600 != 0644 [etc/default/zwhy-agent]
END
}

# make_agent: the same for all machines.
make_agent() {
    local top=$work/zwhy-agent script
    local doc=$top/usr/share/doc/zwhy-agent
    put 644 packaging/zwhy-agent.service "$top/usr/lib/systemd/system/zwhy-agent.service"
    put 600 packaging/zwhy-agent.default "$top/etc/default/zwhy-agent"
    mkdir -p "$doc/examples" "$top/DEBIAN" "$top/usr/share/lintian/overrides"
    agent_overrides >"$top/usr/share/lintian/overrides/zwhy-agent"
    copyright " What the service does is in /usr/share/doc/zwhy/AGENT.md.gz." >"$doc/copyright"
    debian_changelog zwhy-agent /usr/share/doc/zwhy/NEWS.gz >"$doc/changelog"
    gzip -9n "$doc/changelog"
    cp packaging/prometheus.rules packaging/grafana-dashboard.json "$doc/examples"
    echo /etc/default/zwhy-agent >"$top/DEBIAN/conffiles"
    agent_control >"$top/DEBIAN/control"
    for script in postinst prerm postrm; do put 755 "packaging/zwhy-agent.$script" "$top/DEBIAN/$script"; done
    pack zwhy-agent all
}

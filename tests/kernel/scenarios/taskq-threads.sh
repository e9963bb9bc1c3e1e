# Task threads end as soon as they have no work, while small blocks are read from a file; in the control they wait for more.
# expect: taskq-thread-churn
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter spl_taskq_thread_timeout_ms 0; fi
    # A pool on a file reads each block in a thread of its own.
    layout=/run/disk
    rm -f $layout
    must truncate -s 256M $layout
    pool -O recordsize=4K -O primarycache=metadata
    must zwhy-load write /tank/file size=16M
}
load() { zwhy-load read /tank/file block=128K size=16M random=1 pause=10 seconds=600; }

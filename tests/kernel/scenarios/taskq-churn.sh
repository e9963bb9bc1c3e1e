# Threads of task queues that end as soon as they have no work; in the control they stay for a while.
# expect: taskq-thread-churn
# remedy: commands
setup() {
    if [ "$1" = fault ]; then parameter spl_taskq_thread_timeout_ms 0; fi
    pool -O recordsize=4K -O primarycache=metadata
    must zwhy-load write /tank/file size=16M
}
load() { zwhy-load read /tank/file block=4K size=16M random=1 seconds=600; }

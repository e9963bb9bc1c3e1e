/*
 * Files that are disks of the pool: opened with O_DIRECT, written by a provider where that is wanted, and with a model of a
 * disk under each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "offload.h"
#include "shim.h"

static struct {
	const char *prefix; /* their paths begin so; NULL: not known */
	int direct;         /* they are opened with O_DIRECT */
} vdevs;

EXPORT void zwhy_shim_vdevs(const char *prefix, int direct)
{
	vdevs.prefix = strdup(prefix);
	vdevs.direct = direct;
}

enum { MAX_FD = 4096, MAX_QUEUE = 64 };

/* Files of the pool. Disks of the log and of the special class are called so: no model slows them down. */
static _Atomic char is_vdev[MAX_FD], is_fast[MAX_FD];

static int names_vdev(const char *path)
{
	return vdevs.prefix && strncmp(path, vdevs.prefix, strlen(vdevs.prefix)) == 0;
}

static void remember(int fd, const char *path)
{
	static const char fast[] = "-fast";
	if (fd < 0 || fd >= MAX_FD)
		return;
	is_vdev[fd] = (char)names_vdev(path);
	is_fast[fd] = is_vdev[fd] && strncmp(path + strlen(vdevs.prefix), fast, sizeof(fast) - 1) == 0;
}

/* The page cache below a file vdev makes reads too fast and writes too dear. */
EXPORT int open64(const char *path, int flags, ...)
{
	ORIGINAL(open64);
	va_list args;
	va_start(args, flags);
	int mode = va_arg(args, int);
	va_end(args);
	if (vdevs.direct && names_vdev(path))
		flags |= O_DIRECT;
	int fd = original(path, flags, mode);
	remember(fd, path);
	return fd;
}

enum { DIRECT_ALIGN = 4096 };

/*
 * A model of a disk under each file: an I/O takes its turn on the disk's link, then its latency, and no more
 * than so many are under way at once. Callers sleep, as they would with a disk.
 */
static struct {
	double bytes_per_ns; /* 0: no limit */
	int64_t latency_ns;
	int queue; /* 0: no model */
	pthread_mutex_t lock;
	struct {
		int64_t link_free;            /* when the link has moved what was asked before */
		int64_t slot_free[MAX_QUEUE]; /* when each of the I/O under way ends */
	} disk[MAX_FD];
} model = { .lock = PTHREAD_MUTEX_INITIALIZER };

EXPORT void zwhy_shim_device(double bytes_per_ns, int64_t latency_ns, int queue)
{
	model.bytes_per_ns = bytes_per_ns;
	model.latency_ns = latency_ns;
	model.queue = queue > MAX_QUEUE ? MAX_QUEUE : queue;
}

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec until = { ns / 1000000000, ns % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* When an I/O of `size` bytes, begun now, would end on the modelled disk. */
static int64_t modelled_end(int fd, size_t size)
{
	if (model.queue == 0 || fd < 0 || fd >= MAX_FD || is_fast[fd] || !(fcntl(fd, F_GETFL) & O_DIRECT))
		return 0;
	pthread_mutex_lock(&model.lock);
	int slot = 0;
	for (int i = 1; i < model.queue; i++)
		if (model.disk[fd].slot_free[i] < model.disk[fd].slot_free[slot])
			slot = i;
	int64_t begin = now_ns();
	if (begin < model.disk[fd].slot_free[slot])
		begin = model.disk[fd].slot_free[slot];
	/* Positioning goes on while the link is busy with another I/O of the queue. */
	int64_t positioned = begin + model.latency_ns;
	int64_t on_link = positioned > model.disk[fd].link_free ? positioned : model.disk[fd].link_free;
	int64_t end = on_link + (model.bytes_per_ns > 0 ? (int64_t)(size / model.bytes_per_ns) : 0);
	model.disk[fd].link_free = end;
	model.disk[fd].slot_free[slot] = end;
	pthread_mutex_unlock(&model.lock);
	return end;
}

static int misaligned(int fd, const void *data)
{
	return errno == EINVAL && vdevs.direct && (uintptr_t)data % DIRECT_ALIGN != 0 &&
	    (fcntl(fd, F_GETFL) & O_DIRECT);
}

/* O_DIRECT refuses buffers off a sector boundary, which OpenZFS uses for a few labels only. */
EXPORT ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	ORIGINAL(pread64);
	offload_host_writes(data, size);
	int64_t end = modelled_end(fd, size);
	ssize_t got = original(fd, data, size, offset);
	if (end)
		sleep_until(end);
	void *copy;
	if (got >= 0 || !misaligned(fd, data) || posix_memalign(&copy, DIRECT_ALIGN, size) != 0)
		return got;
	got = original(fd, copy, size, offset);
	if (got > 0)
		memcpy(data, copy, got);
	int error = errno;
	free(copy);
	errno = error;
	return got;
}

static __typeof__(pwrite64) *original_pwrite64;

static ssize_t write_by_software(int fd, const void *data, size_t size, off64_t offset)
{
	offload_host_reads(data, size);
	ssize_t put = original_pwrite64(fd, data, size, offset);
	void *copy;
	if (put >= 0 || !misaligned(fd, data) || posix_memalign(&copy, DIRECT_ALIGN, size) != 0)
		return put;
	memcpy(copy, data, size);
	put = original_pwrite64(fd, copy, size, offset);
	int error = errno;
	free(copy);
	errno = error;
	return put;
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	ORIGINAL(pwrite64);
	/* The empty first half of a write that rand() below left unsplit. */
	if (size == 0)
		return 0;
	original_pwrite64 = original;
	int64_t end = modelled_end(fd, size);
	int offloads = fd >= 0 && fd < MAX_FD && is_vdev[fd] && offload_asks(FILE_WRITE);
	ssize_t put = offloads ? offload_file_write(fd, data, size, offset, write_by_software)
			       : write_by_software(fd, data, size, offset);
	int error = errno;
	if (end)
		sleep_until(end);
	errno = error;
	return put;
}

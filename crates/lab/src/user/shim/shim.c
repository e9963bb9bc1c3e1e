/*
 * Interposers that cure what distorts OpenZFS in user space.
 *
 * Preloaded into the lab's child, so each function here is found before the one of libc or libzpool.
 * Until zwhy_shim_configure() is called all of them behave as the originals. Only calls of stable
 * signature are taken over.
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
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NAME_MAX_COMM 15

static struct {
	const char *vdev_prefix; /* open files that begin so with O_DIRECT; NULL: none */
	long memory_pages;       /* what sysconf(_SC_PHYS_PAGES) says; 0: the truth */
	int name_threads;        /* give threads the name of their task queue */
	int active;
} config;

typedef void *taskq_create_fn(const char *, int, int, int, int, unsigned);
static taskq_create_fn *original_taskq_create;

/* RTLD_NEXT does not reach a library that is opened later, so its function is handed over here. */
EXPORT void zwhy_shim_configure(const char *vdev_prefix, long memory_pages, int name_threads,
    taskq_create_fn *taskq_create)
{
	original_taskq_create = taskq_create;
	config.vdev_prefix = vdev_prefix ? strdup(vdev_prefix) : NULL;
	config.memory_pages = memory_pages;
	config.name_threads = name_threads;
	config.active = 1;
}

#define ORIGINAL(name) \
	static __typeof__(name) *original; \
	if (!original) \
		original = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The page cache below a file vdev makes reads too fast and writes too dear. */
EXPORT int open64(const char *path, int flags, ...)
{
	ORIGINAL(open64);
	va_list args;
	va_start(args, flags);
	int mode = va_arg(args, int);
	va_end(args);
	if (config.vdev_prefix && strncmp(path, config.vdev_prefix, strlen(config.vdev_prefix)) == 0)
		flags |= O_DIRECT;
	return original(path, flags, mode);
}

enum { DIRECT_ALIGN = 4096 };

static int misaligned(int fd, const void *data)
{
	return errno == EINVAL && config.vdev_prefix && (uintptr_t)data % DIRECT_ALIGN != 0 &&
	    (fcntl(fd, F_GETFL) & O_DIRECT);
}

/* O_DIRECT refuses buffers off a sector boundary, which OpenZFS uses for a few labels only. */
EXPORT ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	ORIGINAL(pread64);
	ssize_t got = original(fd, data, size, offset);
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

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	ORIGINAL(pwrite64);
	/* The empty first half of a write that rand() below left unsplit. */
	if (size == 0)
		return 0;
	ssize_t put = original(fd, data, size, offset);
	void *copy;
	if (put >= 0 || !misaligned(fd, data) || posix_memalign(&copy, DIRECT_ALIGN, size) != 0)
		return put;
	memcpy(copy, data, size);
	put = original(fd, copy, size, offset);
	int error = errno;
	free(copy);
	errno = error;
	return put;
}

/* libzpool splits each vdev write at rand() % size, to test torn writes. */
EXPORT int rand(void)
{
	ORIGINAL(rand);
	return config.active ? 0 : original();
}

/* The ARC and the dirty data limit are sized from all memory of the host. */
EXPORT long sysconf(int name)
{
	ORIGINAL(sysconf);
	return name == _SC_PHYS_PAGES && config.memory_pages ? config.memory_pages : original(name);
}

/* libzpool reports memory pressure at random, to test the ARC. */
EXPORT int64_t arc_available_memory(void)
{
	return INT64_MAX;
}

EXPORT uint64_t arc_free_memory(void)
{
	return (uint64_t)1 << 40;
}

/*
 * Threads of libzpool before 2.3 carry no name. Those of task queues get the queue's, the others
 * the name "zfs"; 2.3 names its threads itself and is left alone.
 */
static __thread const char *queue_name;

EXPORT void *taskq_create(const char *name, int threads, int priority, int min, int max, unsigned flags)
{
	if (!original_taskq_create)
		abort();
	queue_name = name;
	void *queue = original_taskq_create(name, threads, priority, min, max, flags);
	queue_name = NULL;
	return queue;
}

struct start {
	void *(*run)(void *);
	void *arg;
	char name[NAME_MAX_COMM + 1];
};

static void *named_start(void *arg)
{
	struct start start = *(struct start *)arg;
	free(arg);
	pthread_setname_np(pthread_self(), start.name);
	return start.run(start.arg);
}

/* glibc refuses names over 15 characters, which OpenZFS 2.3 gives to some threads; Linux cuts them. */
EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	ORIGINAL(pthread_setname_np);
	char cut[NAME_MAX_COMM + 1] = "";
	strncpy(cut, name, NAME_MAX_COMM);
	return original(thread, cut);
}

static int called_by_libzpool(void *address)
{
	Dl_info info;
	return dladdr(address, &info) != 0 && info.dli_fname && strstr(info.dli_fname, "libzpool") != NULL;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	ORIGINAL(pthread_create);
	if (!config.name_threads || !called_by_libzpool(__builtin_return_address(0)))
		return original(thread, attr, run, arg);
	struct start *start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	start->run = run;
	start->arg = arg;
	strncpy(start->name, queue_name ? queue_name : "zfs", NAME_MAX_COMM);
	start->name[NAME_MAX_COMM] = '\0';
	int error = original(thread, attr, named_start, start);
	if (error)
		free(start);
	return error;
}

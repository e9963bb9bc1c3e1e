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

#include <stdio.h>
#include <time.h>

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

enum { MAX_FD = 4096, MAX_QUEUE = 64 };

/* Disks of the log and of the special class are called so: no model slows them down. */
static _Atomic char is_fast[MAX_FD];

static void remember_fast(int fd, const char *path)
{
	static const char fast[] = "-fast";
	if (!config.vdev_prefix || fd < 0 || fd >= MAX_FD)
		return;
	size_t length = strlen(config.vdev_prefix);
	is_fast[fd] = strncmp(path, config.vdev_prefix, length) == 0 &&
	    strncmp(path + length, fast, sizeof(fast) - 1) == 0;
}

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
	int fd = original(path, flags, mode);
	remember_fast(fd, path);
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
	return errno == EINVAL && config.vdev_prefix && (uintptr_t)data % DIRECT_ALIGN != 0 &&
	    (fcntl(fd, F_GETFL) & O_DIRECT);
}

/* O_DIRECT refuses buffers off a sector boundary, which OpenZFS uses for a few labels only. */
EXPORT ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	ORIGINAL(pread64);
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

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	ORIGINAL(pwrite64);
	/* The empty first half of a write that rand() below left unsplit. */
	if (size == 0)
		return 0;
	int64_t end = modelled_end(fd, size);
	ssize_t put = original(fd, data, size, offset);
	if (end)
		sleep_until(end);
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

/* libzpool reports memory pressure at random, to test the ARC. An experiment may want some. */
static _Atomic int64_t available_memory = INT64_MAX;

EXPORT int64_t arc_available_memory(void)
{
	return available_memory;
}

EXPORT void zwhy_shim_available_memory(int64_t bytes)
{
	available_memory = bytes;
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

/*
 * kstats. libzpool's own kstat_create() keeps none, so what OpenZFS counts for /proc/spl/kstat is lost. The
 * layout is the one that libzpool's callers are compiled against (lib/libspl/include/sys/kstat.h, the same
 * from 2.1 to 2.4); only tables of named numbers are kept.
 */
enum { KSTAT_NAME = 255, TYPE_NAMED = 1, FLAG_VIRTUAL = 1, READ_KSTAT = 0 };
enum { DATA_INT32 = 1, DATA_UINT32, DATA_INT64, DATA_UINT64 };

struct named {
	char name[KSTAT_NAME];
	unsigned char type;
	union {
		char text[16];
		int32_t i32;
		uint32_t u32;
		int64_t i64;
	} value;
};

struct kstat {
	int64_t created;
	struct kstat *next;
	int id;
	char module[KSTAT_NAME];
	unsigned char reserved;
	int instance;
	char name[KSTAT_NAME];
	unsigned char type;
	char class[KSTAT_NAME];
	unsigned char flags;
	void *data;
	unsigned count;
	size_t size;
	int64_t taken;
	int (*update)(struct kstat *, int);
	void *private;
	int (*snapshot)(struct kstat *, void *, int);
	void *lock;
};

static struct kstat *kstats;
static pthread_mutex_t kstats_lock = PTHREAD_MUTEX_INITIALIZER;

EXPORT struct kstat *kstat_create(const char *module, int instance, const char *name, const char *class,
    unsigned char type, unsigned long count, unsigned char flags)
{
	if (type != TYPE_NAMED || !config.active)
		return NULL;
	struct kstat *kstat = calloc(1, sizeof(*kstat));
	if (!kstat)
		return NULL;
	snprintf(kstat->module, sizeof(kstat->module), "%s", module);
	snprintf(kstat->name, sizeof(kstat->name), "%s", name);
	snprintf(kstat->class, sizeof(kstat->class), "%s", class);
	kstat->instance = instance;
	kstat->type = type;
	kstat->flags = flags;
	kstat->count = (unsigned)count;
	kstat->size = count * sizeof(struct named);
	if (!(flags & FLAG_VIRTUAL) && count > 0)
		kstat->data = calloc(count, sizeof(struct named));
	return kstat;
}

EXPORT void kstat_install(struct kstat *kstat)
{
	if (!kstat)
		return;
	pthread_mutex_lock(&kstats_lock);
	kstat->next = kstats;
	kstats = kstat;
	pthread_mutex_unlock(&kstats_lock);
}

EXPORT void kstat_delete(struct kstat *kstat)
{
	if (!kstat)
		return;
	pthread_mutex_lock(&kstats_lock);
	for (struct kstat **at = &kstats; *at; at = &(*at)->next)
		if (*at == kstat) {
			*at = kstat->next;
			break;
		}
	pthread_mutex_unlock(&kstats_lock);
	if (!(kstat->flags & FLAG_VIRTUAL))
		free(kstat->data);
	free(kstat);
}

/* Hands each number of each table to `take`. */
EXPORT void zwhy_shim_each_counter(void (*take)(void *, const char *, const char *, int64_t), void *into)
{
	pthread_mutex_lock(&kstats_lock);
	for (struct kstat *kstat = kstats; kstat; kstat = kstat->next) {
		if (kstat->update)
			kstat->update(kstat, READ_KSTAT);
		const struct named *named = kstat->data;
		for (unsigned i = 0; named && i < kstat->count; i++) {
			switch (named[i].type) {
			case DATA_INT32:
				take(into, kstat->name, named[i].name, named[i].value.i32);
				break;
			case DATA_UINT32:
				take(into, kstat->name, named[i].name, named[i].value.u32);
				break;
			case DATA_INT64:
			case DATA_UINT64:
				take(into, kstat->name, named[i].name, named[i].value.i64);
				break;
			default:
				break;
			}
		}
	}
	pthread_mutex_unlock(&kstats_lock);
}

/*
 * How often OpenZFS compresses and decompresses, which no kstat tells. Both functions take at most six words
 * in all releases, which are handed on unseen.
 */
typedef long six_words(long, long, long, long, long, long);
static six_words *original_compress, *original_decompress;
static _Atomic int64_t compressed, decompressed;

EXPORT void zwhy_shim_stages(six_words *compress, six_words *decompress)
{
	original_compress = compress;
	original_decompress = decompress;
}

EXPORT long zio_compress_data(long a, long b, long c, long d, long e, long f)
{
	if (!original_compress)
		abort();
	compressed++;
	return original_compress(a, b, c, d, e, f);
}

EXPORT long zio_decompress_data(long a, long b, long c, long d, long e, long f)
{
	if (!original_decompress)
		abort();
	decompressed++;
	return original_decompress(a, b, c, d, e, f);
}

EXPORT int64_t zwhy_shim_compressed(void)
{
	return compressed;
}

EXPORT int64_t zwhy_shim_decompressed(void)
{
	return decompressed;
}

/*
 * Bytes by the way they took. libzpool's own accounting functions do nothing, so the pool's iostats kstat
 * stays at 0; from 2.3 on they are told the pool, bytes, operations and flags.
 */
static uint32_t direct_flag; /* 0: this release tells no flags */
static _Atomic int64_t direct_bytes[2], buffered_bytes[2];

EXPORT void zwhy_shim_direct_flag(uint32_t flag)
{
	direct_flag = flag;
}

static void account(int written, uint64_t bytes, uint32_t flags)
{
	if (!direct_flag)
		return;
	if (flags & direct_flag)
		direct_bytes[written] += (int64_t)bytes;
	else
		buffered_bytes[written] += (int64_t)bytes;
}

EXPORT void zfs_racct_read(void *pool, uint64_t bytes, uint64_t operations, uint32_t flags)
{
	(void)pool;
	(void)operations;
	account(0, bytes, flags);
}

EXPORT void zfs_racct_write(void *pool, uint64_t bytes, uint64_t operations, uint32_t flags)
{
	(void)pool;
	(void)operations;
	account(1, bytes, flags);
}

EXPORT int64_t zwhy_shim_direct_read(void)
{
	return direct_bytes[0];
}

EXPORT int64_t zwhy_shim_direct_written(void)
{
	return direct_bytes[1];
}

EXPORT int64_t zwhy_shim_buffered_read(void)
{
	return buffered_bytes[0];
}

EXPORT int64_t zwhy_shim_buffered_written(void)
{
	return buffered_bytes[1];
}

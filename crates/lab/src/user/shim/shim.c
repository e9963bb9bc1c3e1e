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
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdio.h>

#include "shim.h"

#define NAME_MAX_COMM 15

static struct {
	long memory_pages;       /* what sysconf(_SC_PHYS_PAGES) says; 0: the truth */
	int name_threads;        /* give threads the name of their task queue */
	int active;
} config;

typedef void *taskq_create_fn(const char *, int, int, int, int, unsigned);
static taskq_create_fn *original_taskq_create;

/* RTLD_NEXT does not reach a library that is opened later, so its function is handed over here. */
EXPORT void zwhy_shim_configure(long memory_pages, int name_threads, taskq_create_fn *taskq_create)
{
	original_taskq_create = taskq_create;
	config.memory_pages = memory_pages;
	config.name_threads = name_threads;
	config.active = 1;
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

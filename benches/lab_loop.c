// The same writes and cold reads as benches/lab.toml, in a plain loop over libzpool: what they cost without the lab.
//
// usage: lab_loop LIBZPOOL FOLDER MEGABYTES. Prints `STEP CPU_SECONDS WALL_SECONDS` for write and read.
//
// What the lab does so that user space behaves like a kernel is done here too (vdev files with O_DIRECT, one write
// stays one, no debug checks, memory kept in lists of pages by the lab's own pages.c), or the two would not do the same
// work.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct nvlist nvlist;
typedef struct objset objset;
typedef struct tx tx;

enum { IO = 128 << 10, PIECE = 4096, PATTERN = 4 << 20, OST_OTHER = 4, OBJECT_TYPE = 26 };
enum { ARC_BYTES = 512 << 20, SPA_READ_WRITE = 3, SOURCE_LOCAL = 8, COMPRESS_OFF = 2 };
static const char pool[] = "zwhy-loop", dataset[] = "zwhy-loop/data";
static const void *const tag = &pool;
static void *library;

static void fail(const char *what, int error)
{
	fprintf(stderr, "lab_loop: %s: %s\n", what, error ? strerror(error) : dlerror());
	exit(1);
}

static void *find(const char *name)
{
	void *address = dlsym(library, name);
	if (!address)
		fail(name, 0);
	return address;
}

// Declares a pointer to a function of libzpool and resolves it.
#define NEED(result, name, ...) result (*name)(__VA_ARGS__) = find(#name)

static void checked(const char *what, int error)
{
	if (error)
		fail(what, error);
}

// libzpool asks the program first: the names below are exported (-rdynamic).

int open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
	va_end(more);
	return open(path, strstr(path, "/loop-disk") ? flags | O_DIRECT : flags, mode);
}

int rand(void)
{
	return 0;
}

int64_t arc_available_memory(void)
{
	return INT64_MAX;
}

struct clocks {
	double cpu, wall;
};

static struct clocks clocks(void)
{
	struct rusage used;
	struct timespec now;
	getrusage(RUSAGE_SELF, &used);
	clock_gettime(CLOCK_MONOTONIC, &now);
	double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
	cpu += (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	return (struct clocks){ cpu, now.tv_sec + now.tv_nsec / 1e9 };
}

static void say(const char *step, struct clocks from)
{
	struct clocks to = clocks();
	printf("%s %.4f %.4f\n", step, to.cpu - from.cpu, to.wall - from.wall);
}

int zwhy_shim_pages(size_t size, size_t touch);

static void keep_memory(size_t bytes)
{
	enum { HEAP = 64 << 20 };
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 256 << 20);
	mallopt(M_ARENA_MAX, 1);
	if (!zwhy_shim_pages((size_t)64 << 30, bytes))
		fail("set pages aside", ENOMEM);
	char *heap = malloc(HEAP - PIECE);
	for (size_t at = 0; heap && at < HEAP - PIECE; at += PIECE)
		((volatile char *)heap)[at] = 1;
	free(heap);
}

static uint64_t mixed(uint64_t seed)
{
	uint64_t x = seed + 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void mark(char *buffer, uint64_t offset)
{
	for (uint64_t at = 0; at < IO; at += PIECE) {
		uint64_t value = mixed(offset + at);
		memcpy(buffer + at, &value, sizeof(value));
	}
}

static void check_marks(const char *buffer, uint64_t offset)
{
	for (uint64_t at = 0; at < IO; at += PIECE) {
		uint64_t value = mixed(offset + at);
		if (memcmp(buffer + at, &value, sizeof(value)))
			fail("read what was written", EIO);
	}
}

static nvlist *disk(const char *path)
{
	NEED(nvlist *, fnvlist_alloc, void);
	NEED(void, fnvlist_add_string, nvlist *, const char *, const char *);
	NEED(void, fnvlist_add_uint64, nvlist *, const char *, uint64_t);
	NEED(void, fnvlist_add_nvlist_array, nvlist *, const char *, nvlist **, unsigned);
	nvlist *leaf = fnvlist_alloc(), *root = fnvlist_alloc();
	fnvlist_add_string(leaf, "type", "file");
	fnvlist_add_string(leaf, "path", path);
	fnvlist_add_uint64(leaf, "ashift", 12);
	fnvlist_add_string(root, "type", "root");
	fnvlist_add_nvlist_array(root, "children", &leaf, 1);
	return root;
}

// All features that this OpenZFS knows, as the lab's pool and one of `zpool create` have them: without them the pool has
// no log of its space maps and compresses its metadata otherwise.
static nvlist *features(void)
{
	struct feature {
		int id;
		const char *name, *guid, *description;
		int flags, supported, kind;
		const void *depends;
	};
	NEED(nvlist *, fnvlist_alloc, void);
	NEED(void, fnvlist_add_uint64, nvlist *, const char *, uint64_t);
	nvlist *properties = fnvlist_alloc();
	const struct feature *table = find("spa_feature_table");
	const Elf64_Sym *symbol;
	Dl_info in;
	if (!dladdr1(table, &in, (void **)&symbol, RTLD_DL_SYMENT))
		fail("spa_feature_table", EINVAL);
	for (size_t i = 0; i < symbol->st_size / sizeof(*table); i++) {
		char name[256];
		snprintf(name, sizeof(name), "feature@%s", table[i].name);
		fnvlist_add_uint64(properties, name, 0);
	}
	return properties;
}

static objset *own(void)
{
	NEED(int, dmu_objset_own, const char *, int, int, int, const void *, objset **);
	objset *opened;
	checked("dmu_objset_own", dmu_objset_own(dataset, OST_OTHER, 0, 1, tag, &opened));
	return opened;
}

static void sync_pool(objset *of)
{
	NEED(void *, dmu_objset_pool, objset *);
	NEED(void, txg_wait_synced, void *, uint64_t);
	txg_wait_synced(dmu_objset_pool(of), 0);
}

static objset *make_pool(const char *path, uint64_t *object)
{
	NEED(int, spa_create, const char *, nvlist *, nvlist *, nvlist *, void *, void *);
	NEED(int, dmu_objset_create, const char *, int, uint64_t, void *, void *, void *);
	NEED(int, dsl_prop_set_int, const char *, const char *, int, uint64_t);
	NEED(tx *, dmu_tx_create, objset *);
	NEED(void, dmu_tx_hold_bonus, tx *, uint64_t);
	NEED(int, dmu_tx_assign, tx *, uint64_t);
	NEED(void, dmu_tx_commit, tx *);
	NEED(uint64_t, dmu_object_alloc, objset *, int, int, int, int, tx *);
	checked("spa_create", spa_create(pool, disk(path), features(), NULL, NULL, NULL));
	checked("dmu_objset_create", dmu_objset_create(dataset, OST_OTHER, 0, NULL, NULL, NULL));
	checked("compression=off", dsl_prop_set_int(dataset, "compression", SOURCE_LOCAL, COMPRESS_OFF));
	objset *opened = own();
	tx *one = dmu_tx_create(opened);
	dmu_tx_hold_bonus(one, UINT64_MAX);
	checked("dmu_tx_assign", dmu_tx_assign(one, 1));
	*object = dmu_object_alloc(opened, OBJECT_TYPE, IO, 0, 0, one);
	dmu_tx_commit(one);
	sync_pool(opened);
	return opened;
}

static void write_all(objset *to, uint64_t object, uint64_t bytes, char *pattern)
{
	NEED(tx *, dmu_tx_create, objset *);
	NEED(void, dmu_tx_hold_write, tx *, uint64_t, uint64_t, int);
	NEED(int, dmu_tx_assign, tx *, uint64_t);
	NEED(void, dmu_tx_commit, tx *);
	NEED(void, dmu_write, objset *, uint64_t, uint64_t, uint64_t, const void *, tx *, uint32_t);
	struct clocks from = clocks();
	for (uint64_t at = 0; at < bytes; at += IO) {
		char *data = pattern + at % PATTERN;
		mark(data, at);
		tx *one = dmu_tx_create(to);
		dmu_tx_hold_write(one, object, at, IO);
		checked("dmu_tx_assign", dmu_tx_assign(one, 1));
		dmu_write(to, object, at, IO, data, one, 0);
		dmu_tx_commit(one);
	}
	sync_pool(to);
	say("write", from);
}

static void read_all(objset *of, uint64_t object, uint64_t bytes)
{
	NEED(int, dmu_read, objset *, uint64_t, uint64_t, uint64_t, void *, uint32_t);
	char *buffer = aligned_alloc(PIECE, IO);
	memset(buffer, 0, IO);
	struct clocks from = clocks();
	for (uint64_t at = 0; at < bytes; at += IO) {
		checked("dmu_read", dmu_read(of, object, at, IO, buffer, 0));
		check_marks(buffer, at);
	}
	say("read", from);
}

static objset *empty_caches(objset *opened)
{
	NEED(void, dmu_objset_disown, objset *, int, const void *);
	NEED(int, spa_export, const char *, nvlist **, int, int);
	NEED(int, spa_import, char *, nvlist *, nvlist *, uint64_t);
	nvlist *config;
	dmu_objset_disown(opened, 1, tag);
	checked("spa_export", spa_export(pool, &config, 0, 0));
	checked("spa_import", spa_import((char *)pool, config, NULL, 0));
	return own();
}

int main(int count, char **arguments)
{
	if (count != 4) {
		fprintf(stderr, "usage: lab_loop LIBZPOOL FOLDER MEGABYTES\n");
		return 2;
	}
	uint64_t bytes = strtoull(arguments[3], NULL, 10) << 20, object;
	keep_memory(ARC_BYTES + bytes);
	library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		fail(arguments[1], 0);
	char path[4096], cache[4096];
	snprintf(path, sizeof(path), "%s/loop-disk", arguments[2]);
	snprintf(cache, sizeof(cache), "%s/loop.cache", arguments[2]);
	int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (file < 0 || posix_fallocate(file, 0, bytes / 4 * 5 + (256 << 20)))
		fail(path, errno);
	close(file);
	// The host's own zpool.cache must not be touched.
	*(char **)find("spa_config_path") = cache;
	*(int *)find("zfs_flags") = 0;
	*(int *)find("spa_asize_inflation") = 2;
	// What OpenZFS takes of the 4 GiB of memory that the lab shows it.
	*(uint64_t *)find("zfs_dirty_data_max") = ((uint64_t)4 << 30) / 10;
	*(uint64_t *)find("zfs_arc_max") = ARC_BYTES;
	*(uint64_t *)find("zfs_arc_min") = ARC_BYTES / 2;
	NEED(void, kernel_init, int);
	kernel_init(SPA_READ_WRITE);
	objset *opened = make_pool(path, &object);
	char *pattern = aligned_alloc(PIECE, PATTERN);
	for (uint64_t i = 0; i < PATTERN / 8; i++)
		((uint64_t *)pattern)[i] = mixed(i);
	write_all(opened, object, bytes, pattern);
	opened = empty_caches(opened);
	read_all(opened, object, bytes);
	unlink(path);
	return fflush(stdout) ? 1 : (_exit(0), 0);
}

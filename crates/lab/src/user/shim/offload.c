/*
 * Hands stages of the write and read pipeline to a provider, at the calls that libzpool makes for them.
 *
 * The verbs, their switches and the nine results are those of DPUSM and Z.I.A. (github.com/hpc/dpusm, github.com/hpc/zfs);
 * here they sit on the unmodified libzpool. Compression is cut at zlib's compress2() and uncompress(), which gzip of
 * OpenZFS calls in all releases from 2.1 to 2.4 (module/zfs/gzip.c); RAID-Z in offload_raidz.c, checksums in
 * offload_checksum.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

/* zlib's own results. */
enum { ZLIB_OK = 0, ZLIB_BUFFER_ERROR = -5 };

typedef int compress_fn(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
typedef int decompress_fn(unsigned char *, unsigned long *, const unsigned char *, unsigned long);

struct offload_setup offload_setup;
struct offload_count offload_count[VERBS];
const struct zwhy_provider *offload_provider;

_Atomic int offload_gone, offload_paused;

void offload_fall_back(enum verb verb, enum zwhy_result why)
{
	offload_count[verb].fallbacks++;
	if (why != ZWHY_NOT_IMPLEMENTED && why != ZWHY_NOT_SUPPORTED && why != ZWHY_BAD_RESULT)
		offload_gone = 1;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t offload_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t offload_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void offload_poison(void *bytes, size_t size)
{
	memset(bytes, 0xdb, size);
}

/* --- gzip -------------------------------------------------------------------------------------------------- */

static compress_fn *zlib_compress;
static decompress_fn *zlib_decompress;

static void *zlib(const char *name)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, name) : NULL;
	if (!found)
		abort();
	return found;
}

static __attribute__((noinline, cold)) void find_zlib(void)
{
	zlib_compress = (compress_fn *)zlib("compress2");
	zlib_decompress = (decompress_fn *)zlib("uncompress");
}

static int by_software(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level)
{
	return verb == COMPRESS ? zlib_compress(to, to_size, from, size, level)
				: zlib_decompress(to, to_size, from, size);
}

/* Real output at no cost: what software made of the same input before. */
static void replay(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level, int *zlib)
{
	uint64_t key[2];
	if (verb == DECOMPRESS)
		offload_block_key(from, size, key);
	else
		offload_key(from, size, level, key);
	int there = verb == DECOMPRESS && offload_takes_over(CHECKSUM, key);
	if (!offload_recall(verb, key, to, to_size, zlib)) {
		*zlib = by_software(verb, to, to_size, from, size, level);
		offload_learn(verb, key, to, *zlib == ZLIB_OK ? *to_size : 0, *zlib);
		if (*zlib == ZLIB_OK && verb == COMPRESS) {
			/* The way back, so that what was written is read as cheaply. */
			offload_block_key(to, *to_size, key);
			offload_learn(DECOMPRESS, key, from, size, ZLIB_OK);
		}
	}
	if (offload_setup.provider != MODEL)
		return;
	if (verb == COMPRESS && *zlib == ZLIB_OK && offload_setup.on[CHECKSUM]) {
		offload_block_key(to, *to_size, key);
		offload_stays(COMPRESS, key);
	}
	offload_wait_for_device(verb, size, *zlib == ZLIB_OK ? *to_size : 0, !there);
}

static enum zwhy_result by_provider(enum verb verb, unsigned char *to, unsigned long *to_size,
    const unsigned char *from, unsigned long size, int level, int *zlib)
{
	size_t out = *to_size;
	enum zwhy_result result = ZWHY_NOT_IMPLEMENTED;
	if (verb == COMPRESS && offload_provider->compress)
		result = offload_provider->compress(to, &out, from, size, level);
	if (verb == DECOMPRESS && offload_provider->decompress)
		result = offload_provider->decompress(to, &out, from, size);
	if (result == ZWHY_OK && out > *to_size)
		return ZWHY_BAD_RESULT;
	*zlib = out > 0 ? ZLIB_OK : ZLIB_BUFFER_ERROR;
	*to_size = out;
	return result;
}

static enum zwhy_result ask(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level, int *zlib)
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	switch (offload_setup.provider) {
	case SOFTWARE:
		*zlib = by_software(verb, to, to_size, from, size, level);
		return ZWHY_OK;
	case IDEAL:
	case MODEL:
		replay(verb, to, to_size, from, size, level, zlib);
		return ZWHY_OK;
	default:
		return by_provider(verb, to, to_size, from, size, level, zlib);
	}
}

/*
 * The provider works on copies, which are spoilt when it has answered, and nothing is brought back but the bytes that it
 * said to have made.
 */
static enum zwhy_result ask_strictly(enum verb verb, unsigned char *to, unsigned long *to_size,
    const unsigned char *from, unsigned long size, int level, int *zlib)
{
	size_t room = *to_size;
	unsigned char *in = malloc(size + room), *out = in + size;
	if (!in)
		return ZWHY_ERROR;
	memcpy(in, from, size);
	offload_poison(out, room);
	offload_poison(to, room);
	enum zwhy_result result = ask(verb, out, to_size, in, size, level, zlib);
	if (result == ZWHY_OK && *zlib == ZLIB_OK)
		memcpy(to, out, *to_size);
	offload_poison(in, size + room);
	free(in);
	return result;
}

static int stage(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level)
{
	int zlib = ZLIB_OK;
	unsigned long room = *to_size;
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = offload_setup.strict ? ask_strictly(verb, to, to_size, from, size, level, &zlib)
						       : ask(verb, to, to_size, from, size, level, &zlib);
	offload_count[verb].ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(verb, result);
		*to_size = room;
		return by_software(verb, to, to_size, from, size, level);
	}
	offload_count[verb].calls++;
	offload_count[verb].in += (int64_t)size;
	offload_count[verb].out += zlib == ZLIB_OK ? (int64_t)*to_size : 0;
	return zlib;
}

EXPORT int compress2(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size,
    int level)
{
	if (!zlib_compress)
		find_zlib();
	return offload_asks(COMPRESS) ? stage(COMPRESS, to, to_size, from, size, level)
				      : zlib_compress(to, to_size, from, size, level);
}

EXPORT int uncompress(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size)
{
	if (!zlib_decompress)
		find_zlib();
	return offload_asks(DECOMPRESS) ? stage(DECOMPRESS, to, to_size, from, size, 0)
					: zlib_decompress(to, to_size, from, size);
}

/* --- The lab's side ---------------------------------------------------------------------------------------- */

struct zwhy_offload {
	int provider, on[VERBS], answers, engines, parity, check, strict, dies_after;
	double latency_ns, link_bytes_per_ns, engine_bytes_per_ns;
	const char *plugin;
};

/* Returns why the provider cannot be had on this machine; NULL: it can. */
EXPORT const char *zwhy_shim_offload(const struct zwhy_offload *want)
{
	const char *why = NULL;
	if (want->provider == ISAL)
		offload_provider = offload_isal(&why);
	if (want->provider == REMOTE)
		offload_provider = offload_remote(want->dies_after, &why);
	if (want->provider == PLUGIN)
		offload_provider = offload_plugin(want->plugin, &why);
	if (!offload_provider && (want->provider == ISAL || want->provider == REMOTE || want->provider == PLUGIN))
		return why;
	memcpy(offload_setup.on, want->on, sizeof(offload_setup.on));
	offload_setup.parity = want->parity;
	offload_setup.check = want->check;
	offload_setup.strict = want->strict;
	offload_setup.answers = (enum zwhy_result)want->answers;
	offload_setup.engines = want->engines;
	offload_setup.latency_ns = (int64_t)want->latency_ns;
	offload_setup.link_bytes_per_ns = want->link_bytes_per_ns;
	offload_setup.engine_bytes_per_ns = want->engine_bytes_per_ns;
	offload_setup.provider = (enum provider)want->provider;
	return NULL;
}

EXPORT void zwhy_shim_offload_paused(int yes)
{
	offload_paused = yes;
}

typedef void take_fn(void *, const char *, const char *, int64_t);

static void take_verb(take_fn *take, void *into, const char *table, const struct offload_count *count)
{
	take(into, table, "calls", count->calls);
	take(into, table, "bytes_in", count->in);
	take(into, table, "bytes_out", count->out);
	take(into, table, "cpu_ns", count->ns);
	take(into, table, "fallbacks", count->fallbacks);
	take(into, table, "learnt", count->learnt);
	take(into, table, "replayed", count->replayed);
	take(into, table, "waited_ns", count->waited_ns);
	take(into, table, "queued_ns", count->queued_ns);
	take(into, table, "bytes_stayed", count->stayed);
	take(into, table, "late_ns", count->late_ns);
	take(into, table, "differences", count->differences);
	take(into, table, "unequal_columns", count->unequal);
}

/* Hands what was counted to `take`. */
EXPORT void zwhy_shim_each_offload(take_fn *take, void *into)
{
	static const char *const tables[VERBS] = { "offload_compress", "offload_decompress", "offload_checksum",
		"offload_raidz_gen", "offload_raidz_rec", "offload_file_write" };
	if (offload_setup.provider == NONE)
		return;
	for (int verb = 0; verb < VERBS; verb++)
		take_verb(take, into, tables[verb], &offload_count[verb]);
	take(into, "offload", "switched_off", offload_gone);
}

/*
 * Hands stages of the write and read pipeline to a provider, at the calls that libzpool makes for them.
 *
 * The verbs, their switches and the nine results are those of DPUSM and Z.I.A. (github.com/hpc/dpusm, github.com/hpc/zfs);
 * here they sit on the unmodified libzpool. Compression is cut at zlib's compress2() and uncompress(), which gzip of
 * OpenZFS calls in all releases from 2.1 to 2.4 (module/zfs/gzip.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

/* zlib's own results. */
enum { ZLIB_OK = 0, ZLIB_DATA_ERROR = -3, ZLIB_BUFFER_ERROR = -5 };

typedef int compress_fn(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
typedef int decompress_fn(unsigned char *, unsigned long *, const unsigned char *, unsigned long);

struct offload_setup offload_setup;
struct offload_count offload_count[VERBS];
struct offload_erasure offload_erasure;

/* The provider went away: the pool works without it from then on. */
static _Atomic int gone;
/* Not while the lab compares every byte: that is done by the code that the distribution shipped. */
static _Atomic int paused;

int offload_asks(enum verb verb)
{
	return offload_setup.provider != NONE && offload_setup.on[verb] && !gone && !paused;
}

void offload_fall_back(enum verb verb, enum result why)
{
	offload_count[verb].fallbacks++;
	if (why != NOT_IMPLEMENTED && why != NOT_SUPPORTED && why != BAD_RESULT)
		gone = 1;
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

/* --- ISA-L: igzip, opened when it is asked for ------------------------------------------------------------- */

/* The public fields of struct isal_zstream (igzip_lib.h, the same from 2.20 on); what follows is the library's. */
struct isal_stream {
	const unsigned char *next_in;
	uint32_t avail_in, total_in;
	unsigned char *next_out;
	uint32_t avail_out, total_out;
	void *tables;
	uint32_t level, level_size;
	unsigned char *level_memory;
	uint16_t end_of_stream, flush, format, history;
};

/* The same of struct inflate_state. */
struct isal_inflate {
	unsigned char *next_out;
	uint32_t avail_out, total_out;
	const unsigned char *next_in;
	uint64_t bits;
	uint32_t avail_in;
};

/* Both structures are below 100 KiB, and the memory of level 1 below 300 KiB. */
enum { ISAL_MEMORY = 1 << 20, ISAL_LEVEL = 1, FORMAT_ZLIB = 3, ZLIB_HEADER = 2 };

static struct {
	void (*deflate_init)(struct isal_stream *);
	int (*deflate)(struct isal_stream *);
	void (*inflate_init)(struct isal_inflate *);
	int (*inflate)(struct isal_inflate *);
} isal;

static int open_isal(void)
{
	void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 0;
	isal.deflate_init = (void (*)(struct isal_stream *))dlsym(library, "isal_deflate_stateless_init");
	isal.deflate = (int (*)(struct isal_stream *))dlsym(library, "isal_deflate_stateless");
	isal.inflate_init = (void (*)(struct isal_inflate *))dlsym(library, "isal_inflate_init");
	isal.inflate = (int (*)(struct isal_inflate *))dlsym(library, "isal_inflate_stateless");
	offload_erasure.tables =
	    (void (*)(int, int, unsigned char *, unsigned char *))dlsym(library, "ec_init_tables");
	offload_erasure.encode = (void (*)(int, int, int, unsigned char *, unsigned char **, unsigned char **))dlsym(
	    library, "ec_encode_data");
	return offload_erasure.tables && offload_erasure.encode && isal.deflate_init && isal.deflate && isal.inflate_init && isal.inflate;
}

/* Memory of a thread that lives as long as the process; threads of the pipeline do too. */
static void *of_thread(void **memory)
{
	if (!*memory)
		*memory = calloc(1, ISAL_MEMORY);
	return *memory;
}

static enum result isal_compress(unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int *zlib)
{
	static __thread void *state, *level;
	struct isal_stream *stream = of_thread(&state);
	if (!stream || !of_thread(&level))
		return ERROR;
	isal.deflate_init(stream);
	stream->level = ISAL_LEVEL;
	stream->level_memory = level;
	stream->level_size = ISAL_MEMORY;
	stream->format = FORMAT_ZLIB;
	stream->end_of_stream = 1;
	stream->next_in = from;
	stream->avail_in = (uint32_t)size;
	stream->next_out = to;
	stream->avail_out = (uint32_t)*to_size;
	/* The only error of right arguments is that the output does not fit: the block stays as it is. */
	*zlib = isal.deflate(stream) == 0 ? ZLIB_OK : ZLIB_BUFFER_ERROR;
	*to_size = stream->total_out;
	return OK;
}

static enum result isal_decompress(unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int *zlib)
{
	static __thread void *memory;
	struct isal_inflate *state = of_thread(&memory);
	if (!state || size < ZLIB_HEADER)
		return ERROR;
	isal.inflate_init(state);
	/* The block's own checksum was verified; zlib's header and Adler-32 are stepped over. */
	state->next_in = from + ZLIB_HEADER;
	state->avail_in = (uint32_t)(size - ZLIB_HEADER);
	state->next_out = to;
	state->avail_out = (uint32_t)*to_size;
	*zlib = isal.inflate(state) == 0 ? ZLIB_OK : ZLIB_DATA_ERROR;
	*to_size = state->total_out;
	return *zlib == ZLIB_OK ? OK : BAD_RESULT;
}

/* --- Replay: results of the software, found again by their input ------------------------------------------- */

struct memo {
	uint64_t key[2];
	unsigned long size;
	int zlib;
	struct memo *next;
	unsigned char data[];
};

enum { BUCKETS = 1 << 16 };
static struct memo *memos[VERBS][BUCKETS];
static pthread_rwlock_t memos_lock = PTHREAD_RWLOCK_INITIALIZER;

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 128 bits of two chains of multiplications; what it costs is the floor of a replay. */
static void key_of(const unsigned char *data, unsigned long size, int level, uint64_t key[2])
{
	uint64_t a = size ^ UINT64_C(0xa0761d6478bd642f), b = (uint64_t)level ^ UINT64_C(0xe7037ed1a0b428db);
	unsigned long at = 0;
	for (; at + 16 <= size; at += 16) {
		uint64_t words[2];
		memcpy(words, data + at, sizeof(words));
		a = fold(a ^ words[0], UINT64_C(0x8ebc6af09c88c6e3) ^ words[1]);
		b = fold(b ^ words[1], UINT64_C(0x589965cc75374cc3) ^ words[0]);
	}
	uint64_t rest[2] = { 0, 0 };
	memcpy(rest, data + at, size - at);
	key[0] = fold(a ^ rest[0], UINT64_C(0x1d8e4e27c47d124f) ^ rest[1]);
	key[1] = fold(b ^ rest[1], UINT64_C(0xeb44accab455d165) ^ key[0]);
}

/* Compressed blocks end at a sector: OpenZFS fills the rest with zeros and hands them back with the block. */
static unsigned long without_padding(const unsigned char *data, unsigned long size)
{
	while (size > 0 && data[size - 1] == 0)
		size--;
	return size;
}

static const struct memo *recall(enum verb verb, const uint64_t key[2])
{
	pthread_rwlock_rdlock(&memos_lock);
	const struct memo *memo = memos[verb][key[0] % BUCKETS];
	while (memo && (memo->key[0] != key[0] || memo->key[1] != key[1]))
		memo = memo->next;
	pthread_rwlock_unlock(&memos_lock);
	return memo;
}

static void learn(enum verb verb, const uint64_t key[2], const unsigned char *data, unsigned long size, int zlib)
{
	struct memo *memo = malloc(sizeof(*memo) + size);
	if (!memo)
		return;
	memcpy(memo->key, key, sizeof(memo->key));
	memo->size = size;
	memo->zlib = zlib;
	memcpy(memo->data, data, size);
	pthread_rwlock_wrlock(&memos_lock);
	memo->next = memos[verb][key[0] % BUCKETS];
	memos[verb][key[0] % BUCKETS] = memo;
	pthread_rwlock_unlock(&memos_lock);
	offload_count[verb].learnt++;
}

/* --- The modelled device: the caller sleeps while link and engine work ------------------------------------- */

enum { MAX_ENGINES = 64 };
static struct {
	pthread_mutex_t lock;
	int64_t link_free[2], engine_free[MAX_ENGINES];
} device = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t takes(double bytes, double bytes_per_ns)
{
	return bytes_per_ns > 0 ? (int64_t)(bytes / bytes_per_ns) : 0;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* In over the link, through the first engine that is free, and out over the link. */
static void wait_for_device(enum verb verb, unsigned long in, unsigned long out)
{
	pthread_mutex_lock(&device.lock);
	int64_t begin = clock_ns(CLOCK_MONOTONIC);
	int64_t arrived = later(begin, device.link_free[0]) + takes(in, offload_setup.link_bytes_per_ns);
	device.link_free[0] = arrived;
	int engine = 0;
	for (int i = 1; i < offload_setup.engines; i++)
		if (device.engine_free[i] < device.engine_free[engine])
			engine = i;
	int64_t worked = later(arrived, device.engine_free[engine]) + takes(later(in, out), offload_setup.engine_bytes_per_ns);
	device.engine_free[engine] = worked;
	int64_t back = later(worked, device.link_free[1]) + takes(out, offload_setup.link_bytes_per_ns);
	device.link_free[1] = back;
	pthread_mutex_unlock(&device.lock);
	int64_t end = back + offload_setup.latency_ns;
	struct timespec until = { end / 1000000000, end % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	offload_count[verb].waited_ns += end - begin;
}

/* --- The stages -------------------------------------------------------------------------------------------- */

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

static int by_software(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level)
{
	return verb == COMPRESS ? zlib_compress(to, to_size, from, size, level)
				: zlib_decompress(to, to_size, from, size);
}

/* Real output at no cost: what software made of the same input before. */
static enum result replay(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level, int *zlib)
{
	uint64_t key[2];
	key_of(from, verb == DECOMPRESS ? without_padding(from, size) : size, level, key);
	const struct memo *memo = recall(verb, key);
	if (memo && memo->size <= *to_size) {
		memcpy(to, memo->data, memo->size);
		*to_size = memo->size;
		*zlib = memo->zlib;
		offload_count[verb].replayed++;
	} else {
		*zlib = by_software(verb, to, to_size, from, size, level);
		learn(verb, key, to, *zlib == ZLIB_OK ? *to_size : 0, *zlib);
		if (*zlib == ZLIB_OK && verb == COMPRESS) {
			/* The way back, so that what was written is read as cheaply. */
			key_of(to, without_padding(to, *to_size), 0, key);
			learn(DECOMPRESS, key, from, size, ZLIB_OK);
		}
	}
	if (offload_setup.provider == MODEL)
		wait_for_device(verb, size, *to_size);
	return OK;
}

static enum result ask(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level, int *zlib)
{
	if (offload_setup.answers != OK)
		return offload_setup.answers;
	switch (offload_setup.provider) {
	case SOFTWARE:
		*zlib = by_software(verb, to, to_size, from, size, level);
		return OK;
	case ISAL:
		return verb == COMPRESS ? isal_compress(to, to_size, from, size, zlib)
					: isal_decompress(to, to_size, from, size, zlib);
	case IDEAL:
	case MODEL:
		return replay(verb, to, to_size, from, size, level, zlib);
	default:
		return NOT_IMPLEMENTED;
	}
}

static int stage(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level)
{
	if (!offload_asks(verb))
		return by_software(verb, to, to_size, from, size, level);
	int zlib = ZLIB_OK;
	unsigned long room = *to_size;
	int64_t begin = offload_thread_ns();
	enum result result = ask(verb, to, to_size, from, size, level, &zlib);
	offload_count[verb].ns += offload_thread_ns() - begin;
	if (result != OK) {
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
		zlib_compress = (compress_fn *)zlib("compress2");
	return stage(COMPRESS, to, to_size, from, size, level);
}

EXPORT int uncompress(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size)
{
	if (!zlib_decompress)
		zlib_decompress = (decompress_fn *)zlib("uncompress");
	return stage(DECOMPRESS, to, to_size, from, size, 0);
}

/* --- The lab's side ---------------------------------------------------------------------------------------- */

struct zwhy_offload {
	int provider, compress, decompress, raidz_gen, answers, engines, parity, check;
	double latency_ns, link_bytes_per_ns, engine_bytes_per_ns;
};

/* Returns 0 where the provider cannot be had on this machine. */
EXPORT int zwhy_shim_offload(const struct zwhy_offload *want)
{
	if (want->provider == ISAL && !open_isal())
		return 0;
	offload_setup.on[COMPRESS] = want->compress;
	offload_setup.on[DECOMPRESS] = want->decompress;
	offload_setup.on[RAIDZ_GEN] = want->raidz_gen;
	offload_setup.parity = want->parity;
	offload_setup.check = want->check;
	offload_setup.answers = (enum result)want->answers;
	offload_setup.engines = want->engines > MAX_ENGINES ? MAX_ENGINES : want->engines;
	offload_setup.latency_ns = (int64_t)want->latency_ns;
	offload_setup.link_bytes_per_ns = want->link_bytes_per_ns;
	offload_setup.engine_bytes_per_ns = want->engine_bytes_per_ns;
	offload_setup.provider = (enum provider)want->provider;
	return 1;
}

EXPORT void zwhy_shim_offload_paused(int yes)
{
	paused = yes;
}

/* Hands what was counted to `take`. */
EXPORT void zwhy_shim_each_offload(void (*take)(void *, const char *, const char *, int64_t), void *into)
{
	static const char *const tables[VERBS] = { "offload_compress", "offload_decompress", "offload_raidz_gen" };
	if (offload_setup.provider == NONE)
		return;
	for (int verb = 0; verb < VERBS; verb++) {
		take(into, tables[verb], "calls", offload_count[verb].calls);
		take(into, tables[verb], "bytes_in", offload_count[verb].in);
		take(into, tables[verb], "bytes_out", offload_count[verb].out);
		take(into, tables[verb], "cpu_ns", offload_count[verb].ns);
		take(into, tables[verb], "fallbacks", offload_count[verb].fallbacks);
		take(into, tables[verb], "learnt", offload_count[verb].learnt);
		take(into, tables[verb], "replayed", offload_count[verb].replayed);
		take(into, tables[verb], "waited_ns", offload_count[verb].waited_ns);
		take(into, tables[verb], "differences", offload_count[verb].differences);
	}
	take(into, "offload", "switched_off", gone);
}

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

/* By a provider that moves data in and out for each call. */
void offload_moved(enum verb verb, size_t in, size_t out)
{
	if (offload_setup.provider != PLUGIN && offload_setup.provider != REMOTE)
		return;
	offload_count[verb].link_in += (int64_t)in;
	offload_count[verb].link_out += (int64_t)out;
}

/* On the way to the disks a block is compressed, gets its checksum and its parity, and is written; back it is verified and
 * decompressed. */
int offload_is_used_after(enum verb verb)
{
	const int *on = offload_setup.on;
	int model = offload_setup.provider == MODEL;
	if (!model && !offload_keeps())
		return 0;
	const struct zwhy_provider *has = offload_provider;
	int sums = on[CHECKSUM] && (model || has->checksum_block);
	int rows = on[RAIDZ_GEN] && offload_setup.parity > 0 && !model && has->raidz_gen_block;
	int writes = on[FILE_WRITE] && !model && has->file_write_block;
	int decompresses = on[DECOMPRESS] && (model || has->decompress_block);
	switch (verb) {
	case COMPRESS:
		return sums || rows || writes;
	case CHECKSUM:
		return rows || writes || decompresses;
	default:
		return writes;
	}
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

static void in_zlib(struct offload_job *job)
{
	job->made = job->room;
	job->zlib = by_software(job->verb, job->to, &job->made, job->from, job->size, job->level);
}

static void in_software(struct offload_job *job)
{
	job->software(job);
}

/* With the room that there was: near its end a compressor may decide otherwise. */
static size_t remake(const struct offload_source *source, unsigned char *to, size_t room)
{
	const struct offload_compressor *with = source->compressor;
	unsigned char *all = malloc(source->room);
	size_t made = all ? with->remake(all, source->room, source->plain, source->size, source->level) : 0;
	if (made > 0 && made + with->head <= room) {
		offload_put_head(with, to, made, source->own_level);
		memcpy(to + with->head, all, made);
	}
	free(all);
	return made > 0 ? made + with->head : 0;
}

size_t offload_remake(const struct offload_source *source, unsigned char *to, size_t room)
{
	unsigned long made = room;
	if (source->compressor)
		return remake(source, to, room);
	int zlib = by_software(COMPRESS, to, &made, source->plain, source->size, source->level);
	return zlib == ZLIB_OK ? made : 0;
}

/* What the host has in one piece. */
static struct offload_pieces piece(const void *at, size_t size)
{
	return (struct offload_pieces){ at, size, 0 };
}

/* Real output at no cost: what software made of the same input before. */
static void replay(struct offload_job *job)
{
	uint64_t key[2];
	if (job->verb == DECOMPRESS)
		offload_block_key(job->from, job->size, key);
	else
		offload_key(job->from, job->size, job->level | (int)job->codec << 16, key);
	job->made = job->room;
	if (offload_recall(job->verb, key, job->to, &job->made, &job->zlib))
		return;
	in_software(job);
	offload_learn(job->verb, key, job->to, job->zlib == ZLIB_OK ? job->made : 0, job->zlib);
	if (job->zlib == ZLIB_OK && job->verb == COMPRESS) {
		/* The way back, so that what was written is read as cheaply. */
		offload_block_key(job->to, job->made, key);
		offload_learn(DECOMPRESS, key, job->from, job->size, ZLIB_OK);
	}
}

static void in_model(struct offload_job *job)
{
	struct offload_pieces from = piece(job->from, job->size);
	struct offload_pieces to = piece(job->to - job->before, job->made + job->before);
	struct offload_part part;
	int there = job->verb == DECOMPRESS && offload_find(1U << CHECKSUM, &from, job->size, &part);
	offload_host_writes(job->to, job->room);
	if (job->verb == COMPRESS && job->zlib == ZLIB_OK && offload_is_used_after(COMPRESS))
		offload_stays(COMPRESS, &to, job->made + job->before, NULL, 0);
	job->stayed = there ? job->size : 0;
	offload_wait_for_device(job->verb, job->size, job->zlib == ZLIB_OK ? job->made : 0, !there);
}

static int is_valid(const struct offload_job *job)
{
	const struct offload_compressor *with = job->compressor;
	return !with || !with->is_valid || job->verb != COMPRESS || job->zlib != ZLIB_OK || with->is_valid(job->to, job->made);
}

static enum zwhy_result on_copies(struct offload_job *job)
{
	size_t out = job->room;
	enum zwhy_result result = ZWHY_NOT_IMPLEMENTED;
	if (job->codec != ZWHY_GZIP && job->verb == COMPRESS && offload_provider->compress_as)
		result = offload_provider->compress_as(job->codec, job->level, job->to, &out, job->from, job->size);
	else if (job->codec != ZWHY_GZIP && job->verb == DECOMPRESS && offload_provider->decompress_as)
		result = offload_provider->decompress_as(job->codec, job->to, &out, job->from, job->size);
	else if (job->codec != ZWHY_GZIP)
		result = ZWHY_NOT_IMPLEMENTED;
	else if (job->verb == COMPRESS && offload_provider->compress)
		result = offload_provider->compress(job->to, &out, job->from, job->size, job->level);
	else if (job->verb == DECOMPRESS && offload_provider->decompress)
		result = offload_provider->decompress(job->to, &out, job->from, job->size);
	if (result == ZWHY_OK && out > job->room)
		return ZWHY_BAD_RESULT;
	job->zlib = out > 0 ? ZLIB_OK : ZLIB_BUFFER_ERROR;
	job->made = out;
	if (result == ZWHY_OK)
		offload_moved(job->verb, job->size, out);
	return result == ZWHY_OK && !is_valid(job) ? ZWHY_BAD_RESULT : result;
}

/*
 * The provider works on copies, which are spoilt when it has answered, and nothing is brought back but the bytes that it
 * said to have made.
 */
static enum zwhy_result on_spoilt_copies(struct offload_job *job)
{
	struct offload_job copy = *job;
	unsigned char *in = malloc(job->size + job->room);
	if (!in)
		return ZWHY_ERROR;
	copy.from = in;
	copy.to = in + job->size;
	memcpy(in, job->from, job->size);
	offload_poison(copy.to, job->room);
	offload_poison(job->to, job->room);
	enum zwhy_result result = on_copies(&copy);
	job->made = copy.made;
	job->zlib = copy.zlib;
	if (result == ZWHY_OK && job->zlib == ZLIB_OK)
		memcpy(job->to, copy.to, job->made);
	offload_poison(in, job->size + job->room);
	free(in);
	return result;
}

/* --- On blocks of the provider ------------------------------------------------------------------------------------ */

/* OpenZFS stores smaller blocks in the block pointer, and reads them for that at once. */
enum { SECTOR = 512 };

/*
 * What another process compressed is made again by the same zlib, if that process is lost. Of other providers nobody knows
 * whether software would make the same bytes: these are brought back before their checksum is in the block pointer.
 */
static enum zwhy_result leave_compressed(struct offload_job *job, struct offload_held *held)
{
	const struct offload_source source = { .plain = job->from, .size = job->size, .room = job->room, .level = job->level,
		.own_level = job->own_level, .compressor = job->compressor };
	unsigned char *to = job->to - job->before;
	size_t size = job->made + job->before;
	struct offload_pieces all = piece(to, size);
	int stays = offload_is_used_after(COMPRESS) && size > SECTOR;
	if (job->before > 0) {
		offload_put_head(job->compressor, to, job->made, job->own_level);
		if (offload_provider->patch(offload_number(held), 0, to, job->before) != ZWHY_OK)
			stays = 0;
		else
			offload_count[COMPRESS].link_in += (int64_t)job->before;
	}
	if (stays && offload_setup.provider == REMOTE) {
		offload_owes(COMPRESS, to, size, held, 0, &source);
		return ZWHY_OK;
	}
	enum zwhy_result result = offload_get(COMPRESS, held, job->before, job->to, job->made);
	if (result == ZWHY_OK && !is_valid(job))
		return ZWHY_BAD_RESULT;
	if (stays && result == ZWHY_OK)
		offload_stays(COMPRESS, &all, size, held, 0);
	return result;
}

/* The block of the source; it may be there from the stage before. */
static enum zwhy_result move_in(struct offload_job *job, struct offload_part *from)
{
	struct offload_pieces pieces = piece(job->from, job->size);
	if (job->verb == DECOMPRESS && offload_find(1U << CHECKSUM, &pieces, job->size, from)) {
		job->stayed = job->size;
		return ZWHY_OK;
	}
	enum zwhy_result result = offload_put(job->verb, job->from, job->size, &from->held);
	if (result == ZWHY_OK)
		from->of = (struct zwhy_part){ offload_number(from->held), 0, job->size, 0 };
	return result;
}

static enum zwhy_result ask_for_block(struct offload_job *job, const struct offload_part *from, struct offload_held **made)
{
	uint64_t block = 0;
	size_t size = 0;
	enum zwhy_result result = job->verb == COMPRESS
	    ? offload_provider->compress_block(job->codec, job->level, &from->of, job->before, job->room, &block, &size)
	    : offload_provider->decompress_block(job->codec, &from->of, job->room, &block, &size);
	if (result != ZWHY_OK)
		return result;
	job->made = size;
	job->zlib = size > 0 ? ZLIB_OK : ZLIB_BUFFER_ERROR;
	*made = size > 0 ? offload_hold(block) : NULL;
	return size > job->room ? ZWHY_BAD_RESULT : size > 0 && !*made ? ZWHY_ERROR : ZWHY_OK;
}

static enum zwhy_result on_blocks(struct offload_job *job)
{
	struct offload_part from = { .held = NULL };
	struct offload_held *made = NULL;
	enum zwhy_result result = move_in(job, &from);
	offload_host_writes(job->to, job->room);
	if (offload_setup.strict)
		offload_poison(job->to, job->room);
	if (result == ZWHY_OK)
		result = ask_for_block(job, &from, &made);
	if (result == ZWHY_OK && made)
		result = job->verb == COMPRESS ? leave_compressed(job, made)
					       : offload_get(DECOMPRESS, made, 0, job->to, job->made);
	else if (result == ZWHY_OK && job->verb == COMPRESS && offload_is_used_after(COMPRESS))
		offload_source_stays(job->from, job->size, from.held);
	offload_release(made);
	offload_release(from.held);
	return result;
}

/* --- Both --------------------------------------------------------------------------------------------------------- */

static int has_block_verb(const struct offload_job *job)
{
	const struct zwhy_provider *has = offload_provider;
	if (!offload_keeps() || (job->before > 0 && !has->patch))
		return 0;
	return job->verb == COMPRESS ? has->compress_block != NULL : has->decompress_block != NULL;
}

static enum zwhy_result ask(struct offload_job *job)
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	switch (offload_setup.provider) {
	case SOFTWARE:
		in_software(job);
		return ZWHY_OK;
	case IDEAL:
		replay(job);
		return ZWHY_OK;
	case MODEL:
		replay(job);
		in_model(job);
		return ZWHY_OK;
	default:
		if (has_block_verb(job))
			return on_blocks(job);
		return offload_setup.strict ? on_spoilt_copies(job) : on_copies(job);
	}
}

void offload_code(struct offload_job *job)
{
	struct offload_count *count = &offload_count[job->verb];
	int64_t begin = offload_thread_ns();
	offload_host_reads(job->from, job->size);
	enum zwhy_result result = ask(job);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(job->verb, result);
		in_software(job);
		return;
	}
	count->calls++;
	count->in += (int64_t)job->size;
	count->stayed += (int64_t)job->stayed;
	count->out += job->zlib == ZLIB_OK ? (int64_t)job->made : 0;
}

static int stage(enum verb verb, unsigned char *to, unsigned long *to_size, const unsigned char *from,
    unsigned long size, int level)
{
	struct offload_job job = { .verb = verb, .codec = ZWHY_GZIP, .to = to, .room = *to_size, .from = from, .size = size,
		.level = level, .software = in_zlib };
	offload_code(&job);
	*to_size = job.made;
	return job.zlib;
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
	int provider, on[VERBS], answers, engines, parity, check, strict, dies_after, codec;
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
	offload_setup.codec = (enum zwhy_codec)want->codec;
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
	take(into, table, "link_bytes_in", count->link_in);
	take(into, table, "link_bytes_out", count->link_out);
	take(into, table, "remade", count->remade);
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

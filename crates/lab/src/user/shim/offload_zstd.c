/*
 * zstd by a provider, at the functions that OpenZFS has in its table of compressors (module/zstd/zfs_zstd.c). In front of a
 * frame without its magic number OpenZFS keeps its size, its level and the version of zstd (include/sys/zstd/zstd.h);
 * providers see the frame.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

enum { HEAD = 8, LEVEL_AT = 4 };

/* --- What OpenZFS keeps ------------------------------------------------------------------------------------------- */

/*
 * Levels of OpenZFS (enum zio_zstd_levels): those of zstd from 1 to 19, and from 103 on the fast ones, which zstd counts
 * below zero.
 */
static int level_of(int own)
{
	static const int fast[] = { -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -20, -30, -40, -50, -60, -70, -80, -90, -100, -500,
		-1000 };
	enum { MOST = 19, FAST = 103, FASTS = sizeof(fast) / sizeof(fast[0]) };
	if (own > 0 && own <= MOST)
		return own;
	return own >= FAST && own < FAST + FASTS ? fast[own - FAST] : 0;
}

/* The version is that of OpenZFS's own zstd in all releases so far, 1.4.5; nothing is read by it. */
static void put_rest(unsigned char *head, int own_level)
{
	const unsigned char rest[] = { (unsigned char)own_level, 10405 >> 16, 10405 >> 8 & 0xff, 10405 & 0xff };
	memcpy(head + LEVEL_AT, rest, sizeof(rest));
}

/* --- The frame (RFC 8878) ------------------------------------------------------------------------------------------- */

enum { RAW, RLE, COMPRESSED, RESERVED };

/* Bytes of a frame's header without its magic number; 0: it wants a dictionary, or something that is reserved. */
static size_t header_of(unsigned char descriptor)
{
	static const size_t of_content[] = { 0, 2, 4, 8 };
	int single = descriptor >> 5 & 1, content = descriptor >> 6;
	if (descriptor & 0x0b)
		return 0;
	/* Without a window its size is that of the content, which has a field of at least one byte then. */
	return 1 + (single ? (content == 0) : 1) + of_content[content];
}

/* One whole frame, and nothing behind it. What is in its blocks is not looked at. */
static int is_valid(const unsigned char *made, size_t size)
{
	size_t at = size > 0 ? header_of(made[0]) : 0, sum = size > 0 && made[0] & 4 ? 4 : 0;
	int last = 0;
	if (at == 0)
		return 0;
	while (!last && at + 3 <= size) {
		unsigned header = made[at] | (unsigned)made[at + 1] << 8 | (unsigned)made[at + 2] << 16;
		unsigned kind = header >> 1 & 3;
		last = header & 1;
		if (kind == RESERVED)
			return 0;
		at += 3 + (kind == RLE ? 1 : header >> 3);
	}
	return last && at + sum == size;
}

/* --- libzstd on this host --------------------------------------------------------------------------------------------- */

/* Numbers of zstd.h; those of the format are experimental there, and the same since 1.4. */
enum { C_FORMAT = 10, C_LEVEL = 100, C_CONTENT_SIZE = 200, C_CHECKSUM = 201, D_FORMAT = 1000, MAGICLESS = 1 };

static struct {
	void *(*begin)(void), *(*begin_back)(void);
	size_t (*end)(void *), (*end_back)(void *);
	size_t (*set)(void *, int, int), (*set_back)(void *, int, int);
	size_t (*compress)(void *, void *, size_t, const void *, size_t);
	size_t (*decompress)(void *, void *, size_t, const void *, size_t);
	unsigned (*is_error)(size_t);
	int whole;
} zstd;

void offload_zstd_open(void)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{ "ZSTD_createCCtx", &zstd.begin },           { "ZSTD_createDCtx", &zstd.begin_back },
		{ "ZSTD_freeCCtx", &zstd.end },               { "ZSTD_freeDCtx", &zstd.end_back },
		{ "ZSTD_CCtx_setParameter", &zstd.set },      { "ZSTD_DCtx_setParameter", &zstd.set_back },
		{ "ZSTD_compress2", &zstd.compress },         { "ZSTD_decompressDCtx", &zstd.decompress },
		{ "ZSTD_isError", &zstd.is_error },
	};
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	zstd.whole = library != NULL;
	for (size_t i = 0; zstd.whole && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(library, functions[i].name);
		memcpy(functions[i].to, &found, sizeof(found));
		zstd.whole = found != NULL;
	}
}

/* As OpenZFS does it: no checksum, no size of the content, and a context of its own for each block. */
static int set_up(void *context, int level)
{
	return !zstd.is_error(zstd.set(context, C_LEVEL, level)) && !zstd.is_error(zstd.set(context, C_FORMAT, MAGICLESS)) &&
	    !zstd.is_error(zstd.set(context, C_CHECKSUM, 0)) && !zstd.is_error(zstd.set(context, C_CONTENT_SIZE, 0));
}

enum zwhy_result offload_zstd_code(enum verb verb, unsigned char *to, size_t room, const unsigned char *from, size_t size,
    int level, size_t *made)
{
	enum zwhy_result result = ZWHY_NOT_SUPPORTED;
	*made = 0;
	if (!zstd.whole)
		return ZWHY_NOT_IMPLEMENTED;
	void *context = verb == COMPRESS ? zstd.begin() : zstd.begin_back();
	if (context && verb == COMPRESS && set_up(context, level)) {
		size_t done = zstd.compress(context, to, room, from, size);
		*made = zstd.is_error(done) ? 0 : done;
		result = ZWHY_OK;
	} else if (context && verb == DECOMPRESS && !zstd.is_error(zstd.set_back(context, D_FORMAT, MAGICLESS))) {
		size_t done = zstd.decompress(context, to, room, from, size);
		*made = zstd.is_error(done) ? 0 : done;
		result = zstd.is_error(done) ? ZWHY_BAD_RESULT : ZWHY_OK;
	}
	if (context)
		(verb == COMPRESS ? zstd.end : zstd.end_back)(context);
	return result;
}

static size_t remake(unsigned char *to, size_t room, const unsigned char *from, size_t size, int level)
{
	size_t made = 0;
	return offload_zstd_code(COMPRESS, to, room, from, size, level, &made) == ZWHY_OK ? made : 0;
}

/* --- Before libzpool ------------------------------------------------------------------------------------------------- */

typedef int with_level_fn(void *, void *, size_t, size_t, uint8_t *);

static struct offload_compressor own = { .codec = ZWHY_ZSTD, .head = HEAD, .level = level_of, .put_rest = put_rest,
	.is_valid = is_valid, .remake = remake };
static with_level_fn *with_level;

static inline int asks(enum verb verb)
{
	return offload_asks(verb) && offload_setup.codec == ZWHY_ZSTD;
}

/* OpenZFS's own early trials, by which it may leave a block as it is, are its own: the provider compresses each. */
EXPORT size_t zfs_zstd_compress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!own.compress)
		abort();
	return asks(COMPRESS) && room > HEAD && level_of(level) != 0
	    ? offload_compress(&own, source, target, size, room, level)
	    : own.compress(source, target, size, room, level);
}

EXPORT int zfs_zstd_decompress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!own.decompress)
		abort();
	return asks(DECOMPRESS) && size > HEAD ? offload_decompress(&own, source, target, size, room, level)
					       : own.decompress(source, target, size, room, level);
}

/* The level is the first byte behind the size; 0 where OpenZFS has no such level, and is to say what that means. */
static __attribute__((noinline)) uint8_t level_in(void *source)
{
	unsigned char head[HEAD];
	if (own.abds)
		offload_to_buffer(head, source, 0, HEAD);
	else
		memcpy(head, source, HEAD);
	return head[LEVEL_AT + 1] == 0 && level_of(head[LEVEL_AT]) != 0 ? head[LEVEL_AT] : 0;
}

EXPORT int zfs_zstd_decompress_level(void *source, void *target, size_t size, size_t room, uint8_t *level)
{
	if (!with_level)
		abort();
	uint8_t found = asks(DECOMPRESS) && size > HEAD ? level_in(source) : 0;
	if (found == 0)
		return with_level(source, target, size, room, level);
	int error = offload_decompress(&own, source, target, size, room, 0);
	if (error == 0 && level)
		*level = found;
	return error;
}

/* Hands the functions of libzpool over. */
EXPORT void zwhy_shim_zstd(void *compress, void *decompress, void *decompress_level, int abds)
{
	own.compress = (size_t (*)(void *, void *, size_t, size_t, int))compress;
	own.decompress = (int (*)(void *, void *, size_t, size_t, int))decompress;
	with_level = (with_level_fn *)decompress_level;
	own.abds = abds;
}

/*
 * LZ4 by a provider, at the functions that OpenZFS has in its table of compressors (module/zfs/lz4.c, lz4_zfs.c): with plain
 * buffers before 2.3, with ABDs since. In front of the block OpenZFS keeps its size, four bytes in the order of networks;
 * providers see what follows.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

enum { LENGTH = sizeof(uint32_t), FITS = 0, FITS_NOT = -5 };

typedef size_t compress_fn(void *, void *, size_t, size_t, int);
typedef int decompress_fn(void *, void *, size_t, size_t, int);

static struct {
	compress_fn *compress;
	decompress_fn *decompress;
} libzpool;

void offload_put_length(unsigned char *to, size_t size)
{
	uint32_t length = htonl((uint32_t)size);
	memcpy(to, &length, sizeof(length));
}

static size_t length_of(const unsigned char *from)
{
	uint32_t length;
	memcpy(&length, from, sizeof(length));
	return ntohl(length);
}

/* Of liblz4 on this host: from, to, size, room. NULL: it is not here. */
int (*offload_lz4_library(const char *name))(const char *, char *, int, int)
{
	void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
	return library ? (int (*)(const char *, char *, int, int))dlsym(library, name) : NULL;
}

size_t offload_lz4_remake(unsigned char *to, size_t room, const unsigned char *from, size_t size)
{
	int (*compress)(const char *, char *, int, int) = offload_lz4_library("LZ4_compress_default");
	int made = compress ? compress((const char *)from, (char *)to + LENGTH, (int)size, (int)(room - LENGTH)) : 0;
	offload_put_length(to, (size_t)made);
	return made > 0 ? (size_t)made + LENGTH : 0;
}

/* OpenZFS says that a block does not fit by the size of the source. */
static void compress_in_software(struct offload_job *job)
{
	size_t made = libzpool.compress(job->source, job->target, job->size, job->room + LENGTH, job->level);
	job->zlib = made < job->size ? FITS : FITS_NOT;
	job->made = made < job->size ? made - LENGTH : 0;
}

static void decompress_in_software(struct offload_job *job)
{
	job->zlib = libzpool.decompress(job->source, job->target, job->size + LENGTH, job->room, job->level);
	job->made = job->room;
}

/* `source` and `target`: what OpenZFS's own function takes; `from` and `to`: the same in one piece. */
static size_t compress(void *source, void *target, const void *from, unsigned char *to, size_t size, size_t room, int level)
{
	struct offload_job job = { .verb = COMPRESS, .codec = ZWHY_LZ4, .to = to + LENGTH, .before = LENGTH,
		.room = room - LENGTH, .from = from, .size = size, .level = level, .software = compress_in_software,
		.source = source, .target = target };
	offload_code(&job);
	if (job.zlib != FITS)
		return size;
	/* A block that stays in the provider has it there. */
	offload_put_length(to, job.made);
	return job.made + LENGTH;
}

static int decompress(void *source, void *target, const unsigned char *from, void *to, size_t size, size_t room, int level)
{
	size_t length = length_of(from);
	if (length + LENGTH > size)
		return 1;
	struct offload_job job = { .verb = DECOMPRESS, .codec = ZWHY_LZ4, .to = to, .room = room, .from = from + LENGTH,
		.size = length, .level = level, .software = decompress_in_software, .source = source, .target = target };
	offload_code(&job);
	return job.zlib != FITS;
}

static inline int asks(enum verb verb)
{
	return offload_asks(verb) && offload_setup.codec == ZWHY_LZ4;
}

/* Before 2.3: buffers. */
EXPORT size_t lz4_compress_zfs(void *from, void *to, size_t size, size_t room, int level)
{
	if (!libzpool.compress)
		abort();
	return asks(COMPRESS) && room > LENGTH ? compress(from, to, from, to, size, room, level)
						       : libzpool.compress(from, to, size, room, level);
}

EXPORT int lz4_decompress_zfs(void *from, void *to, size_t size, size_t room, int level)
{
	if (!libzpool.decompress)
		abort();
	return asks(DECOMPRESS) && size > LENGTH ? decompress(from, to, from, to, size, room, level)
							 : libzpool.decompress(from, to, size, room, level);
}

/* A block in one piece: where it lies, or a copy; to be freed where it is one. NULL: no memory. */
static unsigned char *in_one_piece(void *abd, size_t size, void **copy)
{
	struct offload_pieces pieces = offload_pieces(abd, size);
	if (!pieces.scattered)
		return (unsigned char *)pieces.at;
	*copy = malloc(size);
	if (*copy)
		offload_to_buffer(*copy, abd, 0, size);
	return *copy;
}

static __attribute__((noinline)) size_t compress_abd(void *source, void *target, size_t size, size_t room, int level)
{
	void *copy = NULL;
	struct offload_pieces to = offload_pieces(target, room);
	unsigned char *from = to.scattered ? NULL : in_one_piece(source, size, &copy);
	/* Of a copy nothing could be made again. OpenZFS has what it writes in one piece. */
	size_t made = from && !copy ? compress(source, target, from, (unsigned char *)to.at, size, room, level)
				    : libzpool.compress(source, target, size, room, level);
	free(copy);
	return made;
}

static __attribute__((noinline)) int decompress_abd(void *source, void *target, size_t size, size_t room, int level)
{
	void *copy = NULL;
	struct offload_pieces to = offload_pieces(target, room);
	unsigned char *from = to.scattered ? NULL : in_one_piece(source, size, &copy);
	int error = from ? decompress(source, target, from, (unsigned char *)to.at, size, room, level)
			 : libzpool.decompress(source, target, size, room, level);
	if (copy)
		offload_host_frees(copy, size);
	free(copy);
	return error;
}

/* Since 2.3: ABDs. */
EXPORT size_t zfs_lz4_compress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!libzpool.compress)
		abort();
	return asks(COMPRESS) && room > LENGTH ? compress_abd(source, target, size, room, level)
						       : libzpool.compress(source, target, size, room, level);
}

EXPORT int zfs_lz4_decompress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!libzpool.decompress)
		abort();
	return asks(DECOMPRESS) && size > LENGTH ? decompress_abd(source, target, size, room, level)
							 : libzpool.decompress(source, target, size, room, level);
}

/* Hands the functions of libzpool over. */
EXPORT void zwhy_shim_lz4(compress_fn *compress, decompress_fn *decompress)
{
	libzpool.compress = compress;
	libzpool.decompress = decompress;
}

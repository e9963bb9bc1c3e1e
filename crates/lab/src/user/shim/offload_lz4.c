/*
 * LZ4 by a provider, at the functions that OpenZFS has in its table of compressors (module/zfs/lz4.c, lz4_zfs.c). In front of
 * the block OpenZFS keeps its size; providers see what follows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "offload.h"

enum { HEAD = sizeof(uint32_t) };

/* From, to, size, room. NULL: it is not here. */
int (*offload_lz4_library(const char *name))(const char *, char *, int, int)
{
	void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
	return library ? (int (*)(const char *, char *, int, int))dlsym(library, name) : NULL;
}

static size_t remake(unsigned char *to, size_t room, const unsigned char *from, size_t size, int level)
{
	int (*compress)(const char *, char *, int, int) = offload_lz4_library("LZ4_compress_default");
	int made = compress ? compress((const char *)from, (char *)to, (int)size, (int)room) : 0;
	(void)level;
	return made > 0 ? (size_t)made : 0;
}

static struct offload_compressor lz4 = { .codec = ZWHY_LZ4, .head = HEAD, .remake = remake };

static inline int asks(enum verb verb)
{
	return offload_asks(verb) && offload_setup.codec == ZWHY_LZ4;
}

static inline size_t compress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!lz4.compress)
		abort();
	return asks(COMPRESS) && room > HEAD ? offload_compress(&lz4, source, target, size, room, level)
					      : lz4.compress(source, target, size, room, level);
}

static inline int decompress(void *source, void *target, size_t size, size_t room, int level)
{
	if (!lz4.decompress)
		abort();
	return asks(DECOMPRESS) && size > HEAD ? offload_decompress(&lz4, source, target, size, room, level)
					       : lz4.decompress(source, target, size, room, level);
}

/* Before 2.3: buffers. */
EXPORT size_t lz4_compress_zfs(void *from, void *to, size_t size, size_t room, int level)
{
	return compress(from, to, size, room, level);
}

EXPORT int lz4_decompress_zfs(void *from, void *to, size_t size, size_t room, int level)
{
	return decompress(from, to, size, room, level);
}

/* Since 2.3: ABDs. */
EXPORT size_t zfs_lz4_compress(void *source, void *target, size_t size, size_t room, int level)
{
	return compress(source, target, size, room, level);
}

EXPORT int zfs_lz4_decompress(void *source, void *target, size_t size, size_t room, int level)
{
	return decompress(source, target, size, room, level);
}

/* Hands the functions of libzpool over. */
EXPORT void zwhy_shim_lz4(void *compress, void *decompress, int abds)
{
	lz4.compress = (size_t (*)(void *, void *, size_t, size_t, int))compress;
	lz4.decompress = (int (*)(void *, void *, size_t, size_t, int))decompress;
	lz4.abds = abds;
}

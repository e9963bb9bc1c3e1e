/*
 * What codec.h uses of nvCOMP, played on the host by liblz4 and libzstd, so that the tests check what is handed over and
 * brought back without a GPU. It says nothing about the bytes that nvCOMP itself makes.
 */
#ifndef ZWHY_GPU_HOST_NVCOMP_H
#define ZWHY_GPU_HOST_NVCOMP_H

#include <dlfcn.h>

#include "host.h"

typedef enum { nvcompSuccess, nvcompErrorCannotDecompress = 12, nvcompErrorInternal = 10000 } nvcompStatus_t;
typedef enum { NVCOMP_DECOMPRESS_BACKEND_CUDA = 2 } nvcompDecompressBackend_t;

static void *of(const char *library, const char *name)
{
	void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	return opened ? dlsym(opened, name) : NULL;
}

/* The size of what was made; 0 where nothing was. */
static size_t lz4(const char *name, const void *from, size_t size, void *to, size_t room)
{
	int (*code)(const char *, char *, int, int) = (int (*)(const char *, char *, int, int))of("liblz4.so.1", name);
	int made = code ? code((const char *)from, (char *)to, (int)size, (int)room) : 0;
	return made > 0 ? (size_t)made : 0;
}

static size_t pack_lz4(const void *from, size_t size, void *to, size_t room)
{
	return lz4("LZ4_compress_default", from, size, to, room);
}

static size_t unpack_lz4(const void *from, size_t size, void *to, size_t room)
{
	return lz4("LZ4_decompress_safe", from, size, to, room);
}

/* Errors of libzstd are sizes that nothing can have. */
static size_t pack_zstd(const void *from, size_t size, void *to, size_t room)
{
	size_t (*code)(void *, size_t, const void *, size_t, int) =
	    (size_t (*)(void *, size_t, const void *, size_t, int))of("libzstd.so.1", "ZSTD_compress");
	size_t made = code ? code(to, room, from, size, 3) : 0;
	return made <= room ? made : 0;
}

static size_t unpack_zstd(const void *from, size_t size, void *to, size_t room)
{
	size_t (*code)(void *, size_t, const void *, size_t) =
	    (size_t (*)(void *, size_t, const void *, size_t))of("libzstd.so.1", "ZSTD_decompress");
	size_t made = code ? code(to, room, from, size) : 0;
	return made <= room ? made : 0;
}

/* The calls of one codec. Memory to work in is some that a test would notice if it lay over the result. */
#define PLAY_NVCOMP(CODEC, PACK, UNPACK) \
	typedef struct { \
		int unused; \
	} nvcompBatched##CODEC##CompressOpts_t; \
	typedef struct { \
		nvcompDecompressBackend_t backend; \
	} nvcompBatched##CODEC##DecompressOpts_t; \
	static const nvcompBatched##CODEC##CompressOpts_t nvcompBatched##CODEC##CompressDefaultOpts; \
	static const nvcompBatched##CODEC##DecompressOpts_t nvcompBatched##CODEC##DecompressDefaultOpts; \
	static const size_t nvcomp##CODEC##CompressionMaxAllowedChunkSize = 1 << 24; \
	static nvcompStatus_t nvcompBatched##CODEC##CompressGetMaxOutputChunkSize(size_t size, \
	    nvcompBatched##CODEC##CompressOpts_t options, size_t *most) \
	{ \
		(void)options; \
		*most = size + size / 128 + 1024; \
		return nvcompSuccess; \
	} \
	static nvcompStatus_t nvcompBatched##CODEC##CompressGetTempSize(size_t count, size_t size, \
	    nvcompBatched##CODEC##CompressOpts_t options, size_t *temp, size_t all, cudaStream_t stream) \
	{ \
		(void)size, (void)options, (void)all, (void)stream; \
		*temp = 4096 * count; \
		return nvcompSuccess; \
	} \
	static nvcompStatus_t nvcompBatched##CODEC##DecompressGetTempSize(size_t count, size_t size, \
	    nvcompBatched##CODEC##DecompressOpts_t options, size_t *temp, size_t all, cudaStream_t stream) \
	{ \
		(void)size, (void)options, (void)all, (void)stream; \
		*temp = 4096 * count; \
		return nvcompSuccess; \
	} \
	static nvcompStatus_t nvcompBatched##CODEC##CompressAsync(const void *const *from, const size_t *size, size_t largest, \
	    size_t count, void *temporary, size_t temp, void *const *to, size_t *made, \
	    nvcompBatched##CODEC##CompressOpts_t options, nvcompStatus_t *status, cudaStream_t stream) \
	{ \
		size_t room = 0; \
		(void)count, (void)stream; \
		nvcompBatched##CODEC##CompressGetMaxOutputChunkSize(largest, options, &room); \
		made[0] = PACK(from[0], size[0], to[0], room); \
		status[0] = made[0] > 0 ? nvcompSuccess : nvcompErrorInternal; \
		memset(temporary, 0xdb, temp); \
		return nvcompSuccess; \
	} \
	static nvcompStatus_t nvcompBatched##CODEC##DecompressAsync(const void *const *from, const size_t *size, \
	    const size_t *room, size_t *made, size_t count, void *temporary, size_t temp, void *const *to, \
	    nvcompBatched##CODEC##DecompressOpts_t options, nvcompStatus_t *status, cudaStream_t stream) \
	{ \
		(void)count, (void)options, (void)stream; \
		made[0] = UNPACK(from[0], size[0], to[0], room[0]); \
		status[0] = made[0] > 0 ? nvcompSuccess : nvcompErrorCannotDecompress; \
		memset(temporary, 0xdb, temp); \
		return nvcompSuccess; \
	}

PLAY_NVCOMP(LZ4, pack_lz4, unpack_lz4)
PLAY_NVCOMP(Zstd, pack_zstd, unpack_zstd)

#endif

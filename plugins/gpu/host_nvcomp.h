/*
 * What codec.h uses of nvCOMP, played on the host by liblz4, so that the tests check what is handed over and brought back
 * without a GPU. It says nothing about the bytes that nvCOMP itself makes.
 */
#ifndef ZWHY_GPU_HOST_NVCOMP_H
#define ZWHY_GPU_HOST_NVCOMP_H

#include <dlfcn.h>

#include "host.h"

typedef enum { nvcompSuccess, nvcompErrorCannotDecompress = 12, nvcompErrorInternal = 10000 } nvcompStatus_t;
typedef struct {
	int unused;
} nvcompBatchedLZ4CompressOpts_t;
typedef struct {
	enum { NVCOMP_DECOMPRESS_BACKEND_CUDA = 2 } backend;
} nvcompBatchedLZ4DecompressOpts_t;

static const nvcompBatchedLZ4CompressOpts_t nvcompBatchedLZ4CompressDefaultOpts;
static const nvcompBatchedLZ4DecompressOpts_t nvcompBatchedLZ4DecompressDefaultOpts;
static const size_t nvcompLZ4CompressionMaxAllowedChunkSize = 1 << 24;

/* From, to, size, room. */
typedef int lz4_fn(const char *, char *, int, int);

static lz4_fn *of_liblz4(const char *name)
{
	void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
	return library ? (lz4_fn *)dlsym(library, name) : NULL;
}

static nvcompStatus_t nvcompBatchedLZ4CompressGetMaxOutputChunkSize(size_t size, nvcompBatchedLZ4CompressOpts_t options,
    size_t *most)
{
	(void)options;
	*most = size + size / 255 + 16;
	return nvcompSuccess;
}

/* Some, which a test would notice if it lay over the result. */
static nvcompStatus_t nvcompBatchedLZ4CompressGetTempSize(size_t count, size_t size, nvcompBatchedLZ4CompressOpts_t options,
    size_t *temp, size_t all, cudaStream_t stream)
{
	(void)size;
	(void)options;
	(void)all;
	(void)stream;
	*temp = 4096 * count;
	return nvcompSuccess;
}

static nvcompStatus_t nvcompBatchedLZ4DecompressGetTempSize(size_t count, size_t size,
    nvcompBatchedLZ4DecompressOpts_t options, size_t *temp, size_t all, cudaStream_t stream)
{
	(void)size;
	(void)options;
	(void)all;
	(void)stream;
	*temp = 4096 * count;
	return nvcompSuccess;
}

static nvcompStatus_t nvcompBatchedLZ4CompressAsync(const void *const *from, const size_t *size, size_t largest, size_t count,
    void *temporary, size_t temp, void *const *to, size_t *made, nvcompBatchedLZ4CompressOpts_t options,
    nvcompStatus_t *status, cudaStream_t stream)
{
	lz4_fn *code = of_liblz4("LZ4_compress_default");
	size_t room = 0;
	(void)count;
	(void)stream;
	if (!code || nvcompBatchedLZ4CompressGetMaxOutputChunkSize(largest, options, &room) != nvcompSuccess)
		return nvcompErrorInternal;
	int result = code((const char *)from[0], (char *)to[0], (int)size[0], (int)room);
	memset(temporary, 0xdb, temp);
	made[0] = result > 0 ? (size_t)result : 0;
	status[0] = result > 0 ? nvcompSuccess : nvcompErrorInternal;
	return nvcompSuccess;
}

static nvcompStatus_t nvcompBatchedLZ4DecompressAsync(const void *const *from, const size_t *size, const size_t *room,
    size_t *made, size_t count, void *temporary, size_t temp, void *const *to, nvcompBatchedLZ4DecompressOpts_t options,
    nvcompStatus_t *status, cudaStream_t stream)
{
	lz4_fn *code = of_liblz4("LZ4_decompress_safe");
	(void)count;
	(void)options;
	(void)stream;
	if (!code)
		return nvcompErrorInternal;
	int result = code((const char *)from[0], (char *)to[0], (int)size[0], (int)room[0]);
	memset(temporary, 0xdb, temp);
	made[0] = result > 0 ? (size_t)result : 0;
	status[0] = result > 0 ? nvcompSuccess : nvcompErrorCannotDecompress;
	return nvcompSuccess;
}

#endif

/* LZ4 and zstd by nvCOMP, where that was there when this was built; without it the provider has no such verb. */
#ifndef ZWHY_GPU_CODEC_H
#define ZWHY_GPU_CODEC_H

#ifdef ZWHY_NVCOMP

#include "own.h"

#ifdef ZWHY_ON_HOST
#include "host_nvcomp.h"
#else
#include "nvcomp/lz4.h"
#include "nvcomp/zstd.h"
#endif

/* nvCOMP works on batches, and reads from the memory of the GPU what is in them: here that is one block. */
struct one {
	const void *from;
	void *to;
	size_t size, room, made;
	nvcompStatus_t status;
};

/* More than nvCOMP asks for; struct one has room in it. */
enum { ALIGN = 256 };

static size_t aligned(size_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

/* Behind struct one in the memory for results: the result, and then what nvCOMP needs to work. */
static char *result_of(struct own *mine)
{
	return mine->out + ALIGN;
}

static char *temporary(struct own *mine, size_t room)
{
	return result_of(mine) + aligned(room);
}

/* Frames of nvCOMP begin with it, and those that a provider gets and makes do not. */
static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

static size_t before(enum zwhy_codec codec)
{
	return codec == ZWHY_ZSTD ? sizeof(zstd_magic) : 0;
}

/* Moves the block in; NULL where the GPU has no memory left. `batch` is in use until finish() has waited. */
static struct own *move_in(struct one *batch, size_t head, const void *from, size_t size, size_t room, size_t temporary_size)
{
	struct own *mine = own(head + size, ALIGN + aligned(room) + temporary_size);
	if (!mine)
		return NULL;
	batch->from = mine->in;
	batch->to = result_of(mine);
	batch->size = head + size;
	batch->room = room;
	batch->made = 0;
	batch->status = nvcompErrorInternal;
	cudaMemcpyAsync(mine->in, zstd_magic, head, cudaMemcpyHostToDevice, mine->stream);
	cudaMemcpyAsync(mine->in + head, from, size, cudaMemcpyHostToDevice, mine->stream);
	cudaMemcpyAsync(mine->out, batch, sizeof(*batch), cudaMemcpyHostToDevice, mine->stream);
	return mine;
}

/*
 * Waits for the result, and copies it without its head: as much as there is room for. What is larger stays there, and is told
 * by its size.
 */
static enum zwhy_result bring_back(struct own *mine, nvcompStatus_t begun, struct one *batch, size_t head, void *to, size_t room)
{
	unsigned char found[sizeof(zstd_magic)];
	cudaMemcpyAsync(batch, mine->out, sizeof(*batch), cudaMemcpyDeviceToHost, mine->stream);
	cudaMemcpyAsync(found, result_of(mine), head, cudaMemcpyDeviceToHost, mine->stream);
	enum zwhy_result result = finish(mine);
	if (result != ZWHY_OK)
		return result;
	if (begun != nvcompSuccess)
		return ZWHY_NOT_SUPPORTED;
	if (batch->status != nvcompSuccess || batch->made < head || memcmp(found, zstd_magic, head) != 0)
		return ZWHY_BAD_RESULT;
	batch->made -= head;
	if (batch->made > room)
		return ZWHY_OK;
	cudaMemcpyAsync(to, result_of(mine) + head, batch->made, cudaMemcpyDeviceToHost, mine->stream);
	return finish(mine);
}

/* What nvCOMP needs for a block of this size: room for the result, and memory to work in. */
static int can_compress(enum zwhy_codec codec, size_t size, size_t *most, size_t *temp)
{
	if (codec == ZWHY_LZ4)
		return size <= nvcompLZ4CompressionMaxAllowedChunkSize &&
		    nvcompBatchedLZ4CompressGetMaxOutputChunkSize(size, nvcompBatchedLZ4CompressDefaultOpts, most) == nvcompSuccess &&
		    nvcompBatchedLZ4CompressGetTempSize(1, size, nvcompBatchedLZ4CompressDefaultOpts, temp, size, 0) == nvcompSuccess;
	return codec == ZWHY_ZSTD && size <= nvcompZstdCompressionMaxAllowedChunkSize &&
	    nvcompBatchedZstdCompressGetMaxOutputChunkSize(size, nvcompBatchedZstdCompressDefaultOpts, most) == nvcompSuccess &&
	    nvcompBatchedZstdCompressGetTempSize(1, size, nvcompBatchedZstdCompressDefaultOpts, temp, size, 0) == nvcompSuccess;
}

static enum zwhy_result compress_as(enum zwhy_codec codec, int level, void *to, size_t *to_size, const void *from, size_t size)
{
	size_t most = 0, temp = 0;
	struct one batch;
	nvcompStatus_t begun;
	(void)level; /* LZ4 in OpenZFS has one, and zstd of nvCOMP has none */
	if (!can_compress(codec, size, &most, &temp))
		return ZWHY_NOT_SUPPORTED;
	struct own *mine = move_in(&batch, 0, from, size, most, temp);
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	struct one *there = (struct one *)mine->out;
	if (codec == ZWHY_LZ4)
		begun = nvcompBatchedLZ4CompressAsync(&there->from, &there->size, size, 1, temporary(mine, most), temp, &there->to,
		    &there->made, nvcompBatchedLZ4CompressDefaultOpts, &there->status, mine->stream);
	else
		begun = nvcompBatchedZstdCompressAsync(&there->from, &there->size, size, 1, temporary(mine, most), temp, &there->to,
		    &there->made, nvcompBatchedZstdCompressDefaultOpts, &there->status, mine->stream);
	enum zwhy_result result = bring_back(mine, begun, &batch, before(codec), to, *to_size);
	/* What does not fit is stored as it is. */
	*to_size = result == ZWHY_OK && batch.made <= *to_size ? batch.made : 0;
	return result;
}

static enum zwhy_result decompress_as(enum zwhy_codec codec, void *to, size_t *to_size, const void *from, size_t size)
{
	nvcompBatchedLZ4DecompressOpts_t lz4 = nvcompBatchedLZ4DecompressDefaultOpts;
	nvcompBatchedZstdDecompressOpts_t zstd = nvcompBatchedZstdDecompressDefaultOpts;
	size_t room = *to_size, temp = 0;
	struct one batch;
	nvcompStatus_t begun = nvcompErrorInternal;
	/* The decompression engine of newer GPUs may do anything with damaged blocks; the kernels notice them. */
	lz4.backend = zstd.backend = NVCOMP_DECOMPRESS_BACKEND_CUDA;
	if (codec == ZWHY_LZ4)
		begun = nvcompBatchedLZ4DecompressGetTempSize(1, room, lz4, &temp, room, 0);
	else if (codec == ZWHY_ZSTD)
		begun = nvcompBatchedZstdDecompressGetTempSize(1, room, zstd, &temp, room, 0);
	if (begun != nvcompSuccess)
		return ZWHY_NOT_SUPPORTED;
	struct own *mine = move_in(&batch, before(codec), from, size, room, temp);
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	struct one *there = (struct one *)mine->out;
	if (codec == ZWHY_LZ4)
		begun = nvcompBatchedLZ4DecompressAsync(&there->from, &there->size, &there->room, &there->made, 1,
		    temporary(mine, room), temp, &there->to, lz4, &there->status, mine->stream);
	else
		begun = nvcompBatchedZstdDecompressAsync(&there->from, &there->size, &there->room, &there->made, 1,
		    temporary(mine, room), temp, &there->to, zstd, &there->status, mine->stream);
	enum zwhy_result result = bring_back(mine, begun, &batch, 0, to, room);
	*to_size = batch.made;
	return result == ZWHY_OK && batch.made > room ? ZWHY_BAD_RESULT : result;
}

#endif

#endif

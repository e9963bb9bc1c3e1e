/* LZ4 by nvCOMP, where that was there when this was built; without it the provider has no such verb. */
#ifndef ZWHY_GPU_CODEC_H
#define ZWHY_GPU_CODEC_H

#ifdef ZWHY_NVCOMP

#include "own.h"

#ifdef ZWHY_ON_HOST
#include "host_nvcomp.h"
#else
#include "nvcomp/lz4.h"
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

/* Moves the block in; NULL where the GPU has no memory left. `batch` is in use until bring_back() has waited. */
static struct own *move_in(struct one *batch, const void *from, size_t size, size_t room, size_t temporary_size)
{
	struct own *mine = own(size, ALIGN + aligned(room) + temporary_size);
	if (!mine)
		return NULL;
	batch->from = mine->in;
	batch->to = result_of(mine);
	batch->size = size;
	batch->room = room;
	batch->made = 0;
	batch->status = nvcompErrorInternal;
	cudaMemcpyAsync(mine->in, from, size, cudaMemcpyHostToDevice, mine->stream);
	cudaMemcpyAsync(mine->out, batch, sizeof(*batch), cudaMemcpyHostToDevice, mine->stream);
	return mine;
}

/* Waits for the result, and copies as much as there is room for: what is larger stays there, and is told by its size. */
static enum zwhy_result bring_back(struct own *mine, nvcompStatus_t begun, struct one *batch, void *to, size_t room)
{
	cudaMemcpyAsync(batch, mine->out, sizeof(*batch), cudaMemcpyDeviceToHost, mine->stream);
	enum zwhy_result result = finish(mine);
	if (result != ZWHY_OK)
		return result;
	if (begun != nvcompSuccess)
		return ZWHY_NOT_SUPPORTED;
	if (batch->status != nvcompSuccess)
		return ZWHY_BAD_RESULT;
	if (batch->made > room)
		return ZWHY_OK;
	cudaMemcpyAsync(to, result_of(mine), batch->made, cudaMemcpyDeviceToHost, mine->stream);
	return finish(mine);
}

static enum zwhy_result compress_as(enum zwhy_codec codec, int level, void *to, size_t *to_size, const void *from, size_t size)
{
	nvcompBatchedLZ4CompressOpts_t options = nvcompBatchedLZ4CompressDefaultOpts;
	size_t most = 0, temp = 0;
	struct one batch;
	(void)level; /* LZ4 in OpenZFS has one */
	if (codec != ZWHY_LZ4 || size > nvcompLZ4CompressionMaxAllowedChunkSize ||
	    nvcompBatchedLZ4CompressGetMaxOutputChunkSize(size, options, &most) != nvcompSuccess ||
	    nvcompBatchedLZ4CompressGetTempSize(1, size, options, &temp, size, 0) != nvcompSuccess)
		return ZWHY_NOT_SUPPORTED;
	struct own *mine = move_in(&batch, from, size, most, temp);
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	struct one *there = (struct one *)mine->out;
	nvcompStatus_t begun = nvcompBatchedLZ4CompressAsync(&there->from, &there->size, size, 1, temporary(mine, most), temp,
	    &there->to, &there->made, options, &there->status, mine->stream);
	enum zwhy_result result = bring_back(mine, begun, &batch, to, *to_size);
	/* What does not fit is stored as it is. */
	*to_size = result == ZWHY_OK && batch.made <= *to_size ? batch.made : 0;
	return result;
}

static enum zwhy_result decompress_as(enum zwhy_codec codec, void *to, size_t *to_size, const void *from, size_t size)
{
	nvcompBatchedLZ4DecompressOpts_t options = nvcompBatchedLZ4DecompressDefaultOpts;
	size_t room = *to_size, temp = 0;
	struct one batch;
	/* The decompression engine of newer GPUs may do anything with damaged blocks; the kernels notice them. */
	options.backend = NVCOMP_DECOMPRESS_BACKEND_CUDA;
	if (codec != ZWHY_LZ4 ||
	    nvcompBatchedLZ4DecompressGetTempSize(1, room, options, &temp, room, 0) != nvcompSuccess)
		return ZWHY_NOT_SUPPORTED;
	struct own *mine = move_in(&batch, from, size, room, temp);
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	struct one *there = (struct one *)mine->out;
	nvcompStatus_t begun = nvcompBatchedLZ4DecompressAsync(&there->from, &there->size, &there->room, &there->made, 1,
	    temporary(mine, room), temp, &there->to, options, &there->status, mine->stream);
	enum zwhy_result result = bring_back(mine, begun, &batch, to, room);
	*to_size = batch.made;
	return result == ZWHY_OK && batch.made > room ? ZWHY_BAD_RESULT : result;
}

#endif

#endif

/* What each thread of the pipeline has on the GPU. */
#ifndef ZWHY_GPU_OWN_H
#define ZWHY_GPU_OWN_H

#include "kernels.h"
#include "zwhy_offload.h"

/* Its queue, and memory that grows with what it is asked. */
struct own {
	int begun;
	cudaStream_t stream;
	char *in, *out;
	size_t in_room, out_room;
};

static int grow(char **memory, size_t *room, size_t size)
{
	if (size <= *room)
		return 1;
	if (*memory)
		cudaFree(*memory);
	*memory = NULL;
	*room = cudaMalloc((void **)memory, size) == cudaSuccess ? size : 0;
	return *room >= size;
}

/* NULL where the GPU has no memory or no queue left. */
static struct own *own(size_t in, size_t out)
{
	static __thread struct own mine;
	if (!mine.begun)
		mine.begun = cudaStreamCreate(&mine.stream) == cudaSuccess;
	return mine.begun && grow(&mine.in, &mine.in_room, in) && grow(&mine.out, &mine.out_room, out) ? &mine : NULL;
}

/* After an error of the GPU nothing on it can be relied on. */
static enum zwhy_result finish(struct own *mine)
{
	int good = cudaGetLastError() == cudaSuccess && cudaStreamSynchronize(mine->stream) == cudaSuccess;
	return good ? ZWHY_OK : ZWHY_PROVIDER_INVALIDATED;
}

#endif

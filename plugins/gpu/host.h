/* What gpu.cu uses of CUDA, on the host: a loop plays the threads. For tests of its arithmetic, not for use. */
#ifndef ZWHY_GPU_ON_HOST_H
#define ZWHY_GPU_ON_HOST_H

#include <stdlib.h>
#include <string.h>

#define __device__
#define __global__
#define __constant__

typedef int cudaStream_t;
typedef enum { cudaSuccess, cudaErrorMemoryAllocation } cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost };

static __thread size_t thread_number;
#define THREAD thread_number
#define LAUNCH(kernel, threads, stream, ...)                                          \
	for (thread_number = 0; thread_number < (threads) + 7; thread_number++) /* a grid is rounded up */ \
	kernel(__VA_ARGS__)

static inline cudaError_t cudaMalloc(void **memory, size_t size)
{
	*memory = malloc(size);
	return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaFree(void *memory)
{
	free(memory);
	return cudaSuccess;
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
    cudaStream_t stream)
{
	(void)kind;
	(void)stream;
	memcpy(to, from, size);
	return cudaSuccess;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	*stream = 0;
	return cudaSuccess;
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	return cudaSuccess;
}

static inline cudaError_t cudaGetLastError(void)
{
	return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceCount(int *count)
{
	*count = 1;
	return cudaSuccess;
}

#endif

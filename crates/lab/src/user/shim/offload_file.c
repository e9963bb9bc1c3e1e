/*
 * Writes of vdevs that are files by a provider (zia_file_write), at the call of pwrite64() that libzpool makes for each.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

enum { ALIGN = 4096 };

/* With `strict` the provider has a copy, which is spoilt when it has answered: what it writes later is not the data. */
static enum zwhy_result by_provider(int file, const void *data, size_t size, int64_t offset)
{
	void *copy = NULL;
	if (!offload_provider || !offload_provider->file_write)
		return ZWHY_NOT_IMPLEMENTED;
	if (!offload_setup.strict)
		return offload_provider->file_write(file, data, size, offset);
	if (posix_memalign(&copy, ALIGN, size) != 0)
		return ZWHY_ERROR;
	memcpy(copy, data, size);
	enum zwhy_result result = offload_provider->file_write(file, copy, size, offset);
	offload_poison(copy, size);
	free(copy);
	return result;
}

ssize_t offload_file_write(int file, const void *data, size_t size, off64_t offset, offload_pwrite *software)
{
	struct offload_count *count = &offload_count[FILE_WRITE];
	ssize_t put = (ssize_t)size;
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = offload_setup.answers;
	if (result == ZWHY_OK && offload_setup.provider == SOFTWARE)
		put = software(file, data, size, offset);
	else if (result == ZWHY_OK)
		result = by_provider(file, data, size, offset);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(FILE_WRITE, result);
		return software(file, data, size, offset);
	}
	count->calls++;
	count->in += (int64_t)size;
	return put;
}

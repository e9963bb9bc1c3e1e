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
static enum zwhy_result on_copy(int file, const void *data, size_t size, int64_t offset)
{
	void *copy = NULL;
	enum zwhy_result result;
	if (!offload_provider->file_write)
		return ZWHY_NOT_IMPLEMENTED;
	offload_host_reads(data, size);
	if (!offload_setup.strict) {
		result = offload_provider->file_write(file, data, size, offset);
	} else {
		if (posix_memalign(&copy, ALIGN, size) != 0)
			return ZWHY_ERROR;
		memcpy(copy, data, size);
		result = offload_provider->file_write(file, copy, size, offset);
		offload_poison(copy, size);
		free(copy);
	}
	if (result == ZWHY_OK)
		offload_moved(FILE_WRITE, size, 0);
	return result;
}

/* From the block that is there, whose bytes the host may never have had; what is in none is moved in. */
static enum zwhy_result from_block(int file, const void *data, size_t size, int64_t offset, size_t *stayed)
{
	struct offload_pieces pieces = { data, size, 0 };
	struct offload_part part = { .held = NULL };
	enum zwhy_result result = ZWHY_OK;
	if (offload_find(1U << COMPRESS | 1U << CHECKSUM | 1U << RAIDZ_GEN, &pieces, size, &part)) {
		*stayed = size;
	} else {
		offload_host_reads(data, size);
		result = offload_put(FILE_WRITE, data, size, &part.held);
		if (result == ZWHY_OK)
			part.of = (struct zwhy_part){ offload_number(part.held), 0, size, 0 };
	}
	if (result == ZWHY_OK)
		result = offload_provider->file_write_block(file, &part.of, offset);
	offload_release(part.held);
	return result;
}

static enum zwhy_result by_provider(int file, const void *data, size_t size, int64_t offset, size_t *stayed)
{
	if (!offload_provider)
		return ZWHY_NOT_IMPLEMENTED;
	return offload_keeps() && offload_provider->file_write_block ? from_block(file, data, size, offset, stayed)
								     : on_copy(file, data, size, offset);
}

ssize_t offload_file_write(int file, const void *data, size_t size, off64_t offset, offload_pwrite *software)
{
	struct offload_count *count = &offload_count[FILE_WRITE];
	ssize_t put = (ssize_t)size;
	size_t stayed = 0;
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = offload_setup.answers;
	if (result == ZWHY_OK && offload_setup.provider == SOFTWARE)
		put = software(file, data, size, offset);
	else if (result == ZWHY_OK)
		result = by_provider(file, data, size, offset, &stayed);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(FILE_WRITE, result);
		return software(file, data, size, offset);
	}
	count->calls++;
	count->in += (int64_t)size;
	count->stayed += (int64_t)stayed;
	return put;
}

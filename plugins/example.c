/*
 * A provider in plain C, to copy from: fletcher4 and the parity of RAID-Z on blocks that stay in its memory, and
 * reconstruction of one column by P. What it leaves out (compression, and rows that lost more) is done by OpenZFS.
 *
 *   cc -O2 -shared -fPIC -Iplugins -o example.so plugins/example.c
 *   zwhy lab run offload --set provider=none,./example.so --set disks=6 --set layout=raidz2 --set zia_checksum=1
 */
#include <stdlib.h>
#include <string.h>

#include "zwhy_offload.h"

/* A block is plain memory here, and its number is where that begins. */
static enum zwhy_result put(const void *from, size_t size, uint64_t *block)
{
	void *memory = malloc(size);
	*block = (uint64_t)(uintptr_t)memory;
	if (!memory)
		return ZWHY_NOT_SUPPORTED;
	memcpy(memory, from, size);
	return ZWHY_OK;
}

static enum zwhy_result get(uint64_t block, size_t offset, void *to, size_t size)
{
	memcpy(to, (unsigned char *)(uintptr_t)block + offset, size);
	return ZWHY_OK;
}

static void drop(uint64_t block)
{
	free((void *)(uintptr_t)block);
}

/* Byte `at` of a part: zeros follow its data. */
static unsigned char byte(const struct zwhy_part *part, size_t at)
{
	return at < part->size ? ((const unsigned char *)(uintptr_t)part->block)[part->offset + at] : 0;
}

static enum zwhy_result checksum(enum zwhy_checksum kind, uint64_t words[4], const struct zwhy_part *from)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;
	if (kind != ZWHY_FLETCHER4)
		return ZWHY_NOT_SUPPORTED;
	for (size_t at = 0; at < from->size + from->zeros; at += sizeof(uint32_t)) {
		unsigned char word[] = { byte(from, at), byte(from, at + 1), byte(from, at + 2), byte(from, at + 3) };
		uint32_t number;
		memcpy(&number, word, sizeof(number));
		d += c += b += a += number;
	}
	words[0] = a;
	words[1] = b;
	words[2] = c;
	words[3] = d;
	return ZWHY_OK;
}

/* Horner's rule: each parity is the one so far, times 1, 2 or 4 in the field of RAID-Z, plus the next data column. */
static enum zwhy_result raidz_gen(const struct zwhy_block_row *row, uint64_t *block)
{
	unsigned char *to = calloc((size_t)row->parity, row->size);
	*block = (uint64_t)(uintptr_t)to;
	for (int p = 0; to && p < row->parity; p++, to += row->size)
		for (size_t at = 0; at < row->size; at++)
			for (int i = 0; i < row->data; i++) {
				for (int times = 0; times < p; times++)
					to[at] = (unsigned char)(to[at] << 1 ^ (to[at] & 0x80 ? 0x1d : 0));
				to[at] ^= byte(&row->columns[i], at);
			}
	return to ? ZWHY_OK : ZWHY_NOT_SUPPORTED;
}

static enum zwhy_result raidz_rec(const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	if (losts != 1 || !valid[0])
		return ZWHY_NOT_SUPPORTED;
	unsigned char *wanted = row->columns[lost[0]];
	memcpy(wanted, row->columns[0], row->size);
	for (int i = row->parity; i < row->parity + row->data; i++)
		for (size_t at = 0; i != lost[0] && at < row->size; at++)
			wanted[at] ^= row->columns[i][at];
	return ZWHY_OK;
}

const struct zwhy_provider *zwhy_offload_provider(void)
{
	static const struct zwhy_provider provider = {
		.version = ZWHY_OFFLOAD_VERSION,
		.name = "example",
		.raidz_rec = raidz_rec,
		.put = put,
		.get = get,
		.drop = drop,
		.checksum_block = checksum,
		.raidz_gen_block = raidz_gen,
	};
	return &provider;
}

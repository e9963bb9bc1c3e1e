/*
 * A provider in plain C, to copy from: fletcher4, the parity of RAID-Z, and reconstruction of one column by P. What it
 * leaves out (compression, and rows that lost more) is done by OpenZFS.
 *
 *   cc -O2 -shared -fPIC -Iplugins -o example.so plugins/example.c
 *   zwhy lab run offload --set provider=none,./example.so --set disks=6 --set layout=raidz2 --set zia_checksum=1
 */
#include <string.h>

#include "zwhy_offload.h"

static enum zwhy_result checksum(enum zwhy_checksum kind, uint64_t words[4], const void *from, size_t size)
{
	const unsigned char *bytes = from;
	uint64_t a = 0, b = 0, c = 0, d = 0;
	if (kind != ZWHY_FLETCHER4)
		return ZWHY_NOT_SUPPORTED;
	for (size_t at = 0; at + sizeof(uint32_t) <= size; at += sizeof(uint32_t)) {
		uint32_t word;
		memcpy(&word, bytes + at, sizeof(word));
		a += word;
		b += a;
		c += b;
		d += c;
	}
	words[0] = a;
	words[1] = b;
	words[2] = c;
	words[3] = d;
	return ZWHY_OK;
}

/* Times 2 in the field of RAID-Z. */
static unsigned char twice(unsigned char value)
{
	return (unsigned char)(value << 1 ^ (value & 0x80 ? 0x1d : 0));
}

/* Horner's rule: each parity is the one so far, times 1, 2 or 4, plus the next data column. */
static enum zwhy_result raidz_gen(const struct zwhy_row *row)
{
	unsigned char **data = row->columns + row->parity;
	for (int p = 0; p < row->parity; p++)
		for (size_t at = 0; at < row->size; at++) {
			unsigned char sum = 0;
			for (int i = 0; i < row->data; i++) {
				for (int times = 0; times < p; times++)
					sum = twice(sum);
				sum ^= data[i][at];
			}
			row->columns[p][at] = sum;
		}
	return ZWHY_OK;
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
		.checksum = checksum,
		.raidz_gen = raidz_gen,
		.raidz_rec = raidz_rec,
	};
	return &provider;
}

/*
 * A provider on an NVIDIA GPU: fletcher4, SHA-256, parity and reconstruction of RAID-Z, and LZ4 by nvCOMP. gzip is left to
 * OpenZFS: nvCOMP makes it of at most 64 KiB at a time, and a record is one stream.
 *
 *   make -C plugins/gpu
 *   zwhy lab run offload --set provider=none,plugins/gpu/gpu.so --set zia_checksum=1 --set provider_check=1
 *
 * Each call copies its columns in, starts one kernel, and copies the result back. With ZWHY_ON_HOST the same text is a
 * provider in plain C, where a loop plays the threads: so the tests check the arithmetic without a GPU. How fast it is on
 * one has not been measured.
 */
#include <string.h>

#include "zwhy_offload.h"

#include "kernels.h"
#include "own.h"

#include "codec.h"

/* --- On the host ------------------------------------------------------------------------------------------------- */

static enum zwhy_result fletcher4(uint64_t sums[4], const void *from, size_t size)
{
	size_t words = size / sizeof(uint32_t), parts = parts_of(words);
	word found[PARTS * SUMS];
	struct own *mine = parts > 0 ? own(size, sizeof(found)) : NULL;
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	cudaMemcpyAsync(mine->in, from, size, cudaMemcpyHostToDevice, mine->stream);
	LAUNCH(sum_parts, parts, mine->stream, (const uint32_t *)mine->in, (word *)mine->out, words, part_of(words), parts, 1);
	cudaMemcpyAsync(found, mine->out, parts * SUMS * sizeof(word), cudaMemcpyDeviceToHost, mine->stream);
	enum zwhy_result result = finish(mine);
	join_sums(found, words, sums);
	return result;
}

static enum zwhy_result digest(uint64_t words[4], const void *from, size_t size)
{
	uint32_t found[DIGEST];
	struct own *mine = own(size, sizeof(found));
	if (!mine)
		return ZWHY_NOT_SUPPORTED;
	cudaMemcpyAsync(mine->in, from, size, cudaMemcpyHostToDevice, mine->stream);
	LAUNCH(sha256, 1, mine->stream, (const unsigned char *)mine->in, (uint32_t *)mine->out, size, 1);
	cudaMemcpyAsync(found, mine->out, sizeof(found), cudaMemcpyDeviceToHost, mine->stream);
	enum zwhy_result result = finish(mine);
	for (int i = 0; i < DIGEST / 2; i++)
		words[i] = (uint64_t)found[2 * i] << 32 | found[2 * i + 1];
	return result;
}

static enum zwhy_result checksum(enum zwhy_checksum kind, uint64_t words[4], const void *from, size_t size)
{
	switch (kind) {
	case ZWHY_FLETCHER4:
		return fletcher4(words, from, size);
	case ZWHY_SHA256:
		return digest(words, from, size);
	default:
		return ZWHY_NOT_SUPPORTED;
	}
}

static unsigned char multiply(unsigned a, unsigned b)
{
	unsigned sum = 0;
	for (; b; b >>= 1, a = a << 1 ^ (a & 0x80 ? 0x11d : 0))
		if (b & 1)
			sum ^= a;
	return (unsigned char)sum;
}

static unsigned char power(unsigned value, int exponent)
{
	unsigned result = 1;
	for (int i = 0; i < exponent; i++)
		result = multiply(result, value);
	return (unsigned char)result;
}

/* The factor of data column i in parity p: 1, 2 or 4 to the number of columns after it. */
static unsigned char factor(const struct zwhy_row *row, int p, int i)
{
	return power(1u << p, row->data - 1 - i);
}

static enum zwhy_result combine_columns(const struct map *map, unsigned char **from, unsigned char **to, size_t size)
{
	struct own *mine = own((size_t)map->sources * size, (size_t)map->targets * size);
	if (!mine || size % sizeof(word) != 0)
		return ZWHY_NOT_SUPPORTED;
	for (int s = 0; s < map->sources; s++)
		cudaMemcpyAsync(mine->in + (size_t)s * size, from[s], size, cudaMemcpyHostToDevice, mine->stream);
	size_t words = size / sizeof(word);
	LAUNCH(combine, words, mine->stream, *map, (const word *)mine->in, (word *)mine->out, words, 1);
	for (int t = 0; t < map->targets; t++)
		cudaMemcpyAsync(to[t], mine->out + (size_t)t * size, size, cudaMemcpyDeviceToHost, mine->stream);
	return finish(mine);
}

static enum zwhy_result raidz_gen(const struct zwhy_row *row)
{
	struct map map;
	if (row->data > MAX_COLUMNS || row->parity > MAX_PARITY)
		return ZWHY_NOT_SUPPORTED;
	map.sources = row->data;
	map.targets = row->parity;
	for (int p = 0; p < row->parity; p++)
		for (int i = 0; i < row->data; i++)
			map.factor[p][i] = factor(row, p, i);
	return combine_columns(&map, row->columns + row->parity, row->columns, row->size);
}

/* Turns a into its inverse (Gauss and Jordan); 0 where it has none. */
static int invert(unsigned char a[MAX_PARITY][2 * MAX_PARITY], int n)
{
	for (int i = 0; i < n; i++) {
		int pivot = i;
		while (pivot < n && a[pivot][i] == 0)
			pivot++;
		if (pivot == n)
			return 0;
		for (int c = 0; c < 2 * n; c++) {
			unsigned char other = a[pivot][c];
			a[pivot][c] = a[i][c];
			a[i][c] = other;
		}
		/* value^254 is 1 / value. */
		unsigned char scale = power(a[i][i], 254);
		for (int c = 0; c < 2 * n; c++)
			a[i][c] = multiply(a[i][c], scale);
		for (int r = 0; r < n; r++) {
			unsigned char times_row = r == i ? 0 : a[r][i];
			for (int c = 0; c < 2 * n; c++)
				a[r][c] ^= multiply(a[i][c], times_row);
		}
	}
	return 1;
}

static int is_lost(int column, const int *lost, int losts)
{
	for (int i = 0; i < losts; i++)
		if (lost[i] == column)
			return 1;
	return 0;
}

/* Parities less the columns that are there are as many equations as columns are lost; their inverse solves them. */
static enum zwhy_result raidz_rec(const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	unsigned char equations[MAX_PARITY][2 * MAX_PARITY] = { { 0 } }, *from[MAX_COLUMNS], *to[MAX_PARITY];
	int used[MAX_PARITY], count = 0;
	struct map map;
	if (row->data > MAX_COLUMNS || losts > MAX_PARITY)
		return ZWHY_NOT_SUPPORTED;
	for (int p = 0; p < row->parity && count < losts; p++)
		if (valid[p])
			used[count++] = p;
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < losts; j++)
			equations[i][j] = factor(row, used[i], lost[j] - row->parity);
		equations[i][losts + i] = 1;
	}
	if (count < losts || !invert(equations, losts))
		return ZWHY_NOT_SUPPORTED;
	map.sources = 0;
	map.targets = losts;
	for (int column = 0; column < row->parity + row->data; column++) {
		int parity = -1;
		for (int i = 0; i < losts; i++)
			if (column == used[i])
				parity = i;
		if (column < row->parity ? parity < 0 : is_lost(column, lost, losts))
			continue;
		from[map.sources] = row->columns[column];
		for (int t = 0; t < losts; t++) {
			unsigned char sum = parity < 0 ? 0 : equations[t][losts + parity];
			for (int i = 0; parity < 0 && i < losts; i++)
				sum ^= multiply(equations[t][losts + i], factor(row, used[i], column - row->parity));
			map.factor[t][map.sources] = sum;
		}
		map.sources++;
	}
	for (int t = 0; t < losts; t++)
		to[t] = row->columns[lost[t]];
	return combine_columns(&map, from, to, row->size);
}

const struct zwhy_provider *zwhy_offload_provider(void)
{
	static struct zwhy_provider provider;
	int devices = 0;
	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
		return NULL;
	provider.version = ZWHY_OFFLOAD_VERSION;
	provider.name = "gpu";
	provider.checksum = checksum;
	provider.raidz_gen = raidz_gen;
	provider.raidz_rec = raidz_rec;
#ifdef ZWHY_NVCOMP
	provider.compress_as = compress_as;
	provider.decompress_as = decompress_as;
#endif
	return &provider;
}

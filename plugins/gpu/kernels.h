/* What runs on the GPU: fletcher4, SHA-256, and linear maps of columns, which parity and reconstruction of RAID-Z are. */
#ifndef ZWHY_GPU_KERNELS_H
#define ZWHY_GPU_KERNELS_H

#include <stdint.h>
#include <string.h>

#ifdef ZWHY_ON_HOST
#include "host.h"
#else
#include <cuda_runtime.h>
enum { BLOCK = 256 };
#define THREAD (blockIdx.x * (size_t)blockDim.x + threadIdx.x)
#define LAUNCH(kernel, threads, stream, ...) \
	kernel<<<(unsigned)(((threads) + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(__VA_ARGS__)
#endif

typedef unsigned long long word;

enum { MAX_COLUMNS = 64, MAX_PARITY = 3 };

/* --- RAID-Z ------------------------------------------------------------------------------------------------------ */

/* Each of eight bytes times 2 in the field of RAID-Z. */
__device__ static word twice(word value)
{
	return (value << 1 & 0xfefefefefefefefeULL) ^ (value >> 7 & 0x0101010101010101ULL) * 0x1d;
}

__device__ static word times(word value, unsigned factor)
{
	word sum = 0;
	for (; factor; factor >>= 1, value = twice(value))
		if (factor & 1)
			sum ^= value;
	return sum;
}

/* Target t is the sum of the sources, source s times factor[t][s]. */
struct map {
	int sources, targets;
	unsigned char factor[MAX_PARITY][MAX_COLUMNS];
};

/* Rows of `words` words a column, one after the other. */
__global__ static void combine(struct map map, const word *in, word *out, size_t words, size_t rows)
{
	size_t row = THREAD / words, at = THREAD % words;
	if (row >= rows)
		return;
	in += row * words * (size_t)map.sources;
	out += row * words * (size_t)map.targets;
	for (int t = 0; t < map.targets; t++) {
		word sum = 0;
		for (int s = 0; s < map.sources; s++)
			sum ^= times(in[(size_t)s * words + at], map.factor[t][s]);
		out[(size_t)t * words + at] = sum;
	}
}

/* --- fletcher4 --------------------------------------------------------------------------------------------------- */

enum { SUMS = 4, PARTS = 512 };

/* The sums of each part of each block, as if it were all: `parts` parts of `part` words, the last one shorter. */
__global__ static void sum_parts(const uint32_t *in, word *out, size_t words, size_t part, size_t parts, size_t blocks)
{
	size_t block = THREAD / parts, begin = THREAD % parts * part;
	if (block >= blocks)
		return;
	size_t end = begin + part < words ? begin + part : words;
	word a = 0, b = 0, c = 0, d = 0;
	for (size_t at = begin; at < end; at++) {
		a += in[block * words + at];
		b += a;
		c += b;
		d += c;
	}
	out += THREAD * SUMS;
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
}

/* How a block of so many words is divided. */
static size_t part_of(size_t words)
{
	return (words + PARTS - 1) / PARTS;
}

static size_t parts_of(size_t words)
{
	return words ? (words + part_of(words) - 1) / part_of(words) : 0;
}

/* The sums of a block from those of its parts: what n more words do to sums that are not 0 is a polynomial in n. */
static void join_sums(const word *found, size_t words, uint64_t sums[SUMS])
{
	size_t part = part_of(words), parts = parts_of(words);
	word a = 0, b = 0, c = 0, d = 0;
	for (size_t i = 0; i < parts; i++) {
		word n = i + 1 < parts ? part : words - i * part, pairs = n * (n + 1) / 2, triples = n * (n + 1) * (n + 2) / 6;
		d += n * c + pairs * b + triples * a + found[i * SUMS + 3];
		c += n * b + pairs * a + found[i * SUMS + 2];
		b += n * a + found[i * SUMS + 1];
		a += found[i * SUMS];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
}

/* --- SHA-256 (FIPS 180-4) ---------------------------------------------------------------------------------------- */

enum { DIGEST = 8, CHUNK = 64, ROUNDS = 64, LENGTH_AT = 56 };

__constant__ static const uint32_t round_constant[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

__device__ static uint32_t turned(uint32_t value, int right)
{
	return value >> right | value << (32 - right);
}

/* One chunk of 64 bytes into the state; w is the message schedule, of which 16 words are needed at a time. */
__device__ static void digest_chunk(uint32_t state[DIGEST], const unsigned char *chunk)
{
	uint32_t w[16], s[DIGEST];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)chunk[4 * i] << 24 | (uint32_t)chunk[4 * i + 1] << 16 | (uint32_t)chunk[4 * i + 2] << 8 |
		       chunk[4 * i + 3];
	for (int i = 0; i < DIGEST; i++)
		s[i] = state[i];
	for (int i = 0; i < ROUNDS; i++) {
		if (i >= 16) {
			uint32_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
			w[i & 15] += (turned(w15, 7) ^ turned(w15, 18) ^ w15 >> 3) + w[(i + 9) & 15] +
				     (turned(w2, 17) ^ turned(w2, 19) ^ w2 >> 10);
		}
		uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
			       ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constant[i] + w[i & 15];
		uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
			       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		for (int j = DIGEST - 1; j > 0; j--)
			s[j] = s[j - 1];
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < DIGEST; i++)
		state[i] += s[i];
}

/* Each thread one block, since a digest is one chain: a GPU is fast at many blocks, and not at one. */
__global__ static void sha256(const unsigned char *in, uint32_t *out, size_t size, size_t blocks)
{
	size_t block = THREAD, at = 0;
	if (block >= blocks)
		return;
	uint32_t state[DIGEST] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
		0x5be0cd19 };
	in += block * size;
	for (; at + CHUNK <= size; at += CHUNK)
		digest_chunk(state, in + at);
	/* The rest, a bit that is 1, zeros, and the length in bits. */
	unsigned char last[2 * CHUNK] = { 0 };
	size_t rest = size - at, end = rest < LENGTH_AT ? CHUNK : 2 * CHUNK;
	for (size_t i = 0; i < rest; i++)
		last[i] = in[at + i];
	last[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[end - 1 - i] = (unsigned char)((word)size * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += CHUNK)
		digest_chunk(state, last + i);
	for (int i = 0; i < DIGEST; i++)
		out[block * DIGEST + (size_t)i] = state[i];
}

#endif

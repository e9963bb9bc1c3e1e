/*
 * Checksums by a provider, at the functions that OpenZFS has in its table of checksums (module/zfs/zio_checksum.c): those
 * of fletcher4 and SHA-256 in the machine's byte order. Each takes an ABD, its size, a template and room for four words.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "offload.h"

typedef void checksum_fn(void *, uint64_t, const void *, uint64_t *);

enum { KINDS = ZWHY_SHA256 + 1, WORDS = 4 };
static checksum_fn *libzpool_checksum[KINDS];

/* Memory of a thread for a block. */
static unsigned char *block_memory(size_t size)
{
	static __thread unsigned char *memory;
	static __thread size_t room;
	if (size > room) {
		free(memory);
		memory = malloc(size);
		room = memory ? size : 0;
	}
	return memory;
}

static enum zwhy_result replay(enum zwhy_checksum kind, void *abd, uint64_t size, const void *template,
    uint64_t words[WORDS], const unsigned char *data)
{
	uint64_t block[2], key[2];
	size_t room = WORDS * sizeof(uint64_t);
	int unused = 0;
	/* Of a block and its size, so that one hash tells both whether it is known and whether it is in the device. */
	offload_block_key(data, size, block);
	memcpy(key, block, sizeof(key));
	key[1] ^= size << 8 | (uint64_t)kind;
	if (!offload_recall(CHECKSUM, key, words, &room, &unused)) {
		libzpool_checksum[kind](abd, size, template, words);
		offload_learn(CHECKSUM, key, words, WORDS * sizeof(uint64_t), 0);
	}
	if (offload_setup.provider == MODEL) {
		/* On the way to the disks it is there since it was compressed, and from them it stays to be decompressed. */
		int there = offload_takes_over(COMPRESS, block);
		if (!there && offload_setup.on[DECOMPRESS])
			offload_stays(CHECKSUM, block);
		offload_wait_for_device(CHECKSUM, size, WORDS * sizeof(uint64_t), !there);
	}
	return ZWHY_OK;
}

static enum zwhy_result ask(enum zwhy_checksum kind, void *abd, uint64_t size, const void *template,
    uint64_t words[WORDS])
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	if (offload_setup.provider == SOFTWARE) {
		libzpool_checksum[kind](abd, size, template, words);
		return ZWHY_OK;
	}
	if (offload_provider && !offload_provider->checksum)
		return ZWHY_NOT_IMPLEMENTED;
	/* fletcher4 takes less than the hash by which its result would be found again. */
	if (!offload_provider && kind != ZWHY_SHA256)
		return ZWHY_NOT_SUPPORTED;
	unsigned char *data = block_memory(size);
	if (!data)
		return ZWHY_ERROR;
	offload_to_buffer(data, abd, 0, size);
	enum zwhy_result result = offload_provider ? offload_provider->checksum(kind, words, data, size)
						   : replay(kind, abd, size, template, words, data);
	if (offload_setup.strict)
		offload_poison(data, size);
	return result;
}

static void stage(enum zwhy_checksum kind, void *abd, uint64_t size, const void *template, uint64_t *words)
{
	if (!libzpool_checksum[kind])
		abort();
	if (!offload_asks(CHECKSUM)) {
		libzpool_checksum[kind](abd, size, template, words);
		return;
	}
	struct offload_count *count = &offload_count[CHECKSUM];
	uint64_t own[WORDS], theirs[WORDS];
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = ask(kind, abd, size, template, own);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(CHECKSUM, result);
		libzpool_checksum[kind](abd, size, template, words);
		return;
	}
	count->calls++;
	count->in += (int64_t)size;
	memcpy(words, own, sizeof(own));
	if (offload_setup.check) {
		libzpool_checksum[kind](abd, size, template, theirs);
		count->differences += memcmp(own, theirs, sizeof(own)) != 0;
	}
}

EXPORT void abd_fletcher_4_native(void *abd, uint64_t size, const void *template, uint64_t *words)
{
	stage(ZWHY_FLETCHER4, abd, size, template, words);
}

/* Since 2.2. */
EXPORT void abd_checksum_sha256(void *abd, uint64_t size, const void *template, uint64_t *words)
{
	stage(ZWHY_SHA256, abd, size, template, words);
}

/* Before. */
EXPORT void abd_checksum_SHA256(void *abd, uint64_t size, const void *template, uint64_t *words)
{
	stage(ZWHY_SHA256, abd, size, template, words);
}

/* Hands the functions of libzpool over. */
EXPORT void zwhy_shim_checksum(checksum_fn *fletcher4, checksum_fn *sha256)
{
	libzpool_checksum[ZWHY_FLETCHER4] = fletcher4;
	libzpool_checksum[ZWHY_SHA256] = sha256;
}

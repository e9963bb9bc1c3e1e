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

/* A block that gets its checksum. */
struct summed {
	enum zwhy_checksum kind;
	void *abd;
	uint64_t size;
	const void *template;
	uint64_t words[WORDS];
	size_t stayed; /* bytes that were in the provider */
};

static void in_software(struct summed *block, uint64_t *words)
{
	libzpool_checksum[block->kind](block->abd, block->size, block->template, words);
}

static enum zwhy_result replay(struct summed *block)
{
	uint64_t key[2];
	size_t room = sizeof(block->words);
	int unused = 0;
	unsigned char *data = block_memory(block->size);
	if (!data)
		return ZWHY_ERROR;
	/* fletcher4 takes less than the hash by which its result would be found again. */
	if (block->kind != ZWHY_SHA256)
		return ZWHY_NOT_SUPPORTED;
	offload_to_buffer(data, block->abd, 0, block->size);
	offload_block_key(data, block->size, key);
	key[1] ^= block->size << 8 | (uint64_t)block->kind;
	if (!offload_recall(CHECKSUM, key, block->words, &room, &unused)) {
		in_software(block, block->words);
		offload_learn(CHECKSUM, key, block->words, sizeof(block->words), 0);
	}
	return ZWHY_OK;
}

/* On the way to the disks it may be there since it was compressed; from them it stays to be decompressed. */
static int finds(struct summed *block, const struct offload_pieces *pieces, struct offload_part *part)
{
	int found = offload_find(1U << COMPRESS, pieces, block->size, part);
	block->stayed = found ? block->size : 0;
	return found;
}

static void in_model(struct summed *block)
{
	struct offload_part part;
	struct offload_pieces pieces = offload_pieces(block->abd, block->size);
	int there = finds(block, &pieces, &part);
	if (!there && offload_is_used_after(CHECKSUM))
		offload_stays(CHECKSUM, &pieces, block->size, NULL, 0);
	offload_wait_for_device(CHECKSUM, block->size, sizeof(block->words), !there);
}

static enum zwhy_result on_copy(struct summed *block)
{
	unsigned char *data = block_memory(block->size);
	if (!offload_provider->checksum)
		return ZWHY_NOT_IMPLEMENTED;
	if (!data)
		return ZWHY_ERROR;
	offload_to_buffer(data, block->abd, 0, block->size);
	enum zwhy_result result = offload_provider->checksum(block->kind, block->words, data, block->size);
	if (offload_setup.strict)
		offload_poison(data, block->size);
	if (result == ZWHY_OK)
		offload_moved(CHECKSUM, block->size, 0);
	return result;
}

/* Moves the block in, unless it is there; it stays for the stages after this one. */
static enum zwhy_result move_in(struct summed *block, struct offload_part *part)
{
	struct offload_pieces pieces = offload_pieces(block->abd, block->size);
	if (finds(block, &pieces, part))
		return ZWHY_OK;
	const unsigned char *data = pieces.at;
	if (pieces.scattered || offload_setup.strict) {
		unsigned char *copy = block_memory(block->size);
		if (!copy)
			return ZWHY_ERROR;
		offload_to_buffer(copy, block->abd, 0, block->size);
		data = copy;
	}
	offload_host_reads(data, block->size);
	enum zwhy_result result = offload_put(CHECKSUM, data, block->size, &part->held);
	if (offload_setup.strict)
		offload_poison((unsigned char *)data, block->size);
	if (result != ZWHY_OK)
		return result;
	part->of = (struct zwhy_part){ offload_number(part->held), 0, block->size, 0 };
	if (offload_is_used_after(CHECKSUM))
		offload_stays(CHECKSUM, &pieces, block->size, part->held, 0);
	return ZWHY_OK;
}

static enum zwhy_result on_block(struct summed *block)
{
	struct offload_part part = { .held = NULL };
	enum zwhy_result result = move_in(block, &part);
	if (result == ZWHY_OK)
		result = offload_provider->checksum_block(block->kind, block->words, &part.of);
	offload_release(part.held);
	return result;
}

static enum zwhy_result ask(struct summed *block)
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	if (offload_setup.provider == SOFTWARE) {
		in_software(block, block->words);
		return ZWHY_OK;
	}
	if (offload_provider)
		return offload_keeps() && offload_provider->checksum_block ? on_block(block) : on_copy(block);
	enum zwhy_result result = replay(block);
	if (result == ZWHY_OK && offload_setup.provider == MODEL)
		in_model(block);
	return result;
}

/* Calls that are not handed over pass by these two, in few instructions. */
static __attribute__((noinline)) void promote_source(void *abd, uint64_t size)
{
	struct offload_pieces pieces = offload_pieces(abd, size);
	offload_next_is(&pieces, size);
}

static __attribute__((noinline)) void by_provider(enum zwhy_checksum kind, void *abd, uint64_t size, const void *template,
    uint64_t *words)
{
	struct offload_count *count = &offload_count[CHECKSUM];
	struct summed block = { .kind = kind, .abd = abd, .size = size, .template = template };
	uint64_t theirs[WORDS];
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = ask(&block);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(CHECKSUM, result);
		libzpool_checksum[kind](abd, size, template, words);
		return;
	}
	count->calls++;
	count->in += (int64_t)size;
	count->stayed += (int64_t)block.stayed;
	memcpy(words, block.words, sizeof(block.words));
	if (offload_setup.check) {
		libzpool_checksum[kind](abd, size, template, theirs);
		count->differences += memcmp(block.words, theirs, sizeof(theirs)) != 0;
	}
}

static inline __attribute__((always_inline)) void stage(enum zwhy_checksum kind, void *abd, uint64_t size, const void *template, uint64_t *words)
{
	if (!libzpool_checksum[kind])
		abort();
	if (offload_pendings)
		promote_source(abd, size);
	if (!offload_asks(CHECKSUM)) {
		libzpool_checksum[kind](abd, size, template, words);
		return;
	}
	by_provider(kind, abd, size, template, words);
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

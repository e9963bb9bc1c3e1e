/*
 * The interface of a provider for `zwhy lab run offload --set provider=./my.so`.
 *
 * A provider is a shared object that exports zwhy_offload_provider(). Verbs and results are those of DPUSM
 * (github.com/hpc/dpusm). Calls are synchronous and come from several threads at once. Nothing that is passed in may be
 * used after the call returned.
 *
 * There are two kinds of verbs. Those of the first get plain memory and give it back, each by itself. Those of the second
 * work on blocks that the provider holds: data is put there by the first stage that is handed over, goes from stage to
 * stage as the number of its block, and is got when the host needs it. A provider may have some verbs of each kind; where
 * it has both for a stage, blocks are used.
 */
#ifndef ZWHY_OFFLOAD_PROVIDER_H
#define ZWHY_OFFLOAD_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Providers made for version 2 still work: they have the verbs down to file_write. */
#define ZWHY_OFFLOAD_VERSION 3

/* In the order of DPUSM's numbers (include/dpusm/common.h). */
enum zwhy_result {
	ZWHY_OK,
	/* The provider is off for the pool from here on; OpenZFS does the block from its source. */
	ZWHY_ERROR,
	ZWHY_PROVIDER_NOT_EXISTS,
	ZWHY_PROVIDER_UNREGISTERED,
	ZWHY_PROVIDER_INVALIDATED,
	ZWHY_PROVIDER_MISMATCH,
	/* OpenZFS does this block; the provider is asked again for the next. */
	ZWHY_NOT_IMPLEMENTED,
	ZWHY_NOT_SUPPORTED,
	ZWHY_BAD_RESULT,
};

/* Four 64-bit words: sums of fletcher4; of SHA-256 the digest, each word as a big-endian number. */
enum zwhy_checksum { ZWHY_FLETCHER4, ZWHY_SHA256 };

/*
 * One row of RAID-Z: `parity` columns (1 to 3: P, Q, R), then `data` columns, each of `size` bytes. Columns that are
 * shorter on the disks end in zeros. P = sum of D[i], Q = sum of 2^k D[i], R = sum of 4^k D[i] over GF(2^8) modulo
 * x^8 + x^4 + x^3 + x^2 + 1, where k = data - 1 - i.
 */
struct zwhy_row {
	int parity, data;
	size_t size;
	unsigned char **columns;
};

/* Bytes of a block in the provider; `zeros` zero bytes follow that are not stored. */
struct zwhy_part {
	uint64_t block;
	size_t offset, size, zeros;
};

/* As zwhy_row. Only data columns are given; each ends in zeros up to `size`. */
struct zwhy_block_row {
	int parity, data;
	size_t size;
	const struct zwhy_part *columns;
};

/*
 * How blocks are compressed: the zlib format (RFC 1950); an LZ4 block without a frame; one frame of zstd (RFC 8878) without
 * its first four bytes, the magic number, at a level of 1 to 19 or of -1 to -1000. What OpenZFS keeps with it on disk is no
 * business of the provider. There may be more of them some day: a provider refuses one that it does not know.
 */
enum zwhy_codec { ZWHY_GZIP, ZWHY_LZ4, ZWHY_ZSTD };

/* A verb that is NULL is not implemented. As with DPUSM, who reconstructs rows generates them, too. */
struct zwhy_provider {
	uint32_t version; /* ZWHY_OFFLOAD_VERSION */
	const char *name;
	/*
	 * To the zlib format (RFC 1950). *to_size is the room at first and the size of the result then; 0 when it does not
	 * fit, which is no failure: the block is stored as it is.
	 */
	enum zwhy_result (*compress)(void *to, size_t *to_size, const void *from, size_t size, int level);
	/* Zeros may follow the compressed data. */
	enum zwhy_result (*decompress)(void *to, size_t *to_size, const void *from, size_t size);
	enum zwhy_result (*checksum)(enum zwhy_checksum kind, uint64_t words[4], const void *from, size_t size);
	/* Fills the parity columns. */
	enum zwhy_result (*raidz_gen)(const struct zwhy_row *row);
	/*
	 * Fills the data columns whose numbers are in `lost`, counted from the first parity column. A parity column holds
	 * what was read where valid[p] is not 0. There are as many valid ones as lost columns, or more.
	 */
	enum zwhy_result (*raidz_rec)(const struct zwhy_row *row, const int *lost, int losts, const int *valid);
	/*
	 * Writes all of the data at `offset` of a vdev that is a file, which is open as `file`, with O_DIRECT where its
	 * file system has that. It may lie in the cache of a disk: OpenZFS asks the file itself to be on disk.
	 */
	enum zwhy_result (*file_write)(int file, const void *from, size_t size, int64_t offset);

	/*
	 * Since version 3: blocks that stay in the provider. All of these three, or none. A block is known by a number of
	 * the provider's choice until it is dropped, also after all other verbs failed.
	 */
	enum zwhy_result (*put)(const void *from, size_t size, uint64_t *block);
	enum zwhy_result (*get)(uint64_t block, size_t offset, void *to, size_t size);
	void (*drop)(uint64_t block);
	/*
	 * Make a block whose result has at most `room` bytes; *size is that of the result. Compressed data begins at offset
	 * `before` of its block; size 0: it does not fit, and there is no block.
	 */
	enum zwhy_result (*compress_block)(enum zwhy_codec codec, int level, const struct zwhy_part *from, size_t before,
	    size_t room, uint64_t *block, size_t *size);
	enum zwhy_result (*decompress_block)(enum zwhy_codec codec, const struct zwhy_part *from, size_t room,
	    uint64_t *block, size_t *size);
	enum zwhy_result (*checksum_block)(enum zwhy_checksum kind, uint64_t words[4], const struct zwhy_part *from);
	/* Makes one block of the parity columns, one after the other. */
	enum zwhy_result (*raidz_gen_block)(const struct zwhy_block_row *row, uint64_t *block);
	enum zwhy_result (*file_write_block)(int file, const struct zwhy_part *from, int64_t offset);
	/*
	 * Overwrites some bytes of a block: what OpenZFS keeps in front of LZ4 and zstd. Without it these are asked for on
	 * plain memory.
	 */
	enum zwhy_result (*patch)(uint64_t block, size_t offset, const void *from, size_t size);

	/* As compress and decompress, for other codecs than ZWHY_GZIP. */
	enum zwhy_result (*compress_as)(enum zwhy_codec codec, int level, void *to, size_t *to_size, const void *from,
	    size_t size);
	enum zwhy_result (*decompress_as)(enum zwhy_codec codec, void *to, size_t *to_size, const void *from, size_t size);
};

const struct zwhy_provider *zwhy_offload_provider(void);

#ifdef __cplusplus
}
#endif

#endif

/* What the stages that a provider may do have in common. */
#ifndef ZWHY_OFFLOAD_H
#define ZWHY_OFFLOAD_H

#include <stdint.h>
#include <sys/types.h>

/* Verbs and results as a provider outside of the lab has them. */
#include "shim.h"
#include "zwhy_offload.h"

enum verb { COMPRESS, DECOMPRESS, CHECKSUM, RAIDZ_GEN, RAIDZ_REC, FILE_WRITE, VERBS };

/* The provider `none` has no hooks at all: calls go where they went before. */
enum provider { NONE, SOFTWARE, ISAL, IDEAL, MODEL, REMOTE, PLUGIN };

/* RAID-Z has at most 255 columns; the lab makes 32. */
enum { MAX_COLUMNS = 64, MAX_PARITY = 3 };

struct offload_setup {
	enum provider provider;
	int on[VERBS];            /* its switch */
	enum zwhy_result answers; /* what the provider says instead of working, to test what then happens */
	int parity;               /* of the RAID-Z layout; 0 for others */
	int check;                /* software does it too, and differences are counted */
	int strict;               /* see offload_poison() */
	int64_t latency_ns;
	double link_bytes_per_ns;   /* each way; 0: no limit */
	double engine_bytes_per_ns; /* 0: no limit */
	int engines;
};

struct offload_count {
	_Atomic int64_t calls, in, out, ns, fallbacks, learnt, replayed, differences, unequal;
	/* Bytes that were in the modelled device already, from the stage before. */
	_Atomic int64_t stayed;
	/* Of the modelled device: see offload_wait_for_device(). */
	_Atomic int64_t waited_ns, queued_ns, late_ns;
};

extern struct offload_setup offload_setup;
extern struct offload_count offload_count[VERBS];

/* Who does the verbs, where that is neither OpenZFS nor a replay; verbs may be missing. */
extern const struct zwhy_provider *offload_provider;

/* The provider went away: the pool works without it from then on. */
extern _Atomic int offload_gone;
/* Not while the lab compares every byte: that is done by the code that the distribution shipped. */
extern _Atomic int offload_paused;

/* Whether the provider is asked at all. Here, so that a hook without work is a few instructions. */
static inline int offload_asks(enum verb verb)
{
	return offload_setup.provider != NONE && offload_setup.on[verb] && !offload_gone && !offload_paused;
}
/* Software does it; where the provider itself is at fault, it is not asked again. */
void offload_fall_back(enum verb verb, enum zwhy_result why);
int64_t offload_thread_ns(void);
int64_t offload_now_ns(void);

/*
 * With the switch `strict` results are written over this: what is not brought back from the provider is not the right
 * bytes by chance.
 */
void offload_poison(void *bytes, size_t size);

/* Each returns its verbs, or NULL where it cannot be had, and then says why. */
const struct zwhy_provider *offload_isal(const char **why);
/* Another process, killed at its call number `dies_after`; 0: never. */
const struct zwhy_provider *offload_remote(long dies_after, const char **why);
const struct zwhy_provider *offload_plugin(const char *path, const char **why);

/* 128 bits of some data. */
void offload_key(const unsigned char *data, size_t size, int level, uint64_t key[2]);
/* Of a compressed block, without the zeros that OpenZFS fills its last sector with. */
void offload_block_key(const unsigned char *data, size_t size, uint64_t key[2]);
/* Finds what was learnt of the same input; 0 when there is nothing that fits. */
int offload_recall(enum verb verb, const uint64_t key[2], void *to, size_t *to_size, int *zlib);
void offload_learn(enum verb verb, const uint64_t key[2], const void *data, size_t size, int zlib);
/*
 * What a verb left in the modelled device, or brought there, stays for the next stage of the block: that takes it over and
 * moves nothing in.
 */
void offload_stays(enum verb verb, const uint64_t key[2]);
int offload_takes_over(enum verb from, const uint64_t key[2]);
/* The caller sleeps for as long as the modelled device takes; `moves_in`: not what is there already. */
void offload_wait_for_device(enum verb verb, size_t in, size_t out, int moves_in);

/* Writes to a vdev by the provider, or by `software`, which is pwrite64() with the lab's cures. */
typedef ssize_t offload_pwrite(int, const void *, size_t, off64_t);
ssize_t offload_file_write(int file, const void *data, size_t size, off64_t offset, offload_pwrite *software);

/* ABDs of libzpool from and to plain memory: (memory, abd, offset, size) and the other way round. */
typedef void offload_copy_to(void *, void *, size_t, size_t);
typedef void offload_copy_from(void *, const void *, size_t, size_t);
extern offload_copy_to *offload_to_buffer;
extern offload_copy_from *offload_from_buffer;

#endif

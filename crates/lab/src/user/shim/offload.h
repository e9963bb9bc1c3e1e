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
	enum zwhy_codec codec;    /* of the data; metadata has LZ4 besides, which is left to OpenZFS then */
	int64_t latency_ns;
	double link_bytes_per_ns;   /* each way; 0: no limit */
	double engine_bytes_per_ns; /* 0: no limit */
	int engines;
};

struct offload_count {
	_Atomic int64_t calls, in, out, ns, fallbacks, learnt, replayed, differences, unequal;
	/* Bytes of `in` that were in the device already, from the stage before; those that went over its link. */
	_Atomic int64_t stayed, link_in, link_out;
	/* Results that were lost with the provider before they were brought back, and made again from their source. */
	_Atomic int64_t remade;
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
/* Counts what a provider without blocks of its own moved in and out by one call. */
void offload_moved(enum verb verb, size_t in, size_t out);
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
/* The caller sleeps for as long as the modelled device takes; `moves_in`: not what is there already. */
void offload_wait_for_device(enum verb verb, size_t in, size_t out, int moves_in);

/* Writes to a vdev by the provider, or by `software`, which is pwrite64() with the lab's cures. */
typedef ssize_t offload_pwrite(int, const void *, size_t, off64_t);
ssize_t offload_file_write(int file, const void *data, size_t size, off64_t offset, offload_pwrite *software);

/* --- Blocks that stay in the provider: offload_resident.c --------------------------------------------------------- */

/* A block that the provider holds for somebody; a use of it ends with offload_release(). NULL: of the modelled device. */
struct offload_held;

/* Bytes of the host: the first piece, and whether that is not all. */
struct offload_pieces {
	const unsigned char *at;
	size_t span;
	int scattered;
};

/* What is found in the provider. */
struct offload_part {
	struct zwhy_part of;
	struct offload_held *held;
};

/* Data columns from which parity was made, to make it again. */
struct offload_row {
	_Atomic int uses;
	int data;
	struct {
		const unsigned char *at;
		size_t size;
	} column[MAX_COLUMNS];
};

/* What a result was made from: plain data for compression, or a row for its parity of that number. */
struct offload_source {
	const unsigned char *plain;
	size_t size, room;
	int level, own_level, parity;
	const struct offload_compressor *compressor;
	struct offload_row *row;
};

/* How many blocks are in the provider, and of how many of these the host lacks the bytes. */
extern _Atomic int offload_residents, offload_owed;

/* The provider keeps blocks between two stages. */
static inline int offload_keeps(void)
{
	return offload_provider && offload_provider->put;
}

/* Compresses as `remote` does, and returns the size. 0: it does not fit, or its library is not here. */
typedef size_t offload_remake_fn(unsigned char *to, size_t room, const unsigned char *from, size_t size, int level);

/*
 * A compressor in the table of OpenZFS (module/zfs/zio_compress.c) that keeps something on disk in front of what providers
 * make: its size, in the order of networks, and more.
 */
struct offload_compressor {
	enum zwhy_codec codec;
	size_t head; /* bytes of that */
	int abds;    /* its functions take ABDs (since 2.3), not plain buffers */
	/* The functions of libzpool. */
	size_t (*compress)(void *, void *, size_t, size_t, int);
	int (*decompress)(void *, void *, size_t, size_t, int);
	/* The level that providers know by that of OpenZFS; 0: there is none. */
	int (*level)(int own);
	/* What stands behind the size. NULL: nothing. */
	void (*put_rest)(unsigned char *head, int own_level);
	/* Whether OpenZFS would read what a provider made. NULL: all. */
	int (*is_valid)(const unsigned char *made, size_t size);
	offload_remake_fn *remake;
};

/* A block that is compressed or decompressed. */
struct offload_job {
	enum verb verb;
	enum zwhy_codec codec;
	const struct offload_compressor *compressor; /* NULL: gzip */
	/* `before` bytes in front of the result are what OpenZFS keeps there. */
	unsigned char *to;
	size_t before;
	unsigned long room, made;
	const unsigned char *from;
	unsigned long size;
	int level, own_level; /* as the provider and as OpenZFS know it */
	int zlib;      /* 0: made; else it did not fit, or is damaged */
	size_t stayed; /* bytes that were in the provider */
	/* OpenZFS's own code, with what else that needs. */
	void (*software)(struct offload_job *);
	void *source, *target;
};

/* Lets the provider do it, or software where that cannot. */
void offload_code(struct offload_job *job);

/* As the functions of a compressor, by a provider. */
size_t offload_compress(const struct offload_compressor *with, void *source, void *target, size_t size, size_t room,
    int level);
int offload_decompress(const struct offload_compressor *with, void *source, void *target, size_t size, size_t room,
    int level);
/* What OpenZFS keeps in front of a block. */
void offload_put_head(const struct offload_compressor *with, unsigned char *to, size_t size, int own_level);

/* Of liblz4 on this host. */
int (*offload_lz4_library(const char *name))(const char *, char *, int, int);
/* By libzstd on this host, without the magic number; NOT_IMPLEMENTED where that is not here. */
enum zwhy_result offload_zstd_code(enum verb verb, unsigned char *to, size_t room, const unsigned char *from, size_t size,
    int level, size_t *made);
/* Opens it. */
void offload_zstd_open(void);

/* Whether some stage after `verb` could use what that leaves in the provider. */
int offload_is_used_after(enum verb verb);

struct offload_held *offload_hold(uint64_t block);
uint64_t offload_number(const struct offload_held *held);
void offload_release(struct offload_held *held);
/* Over the link, which is counted for the verb. */
enum zwhy_result offload_put(enum verb verb, const void *from, size_t size, struct offload_held **held);
enum zwhy_result offload_get(enum verb verb, const struct offload_held *held, size_t offset, void *to, size_t size);

/* The block stays, and the host has its bytes, too. */
void offload_stays(enum verb from, const struct offload_pieces *of, size_t size, struct offload_held *held, size_t offset);
/* The block stays, and the host's bytes are not right until they are brought back. */
void offload_owes(enum verb from, void *at, size_t size, struct offload_held *held, size_t offset,
    const struct offload_source *source);
/* The source of a block that did not compress, and goes on as it is. */
void offload_source_stays(const void *at, size_t size, struct offload_held *held);
/* How many of these there are. */
extern _Atomic int offload_pendings;
/* The bytes that get their checksum now. */
void offload_next_is(const struct offload_pieces *of, size_t size);
/* `from`: a bit for each verb that may have left it. Found parts are to be released. */
int offload_find(unsigned from, const struct offload_pieces *of, size_t size, struct offload_part *part);
/* Compresses as the provider does, and returns the size. */
size_t offload_remake(const struct offload_source *source, unsigned char *to, size_t room);

/* The host is about to do this to its bytes. */
void offload_host_reads(const void *at, size_t size);
void offload_host_writes(const void *at, size_t size);
void offload_host_frees(const void *at, size_t size);
void offload_all_back(void);

/* --- ABDs of libzpool: offload_touch.c --------------------------------------------------------------------------- */

struct offload_pieces offload_pieces(void *abd, size_t size);
/* From and to plain memory. */
void offload_to_buffer(void *to, void *abd, size_t offset, size_t size);
void offload_from_buffer(void *abd, const void *from, size_t offset, size_t size);
/* The host is about to do this to its bytes. */
void offload_abd_reads(void *abd, size_t size);
void offload_abd_writes(void *abd, size_t size);
/* Some thread watches which ABDs a row of RAID-Z has: offload_raidz.c. */
extern _Atomic int offload_watching;
void offload_watch_two(const void *a, size_t a_used, const void *b, size_t b_used);

#endif

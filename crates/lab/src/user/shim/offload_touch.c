/*
 * Tells when the host reads, writes or frees bytes that may stand for a block in the provider: at the functions through
 * which all of OpenZFS does so, apart from the stages themselves and the writes of vdevs (module/zfs/abd.c, zio.c).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "offload.h"

void abd_copy_to_buf_off(void *to, void *abd, size_t offset, size_t size);

typedef int piece_fn(void *, size_t, void *);
typedef int pieces_fn(void *, void *, size_t, void *);

static struct {
	int (*iterate)(void *, size_t, size_t, piece_fn *, void *);
	int (*iterate2)(void *, void *, size_t, size_t, size_t, pieces_fn *, void *);
	void (*copy_from)(void *, const void *, size_t, size_t);
	void (*copy_to)(void *, void *, size_t, size_t);
	void (*zero)(void *, size_t, size_t);
	void (*free)(void *, size_t);
	void (*free_data)(void *, size_t);
} libzpool;

struct one {
	piece_fn *function;
	void *argument;
};

struct two {
	pieces_fn *function;
	void *argument;
};

static int read_piece(void *at, size_t size, void *argument)
{
	const struct one *one = argument;
	offload_host_reads(at, size);
	return one->function(at, size, one->argument);
}

static int write_piece(void *at, size_t size, void *unused)
{
	(void)unused;
	offload_host_writes(at, size);
	return 0;
}

/* Of the functions that are called with two pieces all that write do so to the first. */
static int copy_piece(void *to, void *from, size_t size, void *argument)
{
	const struct two *two = argument;
	offload_host_writes(to, size);
	offload_host_reads(from, size);
	return two->function(to, from, size, two->argument);
}

/* An ABD, an offset, a size, a function for each piece and its argument. */
EXPORT int abd_iterate_func(void *abd, size_t offset, size_t size, piece_fn *function, void *argument)
{
	if (!libzpool.iterate)
		abort();
	if (!offload_owed)
		return libzpool.iterate(abd, offset, size, function, argument);
	struct one one = { function, argument };
	return libzpool.iterate(abd, offset, size, read_piece, &one);
}

/* Two ABDs, an offset in each, a size, a function for each two pieces and its argument. */
EXPORT int abd_iterate_func2(void *a, void *b, size_t a_offset, size_t b_offset, size_t size, pieces_fn *function,
    void *argument)
{
	if (!libzpool.iterate2)
		abort();
	if (offload_watching)
		offload_watch_two(a, a_offset + size, b, b_offset + size);
	if (!offload_residents)
		return libzpool.iterate2(a, b, a_offset, b_offset, size, function, argument);
	struct two two = { function, argument };
	return libzpool.iterate2(a, b, a_offset, b_offset, size, copy_piece, &two);
}

static void writes(void *abd, size_t offset, size_t size)
{
	if (offload_residents)
		libzpool.iterate(abd, offset, size, write_piece, NULL);
}

EXPORT void abd_copy_from_buf_off(void *abd, const void *from, size_t offset, size_t size)
{
	if (!libzpool.copy_from)
		abort();
	if (offload_residents) {
		offload_host_reads(from, size);
		writes(abd, offset, size);
	}
	libzpool.copy_from(abd, from, offset, size);
}

EXPORT void abd_zero_off(void *abd, size_t offset, size_t size)
{
	if (!libzpool.zero)
		abort();
	writes(abd, offset, size);
	libzpool.zero(abd, offset, size);
}

EXPORT void zio_buf_free(void *at, size_t size)
{
	if (!libzpool.free)
		abort();
	offload_host_frees(at, size);
	libzpool.free(at, size);
}

EXPORT void zio_data_buf_free(void *at, size_t size)
{
	if (!libzpool.free_data)
		abort();
	offload_host_frees(at, size);
	libzpool.free_data(at, size);
}

/* --- For the stages ------------------------------------------------------------------------------------------------- */

static int look_at(void *at, size_t size, void *argument)
{
	struct offload_pieces *of = argument;
	if (of->span == 0)
		of->at = at;
	else if ((const unsigned char *)at != of->at + of->span)
		of->scattered = 1;
	if (!of->scattered)
		of->span += size;
	return of->scattered;
}

struct offload_pieces offload_pieces(void *abd, size_t size)
{
	struct offload_pieces of = { 0 };
	libzpool.iterate(abd, 0, size, look_at, &of);
	return of;
}

void offload_to_buffer(void *to, void *abd, size_t offset, size_t size)
{
	abd_copy_to_buf_off(to, abd, offset, size);
}

void offload_from_buffer(void *abd, const void *from, size_t offset, size_t size)
{
	abd_copy_from_buf_off(abd, from, offset, size);
}

static int read_only(void *at, size_t size, void *unused)
{
	(void)unused;
	offload_host_reads(at, size);
	return 0;
}

void offload_abd_reads(void *abd, size_t size)
{
	if (offload_owed && size > 0)
		libzpool.iterate(abd, 0, size, read_only, NULL);
}

void offload_abd_writes(void *abd, size_t size)
{
	if (size > 0)
		writes(abd, 0, size);
}

/*
 * A scattered block is copied into one piece before it is decompressed: the copy stands for the same block. Every write to
 * its pieces goes through the functions above.
 */
static void copy_stays(const void *copy, void *abd, size_t size)
{
	struct offload_pieces from = offload_pieces(abd, size), to = { copy, size, 0 };
	struct offload_part part;
	if (!from.scattered || !offload_find(1U << CHECKSUM, &from, size, &part))
		return;
	offload_stays(CHECKSUM, &to, size, part.held, part.of.offset);
	offload_release(part.held);
}

EXPORT void abd_copy_to_buf_off(void *to, void *abd, size_t offset, size_t size)
{
	if (!libzpool.copy_to)
		abort();
	if (!offload_residents) {
		libzpool.copy_to(to, abd, offset, size);
		return;
	}
	offload_host_writes(to, size);
	offload_abd_reads(abd, offset + size);
	libzpool.copy_to(to, abd, offset, size);
	if (offset == 0)
		copy_stays(to, abd, size);
}

/* Hands the functions of libzpool over: RTLD_NEXT does not reach a library that is opened later. */
EXPORT void zwhy_shim_touch(void *const functions[7])
{
	memcpy(&libzpool, functions, sizeof(libzpool));
}

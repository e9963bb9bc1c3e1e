/*
 * RAID-Z parity by a provider, at vdev_raidz_math_generate() (module/zfs/vdev_raidz_math.c, 2.1 to 2.4).
 *
 * Where a row keeps its columns differs by release, and no header is at hand. So the first rows are computed by OpenZFS
 * while the calls that it makes for them are watched: the buffers they are given stand in the row, at equal distances.
 * A row in which they are not found so is left to OpenZFS (NOT_IMPLEMENTED).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

/* RAID-Z has at most 255 columns; rows of 2.1.11 take 304 bytes for each, and a header. */
enum { MAX_COLUMNS = 64, MAX_PARITY = 3, ROW_BYTES = 512 + MAX_COLUMNS * 512, ALIGN = 64, TABLE = 32 };

typedef long seven_words(long, long, long, long, long, long, long);
typedef void copy_to(void *, void *, size_t, size_t);
typedef void copy_from(void *, const void *, size_t, size_t);

static struct {
	int (*generate)(void *, void *);
	seven_words *iterate2, *iterate_parity;
	int has_offset; /* abd_raidz_gen_iterate() takes one, since 2.3 */
	copy_to *to_buffer;
	copy_from *from_buffer;
} libzpool;

/* The ABDs that were seen while a row was computed, and how far each was used. */
static __thread struct {
	int on, count;
	const void *abds[MAX_COLUMNS];
	size_t used[MAX_COLUMNS];
} seen;

/*
 * Where a row keeps the ABD of column i: first + i * stride; 0 while that is not known. The column's size stands before
 * it: an ABD may be larger, as padding is written with it.
 */
static struct {
	pthread_mutex_t lock;
	_Atomic size_t stride;
	size_t first, size_before;
} row_layout = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int place_of(const void *abd)
{
	int i = 0;
	while (i < seen.count && seen.abds[i] != abd)
		i++;
	return i;
}

static void note(const void *abd, long used)
{
	int i = place_of(abd);
	if (!abd || i == MAX_COLUMNS)
		return;
	if (i == seen.count) {
		seen.abds[seen.count++] = abd;
		seen.used[i] = 0;
	}
	if (seen.used[i] < (size_t)used)
		seen.used[i] = (size_t)used;
}

/* abd, abd, offset in each, size, a function and its argument. */
EXPORT long abd_iterate_func2(long a, long b, long c, long d, long e, long f, long g)
{
	if (!libzpool.iterate2)
		abort();
	if (seen.on) {
		note((const void *)a, c + e);
		note((const void *)b, d + e);
	}
	return libzpool.iterate2(a, b, c, d, e, f, g);
}

/* The ABDs of the parity as a list, the ABD of one data column, (offset,) size of each kind, parity and a function. */
EXPORT long abd_raidz_gen_iterate(long a, long b, long c, long d, long e, long f, long g)
{
	if (!libzpool.iterate_parity)
		abort();
	if (seen.on) {
		long offset = libzpool.has_offset ? c : 0, parity = libzpool.has_offset ? d : c;
		long data = libzpool.has_offset ? e : d;
		for (int i = 0; i < offload_setup.parity; i++)
			note(((const void **)a)[i], offset + parity);
		note((const void *)b, offset + data);
	}
	return libzpool.iterate_parity(a, b, c, d, e, f, g);
}

/* The first field of a row, rr_cols: an int since 2.2, 64 bits before; the low half is the number. */
static int columns_of(const void *row)
{
	int columns;
	memcpy(&columns, row, sizeof(columns));
	return columns;
}

static uint32_t word_at(const void *row, size_t offset)
{
	uint32_t word;
	memcpy(&word, (const char *)row + offset, sizeof(word));
	return word;
}

/* The distance before each ABD at which all columns say how far they were used; 0: none. */
static size_t find_size(const void *row, const size_t *at, const int *place, int columns)
{
	for (size_t before = sizeof(uint32_t); before < at[1] - at[0] && before <= at[0]; before += sizeof(uint32_t)) {
		int same = 0;
		while (same < columns && word_at(row, at[same] - before) == seen.used[place[same]])
			same++;
		if (same == columns)
			return before;
	}
	return 0;
}

/* Looks for the seen ABDs in the row: each once, at equal distances, with its size before it. */
static void find_layout(const void *row)
{
	int columns = columns_of(row), found = 0, place[MAX_COLUMNS];
	size_t at[MAX_COLUMNS];
	if (columns != seen.count || columns < 2)
		return;
	for (size_t offset = 0; offset < ROW_BYTES && found < columns; offset += sizeof(void *)) {
		const void *word;
		memcpy(&word, (const char *)row + offset, sizeof(word));
		place[found] = place_of(word);
		if (place[found] < seen.count)
			at[found++] = offset;
	}
	for (int i = 2; i < found; i++)
		if (at[i] - at[i - 1] != at[1] - at[0])
			return;
	size_t before = found == columns ? find_size(row, at, place, columns) : 0;
	if (before) {
		row_layout.first = at[0];
		row_layout.size_before = before;
		row_layout.stride = at[1] - at[0];
	}
}

static size_t offset_of(int i)
{
	return row_layout.first + (size_t)i * row_layout.stride;
}

static void *column(const void *row, int i)
{
	void *abd;
	memcpy(&abd, (const char *)row + offset_of(i), sizeof(abd));
	return abd;
}

static size_t size_of(const void *row, int i)
{
	return word_at(row, offset_of(i) - row_layout.size_before);
}

/* Memory of a thread for the columns of a row, one after the other. */
static unsigned char *row_memory(size_t size)
{
	static __thread unsigned char *memory;
	static __thread size_t room;
	if (size > room) {
		free(memory);
		room = posix_memalign((void **)&memory, ALIGN, size) == 0 ? size : 0;
	}
	return room >= size ? memory : NULL;
}

/*
 * Coefficients of the data columns: 1 for P, 2^k for Q, 4^k for R, where k counts from the last column
 * (vdev_raidz.c). Both libraries compute modulo x^8 + x^4 + x^3 + x^2 + 1.
 */
static void coefficients(int data, int parity, unsigned char *matrix)
{
	for (int p = 0; p < parity; p++) {
		unsigned value = 1;
		for (int c = data - 1; c >= 0; c--) {
			matrix[p * data + c] = (unsigned char)value;
			for (int i = 0; i < p; i++)
				value = value & 0x80 ? (value << 1 ^ 0x11d) & 0xff : value << 1;
		}
	}
}

static enum result by_isal(void *row, size_t *bytes)
{
	int columns = columns_of(row), parity = offload_setup.parity, data = columns - parity;
	unsigned char matrix[MAX_PARITY * MAX_COLUMNS], tables[TABLE * MAX_PARITY * MAX_COLUMNS];
	unsigned char *pointers[MAX_COLUMNS];
	if (columns > MAX_COLUMNS || data < 1 || parity < 1)
		return NOT_SUPPORTED;
	size_t size = size_of(row, 0), step = (size + ALIGN - 1) / ALIGN * ALIGN;
	unsigned char *memory = row_memory(step * (size_t)columns);
	if (!memory)
		return ERROR;
	for (int i = 0; i < columns; i++) {
		size_t own = size_of(row, i);
		if (own > size)
			return NOT_SUPPORTED;
		pointers[i] = memory + (size_t)i * step;
		if (i >= parity) {
			if (own > 0)
				libzpool.to_buffer(pointers[i], column(row, i), 0, own);
			/* Short columns count as if they ended in zeros. */
			memset(pointers[i] + own, 0, size - own);
			*bytes += own;
		}
	}
	coefficients(data, parity, matrix);
	offload_erasure.tables(data, parity, matrix, tables);
	offload_erasure.encode((int)size, data, parity, tables, pointers + parity, pointers);
	for (int p = 0; p < parity; p++)
		libzpool.from_buffer(column(row, p), pointers[p], 0, size);
	return OK;
}

/* Computes the row again and compares. */
static int differs(void *map, void *row)
{
	int parity = offload_setup.parity;
	size_t size = size_of(row, 0);
	unsigned char *ours = malloc(size * (size_t)parity * 2), *theirs = ours + size * (size_t)parity;
	if (!ours)
		return 0;
	for (int p = 0; p < parity; p++)
		libzpool.to_buffer(ours + (size_t)p * size, column(row, p), 0, size);
	libzpool.generate(map, row);
	for (int p = 0; p < parity; p++)
		libzpool.to_buffer(theirs + (size_t)p * size, column(row, p), 0, size);
	int different = memcmp(ours, theirs, size * (size_t)parity) != 0;
	free(ours);
	return different;
}

static enum result ask(void *map, void *row, size_t *bytes, int *done)
{
	if (offload_setup.answers != OK)
		return offload_setup.answers;
	switch (offload_setup.provider) {
	case SOFTWARE:
		*done = libzpool.generate(map, row);
		return OK;
	case ISAL:
		return row_layout.stride ? by_isal(row, bytes) : NOT_IMPLEMENTED;
	default:
		return NOT_SUPPORTED;
	}
}

/* OpenZFS computes a row while it is watched, until the layout is known. */
static int watched(void *map, void *row)
{
	pthread_mutex_lock(&row_layout.lock);
	seen.count = 0;
	seen.on = 1;
	int done = libzpool.generate(map, row);
	seen.on = 0;
	if (!row_layout.stride)
		find_layout(row);
	pthread_mutex_unlock(&row_layout.lock);
	return done;
}

EXPORT int vdev_raidz_math_generate(void *map, void *row)
{
	if (!libzpool.generate)
		abort();
	if (!offload_asks(RAIDZ_GEN) || offload_setup.parity == 0)
		return libzpool.generate(map, row);
	if (offload_setup.provider == ISAL && !row_layout.stride)
		return watched(map, row);
	struct offload_count *count = &offload_count[RAIDZ_GEN];
	int done = 0;
	size_t bytes = 0;
	int64_t begin = offload_thread_ns();
	enum result result = ask(map, row, &bytes, &done);
	count->ns += offload_thread_ns() - begin;
	if (result != OK) {
		offload_fall_back(RAIDZ_GEN, result);
		return libzpool.generate(map, row);
	}
	count->calls++;
	count->in += (int64_t)bytes;
	if (offload_setup.check && row_layout.stride && differs(map, row))
		count->differences++;
	return done;
}

/* Hands the functions of libzpool over: RTLD_NEXT does not reach a library that is opened later. */
EXPORT void zwhy_shim_raidz(int (*generate)(void *, void *), seven_words *iterate2, seven_words *iterate_parity,
    int has_offset, copy_to *to_buffer, copy_from *from_buffer)
{
	libzpool.generate = generate;
	libzpool.iterate2 = iterate2;
	libzpool.iterate_parity = iterate_parity;
	libzpool.has_offset = has_offset;
	libzpool.to_buffer = to_buffer;
	libzpool.from_buffer = from_buffer;
}

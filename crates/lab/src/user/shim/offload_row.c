/*
 * Where a row of RAID-Z keeps its columns. That differs by release, and no header is at hand. So the first rows are computed
 * by OpenZFS while the calls that it makes for them are watched: the buffers they are given stand in the row, at equal
 * distances.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "offload_row.h"

/* Rows of 2.1.11 take 304 bytes for each column, and a header. */
enum { ROW_BYTES = 512 + MAX_COLUMNS * 512, ALIGN = 64 };

typedef long seven_words(long, long, long, long, long, long, long);
static seven_words *iterate_parity;
static int has_offset; /* abd_raidz_gen_iterate() takes one, since 2.3 */

/* The ABDs that were seen while a row was computed, and how far each was used. */
static __thread struct {
	int on, count;
	const void *abds[MAX_COLUMNS];
	size_t used[MAX_COLUMNS];
} seen;

/* Asked first, as memory of a thread takes tens of instructions to find. */
_Atomic int offload_watching;

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

void offload_watch_two(const void *a, size_t a_used, const void *b, size_t b_used)
{
	if (!seen.on)
		return;
	note(a, (long)a_used);
	note(b, (long)b_used);
}

/* The ABDs of the parity as a list, the ABD of one data column, (offset,) size of each kind, parity and a function. */
EXPORT long abd_raidz_gen_iterate(long a, long b, long c, long d, long e, long f, long g)
{
	if (!iterate_parity)
		abort();
	if (offload_watching && seen.on) {
		long offset = has_offset ? c : 0, parity = has_offset ? d : c;
		long data = has_offset ? e : d;
		for (int i = 0; i < offload_setup.parity; i++)
			note(((const void **)a)[i], offset + parity);
		note((const void *)b, offset + data);
	}
	return iterate_parity(a, b, c, d, e, f, g);
}

/* The first field of a row, rr_cols: an int since 2.2, 64 bits before; the low half is the number. */
int offload_columns(const void *row)
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
	int columns = offload_columns(row), found = 0, place[MAX_COLUMNS];
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

void *offload_column(const void *row, int i)
{
	void *abd;
	memcpy(&abd, (const char *)row + offset_of(i), sizeof(abd));
	return abd;
}

size_t offload_column_size(const void *row, int i)
{
	return word_at(row, offset_of(i) - row_layout.size_before);
}

/* Memory of a thread for the columns of a row, one after the other. */
unsigned char *offload_row_memory(size_t size)
{
	static __thread unsigned char *memory;
	static __thread size_t room;
	if (size > room) {
		free(memory);
		room = posix_memalign((void **)&memory, ALIGN, size) == 0 ? size : 0;
	}
	return room >= size ? memory : NULL;
}

int offload_row_known(void)
{
	return row_layout.stride != 0;
}

void offload_watch_begins(void)
{
	pthread_mutex_lock(&row_layout.lock);
	seen.count = 0;
	offload_watching = seen.on = 1;
}

void offload_watch_ends(const void *row)
{
	offload_watching = seen.on = 0;
	if (!row_layout.stride)
		find_layout(row);
	pthread_mutex_unlock(&row_layout.lock);
}

/* Hands the function of libzpool over. */
EXPORT void zwhy_shim_rows(seven_words *iterate, int takes_offset)
{
	iterate_parity = iterate;
	has_offset = takes_offset;
}

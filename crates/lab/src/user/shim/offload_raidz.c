/*
 * RAID-Z parity and reconstruction by a provider, at vdev_raidz_math_generate() and vdev_raidz_math_reconstruct()
 * (module/zfs/vdev_raidz_math.c, 2.1 to 2.4).
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

/* Rows of 2.1.11 take 304 bytes for each column, and a header. */
enum { ROW_BYTES = 512 + MAX_COLUMNS * 512, ALIGN = 64 };

typedef long seven_words(long, long, long, long, long, long, long);
typedef int generate_fn(void *, void *);
/* Map, row, whether each parity column is valid, the numbers of the lost data columns, and how many these are. */
typedef int reconstruct_fn(void *, void *, const int *, const int *, int);

static struct {
	generate_fn *generate;
	reconstruct_fn *reconstruct;
	seven_words *iterate2, *iterate_parity;
	int has_offset; /* abd_raidz_gen_iterate() takes one, since 2.3 */
} libzpool;

offload_copy_to *offload_to_buffer;
offload_copy_from *offload_from_buffer;

/* The ABDs that were seen while a row was computed, and how far each was used. */
static __thread struct {
	int on, count;
	const void *abds[MAX_COLUMNS];
	size_t used[MAX_COLUMNS];
} seen;

/* Some thread watches: asked first, as memory of a thread takes tens of instructions to find. */
static _Atomic int watching;

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
	if (watching && seen.on) {
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
	if (watching && seen.on) {
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

/* The row in plain memory: columns one after the other, short ones with zeros at their end. */
struct plain {
	struct zwhy_row row;
	unsigned char *columns[MAX_COLUMNS];
	int unequal; /* some data column is shorter than another */
};

/* Memory for the row; no data yet. */
static enum zwhy_result lay_out(const void *row, struct plain *plain)
{
	int columns = columns_of(row), parity = offload_setup.parity;
	if (columns > MAX_COLUMNS || columns <= parity || parity < 1)
		return ZWHY_NOT_SUPPORTED;
	size_t size = size_of(row, 0), step = (size + ALIGN - 1) / ALIGN * ALIGN;
	unsigned char *memory = row_memory(step * (size_t)columns);
	if (!memory)
		return ZWHY_ERROR;
	plain->unequal = 0;
	for (int i = 0; i < columns; i++) {
		if (size_of(row, i) > size)
			return ZWHY_NOT_SUPPORTED;
		plain->unequal |= i >= parity && size_of(row, i) < size;
		plain->columns[i] = memory + (size_t)i * step;
	}
	plain->row = (struct zwhy_row){ parity, columns - parity, size, plain->columns };
	return ZWHY_OK;
}

static size_t bring_in(const void *row, const struct plain *plain, int i)
{
	size_t own = size_of(row, i);
	if (own > 0)
		offload_to_buffer(plain->columns[i], column(row, i), 0, own);
	memset(plain->columns[i] + own, 0, plain->row.size - own);
	return own;
}

static void bring_back(const void *row, const struct plain *plain, int i)
{
	if (size_of(row, i) > 0)
		offload_from_buffer(column(row, i), plain->columns[i], 0, size_of(row, i));
}

static int contains(const int *numbers, int count, int number)
{
	for (int i = 0; i < count; i++)
		if (numbers[i] == number)
			return 1;
	return 0;
}

/* What a provider is asked to make of a row: parity (`lost` is NULL), or the lost data columns. */
struct task {
	enum verb verb;
	const int *lost, *valid;
	int losts;
};

/* The number of the i-th column that is made. */
static int made(const struct task *task, int i)
{
	return task->lost ? task->lost[i] : i;
}

static int makes(const struct task *task)
{
	return task->lost ? task->losts : offload_setup.parity;
}

/* With `strict` the host's columns are no good until they are brought back. */
static void spoil(const void *row, const struct plain *plain, const struct task *task)
{
	for (int i = 0; i < makes(task); i++) {
		offload_poison(plain->columns[made(task, i)], plain->row.size);
		bring_back(row, plain, made(task, i));
	}
}

static enum zwhy_result by_provider(void *row, const struct task *task, size_t *bytes)
{
	struct plain plain;
	enum zwhy_result result = lay_out(row, &plain);
	if (result != ZWHY_OK)
		return result;
	int parity = plain.row.parity;
	for (int i = 0; i < parity + plain.row.data; i++) {
		int wanted = i >= parity ? !contains(task->lost, task->losts, i) : task->lost && task->valid[i];
		if (wanted)
			*bytes += bring_in(row, &plain, i);
	}
	if (offload_setup.strict)
		spoil(row, &plain, task);
	result = task->lost ? offload_provider->raidz_rec(&plain.row, task->lost, task->losts, task->valid)
			    : offload_provider->raidz_gen(&plain.row);
	if (result != ZWHY_OK)
		return result;
	for (int i = 0; i < makes(task); i++)
		bring_back(row, &plain, made(task, i));
	offload_count[task->verb].unequal += plain.unequal;
	return ZWHY_OK;
}

static int by_libzpool(void *map, void *row, const struct task *task)
{
	return task->lost ? libzpool.reconstruct(map, row, task->valid, task->lost, task->losts)
			  : libzpool.generate(map, row);
}

/* Lets OpenZFS compute the row again and compares. */
static int differs(void *map, void *row, const struct task *task)
{
	size_t size = size_of(row, 0), all = size * (size_t)makes(task);
	unsigned char *ours = calloc(2, all), *theirs = ours + all;
	if (!ours)
		return 0;
	for (int i = 0; i < makes(task); i++)
		offload_to_buffer(ours + (size_t)i * size, column(row, made(task, i)), 0, size_of(row, made(task, i)));
	by_libzpool(map, row, task);
	for (int i = 0; i < makes(task); i++)
		offload_to_buffer(theirs + (size_t)i * size, column(row, made(task, i)), 0, size_of(row, made(task, i)));
	int different = memcmp(ours, theirs, all) != 0;
	free(ours);
	return different;
}

static int is_done_by(const struct task *task)
{
	return offload_provider && (task->lost ? (void *)offload_provider->raidz_rec : (void *)offload_provider->raidz_gen);
}

static enum zwhy_result ask(void *map, void *row, const struct task *task, size_t *bytes, int *done)
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	if (offload_setup.provider == SOFTWARE) {
		*done = by_libzpool(map, row, task);
		return ZWHY_OK;
	}
	return is_done_by(task) && row_layout.stride ? by_provider(row, task, bytes) : ZWHY_NOT_IMPLEMENTED;
}

/* OpenZFS computes a row while it is watched, until the layout is known. */
static int watched(void *map, void *row)
{
	pthread_mutex_lock(&row_layout.lock);
	seen.count = 0;
	watching = seen.on = 1;
	int done = libzpool.generate(map, row);
	watching = seen.on = 0;
	if (!row_layout.stride)
		find_layout(row);
	pthread_mutex_unlock(&row_layout.lock);
	return done;
}

static int stage(void *map, void *row, const struct task *task)
{
	struct offload_count *count = &offload_count[task->verb];
	/* OpenZFS only asks whether the row was left to it (INT_MAX). */
	int done = 0;
	size_t bytes = 0;
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = ask(map, row, task, &bytes, &done);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(task->verb, result);
		return by_libzpool(map, row, task);
	}
	count->calls++;
	count->in += (int64_t)bytes;
	if (row_layout.stride)
		count->out += (int64_t)(size_of(row, 0) * (size_t)makes(task));
	if (offload_setup.check && row_layout.stride && differs(map, row, task))
		count->differences++;
	return done;
}

EXPORT int vdev_raidz_math_generate(void *map, void *row)
{
	const struct task task = { .verb = RAIDZ_GEN };
	if (!libzpool.generate)
		abort();
	if (offload_setup.parity == 0 || offload_setup.provider == NONE)
		return libzpool.generate(map, row);
	/* Also where only reconstruction is handed over: that needs the layout too. */
	if (offload_provider && !row_layout.stride)
		return watched(map, row);
	return offload_asks(RAIDZ_GEN) ? stage(map, row, &task) : libzpool.generate(map, row);
}

EXPORT int vdev_raidz_math_reconstruct(void *map, void *row, const int *valid, const int *lost, int losts)
{
	const struct task task = { .verb = RAIDZ_REC, .lost = lost, .valid = valid, .losts = losts };
	if (!libzpool.reconstruct)
		abort();
	if (offload_setup.parity == 0 || losts == 0 || !offload_asks(RAIDZ_REC))
		return libzpool.reconstruct(map, row, valid, lost, losts);
	return stage(map, row, &task);
}

/* Hands the functions of libzpool over: RTLD_NEXT does not reach a library that is opened later. */
EXPORT void zwhy_shim_raidz(generate_fn *generate, reconstruct_fn *reconstruct, seven_words *iterate2,
    seven_words *iterate_parity, int has_offset, offload_copy_to *to_buffer, offload_copy_from *from_buffer)
{
	libzpool.generate = generate;
	libzpool.reconstruct = reconstruct;
	libzpool.iterate2 = iterate2;
	libzpool.iterate_parity = iterate_parity;
	libzpool.has_offset = has_offset;
	offload_to_buffer = to_buffer;
	offload_from_buffer = from_buffer;
}

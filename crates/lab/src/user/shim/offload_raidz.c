/*
 * RAID-Z parity and reconstruction by a provider, at vdev_raidz_math_generate() and vdev_raidz_math_reconstruct()
 * (module/zfs/vdev_raidz_math.c, 2.1 to 2.4).
 *
 * A row whose columns are not found (offload_row.c) is left to OpenZFS: NOT_IMPLEMENTED.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "offload_row.h"

enum { ALIGN = 64 };

typedef int generate_fn(void *, void *);
/* Map, row, whether each parity column is valid, the numbers of the lost data columns, and how many these are. */
typedef int reconstruct_fn(void *, void *, const int *, const int *, int);

static struct {
	generate_fn *generate;
	reconstruct_fn *reconstruct;
} libzpool;

/* The row in plain memory: columns one after the other, short ones with zeros at their end. */
struct plain {
	struct zwhy_row row;
	unsigned char *columns[MAX_COLUMNS];
	int unequal; /* some data column is shorter than another */
};

/* Memory for the row; no data yet. */
static enum zwhy_result lay_out(const void *row, struct plain *plain)
{
	int columns = offload_columns(row), parity = offload_setup.parity;
	if (columns > MAX_COLUMNS || columns <= parity || parity < 1)
		return ZWHY_NOT_SUPPORTED;
	size_t size = offload_column_size(row, 0), step = (size + ALIGN - 1) / ALIGN * ALIGN;
	unsigned char *memory = offload_row_memory(step * (size_t)columns);
	if (!memory)
		return ZWHY_ERROR;
	plain->unequal = 0;
	for (int i = 0; i < columns; i++) {
		if (offload_column_size(row, i) > size)
			return ZWHY_NOT_SUPPORTED;
		plain->unequal |= i >= parity && offload_column_size(row, i) < size;
		plain->columns[i] = memory + (size_t)i * step;
	}
	plain->row = (struct zwhy_row){ parity, columns - parity, size, plain->columns };
	return ZWHY_OK;
}

static size_t bring_in(const void *row, const struct plain *plain, int i)
{
	size_t own = offload_column_size(row, i);
	if (own > 0)
		offload_to_buffer(plain->columns[i], offload_column(row, i), 0, own);
	memset(plain->columns[i] + own, 0, plain->row.size - own);
	return own;
}

static void bring_back(const void *row, const struct plain *plain, int i)
{
	if (offload_column_size(row, i) > 0)
		offload_from_buffer(offload_column(row, i), plain->columns[i], 0, offload_column_size(row, i));
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

/* --- On blocks of the provider ----------------------------------------------------------------------------------- */

/* Where the data columns of a row are in the provider. */
struct placed {
	int parity, data;
	size_t size, bytes, stayed;
	struct zwhy_part of[MAX_COLUMNS];
	struct offload_pieces pieces[MAX_COLUMNS];
	struct offload_held *held[MAX_COLUMNS];
};

static void release(struct placed *row)
{
	for (int i = 0; i < row->data; i++)
		offload_release(row->held[i]);
}

/* Columns that the stage before left there are found; the others are moved in together. */
static enum zwhy_result place(const void *row, struct placed *to)
{
	int lacks[MAX_COLUMNS], lacking = 0;
	size_t size = 0;
	for (int i = 0; i < to->data; i++) {
		void *abd = offload_column(row, to->parity + i);
		size_t own = offload_column_size(row, to->parity + i);
		struct offload_part part = { .held = NULL };
		to->bytes += own;
		if (own > to->size)
			return ZWHY_NOT_SUPPORTED;
		if (own > 0)
			to->pieces[i] = offload_pieces(abd, own);
		if (own > 0 && offload_find(1U << COMPRESS | 1U << CHECKSUM, &to->pieces[i], own, &part)) {
			to->of[i] = part.of;
			to->held[i] = part.held;
			to->stayed += own;
		} else if (own > 0) {
			lacks[lacking++] = i;
			to->of[i] = (struct zwhy_part){ 0, size, own, 0 };
			size += own;
		}
		to->of[i].zeros += to->size - own;
	}
	unsigned char *memory = lacking > 0 ? offload_row_memory(size) : NULL;
	if (lacking == 0)
		return ZWHY_OK;
	if (!memory)
		return ZWHY_ERROR;
	for (int i = 0; i < lacking; i++)
		offload_to_buffer(memory + to->of[lacks[i]].offset, offload_column(row, to->parity + lacks[i]), 0,
		    to->of[lacks[i]].size);
	struct offload_held *held = NULL;
	enum zwhy_result result = offload_put(RAIDZ_GEN, memory, size, &held);
	for (int i = 0; i < lacking && result == ZWHY_OK; i++) {
		struct zwhy_part *part = &to->of[lacks[i]];
		part->block = offload_number(held);
		if (offload_is_used_after(RAIDZ_GEN) && !to->pieces[lacks[i]].scattered)
			offload_stays(RAIDZ_GEN, &to->pieces[lacks[i]], part->size, held, part->offset);
	}
	to->held[lacks[0]] = held;
	return result;
}

/* What the parity was made from; NULL where that is not in one piece each. */
static struct offload_row *source_of(const struct placed *row)
{
	struct offload_row *source = calloc(1, sizeof(*source));
	for (int i = 0; source && i < row->data; i++) {
		if (row->pieces[i].scattered) {
			free(source);
			return NULL;
		}
		source->column[i].at = row->pieces[i].at;
		source->column[i].size = row->pieces[i].span;
	}
	if (source) {
		source->data = row->data;
		source->uses = 1;
	}
	return source;
}

/* Parity stays where the provider writes it to its disk; otherwise the host's code does, and has it brought back. */
static enum zwhy_result leave_parity(const void *row, const struct placed *placed, struct offload_held *held)
{
	struct offload_row *source = offload_is_used_after(RAIDZ_GEN) ? source_of(placed) : NULL;
	enum zwhy_result result = ZWHY_OK;
	for (int p = 0; p < placed->parity && result == ZWHY_OK; p++) {
		size_t size = offload_column_size(row, p), at = (size_t)p * placed->size;
		struct offload_pieces to = offload_pieces(offload_column(row, p), size);
		unsigned char *memory = to.scattered ? offload_row_memory(size) : (unsigned char *)to.at;
		offload_host_writes(to.at, to.span);
		if (offload_setup.strict && memory)
			offload_poison(memory, size);
		if (source && !to.scattered) {
			offload_owes(RAIDZ_GEN, memory, size, held, at, &(struct offload_source){ .row = source, .parity = p });
			continue;
		}
		result = memory ? offload_get(RAIDZ_GEN, held, at, memory, size) : ZWHY_ERROR;
		if (result == ZWHY_OK && to.scattered)
			offload_from_buffer(offload_column(row, p), memory, 0, size);
	}
	if (source && --source->uses == 0)
		free(source);
	return result;
}

static int is_unequal(const struct placed *row)
{
	for (int i = 0; i < row->data; i++)
		if (row->of[i].zeros > 0)
			return 1;
	return 0;
}

static enum zwhy_result generate_on_blocks(const void *row, size_t *bytes, size_t *stayed)
{
	struct placed placed = { .parity = offload_setup.parity };
	uint64_t block = 0;
	placed.data = offload_columns(row) - placed.parity;
	if (offload_columns(row) > MAX_COLUMNS || placed.data < 1)
		return ZWHY_NOT_SUPPORTED;
	placed.size = offload_column_size(row, 0);
	enum zwhy_result result = place(row, &placed);
	const struct zwhy_block_row asked = { placed.parity, placed.data, placed.size, placed.of };
	if (result == ZWHY_OK)
		result = offload_provider->raidz_gen_block(&asked, &block);
	if (result == ZWHY_OK) {
		struct offload_held *held = offload_hold(block);
		result = held ? leave_parity(row, &placed, held) : ZWHY_ERROR;
		offload_release(held);
		offload_count[RAIDZ_GEN].unequal += is_unequal(&placed);
	}
	*bytes = placed.bytes;
	*stayed = placed.stayed;
	release(&placed);
	return result;
}

/* --- On copies --------------------------------------------------------------------------------------------------- */

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
	offload_moved(task->verb, *bytes, plain.row.size * (size_t)makes(task));
	offload_count[task->verb].unequal += plain.unequal;
	return ZWHY_OK;
}

/* The host's code reads all columns, and writes those that it makes. */
static void bring_all_back(const void *row, const struct task *task)
{
	if (!offload_row_known() || offload_columns(row) > MAX_COLUMNS) {
		offload_all_back();
		return;
	}
	for (int i = 0; i < offload_columns(row); i++)
		offload_abd_reads(offload_column(row, i), offload_column_size(row, i));
	for (int i = 0; i < makes(task); i++)
		offload_abd_writes(offload_column(row, made(task, i)), offload_column_size(row, made(task, i)));
}

static int by_libzpool(void *map, void *row, const struct task *task)
{
	if (offload_residents)
		bring_all_back(row, task);
	return task->verb == RAIDZ_REC ? libzpool.reconstruct(map, row, task->valid, task->lost, task->losts)
			  : libzpool.generate(map, row);
}

/* Lets OpenZFS compute the row again and compares. */
static int differs(void *map, void *row, const struct task *task)
{
	size_t size = offload_column_size(row, 0), all = size * (size_t)makes(task);
	unsigned char *ours = calloc(2, all), *theirs = ours + all;
	if (!ours)
		return 0;
	for (int i = 0; i < makes(task); i++)
		offload_to_buffer(ours + (size_t)i * size, offload_column(row, made(task, i)), 0, offload_column_size(row, made(task, i)));
	by_libzpool(map, row, task);
	for (int i = 0; i < makes(task); i++)
		offload_to_buffer(theirs + (size_t)i * size, offload_column(row, made(task, i)), 0, offload_column_size(row, made(task, i)));
	int different = memcmp(ours, theirs, all) != 0;
	free(ours);
	return different;
}

static int has_block_verb(const struct task *task)
{
	return !task->lost && offload_keeps() && offload_provider->raidz_gen_block;
}

static int is_done_by(const struct task *task)
{
	if (has_block_verb(task))
		return 1;
	return offload_provider && (task->lost ? (void *)offload_provider->raidz_rec : (void *)offload_provider->raidz_gen);
}

static enum zwhy_result ask(void *map, void *row, const struct task *task, size_t *bytes, size_t *stayed, int *done)
{
	if (offload_setup.answers != ZWHY_OK)
		return offload_setup.answers;
	if (offload_setup.provider == SOFTWARE) {
		*done = by_libzpool(map, row, task);
		return ZWHY_OK;
	}
	if (!is_done_by(task) || !offload_row_known())
		return ZWHY_NOT_IMPLEMENTED;
	return has_block_verb(task) ? generate_on_blocks(row, bytes, stayed) : by_provider(row, task, bytes);
}

/* OpenZFS computes a row while it is watched, until the layout is known. */
static int watched(void *map, void *row)
{
	const struct task task = { .verb = RAIDZ_GEN };
	offload_watch_begins();
	int done = by_libzpool(map, row, &task);
	offload_watch_ends(row);
	return done;
}

static int stage(void *map, void *row, const struct task *task)
{
	struct offload_count *count = &offload_count[task->verb];
	/* OpenZFS only asks whether the row was left to it (INT_MAX). */
	int done = 0;
	size_t bytes = 0, stayed = 0;
	int64_t begin = offload_thread_ns();
	enum zwhy_result result = ask(map, row, task, &bytes, &stayed, &done);
	count->ns += offload_thread_ns() - begin;
	if (result != ZWHY_OK) {
		offload_fall_back(task->verb, result);
		return by_libzpool(map, row, task);
	}
	count->calls++;
	count->in += (int64_t)bytes;
	count->stayed += (int64_t)stayed;
	if (offload_row_known())
		count->out += (int64_t)(offload_column_size(row, 0) * (size_t)makes(task));
	if (offload_setup.check && offload_row_known() && differs(map, row, task))
		count->differences++;
	return done;
}

static __attribute__((noinline)) int generate(void *map, void *row)
{
	const struct task task = { .verb = RAIDZ_GEN };
	/* Also where only reconstruction is handed over: that needs the layout too. */
	if (offload_provider && !offload_row_known())
		return watched(map, row);
	return offload_asks(RAIDZ_GEN) ? stage(map, row, &task) : by_libzpool(map, row, &task);
}

static __attribute__((noinline)) int reconstruct(void *map, void *row, const int *valid, const int *lost, int losts)
{
	const struct task task = { .verb = RAIDZ_REC, .lost = lost, .valid = valid, .losts = losts };
	return offload_asks(RAIDZ_REC) && losts > 0 ? stage(map, row, &task) : by_libzpool(map, row, &task);
}

/* Calls that are not handed over pass by these two in few instructions. */
EXPORT int vdev_raidz_math_generate(void *map, void *row)
{
	if (!libzpool.generate)
		abort();
	if (offload_setup.parity == 0 || !(offload_provider || offload_asks(RAIDZ_GEN)))
		return libzpool.generate(map, row);
	return generate(map, row);
}

EXPORT int vdev_raidz_math_reconstruct(void *map, void *row, const int *valid, const int *lost, int losts)
{
	if (!libzpool.reconstruct)
		abort();
	if (offload_setup.parity == 0 || !(offload_provider || offload_asks(RAIDZ_REC)))
		return libzpool.reconstruct(map, row, valid, lost, losts);
	return reconstruct(map, row, valid, lost, losts);
}

/* Hands the functions of libzpool over: RTLD_NEXT does not reach a library that is opened later. */
EXPORT void zwhy_shim_raidz(generate_fn *generate, reconstruct_fn *reconstruct)
{
	libzpool.generate = generate;
	libzpool.reconstruct = reconstruct;
}

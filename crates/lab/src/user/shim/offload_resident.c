/*
 * Which blocks are in the provider, and for which bytes of the host each stands.
 *
 * A block that a stage moved in or made stays for the stages after it. Where the host does not have its bytes they are
 * owed: they are brought back when the host is about to read them (offload_touch.c), and made again from their source
 * where the provider went away meanwhile. A block is known by the address of its bytes in the host, so it is forgotten as
 * soon as these are written or freed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

struct offload_held {
	uint64_t block;
	_Atomic int uses;
};

struct resident {
	const unsigned char *at;
	size_t span; /* bytes of the host from there; the first piece of a block that is scattered */
	size_t size; /* bytes in the device, at `offset` of what it holds */
	size_t offset;
	struct offload_held *held; /* NULL: in a modelled device */
	enum verb from;
	int used, scattered, owed, coming;
	struct offload_source source;
	unsigned age;
};

/* A transaction group is compressed and summed long before the last of it is written; this is the memory of a small device. */
enum { RESIDENTS = 2048 };
static const size_t MEMORY = (size_t)256 << 20;

/* Sources that did not compress are still to be asked for their checksum, by the thread that has one. */
static __thread struct {
	const unsigned char *at;
	size_t size;
	struct offload_held *held;
} pending;
_Atomic int offload_pendings;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct resident block[RESIDENTS];
	/* The used ones by their address: no two overlap. */
	struct resident *order[RESIDENTS];
	unsigned count, age;
	size_t bytes;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER };

_Atomic int offload_residents, offload_owed;

/* --- What the device holds ----------------------------------------------------------------------------------- */

struct offload_held *offload_hold(uint64_t block)
{
	struct offload_held *held = malloc(sizeof(*held));
	if (!held) {
		offload_provider->drop(block);
		return NULL;
	}
	held->block = block;
	held->uses = 1;
	return held;
}

uint64_t offload_number(const struct offload_held *held)
{
	return held->block;
}

static struct offload_held *used_once_more(struct offload_held *held)
{
	if (held)
		held->uses++;
	return held;
}

void offload_release(struct offload_held *held)
{
	if (!held || --held->uses > 0)
		return;
	offload_provider->drop(held->block);
	free(held);
}

enum zwhy_result offload_put(enum verb verb, const void *from, size_t size, struct offload_held **held)
{
	uint64_t block = 0;
	enum zwhy_result result = offload_provider->put(from, size, &block);
	if (result != ZWHY_OK)
		return result;
	offload_count[verb].link_in += (int64_t)size;
	*held = offload_hold(block);
	return *held ? ZWHY_OK : ZWHY_ERROR;
}

enum zwhy_result offload_get(enum verb verb, const struct offload_held *held, size_t offset, void *to, size_t size)
{
	if (size == 0)
		return ZWHY_OK;
	enum zwhy_result result = offload_provider->get(held->block, offset, to, size);
	if (result == ZWHY_OK)
		offload_count[verb].link_out += (int64_t)size;
	return result;
}

/* --- Where results come from, for the case that they are lost ---------------------------------------------------- */

static int overlap(const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* Whether the bytes are needed to make the block again. */
static int comes_from(const struct resident *resident, const unsigned char *at, size_t size)
{
	const struct offload_source *source = &resident->source;
	if (source->row)
		for (int i = 0; i < source->row->data; i++)
			if (overlap(source->row->column[i].at, source->row->column[i].size, at, size))
				return 1;
	return source->plain && overlap(source->plain, source->size, at, size);
}

static void release_row(struct offload_row *row)
{
	if (row && --row->uses == 0)
		free(row);
}

static unsigned char twice(unsigned char value)
{
	return (unsigned char)(value << 1 ^ (value & 0x80 ? 0x1d : 0));
}

/* Horner's rule, as in vdev_raidz.c. Short columns end in zeros. */
static void remake_parity(const struct resident *lost)
{
	const struct offload_row *row = lost->source.row;
	unsigned char *to = (unsigned char *)lost->at;
	memset(to, 0, lost->size);
	for (int i = 0; i < row->data; i++) {
		offload_host_reads(row->column[i].at, row->column[i].size);
		for (size_t at = 0; at < lost->size; at++) {
			for (int times = 0; times < lost->source.parity; times++)
				to[at] = twice(to[at]);
			if (at < row->column[i].size)
				to[at] ^= row->column[i].at[at];
		}
	}
}

/* The block pointer has its size and its checksum already, so that nothing else will do. */
static void remake(const struct resident *lost)
{
	offload_count[lost->from].remade++;
	if (lost->source.row) {
		remake_parity(lost);
		return;
	}
	size_t size = offload_remake(&lost->source, (unsigned char *)lost->at, lost->size);
	if (size != lost->size) {
		fprintf(stderr, "the provider went away with a block of %zu bytes, which OpenZFS makes %zu of\n", lost->size,
		    size);
		abort();
	}
}

/* --- The table. All of these are called with its lock. ----------------------------------------------------------- */

/* The place of the first that ends behind `at`. */
static unsigned place_of(const unsigned char *at)
{
	unsigned low = 0, high = table.count;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (table.order[middle]->at + table.order[middle]->span > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The first that overlaps, and is owed if that is asked for; NULL: none. */
static struct resident *over(const unsigned char *at, size_t size, int owed)
{
	unsigned place = place_of(at);
	while (place < table.count && table.order[place]->at < at + size) {
		if (!owed || table.order[place]->owed)
			return table.order[place];
		place++;
	}
	return NULL;
}

static void insert(const struct resident *resident)
{
	struct resident *free = table.block;
	unsigned place = place_of(resident->at);
	while (free->used)
		free++;
	*free = *resident;
	free->used = 1;
	free->age = ++table.age;
	memmove(&table.order[place + 1], &table.order[place], (table.count - place) * sizeof(table.order[0]));
	table.order[place] = free;
	table.count++;
	table.bytes += free->size;
	offload_residents++;
	offload_owed += free->owed;
}

static void forget(struct resident *resident)
{
	unsigned place = place_of(resident->at);
	table.count--;
	memmove(&table.order[place], &table.order[place + 1], (table.count - place) * sizeof(table.order[0]));
	table.bytes -= resident->size;
	offload_residents--;
	offload_owed -= resident->owed;
	offload_release(resident->held);
	release_row(resident->source.row);
	memset(resident, 0, sizeof(*resident));
}

/* Waits for whoever brings it back; then it may be another one. */
static void wait_for(struct resident *resident)
{
	while (resident->coming)
		pthread_cond_wait(&table.came, &table.lock);
}

/* Afterwards the host has the bytes. The lock is given up meanwhile. */
static void bring_back(struct resident *resident)
{
	if (resident->coming) {
		wait_for(resident);
		return;
	}
	resident->coming = 1;
	struct resident copy = *resident;
	pthread_mutex_unlock(&table.lock);
	enum zwhy_result result = offload_get(copy.from, copy.held, copy.offset, (void *)copy.at, copy.size);
	if (result != ZWHY_OK) {
		offload_fall_back(copy.from, result);
		remake(&copy);
	}
	pthread_mutex_lock(&table.lock);
	resident->coming = resident->owed = 0;
	offload_owed--;
	pthread_cond_broadcast(&table.came);
}

/* The oldest makes room, one that the host has too where there is any. */
static void make_room(size_t size)
{
	while (table.count == RESIDENTS || (table.count > 0 && table.bytes + size > MEMORY)) {
		struct resident *oldest = NULL;
		for (unsigned i = 0; i < table.count; i++) {
			struct resident *one = table.order[i];
			if (one->coming)
				continue;
			if (!oldest || one->owed < oldest->owed ||
			    (one->owed == oldest->owed && (int)(one->age - oldest->age) < 0))
				oldest = one;
		}
		if (!oldest)
			pthread_cond_wait(&table.came, &table.lock);
		else if (oldest->owed)
			bring_back(oldest);
		else
			forget(oldest);
	}
}

static struct resident *that_comes_from(const unsigned char *at, size_t size)
{
	for (unsigned i = 0; i < table.count && offload_owed; i++)
		if (table.order[i]->owed && comes_from(table.order[i], at, size))
			return table.order[i];
	return NULL;
}

/* Nothing stands for these bytes any more. `freed`: nobody will read them. */
static void clear(const unsigned char *at, size_t size, int freed)
{
	struct resident *one;
	/* First what may have to be made again from them. */
	while ((one = that_comes_from(at, size)))
		bring_back(one);
	while ((one = over(at, size, 0))) {
		if (one->coming)
			wait_for(one);
		else if (one->owed && !freed)
			bring_back(one);
		else
			forget(one);
	}
}

/* --- What stages call ---------------------------------------------------------------------------------------------- */

static void add(const struct resident *resident)
{
	pthread_mutex_lock(&table.lock);
	clear(resident->at, resident->span, resident->owed);
	make_room(resident->size);
	insert(resident);
	pthread_mutex_unlock(&table.lock);
}

void offload_stays(enum verb from, const struct offload_pieces *of, size_t size, struct offload_held *held, size_t offset)
{
	if (of->span == 0)
		return;
	add(&(struct resident){ .at = of->at, .span = of->span, .size = size, .offset = offset, .from = from,
	    .held = used_once_more(held), .scattered = of->scattered });
}

void offload_owes(enum verb from, void *at, size_t size, struct offload_held *held, size_t offset,
    const struct offload_source *source)
{
	if (source->row)
		source->row->uses++;
	add(&(struct resident){ .at = at, .span = size, .size = size, .offset = offset, .from = from,
	    .held = used_once_more(held), .owed = 1, .source = *source });
}

static void forget_pending(void)
{
	offload_release(pending.held);
	memset(&pending, 0, sizeof(pending));
	offload_pendings--;
}

void offload_source_stays(const void *at, size_t size, struct offload_held *held)
{
	if (pending.at)
		forget_pending();
	pending.at = at;
	pending.size = size;
	pending.held = used_once_more(held);
	offload_pendings++;
}

/*
 * A block that is compressed gets its checksum next, in the same thread. So what is asked for right after a source that did
 * not compress is this source, and what may be changed later in the same place is not.
 */
void offload_next_is(const struct offload_pieces *of, size_t size)
{
	if (!pending.at)
		return;
	if (pending.at == of->at && pending.size == size && !of->scattered)
		offload_stays(COMPRESS, of, size, pending.held, 0);
	forget_pending();
}

static int only_zeros(const unsigned char *from, const unsigned char *end)
{
	while (from < end && *from == 0)
		from++;
	return from >= end;
}

/* OpenZFS fills the last sector of a block with zeros, which are no part of what was compressed. */
static int stands_for(const struct resident *one, const unsigned char *at, size_t size, int scattered)
{
	if (one->scattered || scattered)
		return one->scattered == scattered && one->at == at && one->size == size;
	if (at < one->at || at >= one->at + one->span)
		return 0;
	return only_zeros(one->at + one->span, at + size);
}

int offload_find(unsigned from, const struct offload_pieces *of, size_t size, struct offload_part *part)
{
	if (!offload_residents || of->span == 0)
		return 0;
	pthread_mutex_lock(&table.lock);
	struct resident *one = over(of->at, 1, 0);
	int found = one && from & 1U << one->from && stands_for(one, of->at, size, of->scattered);
	if (found) {
		size_t before = (size_t)(of->at - one->at), left = one->size - before, have = left < size ? left : size;
		part->held = used_once_more(one->held);
		part->of.block = one->held ? one->held->block : 0;
		part->of.offset = one->offset + before;
		part->of.size = have;
		part->of.zeros = size - have;
	}
	pthread_mutex_unlock(&table.lock);
	return found;
}

/* --- What the host does ---------------------------------------------------------------------------------------------- */

void offload_host_reads(const void *at, size_t size)
{
	struct resident *one;
	if (!offload_owed)
		return;
	pthread_mutex_lock(&table.lock);
	while ((one = over(at, size, 1)))
		bring_back(one);
	pthread_mutex_unlock(&table.lock);
}

void offload_host_writes(const void *at, size_t size)
{
	if (!offload_residents)
		return;
	pthread_mutex_lock(&table.lock);
	clear(at, size, 0);
	pthread_mutex_unlock(&table.lock);
}

void offload_host_frees(const void *at, size_t size)
{
	if (!offload_residents)
		return;
	pthread_mutex_lock(&table.lock);
	clear(at, size, 1);
	pthread_mutex_unlock(&table.lock);
}

void offload_all_back(void)
{
	offload_host_reads(NULL, SIZE_MAX);
}

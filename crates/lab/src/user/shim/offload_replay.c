/*
 * The providers `ideal` and `model`: results that software made of the same input before, found again, and the time that
 * a modelled device would take for them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

struct memo {
	uint64_t key[2];
	size_t size;
	int zlib;
	struct memo *next;
	unsigned char data[];
};

enum { BUCKETS = 1 << 16 };
static struct memo *memos[VERBS][BUCKETS];
static pthread_rwlock_t memos_lock = PTHREAD_RWLOCK_INITIALIZER;

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two chains of multiplications; what they cost is the floor of a replay. */
void offload_key(const unsigned char *data, size_t size, int level, uint64_t key[2])
{
	uint64_t a = size ^ UINT64_C(0xa0761d6478bd642f), b = (uint64_t)level ^ UINT64_C(0xe7037ed1a0b428db);
	size_t at = 0;
	for (; at + 16 <= size; at += 16) {
		uint64_t words[2];
		memcpy(words, data + at, sizeof(words));
		a = fold(a ^ words[0], UINT64_C(0x8ebc6af09c88c6e3) ^ words[1]);
		b = fold(b ^ words[1], UINT64_C(0x589965cc75374cc3) ^ words[0]);
	}
	uint64_t rest[2] = { 0, 0 };
	memcpy(rest, data + at, size - at);
	key[0] = fold(a ^ rest[0], UINT64_C(0x1d8e4e27c47d124f) ^ rest[1]);
	key[1] = fold(b ^ rest[1], UINT64_C(0xeb44accab455d165) ^ key[0]);
}

/* Compressed blocks end at a sector: OpenZFS fills the rest with zeros and hands them back with the block. */
void offload_block_key(const unsigned char *data, size_t size, uint64_t key[2])
{
	while (size > 0 && data[size - 1] == 0)
		size--;
	offload_key(data, size, 0, key);
}

int offload_recall(enum verb verb, const uint64_t key[2], void *to, size_t *to_size, int *zlib)
{
	pthread_rwlock_rdlock(&memos_lock);
	const struct memo *memo = memos[verb][key[0] % BUCKETS];
	while (memo && (memo->key[0] != key[0] || memo->key[1] != key[1]))
		memo = memo->next;
	pthread_rwlock_unlock(&memos_lock);
	if (!memo || memo->size > *to_size)
		return 0;
	memcpy(to, memo->data, memo->size);
	*to_size = memo->size;
	*zlib = memo->zlib;
	offload_count[verb].replayed++;
	return 1;
}

void offload_learn(enum verb verb, const uint64_t key[2], const void *data, size_t size, int zlib)
{
	struct memo *memo = malloc(sizeof(*memo) + size);
	if (!memo)
		return;
	memcpy(memo->key, key, sizeof(memo->key));
	memo->size = size;
	memo->zlib = zlib;
	memcpy(memo->data, data, size);
	pthread_rwlock_wrlock(&memos_lock);
	memo->next = memos[verb][key[0] % BUCKETS];
	memos[verb][key[0] % BUCKETS] = memo;
	pthread_rwlock_unlock(&memos_lock);
	offload_count[verb].learnt++;
}

/* --- The modelled device: the caller sleeps while link and engine work ------------------------------------- */

enum { MAX_ENGINES = 64 };
static struct {
	pthread_mutex_t lock;
	int64_t link_free[2], engine_free[MAX_ENGINES];
} device = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t takes(double bytes, double bytes_per_ns)
{
	return bytes_per_ns > 0 ? (int64_t)(bytes / bytes_per_ns) : 0;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int free_engine(void)
{
	int engines = offload_setup.engines < MAX_ENGINES ? offload_setup.engines : MAX_ENGINES, first = 0;
	for (int i = 1; i < engines; i++)
		if (device.engine_free[i] < device.engine_free[first])
			first = i;
	return first;
}

/* Takes the part of the device that is free at *free for `ns`, from `now` on at the earliest; adds how long it waited. */
static int64_t turn(int64_t now, int64_t *free, int64_t ns, int64_t *queued)
{
	int64_t begin = later(now, *free);
	*queued += begin - now;
	return *free = begin + ns;
}

/*
 * In over the link, through the first engine that is free, and out over the link. A call that waited `waited_ns` waited
 * `queued_ns` of them for other calls, and was woken `late_ns` after its time by the host; the rest is the device's own.
 */
void offload_wait_for_device(enum verb verb, size_t in, size_t out, int moves_in)
{
	struct offload_count *count = &offload_count[verb];
	double link = offload_setup.link_bytes_per_ns, plain = (double)(in > out ? in : out);
	int64_t queued = 0;
	count->link_in += moves_in ? (int64_t)in : 0;
	count->link_out += (int64_t)out;
	pthread_mutex_lock(&device.lock);
	int64_t begin = offload_now_ns();
	int64_t at = moves_in ? turn(begin, &device.link_free[0], takes((double)in, link), &queued) : begin;
	at = turn(at, &device.engine_free[free_engine()], takes(plain, offload_setup.engine_bytes_per_ns), &queued);
	at = turn(at, &device.link_free[1], takes((double)out, link), &queued);
	pthread_mutex_unlock(&device.lock);
	int64_t end = at + offload_setup.latency_ns;
	struct timespec until = { end / 1000000000, end % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	int64_t now = offload_now_ns();
	count->waited_ns += now - begin;
	count->queued_ns += queued;
	count->late_ns += now - end;
}

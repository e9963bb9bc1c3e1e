/*
 * The provider `remote`: another process that shares memory with this one and nothing else. All data is copied there and
 * back, and when it dies its work is lost, as with a card that falls off its bus.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "offload.h"

/*
 * A block has at most 16 MiB; a row of RAID-Z that is reconstructed has the parity, and rounding, on top. There are more
 * blocks than may stay (offload_resident.c); of their memory only what is used is there.
 */
enum { SLOTS = 8, BLOCKS = 2304, ALIGN = 4096, ZLIB_OK = 0, LOOK_UP_NS = 2000000 };
static const size_t ROOM = (size_t)40 << 20;

/* One call: what is asked, and the answer. */
struct call {
	sem_t asked, answered;
	enum verb verb;
	enum zwhy_codec codec;
	size_t before;
	int level, parity, columns, losts, lost[MAX_PARITY], valid[MAX_PARITY];
	enum zwhy_checksum kind;
	int file, flags; /* of the lab, and how it is open there */
	int64_t offset;
	struct zwhy_part from[MAX_COLUMNS];
	uint64_t to; /* the block for the result */
	size_t size, room, made;
	uint64_t words[4];
	enum zwhy_result result;
};

static struct {
	struct call *calls;   /* shared */
	unsigned char *memory; /* shared: that of the device, ROOM bytes a block */
	sem_t free;           /* slots that nobody uses */
	pthread_mutex_t lock;
	int used[SLOTS];
	uint64_t unused[BLOCKS]; /* blocks that are free; the last one is taken first, as its memory is warm */
	int unused_count;
	pid_t pid;
	long dies_after;
	_Atomic long count;
	_Atomic int dead;
} remote = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned char *memory_of(uint64_t block)
{
	return remote.memory + (size_t)block * ROOM;
}

/* --- The other process ------------------------------------------------------------------------------------- */

static const struct zwhy_provider *erasure; /* ISA-L's, where it is there */
static int (*deflate)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
static int (*inflate)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);

/* A part as plain memory: with its zeros it is copied, where there are any. */
static const unsigned char *plain(const struct zwhy_part *part)
{
	static __thread unsigned char *copy;
	static __thread size_t room;
	const unsigned char *at = memory_of(part->block) + part->offset;
	size_t size = part->size + part->zeros;
	if (part->zeros == 0)
		return at;
	if (size > room) {
		free(copy);
		room = posix_memalign((void **)&copy, ALIGN, size) == 0 ? size : 0;
	}
	if (room < size)
		return NULL;
	memcpy(copy, at, part->size);
	memset(copy + part->size, 0, part->zeros);
	return copy;
}

static int (*lz4_deflate)(const char *, char *, int, int);
static int (*lz4_inflate)(const char *, char *, int, int);

static enum zwhy_result in_lz4(struct call *call)
{
	const char *from = (const char *)memory_of(call->from[0].block) + call->from[0].offset;
	char *to = (char *)memory_of(call->to) + call->before;
	int (*code)(const char *, char *, int, int) = call->verb == COMPRESS ? lz4_deflate : lz4_inflate;
	if (!code)
		return ZWHY_NOT_IMPLEMENTED;
	int made = code(from, to, (int)call->from[0].size, (int)call->room);
	call->made = made > 0 ? (size_t)made : 0;
	return call->verb == COMPRESS || made > 0 ? ZWHY_OK : ZWHY_BAD_RESULT;
}

static enum zwhy_result checksum(struct call *call)
{
	uint64_t *sum = call->words;
	size_t size = call->from[0].size + call->from[0].zeros;
	const unsigned char *from = plain(call->from);
	if (call->kind != ZWHY_FLETCHER4)
		return ZWHY_NOT_SUPPORTED;
	if (!from)
		return ZWHY_ERROR;
	memset(sum, 0, sizeof(call->words));
	for (size_t at = 0; at + sizeof(uint32_t) <= size; at += sizeof(uint32_t)) {
		uint32_t word;
		memcpy(&word, from + at, sizeof(word));
		sum[0] += word;
		sum[1] += sum[0];
		sum[2] += sum[1];
		sum[3] += sum[2];
	}
	return ZWHY_OK;
}

/* The lab's file is opened once more, by the lab's number of it. */
static enum zwhy_result file_write(const struct call *call)
{
	char path[64];
	size_t size = call->from[0].size + call->from[0].zeros;
	const unsigned char *from = plain(call->from);
	void *aligned = NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), call->file);
	int file = from ? open(path, O_WRONLY | call->flags) : -1;
	if (file < 0)
		return ZWHY_NOT_SUPPORTED;
	/* Columns begin at sectors, and direct writes at pages. */
	if ((uintptr_t)from % ALIGN != 0 && posix_memalign(&aligned, ALIGN, size) == 0)
		from = memcpy(aligned, from, size);
	ssize_t put = pwrite(file, from, size, call->offset);
	close(file);
	free(aligned);
	return put == (ssize_t)size ? ZWHY_OK : ZWHY_BAD_RESULT;
}

/* ISA-L wants columns of one size; short ones are copied behind the result. */
static enum zwhy_result generate(struct call *call)
{
	unsigned char *columns[MAX_COLUMNS], *to = memory_of(call->to);
	unsigned char *copy = to + (size_t)call->parity * call->size;
	for (int i = 0; i < call->parity; i++)
		columns[i] = to + (size_t)i * call->size;
	for (int i = 0; i < call->columns - call->parity; i++) {
		const struct zwhy_part *part = &call->from[i];
		columns[call->parity + i] = memory_of(part->block) + part->offset;
		if (part->size == call->size)
			continue;
		memcpy(copy, columns[call->parity + i], part->size);
		memset(copy + part->size, 0, call->size - part->size);
		columns[call->parity + i] = copy;
		copy += call->size;
	}
	struct zwhy_row row = { call->parity, call->columns - call->parity, call->size, columns };
	return erasure ? erasure->raidz_gen(&row) : ZWHY_NOT_IMPLEMENTED;
}

/* All columns are in one block, one after the other. */
static enum zwhy_result reconstruct(struct call *call)
{
	unsigned char *columns[MAX_COLUMNS];
	for (int i = 0; i < call->columns; i++)
		columns[i] = memory_of(call->to) + (size_t)i * call->size;
	struct zwhy_row row = { call->parity, call->columns - call->parity, call->size, columns };
	return erasure ? erasure->raidz_rec(&row, call->lost, call->losts, call->valid) : ZWHY_NOT_IMPLEMENTED;
}

static enum zwhy_result work(struct call *call)
{
	unsigned long made = call->room;
	const unsigned char *from;
	int zlib, codes = call->verb == COMPRESS || call->verb == DECOMPRESS;
	if (codes && call->codec == ZWHY_LZ4)
		return in_lz4(call);
	if (codes && call->codec == ZWHY_ZSTD)
		return offload_zstd_code(call->verb, memory_of(call->to) + call->before, call->room,
		    memory_of(call->from[0].block) + call->from[0].offset, call->from[0].size, call->level, &call->made);
	switch (call->verb) {
	case COMPRESS:
		from = plain(call->from);
		zlib = deflate(memory_of(call->to), &made, from, call->from[0].size, call->level);
		call->made = zlib == ZLIB_OK ? made : 0;
		return ZWHY_OK;
	case DECOMPRESS:
		/* zlib does not mind the zeros behind its data, and does not need them. */
		from = memory_of(call->from[0].block) + call->from[0].offset;
		zlib = inflate(memory_of(call->to), &made, from, call->from[0].size);
		call->made = zlib == ZLIB_OK ? made : 0;
		return zlib == ZLIB_OK ? ZWHY_OK : ZWHY_BAD_RESULT;
	case CHECKSUM:
		return checksum(call);
	case RAIDZ_GEN:
		return generate(call);
	case RAIDZ_REC:
		return reconstruct(call);
	case FILE_WRITE:
		return file_write(call);
	default:
		return ZWHY_NOT_IMPLEMENTED;
	}
}

static void *serve(void *slot)
{
	struct call *call = slot;
	for (;;) {
		while (sem_wait(&call->asked) != 0)
			;
		call->result = work(call);
		sem_post(&call->answered);
	}
	return NULL;
}

/* Never returns. It holds nothing of the lab's open, and dies with it. */
static void be_the_provider(pid_t lab)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "lab-provider");
	if (getppid() != lab || syscall(SYS_close_range, 0U, ~0U, 0U) != 0)
		_exit(1);
	for (int i = 1; i < SLOTS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, serve, &remote.calls[i]) != 0)
			_exit(1);
	}
	serve(&remote.calls[0]);
}

/* --- The lab ----------------------------------------------------------------------------------------------- */

static int is_dead(void)
{
	int status;
	if (!remote.dead && waitpid(remote.pid, &status, WNOHANG) != 0)
		remote.dead = 1;
	return remote.dead;
}

/* 0 when the other process is gone. */
static int wait_for(sem_t *semaphore)
{
	for (;;) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_UP_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (sem_timedwait(semaphore, &until) == 0)
			return 1;
		if (errno == ETIMEDOUT && is_dead())
			return 0;
	}
}

static enum zwhy_result refused(void)
{
	return is_dead() ? ZWHY_PROVIDER_UNREGISTERED : ZWHY_NOT_SUPPORTED;
}

/* The link is the lab's copy into the device's memory; nothing of the other process is needed for that but its life. */
static enum zwhy_result take(size_t size, uint64_t *block)
{
	if (size > ROOM || is_dead())
		return refused();
	pthread_mutex_lock(&remote.lock);
	int some = remote.unused_count > 0;
	if (some)
		*block = remote.unused[--remote.unused_count];
	pthread_mutex_unlock(&remote.lock);
	return some ? ZWHY_OK : ZWHY_NOT_SUPPORTED;
}

static void drop(uint64_t block)
{
	pthread_mutex_lock(&remote.lock);
	remote.unused[remote.unused_count++] = block;
	pthread_mutex_unlock(&remote.lock);
}

static enum zwhy_result put(const void *from, size_t size, uint64_t *block)
{
	enum zwhy_result result = take(size, block);
	if (result == ZWHY_OK)
		memcpy(memory_of(*block), from, size);
	return result;
}

static enum zwhy_result get(uint64_t block, size_t offset, void *to, size_t size)
{
	if (is_dead())
		return ZWHY_PROVIDER_UNREGISTERED;
	memcpy(to, memory_of(block) + offset, size);
	return ZWHY_OK;
}

static struct call *begin(enum verb verb)
{
	if (!wait_for(&remote.free))
		return NULL;
	pthread_mutex_lock(&remote.lock);
	int slot = 0;
	while (remote.used[slot])
		slot++;
	remote.used[slot] = 1;
	pthread_mutex_unlock(&remote.lock);
	struct call *call = &remote.calls[slot];
	call->verb = verb;
	return call;
}

/* A slot whose call was lost is not used again: nobody answers there any more. */
static enum zwhy_result answer(struct call *call)
{
	sem_post(&call->asked);
	if (remote.dies_after && ++remote.count == remote.dies_after)
		kill(remote.pid, SIGKILL);
	return wait_for(&call->answered) ? call->result : ZWHY_PROVIDER_UNREGISTERED;
}

static void end(struct call *call)
{
	pthread_mutex_lock(&remote.lock);
	remote.used[call - remote.calls] = 0;
	pthread_mutex_unlock(&remote.lock);
	sem_post(&remote.free);
}

/* --- Verbs ------------------------------------------------------------------------------------------------------ */

/* Fills a block of the device with what the call makes; without a result there is no block. */
static enum zwhy_result code(const struct call *asked, size_t room, uint64_t *block, size_t *size)
{
	enum zwhy_result result = take(room + asked->before, block);
	if (result != ZWHY_OK)
		return result;
	struct call *call = begin(asked->verb);
	if (call) {
		call->codec = asked->codec;
		call->level = asked->level;
		call->before = asked->before;
		call->from[0] = asked->from[0];
		call->to = *block;
		call->room = room;
	}
	result = call ? answer(call) : ZWHY_PROVIDER_UNREGISTERED;
	*size = result == ZWHY_OK ? call->made : 0;
	if (*size == 0)
		drop(*block);
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result remote_compress(enum zwhy_codec codec, int level, const struct zwhy_part *from, size_t before,
    size_t room, uint64_t *block, size_t *size)
{
	return code(&(struct call){ .verb = COMPRESS, .codec = codec, .level = level, .before = before, .from = { *from } },
	    room, block, size);
}

static enum zwhy_result remote_decompress(enum zwhy_codec codec, const struct zwhy_part *from, size_t room,
    uint64_t *block, size_t *size)
{
	return code(&(struct call){ .verb = DECOMPRESS, .codec = codec, .from = { *from } }, room, block, size);
}

static enum zwhy_result patch(uint64_t block, size_t offset, const void *from, size_t size)
{
	if (is_dead())
		return ZWHY_PROVIDER_UNREGISTERED;
	memcpy(memory_of(block) + offset, from, size);
	return ZWHY_OK;
}

static enum zwhy_result remote_checksum(enum zwhy_checksum kind, uint64_t words[4], const struct zwhy_part *from)
{
	struct call *call = begin(CHECKSUM);
	if (!call)
		return ZWHY_PROVIDER_UNREGISTERED;
	call->kind = kind;
	call->from[0] = *from;
	enum zwhy_result result = answer(call);
	if (result == ZWHY_OK)
		memcpy(words, call->words, sizeof(call->words));
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result remote_file_write(int file, const struct zwhy_part *from, int64_t offset)
{
	struct call *call = begin(FILE_WRITE);
	if (!call)
		return ZWHY_PROVIDER_UNREGISTERED;
	call->file = file;
	call->flags = fcntl(file, F_GETFL) & O_DIRECT;
	call->offset = offset;
	call->from[0] = *from;
	enum zwhy_result result = answer(call);
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

/* Parity, and room behind it for short columns. */
static enum zwhy_result remote_generate(const struct zwhy_block_row *row, uint64_t *block)
{
	enum zwhy_result result = take(row->size * (size_t)(row->parity + row->data), block);
	if (result != ZWHY_OK)
		return result;
	struct call *call = begin(RAIDZ_GEN);
	if (call) {
		call->parity = row->parity;
		call->columns = row->parity + row->data;
		call->size = row->size;
		call->to = *block;
		memcpy(call->from, row->columns, sizeof(*row->columns) * (size_t)row->data);
	}
	result = call ? answer(call) : ZWHY_PROVIDER_UNREGISTERED;
	if (result != ZWHY_OK)
		drop(*block);
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

/* What is read from disks for it is nowhere else in the provider, and the block goes on as a whole: columns go in and out. */
static enum zwhy_result remote_reconstruct(const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	int columns = row->parity + row->data;
	uint64_t block;
	enum zwhy_result result = take(row->size * (size_t)columns, &block);
	if (result != ZWHY_OK)
		return result;
	unsigned char *memory = memory_of(block);
	for (int i = 0; i < columns; i++)
		memcpy(memory + (size_t)i * row->size, row->columns[i], row->size);
	struct call *call = begin(RAIDZ_REC);
	if (call) {
		call->parity = row->parity;
		call->columns = columns;
		call->size = row->size;
		call->losts = losts;
		call->to = block;
		memcpy(call->lost, lost, sizeof(int) * (size_t)losts);
		memcpy(call->valid, valid, sizeof(int) * (size_t)row->parity);
	}
	result = call ? answer(call) : ZWHY_PROVIDER_UNREGISTERED;
	for (int i = 0; i < losts && result == ZWHY_OK; i++)
		memcpy(row->columns[lost[i]], memory + (size_t)lost[i] * row->size, row->size);
	drop(block);
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static const struct zwhy_provider provider = {
	.version = ZWHY_OFFLOAD_VERSION,
	.name = "remote",
	.raidz_rec = remote_reconstruct,
	.put = put,
	.get = get,
	.drop = drop,
	.patch = patch,
	.compress_block = remote_compress,
	.decompress_block = remote_decompress,
	.checksum_block = remote_checksum,
	.raidz_gen_block = remote_generate,
	.file_write_block = remote_file_write,
};

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Called before OpenZFS has threads, so that the copy of this process is whole. */
const struct zwhy_provider *offload_remote(long dies_after, const char **why)
{
	void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	*why = "no memory can be shared with the provider";
	remote.calls = shared(sizeof(struct call) * SLOTS);
	remote.memory = shared(ROOM * BLOCKS);
	if (!library || !remote.calls || !remote.memory || sem_init(&remote.free, 0, SLOTS) != 0)
		return NULL;
	for (int i = 0; i < SLOTS; i++)
		if (sem_init(&remote.calls[i].asked, 1, 0) != 0 || sem_init(&remote.calls[i].answered, 1, 0) != 0)
			return NULL;
	for (int i = 0; i < BLOCKS; i++)
		remote.unused[remote.unused_count++] = (uint64_t)(BLOCKS - 1 - i);
	deflate = (int (*)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int))dlsym(library,
	    "compress2");
	inflate = (int (*)(unsigned char *, unsigned long *, const unsigned char *, unsigned long))dlsym(library,
	    "uncompress");
	lz4_deflate = offload_lz4_library("LZ4_compress_default");
	lz4_inflate = offload_lz4_library("LZ4_decompress_safe");
	offload_zstd_open();
	const char *unused;
	erasure = offload_isal(&unused);
	remote.dies_after = dies_after;
	pid_t lab = getpid();
	remote.pid = fork();
	if (remote.pid == 0)
		be_the_provider(lab);
	*why = "the process of the provider cannot be started";
	return remote.pid > 0 ? &provider : NULL;
}

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

/* A block has at most 16 MiB; its row of RAID-Z has the parity, and rounding, on top. */
enum { SLOTS = 8, ROOM = 40 << 20, ZLIB_OK = 0, LOOK_UP_NS = 2000000 };

/* One call: what is asked, and the answer. Padded to whole pages by mmap. */
struct call {
	sem_t asked, answered;
	enum verb verb;
	int level, parity, columns, losts, lost[MAX_PARITY], valid[MAX_PARITY];
	enum zwhy_checksum kind;
	int file, flags; /* of the lab, and how it is open there */
	int64_t offset;
	size_t size, room, made;
	uint64_t words[4];
	enum zwhy_result result;
	/* Shared: what goes there, and what comes back. A row is one after the other in `in`, and stays there. */
	unsigned char *in, *out;
};

static struct {
	struct call *calls; /* shared */
	sem_t free;         /* slots that nobody uses */
	pthread_mutex_t lock;
	int used[SLOTS];
	pid_t pid;
	long dies_after;
	_Atomic long count;
	_Atomic int dead;
} remote = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- The other process ------------------------------------------------------------------------------------- */

static const struct zwhy_provider *erasure; /* ISA-L's, where it is there */
static int (*deflate)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
static int (*inflate)(unsigned char *, unsigned long *, const unsigned char *, unsigned long);

static enum zwhy_result checksum(struct call *call)
{
	uint64_t *sum = call->words;
	if (call->kind != ZWHY_FLETCHER4)
		return ZWHY_NOT_SUPPORTED;
	memset(sum, 0, sizeof(call->words));
	for (size_t at = 0; at + sizeof(uint32_t) <= call->size; at += sizeof(uint32_t)) {
		uint32_t word;
		memcpy(&word, call->in + at, sizeof(word));
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
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), call->file);
	int file = open(path, O_WRONLY | call->flags);
	if (file < 0)
		return ZWHY_NOT_SUPPORTED;
	ssize_t put = pwrite(file, call->in, call->size, call->offset);
	close(file);
	return put == (ssize_t)call->size ? ZWHY_OK : ZWHY_BAD_RESULT;
}

static enum zwhy_result work(struct call *call)
{
	unsigned char *columns[MAX_COLUMNS];
	unsigned long made = call->room;
	int zlib;
	switch (call->verb) {
	case COMPRESS:
		zlib = deflate(call->out, &made, call->in, call->size, call->level);
		call->made = zlib == ZLIB_OK ? made : 0;
		return ZWHY_OK;
	case DECOMPRESS:
		zlib = inflate(call->out, &made, call->in, call->size);
		call->made = zlib == ZLIB_OK ? made : 0;
		return zlib == ZLIB_OK ? ZWHY_OK : ZWHY_BAD_RESULT;
	case CHECKSUM:
		return checksum(call);
	case FILE_WRITE:
		return file_write(call);
	default:
		break;
	}
	if (!erasure)
		return ZWHY_NOT_IMPLEMENTED;
	for (int i = 0; i < call->columns; i++)
		columns[i] = call->in + (size_t)i * call->size;
	struct zwhy_row row = { call->parity, call->columns - call->parity, call->size, columns };
	return call->verb == RAIDZ_GEN ? erasure->raidz_gen(&row)
				       : erasure->raidz_rec(&row, call->lost, call->losts, call->valid);
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

static struct call *begin(enum verb verb, size_t size, size_t room)
{
	if (size > ROOM || room > ROOM || !wait_for(&remote.free))
		return NULL;
	pthread_mutex_lock(&remote.lock);
	int slot = 0;
	while (remote.used[slot])
		slot++;
	remote.used[slot] = 1;
	pthread_mutex_unlock(&remote.lock);
	struct call *call = &remote.calls[slot];
	call->verb = verb;
	call->size = size;
	call->room = room;
	return call;
}

static void end(struct call *call)
{
	pthread_mutex_lock(&remote.lock);
	remote.used[call - remote.calls] = 0;
	pthread_mutex_unlock(&remote.lock);
	sem_post(&remote.free);
}

/* A slot whose call was lost is not used again: nobody answers there any more. */
static enum zwhy_result answer(struct call *call)
{
	sem_post(&call->asked);
	if (remote.dies_after && ++remote.count == remote.dies_after)
		kill(remote.pid, SIGKILL);
	return wait_for(&call->answered) ? call->result : ZWHY_PROVIDER_UNREGISTERED;
}

static enum zwhy_result bytes(enum verb verb, void *to, size_t *to_size, const void *from, size_t size, int level)
{
	struct call *call = begin(verb, size, *to_size);
	if (!call)
		return remote.dead ? ZWHY_PROVIDER_UNREGISTERED : ZWHY_NOT_SUPPORTED;
	call->level = level;
	memcpy(call->in, from, size);
	enum zwhy_result result = answer(call);
	if (result == ZWHY_OK) {
		*to_size = call->made;
		memcpy(to, call->out, call->made);
	}
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result remote_compress(void *to, size_t *to_size, const void *from, size_t size, int level)
{
	return bytes(COMPRESS, to, to_size, from, size, level);
}

static enum zwhy_result remote_decompress(void *to, size_t *to_size, const void *from, size_t size)
{
	return bytes(DECOMPRESS, to, to_size, from, size, 0);
}

static enum zwhy_result remote_checksum(enum zwhy_checksum kind, uint64_t words[4], const void *from, size_t size)
{
	struct call *call = begin(CHECKSUM, size, 0);
	if (!call)
		return remote.dead ? ZWHY_PROVIDER_UNREGISTERED : ZWHY_NOT_SUPPORTED;
	call->kind = kind;
	memcpy(call->in, from, size);
	enum zwhy_result result = answer(call);
	if (result == ZWHY_OK)
		memcpy(words, call->words, sizeof(call->words));
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result remote_file_write(int file, const void *from, size_t size, int64_t offset)
{
	struct call *call = begin(FILE_WRITE, size, 0);
	if (!call)
		return remote.dead ? ZWHY_PROVIDER_UNREGISTERED : ZWHY_NOT_SUPPORTED;
	call->file = file;
	call->flags = fcntl(file, F_GETFL) & O_DIRECT;
	call->offset = offset;
	memcpy(call->in, from, size);
	enum zwhy_result result = answer(call);
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result of_row(enum verb verb, const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	int columns = row->parity + row->data;
	struct call *call = row->size * (size_t)columns <= ROOM ? begin(verb, row->size, 0) : NULL;
	if (!call)
		return remote.dead ? ZWHY_PROVIDER_UNREGISTERED : ZWHY_NOT_SUPPORTED;
	call->parity = row->parity;
	call->columns = columns;
	call->losts = losts;
	if (verb == RAIDZ_REC) {
		memcpy(call->lost, lost, sizeof(int) * (size_t)losts);
		memcpy(call->valid, valid, sizeof(int) * (size_t)row->parity);
	}
	for (int i = verb == RAIDZ_GEN ? row->parity : 0; i < columns; i++)
		memcpy(call->in + (size_t)i * row->size, row->columns[i], row->size);
	enum zwhy_result result = answer(call);
	if (result == ZWHY_OK)
		for (int i = 0; i < (verb == RAIDZ_GEN ? row->parity : losts); i++) {
			int column = verb == RAIDZ_GEN ? i : lost[i];
			memcpy(row->columns[column], call->in + (size_t)column * row->size, row->size);
		}
	if (result != ZWHY_PROVIDER_UNREGISTERED)
		end(call);
	return result;
}

static enum zwhy_result remote_generate(const struct zwhy_row *row)
{
	return of_row(RAIDZ_GEN, row, NULL, 0, NULL);
}

static enum zwhy_result remote_reconstruct(const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	return of_row(RAIDZ_REC, row, lost, losts, valid);
}

static const struct zwhy_provider provider = {
	.version = ZWHY_OFFLOAD_VERSION,
	.name = "remote",
	.compress = remote_compress,
	.decompress = remote_decompress,
	.checksum = remote_checksum,
	.raidz_gen = remote_generate,
	.raidz_rec = remote_reconstruct,
	.file_write = remote_file_write,
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
	unsigned char *data = shared((size_t)ROOM * 2 * SLOTS);
	if (!library || !remote.calls || !data || sem_init(&remote.free, 0, SLOTS) != 0)
		return NULL;
	for (int i = 0; i < SLOTS; i++) {
		struct call *call = &remote.calls[i];
		call->in = data + (size_t)ROOM * 2 * (size_t)i;
		call->out = call->in + ROOM;
		if (sem_init(&call->asked, 1, 0) != 0 || sem_init(&call->answered, 1, 0) != 0)
			return NULL;
	}
	deflate = (int (*)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int))dlsym(library,
	    "compress2");
	inflate = (int (*)(unsigned char *, unsigned long *, const unsigned char *, unsigned long))dlsym(library,
	    "uncompress");
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

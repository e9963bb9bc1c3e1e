/*
 * Whole pages of memory, from lists of free ones.
 *
 * OpenZFS keeps data in pages of 4 KiB and buffers of whole pages. A kernel takes them from lists of each CPU and
 * sees all of its memory through large pages. In user space each is a posix_memalign(), which searches, splits and
 * joins under one lock of the heap: seen in cold reads as a fifth of all CPU, most of it threads that wake each
 * other. Here they come from a range of addresses of their own. A block keeps its length for ever, and waits in a
 * list of its length; single pages also in a short list of each thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum { PAGE = 4096, LONGEST = 4096 /* pages: the largest block of OpenZFS */, LARGE = 2 << 20 };
enum { KEPT = 64 /* pages of a thread */, MOVED = 32 /* from and to all threads at once */ };

/* glibc's own, which free() and the others below stand before. */
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static struct {
	char *start;
	size_t size; /* 0: all memory is glibc's */
	/*
	 * By numbers of pages, from 1. Beside the pages and not in them: what waits in a list is in no cache, and is
	 * not needed there.
	 */
	uint16_t *pages; /* of the block that begins here */
	uint32_t *next;  /* free block of the same length; 0: none */
	uint32_t free[LONGEST + 1];
	uint32_t fresh, end; /* blocks begin below `fresh`, pages end at `end` */
	pthread_mutex_t lock;
	pthread_key_t thread;
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread __attribute__((tls_model("initial-exec"))) struct {
	int known; /* what it keeps is given back when the thread ends */
	unsigned count;
	uint32_t page[KEPT];
} kept;

/* With the lock held; 0 when the range is used up. */
static uint32_t take(uint32_t pages)
{
	uint32_t block = memory.free[pages];
	if (block) {
		memory.free[pages] = memory.next[block];
		return block;
	}
	if (memory.end - memory.fresh < pages)
		return 0;
	block = memory.fresh;
	memory.pages[block] = (uint16_t)pages;
	memory.fresh += pages;
	return block;
}

static void put(uint32_t block)
{
	uint32_t *list = &memory.free[memory.pages[block]];
	memory.next[block] = *list;
	*list = block;
}

/* Gives pages of this thread back until so many are left. */
static void keep_only(unsigned count)
{
	pthread_mutex_lock(&memory.lock);
	while (kept.count > count)
		put(kept.page[--kept.count]);
	pthread_mutex_unlock(&memory.lock);
}

static void thread_ends(void *unused)
{
	(void)unused;
	kept.known = 0;
	keep_only(0);
}

static void know_thread(void)
{
	if (!kept.known)
		kept.known = pthread_setspecific(memory.thread, &kept) == 0;
}

static uint32_t single(void)
{
	if (kept.count == 0) {
		know_thread();
		pthread_mutex_lock(&memory.lock);
		for (uint32_t block; kept.count < MOVED && (block = take(1));)
			kept.page[kept.count++] = block;
		pthread_mutex_unlock(&memory.lock);
	}
	return kept.count > 0 ? kept.page[--kept.count] : 0;
}

static uint32_t several(uint32_t pages)
{
	pthread_mutex_lock(&memory.lock);
	uint32_t block = take(pages);
	pthread_mutex_unlock(&memory.lock);
	return block;
}

/* Whether the block is one of this file. */
static int own(const void *block)
{
	return (uintptr_t)block - (uintptr_t)memory.start < memory.size;
}

static uint32_t number(const void *block)
{
	return (uint32_t)(((const char *)block - memory.start) / PAGE) + 1;
}

static void give_back(void *address)
{
	uint32_t block = number(address);
	if (memory.pages[block] == 1) {
		know_thread();
		/* A thread that cannot be known would take its pages along. */
		if (kept.count == KEPT || !kept.known)
			keep_only(kept.known ? KEPT - MOVED : 0);
		kept.page[kept.count++] = block;
		return;
	}
	pthread_mutex_lock(&memory.lock);
	put(block);
	pthread_mutex_unlock(&memory.lock);
}

static void *addresses(size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	return mapped == MAP_FAILED ? NULL : mapped;
}

/*
 * Sets `size` bytes of addresses aside and touches the first `touch` of them. 1 when that worked; else memory stays
 * glibc's.
 */
EXPORT int zwhy_shim_pages(size_t size, size_t touch)
{
	size_t pages = size / PAGE;
	if (memory.size || pages >= UINT32_MAX || pthread_key_create(&memory.thread, thread_ends) != 0)
		return 0;
	char *range = addresses(size + LARGE);
	memory.pages = addresses((pages + 1) * sizeof(*memory.pages));
	memory.next = addresses((pages + 1) * sizeof(*memory.next));
	/* What could be had of these three is addresses only. */
	if (!range || !memory.pages || !memory.next)
		return 0;
	memory.start = range + (LARGE - (uintptr_t)range % LARGE) % LARGE;
	/* Refused by kernels without large pages, which is no harm. */
	madvise(memory.start, size, MADV_HUGEPAGE);
	for (size_t at = 0; at < touch && at < size; at += PAGE)
		((volatile char *)memory.start)[at] = 0;
	memory.fresh = 1;
	memory.end = (uint32_t)pages + 1;
	memory.size = size;
	return 1;
}

EXPORT int posix_memalign(void **to, size_t align, size_t size)
{
	size_t pages = (size + PAGE - 1) / PAGE;
	uint32_t block = 0;
	if (align == 0 || align % sizeof(void *) || align & (align - 1))
		return EINVAL;
	if (memory.size && align <= PAGE && size >= PAGE && pages <= LONGEST)
		block = pages == 1 ? single() : several((uint32_t)pages);
	if (block) {
		*to = memory.start + (size_t)(block - 1) * PAGE;
		return 0;
	}
	int error = errno;
	void *other = __libc_memalign(align, size);
	errno = error;
	if (other)
		*to = other;
	return other ? 0 : ENOMEM;
}

EXPORT void free(void *block)
{
	if (own(block))
		give_back(block);
	else
		__libc_free(block);
}

EXPORT void *realloc(void *block, size_t size)
{
	if (!own(block))
		return __libc_realloc(block, size);
	size_t had = (size_t)memory.pages[number(block)] * PAGE;
	void *moved = __libc_malloc(size);
	if (moved) {
		memcpy(moved, block, size < had ? size : had);
		give_back(block);
	}
	return moved;
}

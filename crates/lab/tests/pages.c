/* Threads that take, fill, look at, grow and give back blocks of many lengths: each keeps what was written to it. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int zwhy_shim_pages(size_t size, size_t touch);

enum { BLOCKS = 200, ROUNDS = 60000, THREADS = 8 };

static void expect(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s\n", what);
		exit(1);
	}
}

static void look(const char *block, size_t size, char byte)
{
	for (size_t at = 0; at < size; at += 4096)
		expect(block[at] == byte, "another block was written here");
}

static void *work(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	char byte = (char)seed;
	void *block[BLOCKS] = { 0 };
	size_t size[BLOCKS];
	for (int round = 0; round < ROUNDS; round++) {
		int at = rand_r(&seed) % BLOCKS;
		if (!block[at]) {
			size[at] = 4096 * (rand_r(&seed) % 3 ? 1 : 1 + rand_r(&seed) % 40);
			expect(posix_memalign(&block[at], 4096, size[at]) == 0, "no memory");
			expect((uintptr_t)block[at] % 4096 == 0, "not at a page");
			memset(block[at], byte, size[at]);
			continue;
		}
		look(block[at], size[at], byte);
		if (rand_r(&seed) % 50 == 0) {
			block[at] = realloc(block[at], size[at] + 5000);
			look(block[at], size[at], byte);
		}
		free(block[at]);
		block[at] = NULL;
	}
	for (int at = 0; at < BLOCKS; at++)
		free(block[at]);
	return NULL;
}

int main(void)
{
	expect(zwhy_shim_pages((size_t)256 << 20, 16 << 20), "no addresses");
	for (int turn = 0; turn < 3; turn++) {
		pthread_t thread[THREADS];
		for (uintptr_t i = 0; i < THREADS; i++)
			expect(pthread_create(&thread[i], NULL, work, (void *)(i + 1)) == 0, "no thread");
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	/* What is given back serves again, also by threads that have ended: all of this is more than the range. */
	void *last = NULL, *first = NULL;
	expect(posix_memalign(&first, 4096, 64 << 10) == 0, "no memory");
	free(first);
	for (int i = 0; i < 20000; i++) {
		expect(posix_memalign(&last, 4096, 64 << 10) == 0 && last == first, "not the block that is free");
		free(last);
	}
	/* Beyond the range, and what is no page, is glibc's. */
	void *large[5];
	for (int i = 0; i < 40; i++) {
		expect(posix_memalign(&large[i % 5], 4096, 16 << 20) == 0, "no memory beyond the range");
		memset(large[i % 5], i, 16 << 20);
		if (i >= 35)
			continue;
		if (i % 5 == 4)
			for (int j = 0; j < 5; j++)
				free(large[j]);
	}
	for (int j = 0; j < 5; j++)
		free(large[j]);
	expect(posix_memalign(&last, 3, 8) == EINVAL && posix_memalign(&last, 64, 100) == 0, "alignments");
	free(last);
	free(NULL);
	return 0;
}

/*
 * Compressors that keep something in front of what providers make (struct offload_compressor): what their functions in
 * libzpool take is brought into one piece, and the head is put there and read.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"

enum { LENGTH = sizeof(uint32_t), FITS = 0, FITS_NOT = -5 };

void offload_put_head(const struct offload_compressor *with, unsigned char *to, size_t size, int own_level)
{
	uint32_t length = htonl((uint32_t)size);
	memcpy(to, &length, sizeof(length));
	if (with->put_rest)
		with->put_rest(to, own_level);
}

static size_t length_of(const unsigned char *from)
{
	uint32_t length;
	memcpy(&length, from, sizeof(length));
	return ntohl(length);
}

/* OpenZFS says that a block does not fit by the size of the source. */
static void compress_in_software(struct offload_job *job)
{
	const struct offload_compressor *with = job->compressor;
	size_t made = with->compress(job->source, job->target, job->size, job->room + with->head, job->own_level);
	job->zlib = made < job->size ? FITS : FITS_NOT;
	job->made = made < job->size ? made - with->head : 0;
}

static void decompress_in_software(struct offload_job *job)
{
	const struct offload_compressor *with = job->compressor;
	job->zlib = with->decompress(job->source, job->target, job->size + with->head, job->room, job->own_level);
	job->made = job->room;
}

static int level_of(const struct offload_compressor *with, int own)
{
	return with->level ? with->level(own) : own;
}

/* `source` and `target`: what OpenZFS's own function takes; `from` and `to`: the same in one piece. */
static size_t compress(const struct offload_compressor *with, void *source, void *target, const void *from, unsigned char *to,
    size_t size, size_t room, int level)
{
	struct offload_job job = { .verb = COMPRESS, .codec = with->codec, .compressor = with, .to = to + with->head,
		.before = with->head, .room = room - with->head, .from = from, .size = size, .level = level_of(with, level),
		.own_level = level, .software = compress_in_software, .source = source, .target = target };
	offload_code(&job);
	if (job.zlib != FITS)
		return size;
	/* A block that stays in the provider has it there. */
	offload_put_head(with, to, job.made, level);
	return job.made + with->head;
}

static int decompress(const struct offload_compressor *with, void *source, void *target, const unsigned char *from, void *to,
    size_t size, size_t room, int level)
{
	size_t length = length_of(from);
	if (length + with->head > size)
		return 1;
	struct offload_job job = { .verb = DECOMPRESS, .codec = with->codec, .compressor = with, .to = to, .room = room,
		.from = from + with->head, .size = length, .own_level = level, .software = decompress_in_software,
		.source = source, .target = target };
	offload_code(&job);
	return job.zlib != FITS;
}

/* A block in one piece: where it lies, or a copy; to be freed where it is one. NULL: no memory. */
static unsigned char *in_one_piece(void *abd, size_t size, void **copy)
{
	struct offload_pieces pieces = offload_pieces(abd, size);
	if (!pieces.scattered)
		return (unsigned char *)pieces.at;
	*copy = malloc(size);
	if (*copy)
		offload_to_buffer(*copy, abd, 0, size);
	return *copy;
}

size_t offload_compress(const struct offload_compressor *with, void *source, void *target, size_t size, size_t room,
    int level)
{
	if (!with->abds)
		return compress(with, source, target, source, target, size, room, level);
	void *copy = NULL;
	struct offload_pieces to = offload_pieces(target, room);
	unsigned char *from = to.scattered ? NULL : in_one_piece(source, size, &copy);
	/* Of a copy nothing could be made again. OpenZFS has what it writes in one piece. */
	size_t made = from && !copy ? compress(with, source, target, from, (unsigned char *)to.at, size, room, level)
				    : with->compress(source, target, size, room, level);
	free(copy);
	return made;
}

int offload_decompress(const struct offload_compressor *with, void *source, void *target, size_t size, size_t room,
    int level)
{
	if (!with->abds)
		return decompress(with, source, target, source, target, size, room, level);
	void *copy = NULL;
	struct offload_pieces to = offload_pieces(target, room);
	unsigned char *from = to.scattered ? NULL : in_one_piece(source, size, &copy);
	int error = from ? decompress(with, source, target, from, (unsigned char *)to.at, size, room, level)
			 : with->decompress(source, target, size, room, level);
	if (copy)
		offload_host_frees(copy, size);
	free(copy);
	return error;
}

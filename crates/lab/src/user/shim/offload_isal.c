/*
 * The provider `isal`: igzip and the erasure code of ISA-L (github.com/intel/isa-l), opened when it is asked for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "offload.h"

/* The public fields of struct isal_zstream (igzip_lib.h, the same from 2.20 on); what follows is the library's. */
struct isal_stream {
	const unsigned char *next_in;
	uint32_t avail_in, total_in;
	unsigned char *next_out;
	uint32_t avail_out, total_out;
	void *tables;
	uint32_t level, level_size;
	unsigned char *level_memory;
	uint16_t end_of_stream, flush, format, history;
};

/* The same of struct inflate_state. */
struct isal_inflate {
	unsigned char *next_out;
	uint32_t avail_out, total_out;
	const unsigned char *next_in;
	uint64_t bits;
	uint32_t avail_in;
};

/* Both structures are below 100 KiB, and the memory of level 1 below 300 KiB. */
enum { ISAL_MEMORY = 1 << 20, ISAL_LEVEL = 1, FORMAT_ZLIB = 3, ZLIB_HEADER = 2, ISAL_OK = 0 };

static struct {
	void (*deflate_init)(struct isal_stream *);
	int (*deflate)(struct isal_stream *);
	void (*inflate_init)(struct isal_inflate *);
	int (*inflate)(struct isal_inflate *);
	/* sources, targets, a coefficient of each for each target, room for 32 bytes of each */
	void (*tables)(int, int, unsigned char *, unsigned char *);
	/* size, sources, targets, tables, the sources, the targets */
	void (*encode)(int, int, int, unsigned char *, unsigned char **, unsigned char **);
	/* in (is destroyed), out, rows */
	int (*invert)(unsigned char *, unsigned char *, int);
	unsigned char (*multiply)(unsigned char, unsigned char);
} isal;

enum { TABLE = 32 };

/* Memory of a thread that lives as long as the process; threads of the pipeline do too. */
static void *of_thread(void **memory)
{
	if (!*memory)
		*memory = calloc(1, ISAL_MEMORY);
	return *memory;
}

static enum zwhy_result compress(void *to, size_t *to_size, const void *from, size_t size, int zlib_level)
{
	static __thread void *state, *level;
	struct isal_stream *stream = of_thread(&state);
	(void)zlib_level;
	if (!stream || !of_thread(&level))
		return ZWHY_ERROR;
	isal.deflate_init(stream);
	stream->level = ISAL_LEVEL;
	stream->level_memory = level;
	stream->level_size = ISAL_MEMORY;
	stream->format = FORMAT_ZLIB;
	stream->end_of_stream = 1;
	stream->next_in = from;
	stream->avail_in = (uint32_t)size;
	stream->next_out = to;
	stream->avail_out = (uint32_t)*to_size;
	/* The only error of right arguments is that the output does not fit. */
	*to_size = isal.deflate(stream) == ISAL_OK ? stream->total_out : 0;
	return ZWHY_OK;
}

static enum zwhy_result decompress(void *to, size_t *to_size, const void *from, size_t size)
{
	static __thread void *memory;
	struct isal_inflate *state = of_thread(&memory);
	if (!state || size < ZLIB_HEADER)
		return ZWHY_ERROR;
	isal.inflate_init(state);
	/* The block's own checksum was verified; zlib's header and Adler-32 are stepped over. */
	state->next_in = (const unsigned char *)from + ZLIB_HEADER;
	state->avail_in = (uint32_t)(size - ZLIB_HEADER);
	state->next_out = to;
	state->avail_out = (uint32_t)*to_size;
	int done = isal.inflate(state);
	*to_size = state->total_out;
	return done == ISAL_OK ? ZWHY_OK : ZWHY_BAD_RESULT;
}

/*
 * Coefficients of the data columns: 1 for P, 2^k for Q, 4^k for R, where k counts from the last column
 * (vdev_raidz.c). Both libraries compute modulo x^8 + x^4 + x^3 + x^2 + 1.
 */
static void coefficients(int data, int parity, unsigned char *matrix)
{
	for (int p = 0; p < parity; p++) {
		unsigned value = 1;
		for (int c = data - 1; c >= 0; c--) {
			matrix[p * data + c] = (unsigned char)value;
			for (int i = 0; i < p; i++)
				value = value & 0x80 ? (value << 1 ^ 0x11d) & 0xff : value << 1;
		}
	}
}

static enum zwhy_result generate(const struct zwhy_row *row)
{
	unsigned char matrix[MAX_PARITY * MAX_COLUMNS], tables[TABLE * MAX_PARITY * MAX_COLUMNS];
	coefficients(row->data, row->parity, matrix);
	isal.tables(row->data, row->parity, matrix, tables);
	isal.encode((int)row->size, row->data, row->parity, tables, row->columns + row->parity, row->columns);
	return ZWHY_OK;
}

static int is_lost(int column, const int *lost, int losts)
{
	for (int i = 0; i < losts; i++)
		if (lost[i] == column)
			return 1;
	return 0;
}

/*
 * With as many valid parity columns as columns are lost, the parities less the part of the columns that are there are so
 * many equations. Their inverse, times the coefficients of what is there, is one linear map from it to the lost columns.
 */
static enum zwhy_result reconstruct(const struct zwhy_row *row, const int *lost, int losts, const int *valid)
{
	unsigned char all[MAX_PARITY * MAX_COLUMNS], square[MAX_PARITY * MAX_PARITY], inverse[MAX_PARITY * MAX_PARITY];
	unsigned char matrix[MAX_PARITY * MAX_COLUMNS], tables[TABLE * MAX_PARITY * MAX_COLUMNS];
	unsigned char *sources[MAX_COLUMNS], *targets[MAX_PARITY];
	int used[MAX_PARITY], count = 0;
	for (int p = 0; p < row->parity && count < losts; p++)
		if (valid[p])
			used[count++] = p;
	if (count < losts)
		return ZWHY_NOT_SUPPORTED;
	coefficients(row->data, row->parity, all);
	for (int i = 0; i < losts; i++)
		for (int j = 0; j < losts; j++)
			square[i * losts + j] = all[used[i] * row->data + lost[j] - row->parity];
	if (isal.invert(square, inverse, losts) != 0)
		return ZWHY_NOT_SUPPORTED;
	/* As many sources as data columns: the used parities stand for the lost ones. */
	for (int i = 0; i < losts; i++) {
		sources[i] = row->columns[used[i]];
		targets[i] = row->columns[lost[i]];
		for (int j = 0; j < losts; j++)
			matrix[j * row->data + i] = inverse[j * losts + i];
	}
	int source = losts;
	for (int c = 0; c < row->data; c++) {
		if (is_lost(row->parity + c, lost, losts))
			continue;
		sources[source] = row->columns[row->parity + c];
		for (int j = 0; j < losts; j++) {
			unsigned char sum = 0;
			for (int i = 0; i < losts; i++)
				sum ^= isal.multiply(inverse[j * losts + i], all[used[i] * row->data + c]);
			matrix[j * row->data + source] = sum;
		}
		source++;
	}
	isal.tables(row->data, losts, matrix, tables);
	isal.encode((int)row->size, row->data, losts, tables, sources, targets);
	return ZWHY_OK;
}

static const struct zwhy_provider provider = {
	.version = ZWHY_OFFLOAD_VERSION,
	.name = "isal",
	.compress = compress,
	.decompress = decompress,
	.raidz_gen = generate,
	.raidz_rec = reconstruct,
};

const struct zwhy_provider *offload_isal(const char **why)
{
	void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
	*why = "libisal.so.2 is missing: apt install libisal2";
	if (!library)
		return NULL;
	isal.deflate_init = (void (*)(struct isal_stream *))dlsym(library, "isal_deflate_stateless_init");
	isal.deflate = (int (*)(struct isal_stream *))dlsym(library, "isal_deflate_stateless");
	isal.inflate_init = (void (*)(struct isal_inflate *))dlsym(library, "isal_inflate_init");
	isal.inflate = (int (*)(struct isal_inflate *))dlsym(library, "isal_inflate_stateless");
	isal.tables = (void (*)(int, int, unsigned char *, unsigned char *))dlsym(library, "ec_init_tables");
	isal.encode = (void (*)(int, int, int, unsigned char *, unsigned char **, unsigned char **))dlsym(library,
	    "ec_encode_data");
	isal.invert = (int (*)(unsigned char *, unsigned char *, int))dlsym(library, "gf_invert_matrix");
	isal.multiply = (unsigned char (*)(unsigned char, unsigned char))dlsym(library, "gf_mul");
	if (isal.deflate_init && isal.deflate && isal.inflate_init && isal.inflate && isal.tables && isal.encode &&
	    isal.invert && isal.multiply)
		return &provider;
	*why = "libisal.so.2 lacks functions of ISA-L 2.20 to 2.31";
	return NULL;
}

/*
 * Measures what a GPU takes for the stages of OpenZFS: `make -C plugins/gpu measure && plugins/gpu/measure > figures.tsv`.
 *
 * Each stage, at blocks of 128 KiB to 16 MiB and batches of 1 to 256 blocks, as tab-separated lines: the transfer in, the
 * kernels, the transfer out, each by the GPU's clock, and end to end by the host's; middle ones of several runs. The
 * first block of each batch is computed by the host too; where it differs, nothing is printed and the exit status is 1.
 * So it is without a GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "kernels.h"
#include "nvcomp/lz4.h"
#include "nvcomp/zstd.h"

enum { RUNS = 5, DATA = 10, PARITY = 3, SECTOR = 512 };
static const size_t LEAST = 128 << 10, MOST = 16 << 20, BATCH = 256;

static void must(cudaError_t error, const char *doing)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "measure: cannot %s: %s\n", doing, cudaGetErrorString(error));
	exit(1);
}

static void must(nvcompStatus_t status, const char *doing)
{
	if (status == nvcompSuccess)
		return;
	fprintf(stderr, "measure: cannot %s: nvCOMP's status %d\n", doing, (int)status);
	exit(1);
}

/* Buffers of one batch; `host` memory is pinned, as transfers are slower from any other. */
struct batch {
	size_t size, count;
	unsigned char *host_in, *host_out, *in, *out;
	size_t out_room;
	cudaStream_t stream;
};

/* A stage: what it runs on the GPU, how much comes back, and whether the host finds the same. */
struct stage {
	const char *name;
	size_t (*out_room)(size_t size);
	void (*run)(struct batch *);
	/* Bytes to bring back, known when it has run. */
	size_t (*made)(struct batch *);
	bool (*is_right)(const struct batch *);
};

/* --- fletcher4 and SHA-256 --------------------------------------------------------------------------------------- */

static size_t sums_room(size_t) { return PARTS * SUMS * sizeof(word); }

static void run_fletcher4(struct batch *b)
{
	size_t words = b->size / sizeof(uint32_t), parts = parts_of(words);
	LAUNCH(sum_parts, parts * b->count, b->stream, (const uint32_t *)b->in, (word *)b->out, words, part_of(words), parts,
	    b->count);
}

static size_t made_fletcher4(struct batch *b)
{
	return parts_of(b->size / sizeof(uint32_t)) * SUMS * sizeof(word) * b->count;
}

static bool is_fletcher4(const struct batch *b)
{
	uint64_t sums[SUMS], own[SUMS] = { 0 };
	join_sums((const word *)b->host_out, b->size / sizeof(uint32_t), sums);
	for (size_t at = 0; at < b->size; at += sizeof(uint32_t)) {
		uint32_t value;
		memcpy(&value, b->host_in + at, sizeof(value));
		own[0] += value;
		for (int i = 1; i < SUMS; i++)
			own[i] += own[i - 1];
	}
	return memcmp(own, sums, sizeof(own)) == 0;
}

static size_t digest_room(size_t) { return DIGEST * sizeof(uint32_t); }

static void run_sha256(struct batch *b)
{
	LAUNCH(sha256, b->count, b->stream, b->in, (uint32_t *)b->out, b->size, b->count);
}

static size_t made_digest(struct batch *b) { return DIGEST * sizeof(uint32_t) * b->count; }

/* The tests without a GPU hold this arithmetic against OpenZFS's own; here two equal blocks must have equal digests. */
static bool is_digest(const struct batch *b)
{
	const unsigned char *last = b->host_out + (b->count - 1) * DIGEST * sizeof(uint32_t);
	return memcmp(b->host_out, last, DIGEST * sizeof(uint32_t)) == 0;
}

/* --- RAID-Z: P, Q and R over ten data columns -------------------------------------------------------------------- */

static struct map parity_map()
{
	struct map map = {};
	map.sources = DATA;
	map.targets = PARITY;
	for (int p = 0; p < PARITY; p++) {
		unsigned factor = 1;
		for (int i = DATA - 1; i >= 0; i--) {
			map.factor[p][i] = (unsigned char)factor;
			for (int twice = 0; twice < p; twice++)
				factor = (factor << 1) ^ (factor & 0x80 ? 0x11d : 0);
		}
	}
	return map;
}

/* Words of a column: what a block has over ten columns, without the rest of the division. */
static size_t column_words(size_t size) { return size / DATA / sizeof(word); }

static size_t parity_room(size_t size) { return column_words(size) * sizeof(word) * PARITY; }

static void run_parity(struct batch *b)
{
	size_t words = column_words(b->size);
	LAUNCH(combine, words * b->count, b->stream, parity_map(), (const word *)b->in, (word *)b->out, words, b->count);
}

static size_t made_parity(struct batch *b) { return parity_room(b->size) * b->count; }

/* Byte by byte, by Horner's rule: each parity is the last one times 1, 2 or 4, plus the next column. */
static bool is_parity(const struct batch *b)
{
	size_t column = column_words(b->size) * sizeof(word);
	for (size_t at = 0; at < column; at++) {
		for (int p = 0; p < PARITY; p++) {
			unsigned sum = 0;
			for (int i = 0; i < DATA; i++) {
				for (int twice = 0; twice < p; twice++)
					sum = ((sum << 1) ^ (sum & 0x80 ? 0x11d : 0)) & 0xff;
				sum ^= b->host_in[(size_t)i * column + at];
			}
			if (b->host_out[(size_t)p * column + at] != sum)
				return false;
		}
	}
	return true;
}

/* --- LZ4 and zstd, by nvCOMP ------------------------------------------------------------------------------------- */

/* Arrays on the GPU that its batched calls want: where each block is, and how long. */
struct codec {
	void **in, **out, **back;
	size_t *in_bytes, *out_bytes, *back_bytes;
	nvcompStatus_t *statuses;
	void *temp;
	size_t temp_bytes, room;
	unsigned char *plain; /* what was decompressed again */
};
static struct codec codec;

template <class T> static T *on_gpu(size_t count)
{
	void *memory = NULL;
	must(cudaMalloc(&memory, count * sizeof(T)), "allocate on the GPU");
	return (T *)memory;
}

template <class T> static void to_gpu(T *to, const std::vector<T> &from)
{
	must(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the GPU");
}

static size_t lz4_room(size_t size)
{
	size_t room = 0;
	must(nvcompBatchedLZ4CompressGetMaxOutputChunkSize(size, nvcompBatchedLZ4CompressDefaultOpts, &room), "ask for room");
	return (room + 15) / 16 * 16;
}

static size_t zstd_room(size_t size)
{
	size_t room = 0;
	must(nvcompBatchedZstdCompressGetMaxOutputChunkSize(size, nvcompBatchedZstdCompressDefaultOpts, &room), "ask for room");
	return (room + 15) / 16 * 16;
}

/* Room for both directions. */
static size_t temp_bytes(bool lz4, size_t size, size_t count)
{
	size_t there = 0, back = 0;
	if (lz4) {
		must(nvcompBatchedLZ4CompressGetTempSize(count, size, nvcompBatchedLZ4CompressDefaultOpts, &there,
			 size * count, 0), "ask for room");
		must(nvcompBatchedLZ4DecompressGetTempSize(count, size, nvcompBatchedLZ4DecompressDefaultOpts, &back,
			 size * count, 0), "ask for room");
	} else {
		must(nvcompBatchedZstdCompressGetTempSize(count, size, nvcompBatchedZstdCompressDefaultOpts, &there,
			 size * count, 0), "ask for room");
		must(nvcompBatchedZstdDecompressGetTempSize(count, size, nvcompBatchedZstdDecompressDefaultOpts, &back,
			 size * count, 0), "ask for room");
	}
	return std::max<size_t>(std::max(there, back), 1);
}

static void begin_codec(const struct batch *b, bool lz4)
{
	size_t n = b->count;
	std::vector<void *> in(n), out(n), back(n);
	codec.room = lz4 ? lz4_room(b->size) : zstd_room(b->size);
	codec.plain = on_gpu<unsigned char>(n * b->size);
	for (size_t i = 0; i < n; i++) {
		in[i] = b->in + i * b->size;
		out[i] = b->out + i * codec.room;
		back[i] = codec.plain + i * b->size;
	}
	codec.in = on_gpu<void *>(n);
	codec.out = on_gpu<void *>(n);
	codec.back = on_gpu<void *>(n);
	codec.in_bytes = on_gpu<size_t>(n);
	codec.out_bytes = on_gpu<size_t>(n);
	codec.back_bytes = on_gpu<size_t>(n);
	codec.statuses = on_gpu<nvcompStatus_t>(n);
	codec.temp_bytes = temp_bytes(lz4, b->size, n);
	codec.temp = on_gpu<unsigned char>(codec.temp_bytes);
	to_gpu(codec.in, in);
	to_gpu(codec.out, out);
	to_gpu(codec.back, back);
	to_gpu(codec.in_bytes, std::vector<size_t>(n, b->size));
}

static void end_codec(void)
{
	void *all[] = { codec.in, codec.out, codec.back, codec.in_bytes, codec.out_bytes, codec.back_bytes, codec.statuses,
		codec.temp, codec.plain };
	for (void *memory : all)
		cudaFree(memory);
	codec = {};
}

static void run_lz4(struct batch *b)
{
	must(nvcompBatchedLZ4CompressAsync(codec.in, codec.in_bytes, b->size, b->count, codec.temp, codec.temp_bytes, codec.out,
		 codec.out_bytes, nvcompBatchedLZ4CompressDefaultOpts, codec.statuses, b->stream), "compress with LZ4");
}

static void run_zstd(struct batch *b)
{
	must(nvcompBatchedZstdCompressAsync(codec.in, codec.in_bytes, b->size, b->count, codec.temp, codec.temp_bytes, codec.out,
		 codec.out_bytes, nvcompBatchedZstdCompressDefaultOpts, codec.statuses, b->stream), "compress with zstd");
}

static void run_unlz4(struct batch *b)
{
	must(nvcompBatchedLZ4DecompressAsync(codec.out, codec.out_bytes, codec.in_bytes, codec.back_bytes, b->count, codec.temp,
		 codec.temp_bytes, codec.back, nvcompBatchedLZ4DecompressDefaultOpts, codec.statuses, b->stream),
	    "decompress LZ4");
}

static void run_unzstd(struct batch *b)
{
	must(nvcompBatchedZstdDecompressAsync(codec.out, codec.out_bytes, codec.in_bytes, codec.back_bytes, b->count, codec.temp,
		 codec.temp_bytes, codec.back, nvcompBatchedZstdDecompressDefaultOpts, codec.statuses, b->stream),
	    "decompress zstd");
}

/* Compressed bytes of all blocks: so many come back, as one copy of a packed batch would bring. */
static size_t made_compressed(struct batch *b)
{
	std::vector<size_t> bytes(b->count);
	must(cudaMemcpy(bytes.data(), codec.out_bytes, b->count * sizeof(size_t), cudaMemcpyDeviceToHost), "copy from the GPU");
	size_t all = 0;
	for (size_t one : bytes)
		all += one;
	return std::min(all, b->out_room * b->count);
}

static size_t made_plain(struct batch *b) { return b->size * b->count; }

/* Decompressed again, every block must be what it was. */
static bool is_plain(const struct batch *b)
{
	std::vector<unsigned char> plain(b->size * b->count);
	must(cudaMemcpy(plain.data(), codec.plain, plain.size(), cudaMemcpyDeviceToHost), "copy from the GPU");
	return memcmp(plain.data(), b->host_in, plain.size()) == 0;
}

static bool is_anything(const struct batch *) { return true; }

static const struct stage STAGES[] = {
	{ "fletcher4", sums_room, run_fletcher4, made_fletcher4, is_fletcher4 },
	{ "sha256", digest_room, run_sha256, made_digest, is_digest },
	{ "raidz3_gen", parity_room, run_parity, made_parity, is_parity },
	/* Each is judged when the next stage has decompressed what it made. */
	{ "lz4_compress", lz4_room, run_lz4, made_compressed, is_anything },
	{ "lz4_decompress", lz4_room, run_unlz4, made_plain, is_plain },
	{ "zstd_compress", zstd_room, run_zstd, made_compressed, is_anything },
	{ "zstd_decompress", zstd_room, run_unzstd, made_plain, is_plain },
};

/* --- Measuring --------------------------------------------------------------------------------------------------- */

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

struct times {
	double in, kernel, out, all;
};

static double between(cudaEvent_t begin, cudaEvent_t end)
{
	float ms = 0;
	must(cudaEventElapsedTime(&ms, begin, end), "read the GPU's clock");
	return ms * 1e3;
}

/* What moves in: of decompression the compressed data, which are on the GPU already, so that only its size counts. */
static struct times once(const struct stage *stage, struct batch *b, size_t moves_in, size_t moves_out)
{
	cudaEvent_t at[4];
	struct times times;
	for (cudaEvent_t &event : at)
		must(cudaEventCreate(&event), "make an event");
	bool decompresses = stage->made == made_plain;
	unsigned char *target = decompresses ? codec.plain : b->in, *source = decompresses ? codec.plain : b->out;
	double begin = now_us();
	cudaEventRecord(at[0], b->stream);
	cudaMemcpyAsync(target, b->host_in, moves_in, cudaMemcpyHostToDevice, b->stream);
	cudaEventRecord(at[1], b->stream);
	stage->run(b);
	cudaEventRecord(at[2], b->stream);
	cudaMemcpyAsync(b->host_out, source, moves_out, cudaMemcpyDeviceToHost, b->stream);
	cudaEventRecord(at[3], b->stream);
	must(cudaStreamSynchronize(b->stream), "run the stage");
	times.all = now_us() - begin;
	times.in = between(at[0], at[1]);
	times.kernel = between(at[1], at[2]);
	times.out = between(at[2], at[3]);
	for (cudaEvent_t event : at)
		cudaEventDestroy(event);
	return times;
}

static double middle(const std::vector<struct times> &runs, double times::*part)
{
	std::vector<double> all;
	for (const struct times &run : runs)
		all.push_back(run.*part);
	std::sort(all.begin(), all.end());
	return all[all.size() / 2];
}

/* Runs the stage until the middle of its times can be told; returns what it brought back. */
static size_t measure(const struct stage *stage, struct batch *b, size_t moves_in)
{
	stage->run(b);
	must(cudaStreamSynchronize(b->stream), "run the stage");
	size_t moves_out = stage->made(b);
	std::vector<struct times> runs;
	once(stage, b, moves_in, moves_out);
	for (int i = 0; i < RUNS; i++)
		runs.push_back(once(stage, b, moves_in, moves_out));
	if (!stage->is_right(b)) {
		fprintf(stderr, "measure: %s of %zu blocks of %zu bytes is wrong\n", stage->name, b->count, b->size);
		exit(1);
	}
	double all = middle(runs, &times::all);
	printf("%s\t%zu\t%zu\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\n", stage->name, b->size, b->count, middle(runs, &times::in),
	    middle(runs, &times::kernel), middle(runs, &times::out), all, (double)(b->size * b->count) / all / 1e3);
	fflush(stdout);
	return moves_out;
}

/* All blocks are alike, half of each in zeros, a sector and a sector, as the lab's data is. */
static void fill(struct batch *b)
{
	uint64_t random = 1;
	for (size_t at = 0; at < b->size; at++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		b->host_in[at] = at / SECTOR % 2 ? 0 : (unsigned char)(random >> 56);
	}
	for (size_t i = 1; i < b->count; i++)
		memcpy(b->host_in + i * b->size, b->host_in, b->size);
	must(cudaMemcpy(b->in, b->host_in, b->size * b->count, cudaMemcpyHostToDevice), "copy to the GPU");
}

/* False where host or GPU have no memory for it. */
static bool begin_batch(struct batch *b, size_t size, size_t count)
{
	*b = {};
	b->size = size;
	b->count = count;
	for (const struct stage &stage : STAGES)
		b->out_room = std::max(b->out_room, stage.out_room(size));
	size_t back = std::max(b->out_room, size) * count;
	must(cudaStreamCreate(&b->stream), "make a stream");
	if (cudaMallocHost((void **)&b->host_in, size * count) == cudaSuccess &&
	    cudaMallocHost((void **)&b->host_out, back) == cudaSuccess &&
	    cudaMalloc((void **)&b->in, size * count) == cudaSuccess &&
	    cudaMalloc((void **)&b->out, b->out_room * count) == cudaSuccess) {
		fill(b);
		return true;
	}
	cudaGetLastError();
	fprintf(stderr, "measure: %zu blocks of %zu bytes are left out: too little memory\n", count, size);
	return false;
}

static void end_batch(struct batch *b)
{
	cudaFreeHost(b->host_in);
	cudaFreeHost(b->host_out);
	cudaFree(b->in);
	cudaFree(b->out);
	cudaStreamDestroy(b->stream);
}

static void measure_batch(size_t size, size_t count)
{
	struct batch b;
	if (begin_batch(&b, size, count)) {
		size_t moves_in = size * count;
		for (const struct stage &stage : STAGES) {
			if (stage.made == made_compressed)
				begin_codec(&b, stage.run == run_lz4);
			bool decompresses = stage.made == made_plain;
			size_t out = measure(&stage, &b, decompresses ? moves_in : size * count);
			moves_in = std::min(out, size * count);
			if (decompresses)
				end_codec();
		}
	}
	end_batch(&b);
}

int main(void)
{
	int devices = 0, driver = 0;
	struct cudaDeviceProp gpu;
	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
		fprintf(stderr, "measure: no GPU is here, so nothing is measured\n");
		return 1;
	}
	must(cudaGetDeviceProperties(&gpu, 0), "ask for the GPU's name");
	must(cudaDriverGetVersion(&driver), "ask for the driver's version");
	printf("# %s, CUDA driver %d.%d\n", gpu.name, driver / 1000, driver % 1000 / 10);
	printf("stage\tbytes\tbatch\tin_us\tkernel_us\tout_us\tend_to_end_us\tgb_per_s\n");
	for (size_t size = LEAST; size <= MOST; size *= 2)
		for (size_t count = 1; count <= BATCH; count *= 2)
			measure_batch(size, count);
	return 0;
}

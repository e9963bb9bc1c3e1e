/* What the stages that a provider may do have in common. */
#ifndef ZWHY_OFFLOAD_H
#define ZWHY_OFFLOAD_H

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* What a provider says to a verb; the order is DPUSM's (include/dpusm/common.h). */
enum result {
	OK,
	ERROR,
	PROVIDER_NOT_EXISTS,
	PROVIDER_UNREGISTERED,
	PROVIDER_INVALIDATED,
	PROVIDER_MISMATCH,
	NOT_IMPLEMENTED,
	NOT_SUPPORTED,
	BAD_RESULT,
};

enum verb { COMPRESS, DECOMPRESS, RAIDZ_GEN, VERBS };

/* The provider `none` has no hooks at all: calls go where they went before. */
enum provider { NONE, SOFTWARE, ISAL, IDEAL, MODEL };

struct offload_setup {
	enum provider provider;
	int on[VERBS];       /* its switch */
	enum result answers; /* what the provider says instead of working, to test what then happens */
	int parity;          /* of the RAID-Z layout; 0 for others */
	int check;           /* software does it too, and differences are counted */
	int64_t latency_ns;
	double link_bytes_per_ns;   /* each way; 0: no limit */
	double engine_bytes_per_ns; /* 0: no limit */
	int engines;
};

struct offload_count {
	_Atomic int64_t calls, in, out, ns, fallbacks, learnt, replayed, waited_ns, differences;
};

extern struct offload_setup offload_setup;
extern struct offload_count offload_count[VERBS];

/* Whether the provider is asked at all. */
int offload_asks(enum verb verb);
/* Software does it; where the provider itself is at fault, it is not asked again. */
void offload_fall_back(enum verb verb, enum result why);
int64_t offload_thread_ns(void);

/* ISA-L's erasure code, opened with the rest of the library. */
struct offload_erasure {
	void (*tables)(int, int, unsigned char *, unsigned char *);
	void (*encode)(int, int, int, unsigned char *, unsigned char **, unsigned char **);
};
extern struct offload_erasure offload_erasure;

#endif

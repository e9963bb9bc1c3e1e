/* What the interposers have in common. */
#ifndef ZWHY_SHIM_H
#define ZWHY_SHIM_H

#define EXPORT __attribute__((visibility("default")))

/* The function that would have been called. */
#define ORIGINAL(name) \
	static __typeof__(name) *original; \
	if (!original) \
		original = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#endif

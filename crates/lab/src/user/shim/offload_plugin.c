/* The provider of somebody else: a shared object with the interface of plugins/zwhy_offload.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "offload.h"

/* Version 2 ended before the verbs on blocks. */
enum { OLDEST = 2 };

/* With all fields of today: those that its version did not have are NULL. */
static const struct zwhy_provider *known(const struct zwhy_provider *provider)
{
	static struct zwhy_provider own;
	memcpy(&own, provider, provider->version == OLDEST ? offsetof(struct zwhy_provider, put) : sizeof(own));
	return &own;
}

/* Why it cannot be used; NULL: it can. */
static const char *refused(const struct zwhy_provider *provider)
{
	int generates = provider->raidz_gen || provider->raidz_gen_block;
	int keeps = (provider->put != NULL) + (provider->get != NULL) + (provider->drop != NULL);
	int uses = provider->compress_block || provider->decompress_block || provider->checksum_block ||
	    provider->raidz_gen_block || provider->file_write_block;
	if (provider->raidz_rec && !generates)
		return "reconstructs rows of RAID-Z but does not generate them: DPUSM wants both";
	if (keeps != 0 && keeps != 3)
		return "has some of put, get and drop: a provider that keeps blocks has all three";
	if (uses && keeps == 0)
		return "has verbs on blocks, but no put, get and drop to bring them in and out";
	return NULL;
}

const struct zwhy_provider *offload_plugin(const char *path, const char **why)
{
	static char text[512];
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	*why = text;
	if (!library) {
		snprintf(text, sizeof(text), "%s", dlerror());
		return NULL;
	}
	const struct zwhy_provider *(*own)(void) =
	    (const struct zwhy_provider *(*)(void))dlsym(library, "zwhy_offload_provider");
	const struct zwhy_provider *provider = own ? own() : NULL;
	if (!own)
		snprintf(text, sizeof(text), "%s has no function zwhy_offload_provider", path);
	else if (!provider)
		snprintf(text, sizeof(text), "%s found no device: zwhy_offload_provider gave none", path);
	else if (provider->version < OLDEST || provider->version > ZWHY_OFFLOAD_VERSION)
		snprintf(text, sizeof(text), "%s is made for version %u of zwhy_offload.h, this is %d", path,
		    provider->version, ZWHY_OFFLOAD_VERSION);
	else if (refused(known(provider)))
		snprintf(text, sizeof(text), "%s %s", path, refused(known(provider)));
	else
		return known(provider);
	return NULL;
}

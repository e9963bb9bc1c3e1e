/* The provider of somebody else: a shared object with the interface of plugins/zwhy_offload.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "offload.h"

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
	else if (provider->version != ZWHY_OFFLOAD_VERSION)
		snprintf(text, sizeof(text), "%s is made for version %u of zwhy_offload.h, this is %d", path,
		    provider->version, ZWHY_OFFLOAD_VERSION);
	else if (provider->raidz_rec && !provider->raidz_gen)
		snprintf(text, sizeof(text), "%s reconstructs rows of RAID-Z but does not generate them: DPUSM wants both", path);
	else
		return provider;
	return NULL;
}

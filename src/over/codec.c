/* td_codec_open: a codec by the name of a shared library and of a symbol in it, so that a testbench can say which one
 * it wants in a string. The library stays loaded: memories have pointers to its functions. */
#include "base/status.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static td_status load(const char *file, const char *symbol, const td_codec **out)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return td_fail(TD_FILE, "the library cannot be loaded: %s; pass the path of a shared library, with a / in it",
                       dlerror());
    const td_codec *codec = dlsym(library, symbol);
    if (!codec) {
        td_fail(TD_FILE,
                "the library has no symbol \"%s\"; define \"const td_codec %s = {..}\" in it, in C++ as extern \"C\"",
                symbol, symbol);
        (void)dlclose(library);
        return TD_FILE;
    }
    if (codec->version != TD_CODEC_VERSION) {
        const td_status status =
            td_fail(TD_FORMAT,
                    "\"%s\" is no codec of version %u: its first number is %u; set .version = TD_CODEC_VERSION in a "
                    "td_codec, and build it with this library's header",
                    symbol, TD_CODEC_VERSION, codec->version);
        (void)dlclose(library);
        return status;
    }
    *out = codec;
    return TD_OK;
}

td_status td_codec_open(const char *path, const td_codec **out)
{
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "codec_open: the %s is NULL; pass one", path ? "output" : "path");
    const char *colon = strrchr(path, ':');
    td_status status = TD_OK;
    if (!colon || colon == path || !colon[1])
        status = td_fail(TD_ARGUMENT, "no file and symbol; pass FILE:SYMBOL, as ./scrambler.so:prince");
    else {
        char *file = strndup(path, (size_t)(colon - path));
        status = file ? load(file, colon + 1, out) : td_fail_alloc((size_t)(colon - path) + 1);
        free(file);
    }
    if (status)
        td_fail_prefix("codec_open \"%s\": ", path);
    return status;
}

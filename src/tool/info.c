/* `tensordoor info`: what this build is, or what a file holds. A tensor file speaks for itself; an image needs --width,
 * and then says how many words it reaches. It reads and never writes. */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>

#ifdef TD_HAVE_ZLIB
#define NPZ " npz"
#else
#define NPZ " npz (stored, on reading)"
#endif
#ifdef TD_HAVE_JANSSON
#define TENSORS NPZ " safetensors"
#else
#define TENSORS NPZ
#endif
#ifdef TD_HAVE_ELF
#define IMAGES " elf"
#else
#define IMAGES ""
#endif

enum { WIDTH, DTYPE, FLAGS };

static const tool_usage usage = {
    .command = "info",
    .file = "FILE",
    .file_required = false,
    .about =
        "Without a file: the version, the build and what it knows. With a tensor: its dtype, shape and size. With a\n"
        "memory image and --width: the words it reaches.",
};

/* The thresholds that calls of this user get, or why not. */
static void show_tuning(void)
{
    char *note = NULL;
    if (td_tune_note(&note) == TD_OK)
        printf("tuning    %s\n", note);
    td_free(note);
}

static int show_build(void)
{
    printf("version   %s\n", td_version());
#if defined(__clang__)
    printf("compiler  clang %s\n", __clang_version__);
#else
    printf("compiler  gcc %s\n", __VERSION__);
#endif
#if defined(__x86_64__)
    printf("machine   x86-64\n");
#elif defined(__aarch64__)
    printf("machine   aarch64\n");
#endif
#ifdef NDEBUG
    printf("build     release\n");
#else
    printf("build     debug\n");
#endif
    show_tuning();
    printf("dtypes    u1..u64 i1..i64 f16 bf16 f32 f64 e4m3 e5m2 e3m2 e2m3 e2m1 e8m0 e<X>m<Y> q<m>.<n> uq<m>.<n>\n");
    printf("tensors   npy raw gguf" TENSORS "\n");
    printf("images    readmemh readmemb raw ihex srec" IMAGES "\n");
    printf("words     1 to %" PRIu64 " bits, 1 to %" PRIu64 " words\n", TD_MAX_WIDTH_BITS, TD_MAX_DEPTH_WORDS);
    return TOOL_OK;
}

static int show_tensor(const char *path, const char *dtype)
{
    td_tensor *tensor = NULL;
    if (td_tensor_open(path, dtype, &tensor) != TD_OK)
        return tool_fail_library(usage.command);
    td_shape shape = td_tensor_shape(tensor);
    printf("file      %s\ndtype     %s\nshape     (", path, td_tensor_dtype(tensor));
    for (size_t d = 0; d < shape.rank; d++)
        printf("%s%" PRIu64, d ? ", " : "", shape.dim[d]);
    printf(")\nelements  %" PRIu64 "\nbytes     %" PRIu64 "\n", td_tensor_elems(tensor),
           td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    td_tensor_destroy(&tensor);
    return TOOL_OK;
}

static int show_image(const char *path, const tool_flag *width)
{
    uint64_t width_bits = 0;
    uint64_t depth_words = 0;
    if (!width->value)
        return tool_fail(usage.command, "a memory image does not say how wide its words are; pass --width W");
    if (!tool_number(&usage, width, &width_bits))
        return TOOL_FAILED;
    if (td_image_depth(path, width_bits, &depth_words) != TD_OK)
        return tool_fail_library(usage.command);
    printf("file      %s\nwidth     %" PRIu64 "\ndepth     %" PRIu64 "\n", path, width_bits, depth_words);
    return TOOL_OK;
}

int tool_info(int argc, char **argv)
{
    tool_flag flags[FLAGS] = {
        [WIDTH] = {"width", 'w', false, "W", "bits of a word, for a memory image", NULL},
        [DTYPE] = {"dtype", 0, false, "T", "what the bytes of a tensor file mean", NULL},
    };
    const char *file = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, flags, FLAGS, &file);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    if (!file)
        return show_build();
    unsigned kind = td_file_kind(file);
    if (!kind)
        return tool_fail_kind(usage.command, file);
    if (kind & TD_USE_TENSOR && (!(kind & TD_USE_IMAGE) || flags[DTYPE].value))
        return show_tensor(file, flags[DTYPE].value);
    return show_image(file, &flags[WIDTH]);
}

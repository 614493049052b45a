/* Any bytes are a memory image or a refusal with a message. A refused image leaves the memory as it was; an accepted
 * one writes only inside the spans that it names. FUZZ_FORMAT is the format under test, with its options. */
#include "file.h"
#include "tensordoor.h"

enum { DEPTH_WORDS = 64 };

static void load(const char *name, uint64_t width_bits)
{
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t depth_words = 0;
    REQUIRE(td_memory_create("m", width_bits, DEPTH_WORDS, &memory) == TD_OK);
    unsigned char *bytes = td_memory_data(memory);
    size_t word_bytes = td_memory_word_bytes(memory);
    for (size_t i = 0; i < DEPTH_WORDS; i++)
        bytes[i * word_bytes] = 1;
    td_status status = td_memory_load_file(memory, name);
    td_status whole = td_image_spans(name, width_bits, &spans, &count);
    REQUIRE((td_image_depth(name, width_bits, &depth_words) == TD_OK) == (whole == TD_OK));
    if (status == TD_OK)
        REQUIRE(whole == TD_OK && depth_words <= DEPTH_WORDS);
    if (whole == TD_OK)
        REQUIRE(count > 0 && spans[count - 1].first + spans[count - 1].count == depth_words);
    size_t s = 0;
    for (uint64_t w = 0; w < DEPTH_WORDS; w++) {
        while (status == TD_OK && s < count && w >= spans[s].first + spans[s].count)
            s++;
        if (status != TD_OK || s == count || w < spans[s].first)
            REQUIRE(bytes[w * word_bytes] == 1);
    }
    td_free(spans);
    td_memory_destroy(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[96];
    int fd = fuzz_file_open(data, size, FUZZ_FORMAT, name, sizeof name);
    load(name, 8);
    load(name, 20);
    load(name, 100);
    fuzz_file_close(fd);
    return 0;
}

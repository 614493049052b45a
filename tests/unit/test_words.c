/* The word operations against a byte-by-byte model, the golden byte masks, and the text of every refusal. */
#include "support.h"

#define DEPTH 37
#define COUNT 50

static const uint64_t widths[] = {1, 3, 7, 8, 9, 16, 17, 31, 32, 33, 40, 63, 64, 65, 72, 96, 100, 128, 129, 256, 1000};

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 32;
}

static void random_words(uint64_t *seed, unsigned char *words, size_t count, size_t word_bytes, uint64_t width_bits)
{
    for (size_t i = 0; i < count * word_bytes; i++)
        words[i] = (unsigned char)next_random(seed);
    for (size_t i = 0; i < count; i++)
        for (uint64_t bit = width_bits; bit < 8 * word_bytes; bit++)
            words[i * word_bytes + bit / 8] &= (unsigned char)~(1u << (bit % 8));
}

static void read_and_write_follow_the_model(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (int masked = 0; masked < 3; masked++) { /* no mask, bit mask, byte mask */
            td_memory *m = NULL;
            ASSERT_OK(td_memory_create("m", widths[w], DEPTH, &m));
            size_t bytes = td_memory_word_bytes(m);
            size_t used_bytes = (size_t)(widths[w] + 7) / 8;
            size_t mask_bytes = (used_bytes + 7) / 8;
            unsigned char *model = calloc(DEPTH, bytes);
            unsigned char *words = calloc(COUNT, bytes);
            unsigned char *masks = calloc(COUNT, bytes);
            unsigned char *byte_masks = calloc(COUNT, mask_bytes);
            uint64_t addresses[COUNT];
            assert_true(model && words && masks && byte_masks);
            random_words(&seed, model, DEPTH, bytes, widths[w]);
            memcpy(td_memory_data(m), model, DEPTH * bytes);
            for (size_t i = 0; i < COUNT; i++)
                addresses[i] = next_random(&seed) % DEPTH; /* more words than places: the later ones win */
            random_words(&seed, words, COUNT, bytes, widths[w]);
            random_words(&seed, masks, COUNT, bytes, widths[w]);
            random_words(&seed, byte_masks, COUNT, mask_bytes, used_bytes);

            for (size_t i = 0; i < COUNT; i++)
                for (size_t b = 0; b < bytes; b++) {
                    unsigned mask = masked == 0 ? 0xff : masks[i * bytes + b];
                    if (masked == 2)
                        mask = b < used_bytes && byte_masks[i * mask_bytes + b / 8] >> (b % 8) & 1 ? 0xff : 0;
                    unsigned char *at = &model[addresses[i] * bytes + b];
                    *at = (unsigned char)((*at & ~mask) | (words[i * bytes + b] & mask));
                }
            if (masked == 2)
                ASSERT_OK(td_backdoor_write_bytes(m, addresses, COUNT, words, byte_masks));
            else
                ASSERT_OK(td_backdoor_write(m, addresses, COUNT, words, masked ? masks : NULL));
            assert_memory_equal(td_memory_data(m), model, DEPTH * bytes);

            ASSERT_OK(td_backdoor_read(m, addresses, COUNT, words));
            for (size_t i = 0; i < COUNT; i++)
                assert_memory_equal(words + i * bytes, model + addresses[i] * bytes, bytes);
            free(model);
            free(words);
            free(masks);
            free(byte_masks);
            td_memory_destroy(&m);
        }
}

static void golden_byte_masks(void **state)
{
    (void)state;
    static const struct {
        uint64_t data;
        unsigned char mask;
        uint64_t after;
    } steps[] = {
        {0xffffffffff, 0x01, 0x11223344ff},
        {0xaabbccddee, 0x14, 0xaa22cc44ff},
        {0xffffffffff, 0x00, 0xaa22cc44ff},
        {0x0102030405, 0x1f, 0x0102030405},
    };
    td_memory *m = NULL;
    uint64_t address = 5;
    uint64_t word = 0x1122334455;
    ASSERT_OK(td_memory_create("m", 40, 8, &m));
    ASSERT_OK(td_backdoor_write(m, &address, 1, &word, NULL));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        ASSERT_OK(td_backdoor_write_bytes(m, &address, 1, &steps[i].data, &steps[i].mask));
        ASSERT_OK(td_backdoor_read(m, &address, 1, &word));
        assert_int_equal(word, steps[i].after);
    }
    td_memory_destroy(&m);
}

static void a_refused_write_changes_nothing(void **state)
{
    (void)state;
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("abuf", 12, 16, &m));
    uint64_t addresses[] = {0, 1, 2};
    uint64_t past[] = {0, 16, 99};
    uint16_t words[] = {0x111, 0x222, 0x333};
    uint16_t wide[] = {0x111, 0x222, 0x5333};
    unsigned char byte_masks[] = {3, 3, 7};

    ASSERT_REFUSED(
        td_backdoor_write(m, past, 3, words, NULL), TD_RANGE,
        "backdoor_write \"abuf\": address 0x10 (entry 1) is past the memory of 16 words; the last address is 0xf");
    ASSERT_REFUSED(
        td_backdoor_read(m, past, 3, words), TD_RANGE,
        "backdoor_read \"abuf\": address 0x10 (entry 1) is past the memory of 16 words; the last address is 0xf");
    ASSERT_REFUSED(td_backdoor_write(m, addresses, 3, wide, NULL), TD_RANGE,
                   "backdoor_write \"abuf\": word 2 has 0x5 above the width of 12 bits; clear the bits from 12 up");
    ASSERT_REFUSED(td_backdoor_write(m, addresses, 3, words, wide), TD_RANGE,
                   "backdoor_write \"abuf\": mask 2 has 0x5 above the width of 12 bits; clear the bits from 12 up");
    ASSERT_REFUSED(
        td_backdoor_write_bytes(m, past, 3, words, byte_masks), TD_RANGE,
        "backdoor_write_bytes \"abuf\": address 0x10 (entry 1) is past the memory of 16 words; the last address "
        "is 0xf");
    ASSERT_REFUSED(
        td_backdoor_write_bytes(m, addresses, 3, wide, byte_masks), TD_RANGE,
        "backdoor_write_bytes \"abuf\": word 2 has 0x5 above the width of 12 bits; clear the bits from 12 up");
    ASSERT_REFUSED(
        td_backdoor_write_bytes(m, addresses, 3, words, byte_masks), TD_RANGE,
        "backdoor_write_bytes \"abuf\": mask 2 has 0x1 above the 2 bytes of a word of 12 bits; clear the bits "
        "from 2 up");
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(((uint16_t *)td_memory_data(m))[i], 0);
    assert_int_equal(words[0], 0x111);
    td_memory_destroy(&m);

    ASSERT_OK(td_memory_create("wide", 70, 4, &m));
    uint32_t word[3] = {1, 2, 0x40};
    ASSERT_REFUSED(td_backdoor_write(m, addresses, 1, word, NULL), TD_RANGE,
                   "backdoor_write \"wide\": word 0 has 0x1 above the width of 70 bits; clear the bits from 70 up");
    td_memory_destroy(&m);
}

static void senseless_arguments(void **state)
{
    (void)state;
    td_memory *m = NULL;
    uint64_t address = 0;
    unsigned char word = 0;
    ASSERT_OK(td_memory_create("abuf", 8, 16, &m));
    ASSERT_REFUSED(td_backdoor_read(NULL, &address, 1, &word), TD_ARGUMENT,
                   "backdoor_read: memory is NULL; pass one from td_memory_create");
    ASSERT_REFUSED(td_backdoor_read(m, NULL, 1, &word), TD_ARGUMENT,
                   "backdoor_read \"abuf\": addresses is NULL; pass a list of count entries");
    ASSERT_REFUSED(td_backdoor_write(m, &address, 1, NULL, NULL), TD_ARGUMENT,
                   "backdoor_write \"abuf\": words is NULL; pass a list of count entries");
    ASSERT_REFUSED(td_backdoor_write(m, &address, 0, &word, NULL), TD_ARGUMENT,
                   "backdoor_write \"abuf\": a count of 0 words; pass at least one address");
    ASSERT_REFUSED(td_backdoor_write_bytes(m, &address, 1, &word, NULL), TD_ARGUMENT,
                   "backdoor_write_bytes \"abuf\": byte_mask is NULL; pass masks, or call td_backdoor_write");
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_write_follow_the_model),
        cmocka_unit_test(golden_byte_masks),
        cmocka_unit_test(a_refused_write_changes_nothing),
        cmocka_unit_test(senseless_arguments),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

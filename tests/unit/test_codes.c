/* Codes of words: sample words, every code against the oracle that works bit by bit, what all single and double errors
 * come to, and distance 4 by looking at the columns. */
#include "code_oracle.h"
#include "support.h"

#include "base/cpu.h"
#include "codes/code.h"

static const struct {
    const char *name;
    unsigned flags;
} isas[] = {{"c", TD_CPU_C}, {"avx2", TD_CPU_AVX2}, {"avx512", TD_CPU_AVX2 | TD_CPU_AVX512}, {"gfni", TD_CPU_ALL}};

static uint64_t seed = 1;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void random_bits(unsigned char *word, size_t bits)
{
    for (size_t i = 0; i < bits; i++)
        oracle_set(word, i, draw() >> 40 & 1);
}

static td_code *make(const char *text, uint64_t data_bits)
{
    td_code *code = NULL;
    ASSERT_OK(td_code_create(text, data_bits, &code));
    return code;
}

/* -- samples -- */

static void samples_are_those_of_opentitan(void **state)
{
    (void)state;
    static const struct {
        const char *text, *data, *coded;
        unsigned bits;
    } samples[] = {
        {"22_16", "0001", "320001", 16},
        {"22_16", "f00d", "01f00d", 16},
        {"39_32", "00000001", "1900000001", 32},
        {"39_32", "cafef00d", "74cafef00d", 32},
        {"inv_39_32", "00000001", "3300000001", 32},
        {"inv_39_32", "cafef00d", "5ecafef00d", 32},
        {"inv_39_32", "0", "2a00000000", 32},
        {"72_64", "1", "070000000000000001", 64},
        {"72_64", "deadbeefcafef00d", "e2deadbeefcafef00d", 64},
        {"inv_72_64", "deadbeefcafef00d", "48deadbeefcafef00d", 64},
        {"hamming_39_32", "cafef00d", "6acafef00d", 32},
        {"inv_hamming_39_32", "cafef00d", "40cafef00d", 32},
        {"28_22", "3ef00d", "d7ef00d", 22},
        {"64_57", "0adbeefcafef00d", "12adbeefcafef00d", 57},
        {"parity odd width=8", "0100", "300", 16}, /* byte 00 has parity 1 in bit 8, byte 01 parity 0 in bit 17 */
        {"parity even width=8", "0100", "20200", 16}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        unsigned char data[16] = {0}, coded[16] = {0}, wanted[16] = {0};
        bool bits[256] = {false};
        oracle_hex(samples[i].data, bits);
        for (unsigned b = 0; b < 64; b++)
            oracle_set(data, b, bits[b]);
        memset(bits, 0, sizeof bits);
        oracle_hex(samples[i].coded, bits);
        for (unsigned b = 0; b < 128; b++)
            oracle_set(wanted, b, bits[b]);
        td_code *code = make(samples[i].text, samples[i].bits);
        td_code_encode_words(code, coded, data, 0, 1);
        assert_memory_equal(coded, wanted, 16);
        td_code_destroy(&code);
    }
}

/* -- errors -- */

static void flip(unsigned char *word, size_t bit)
{
    word[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

/* Every single and every double error of one word with one subword. */
static void check_errors(const td_code *code, const unsigned char *data, uint64_t address)
{
    const size_t data_bytes = td_word_bytes(td_code_data_bits(code)), bits = (size_t)td_code_coded_bits(code);
    unsigned char coded[64] = {0}, back[64];
    td_code_encode_words(code, coded, data, address, 1);
    for (size_t i = 0; i < bits; i++)
        for (size_t j = i; j < bits; j++) {
            td_code_result result = {0};
            flip(coded, i);
            if (j != i)
                flip(coded, j);
            memset(back, 0xee, sizeof back);
            td_code_check_words(code, back, coded, address, 1, &result, NULL, NULL);
            if (result.corrected != (i == j) || result.uncorrectable != (i != j) || result.kept != 1 ||
                result.words != 1 || result.error[0].word != address || (i == j && result.error[0].bit != i) ||
                (i == j && memcmp(back, data, data_bytes) != 0))
                fail_msg("%s: bits %zu and %zu", td_code_text(code), i, j);
            flip(coded, i);
            if (j != i)
                flip(coded, j);
        }
    td_code_result result = {0};
    td_code_check_words(code, back, coded, address, 1, &result, NULL, NULL);
    assert_int_equal(result.corrected + result.uncorrectable + result.kept, 0);
    assert_memory_equal(back, data, data_bytes);
}

/* The check bits that one data bit changes, for all of them, and those of the check bits: all differ, and no two add up
 * to a third. */
static void check_distance(const td_code *code)
{
    const unsigned k = (unsigned)td_code_data_bits(code), n = (unsigned)td_code_coded_bits(code);
    unsigned char data[64] = {0}, none[64] = {0}, coded[64];
    uint32_t column[512];
    td_code_encode_words(code, none, data, 0, 1);
    for (unsigned i = 0; i < n; i++) {
        column[i] = i < k ? 0 : 1u << (i - k);
        memset(coded, 0, sizeof coded);
        if (i >= k)
            continue;
        flip(data, i);
        td_code_encode_words(code, coded, data, 0, 1);
        flip(data, i);
        for (unsigned j = k; j < n; j++)
            column[i] |= (uint32_t)(oracle_bit(coded, j) ^ oracle_bit(none, j)) << (j - k);
        assert_int_not_equal(column[i], 0);
    }
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = a + 1; b < n; b++) {
            assert_int_not_equal(column[a], column[b]);
            for (unsigned c = b + 1; c < n; c++)
                assert_int_not_equal(column[a] ^ column[b], column[c]);
        }
    assert_int_equal(td_code_distance(code), 4);
    assert_true(td_code_corrects(code));
}

static void named_codes_correct_one_and_see_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oracle_names / sizeof *oracle_names; i++)
        for (int inverted = 0; inverted < 2; inverted++) {
            char text[40];
            snprintf(text, sizeof text, "%s%s", inverted ? "inv_" : "", oracle_names[i].name);
            td_code *code = make(text, oracle_names[i].data);
            check_distance(code);
            for (int round = 0; round < 3; round++) {
                unsigned char data[64] = {0};
                random_bits(data, oracle_names[i].data);
                check_errors(code, data, draw());
            }
            td_code_destroy(&code);
        }
}

/* Every width that is constructed with few bits; every word of the smallest. */
static void constructed_codes_correct_one_and_see_two(void **state)
{
    (void)state;
    static const char *const names[] = {"hsiao", "hamming"};
    for (int n = 0; n < 2; n++)
        for (unsigned bits = 1; bits <= 130; bits += bits < 20 ? 1 : 11) {
            td_code *code = make(names[n], bits);
            check_distance(code);
            for (unsigned word = 0; word < (bits <= 8 ? 1u << bits : 1u); word++) {
                unsigned char data[64] = {(unsigned char)word};
                if (bits > 8)
                    random_bits(data, bits);
                check_errors(code, data, 0);
            }
            td_code_destroy(&code);
        }
}

static void parity_sees_one(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        td_code *code = make(odd ? "parity odd" : "parity even", 8);
        assert_int_equal(td_code_distance(code), 2);
        assert_false(td_code_corrects(code));
        for (unsigned word = 0; word < 256; word++)
            for (unsigned bit = 0; bit <= 9; bit++) { /* 9: none */
                const unsigned char data[1] = {(unsigned char)word};
                unsigned char coded[2] = {0}, back[1];
                td_code_result result = {0};
                td_code_encode_words(code, coded, data, 0, 1);
                assert_int_equal((__builtin_popcount(coded[0]) + coded[1]) % 2, odd);
                if (bit < 9)
                    flip(coded, bit);
                td_code_check_words(code, back, coded, 0, 1, &result, NULL, NULL);
                assert_int_equal(result.uncorrectable, bit < 9);
                assert_int_equal(result.corrected, 0);
                assert_int_equal(back[0], coded[0]);
            }
        td_code_destroy(&code);
    }
}

/* -- the constructions by their definition -- */

static void hamming_is_opentitans(void **state)
{
    (void)state;
    for (size_t i = 5; i < sizeof oracle_names / sizeof *oracle_names; i++) {
        td_code *named = make(oracle_names[i].name, oracle_names[i].data),
                *made = make("hamming", oracle_names[i].data);
        for (int round = 0; round < 100; round++) {
            unsigned char data[16] = {0}, a[16] = {0}, b[16] = {0};
            random_bits(data, oracle_names[i].data);
            td_code_encode_words(named, a, data, 0, 1);
            td_code_encode_words(made, b, data, 0, 1);
            assert_memory_equal(a, b, 16);
        }
        td_code_destroy(&named);
        td_code_destroy(&made);
    }
}

/* All sets of the smallest odd size that has one left, the one whose check bits cover the fewest bits so far. */
static void oracle_hsiao(oracle *o, unsigned covered)
{
    static bool taken[1 << 14];
    unsigned weight[32] = {0};
    memset(taken, 0, sizeof taken);
    for (o->checks = 1; (1u << o->checks) / 2 < covered + o->checks; o->checks++)
        continue;
    for (unsigned i = 0; i < covered; i++) {
        unsigned best = 0, best_size = 99, best_sum = 0;
        for (unsigned set = 1; set < 1u << o->checks; set++) {
            unsigned size = 0, sum = 0;
            for (unsigned j = 0; j < o->checks; j++)
                if (set >> j & 1) {
                    size++;
                    sum += weight[j];
                }
            if (!taken[set] && size % 2 && size >= 3 && (size < best_size || (size == best_size && sum < best_sum))) {
                best = set;
                best_size = size;
                best_sum = sum;
            }
        }
        taken[best] = true;
        for (unsigned j = 0; j < o->checks; j++)
            if (best >> j & 1) {
                weight[j]++;
                o->mask[j][i] = true;
            }
    }
}

static void oracle_hamming(oracle *o, unsigned covered)
{
    unsigned checks = 0, number = 2;
    for (unsigned i = 0; i < covered; i++) {
        for (number++; __builtin_popcount(number) == 1;)
            number++;
        for (unsigned j = 0; j < 20; j++)
            if (number >> j & 1) {
                o->mask[j][i] = true;
                checks = j + 1 > checks ? j + 1 : checks;
            }
    }
    for (unsigned i = 0; i < covered + checks; i++)
        o->mask[checks][i] = true;
    o->checks = checks + 1;
}

/* -- random codes against the oracle -- */

/* A text, and the same code for the oracle. */
static char *random_code(oracle *o)
{
    static const char *const places[] = {"above", "below", "interleaved"};
    static char text[40000];
    memset(o, 0, sizeof *o);
    o->subwords = 1 + (unsigned)(draw() % 5);
    o->place = (int)(draw() % 3);
    size_t used = 0;
    const unsigned kind = (unsigned)(draw() % 10);
    if (kind < 4) {
        const oracle_name *name = &oracle_names[draw() % (sizeof oracle_names / sizeof *oracle_names)];
        const bool inverted = draw() % 2;
        const int place = o->place;
        oracle_named(o, name, inverted, o->subwords);
        o->place = place;
        if (draw() % 3 == 0) { /* some of the covered bits are the address; the constant stands above the data then */
            o->address = 1 + (unsigned)(draw() % 12);
            o->data -= o->address;
            memset(o->constant, 0, sizeof o->constant);
            for (unsigned j = 1; inverted && j < o->checks; j += 2)
                o->constant[o->data + j] = true;
        }
        used = (size_t)sprintf(text, "%s%s", inverted ? "inv_" : "", name->name);
    } else {
        o->data = 1 + (unsigned)(draw() % (draw() % 8 ? 80 : 300));
        o->address = draw() % 3 ? 0 : (unsigned)(draw() % 30);
        const unsigned covered = o->data + o->address;
        if (kind == 4) {
            o->address = 0;
            o->checks = 1;
            o->constant[o->data] = draw() % 2;
            memset(o->mask[0], 1, o->data);
            used = (size_t)sprintf(text, "parity %s width=%u", o->constant[o->data] ? "odd" : "even", o->data);
        } else if (kind == 5) {
            oracle_hamming(o, covered);
            used = (size_t)sprintf(text, "hamming subword=%u", o->data);
        } else if (kind == 6) {
            oracle_hsiao(o, covered);
            used = (size_t)sprintf(text, "hsiao subword=%u", o->data);
        } else {
            o->checks = 1 + (unsigned)(draw() % 32);
            for (unsigned j = 0; j < o->checks; j++)
                for (unsigned i = 0; i < covered + j; i++)
                    o->mask[j][i] = j == 0 && i < covered ? true : draw() % 2;
            used = (size_t)sprintf(text, "masks=");
            for (unsigned j = 0; j < o->checks; j++) {
                for (unsigned digit = (covered + j + 3) / 4 + 1; digit-- > 0;) {
                    unsigned value = 0;
                    for (unsigned b = 0; b < 4; b++)
                        value |= (unsigned)o->mask[j][4 * digit + b] << b;
                    used += (size_t)sprintf(text + used, "%x", value);
                }
                text[used++] = ',';
            }
            used--;
            used += (size_t)sprintf(text + used, " subword=%u", o->data);
        }
        if (draw() % 3 == 0) {
            used += (size_t)sprintf(text + used, " xor=0x");
            for (unsigned digit = (o->data + o->checks + 3) / 4; digit-- > 0;) {
                unsigned value = 0;
                for (unsigned b = 0; b < 4; b++)
                    if (4 * digit + b < o->data + o->checks) {
                        const bool set = draw() % 2;
                        value |= (unsigned)set << b;
                        o->constant[4 * digit + b] ^= set;
                    }
                used += (size_t)sprintf(text + used, "%x", value);
            }
        }
    }
    used += (size_t)sprintf(text + used, " address=%u place=%s", o->address, places[o->place]);
    return text;
}

/* Words through the library and through the oracle; then wrong bits in some subwords, at most one in each where the
 * code corrects them. */
static void check_run(const td_code *code, const oracle *o, const char *text)
{
    static unsigned char data[200 * 1024], coded[200 * 1400], wanted[200 * 1400], back[200 * 1024];
    const size_t data_bits = (size_t)o->data * o->subwords, coded_bits = data_bits + (size_t)o->checks * o->subwords;
    const size_t data_bytes = td_word_bytes(data_bits), coded_bytes = td_word_bytes(coded_bits);
    const size_t count = 1 + draw() % 199;
    const uint64_t first = draw() >> draw() % 64;
    const bool corrects = td_code_corrects(code);
    uint64_t wrong = 0, last_word = 0;
    assert_int_equal(td_code_coded_bits(code), coded_bits);
    memset(data, 0, sizeof data);
    memset(wanted, 0, sizeof wanted);
    memset(coded, 0xee, sizeof coded);
    memset(back, 0xee, sizeof back);
    for (size_t w = 0; w < count; w++) {
        random_bits(data + w * data_bytes, data_bits);
        oracle_encode(o, data + w * data_bytes, first + w, wanted + w * coded_bytes);
    }
    td_code_encode_words(code, coded, data, first, count);
    if (memcmp(coded, wanted, count * coded_bytes) != 0 || coded[count * coded_bytes] != 0xee)
        fail_msg("encode \"%s\", %zu words from %llu", text, count, (unsigned long long)first);
    for (size_t w = draw() % 100; w < count; w += 1 + draw() % 90) {
        const unsigned s = (unsigned)(draw() % o->subwords);
        flip(coded + w * coded_bytes, oracle_place(o, s, (unsigned)(draw() % (o->data + o->checks))));
        wrong++;
        last_word = first + w;
    }
    td_code_result result = {0};
    td_code_check_words(code, back, coded, first, count, &result, NULL, NULL);
    if (result.words != count || result.corrected != (corrects ? wrong : 0) ||
        result.uncorrectable != (corrects ? 0 : wrong) || back[count * data_bytes] != 0xee ||
        (result.kept && result.kept < TD_CODE_FIRST && result.error[result.kept - 1].word != last_word) ||
        ((corrects || !wrong) && memcmp(back, data, count * data_bytes) != 0))
        fail_msg("check \"%s\", %zu words from %llu", text, count, (unsigned long long)first);
    td_code_result again = {0};
    td_code_check_words(code, NULL, coded, first, count, &again, NULL, NULL);
    assert_memory_equal(&again, &result, sizeof again);
}

static void random_codes_follow_the_oracle(void **state)
{
    (void)state;
    static oracle o;
    for (int round = 0; round < 400; round++) {
        const uint64_t start = seed;
        const char *text = random_code(&o);
        td_code *code = NULL;
        if (td_code_create(text, (uint64_t)o.data * o.subwords, &code))
            fail_msg("seed %llu: %s", (unsigned long long)start, td_last_error());
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            td_cpu_mask(isas[i].flags);
            check_run(code, &o, text);
        }
        td_cpu_mask(TD_CPU_ALL);
        td_code_destroy(&code);
    }
}

static void wide_subwords_follow_the_oracle(void **state)
{
    (void)state;
    static oracle o;
    static const unsigned widths[] = {512, 1024, 1999, 4096};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int hamming = 0; hamming < 2; hamming++) {
            memset(&o, 0, sizeof o);
            o.data = widths[i];
            o.subwords = 1;
            if (hamming)
                oracle_hamming(&o, o.data);
            else if (o.data <= 1024)
                oracle_hsiao(&o, o.data);
            else
                continue;
            td_code *code = make(hamming ? "hamming" : "hsiao", o.data);
            assert_int_equal(td_code_check_bits(code), o.checks);
            check_run(code, &o, td_code_text(code));
            td_code_destroy(&code);
        }
}

static void a_wrong_address_is_seen(void **state)
{
    (void)state;
    td_code *code = make("hsiao address=10", 32);
    unsigned char data[4] = {1, 2, 3, 4}, coded[8] = {0}, back[4];
    td_code_encode_words(code, coded, data, 0x155, 1);
    for (unsigned bit = 0; bit < 10; bit++) {
        td_code_result result = {0};
        td_code_check_words(code, back, coded, 0x155 ^ 1u << bit, 1, &result, NULL, NULL);
        assert_int_equal(result.uncorrectable, 1);
        assert_int_equal(result.error[0].kind, TD_CODE_WRONG_ADDRESS);
        assert_int_equal(result.error[0].bit, bit);
        assert_memory_equal(back, data, 4);
    }
    td_code_result result = {0};
    td_code_check_words(code, back, coded, 0x555, 1, &result, NULL, NULL); /* bits above are not covered */
    assert_int_equal(result.uncorrectable, 0);
    td_code_destroy(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_opentitan),
        cmocka_unit_test(named_codes_correct_one_and_see_two),
        cmocka_unit_test(constructed_codes_correct_one_and_see_two),
        cmocka_unit_test(parity_sees_one),
        cmocka_unit_test(hamming_is_opentitans),
        cmocka_unit_test(random_codes_follow_the_oracle),
        cmocka_unit_test(wide_subwords_follow_the_oracle),
        cmocka_unit_test(a_wrong_address_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

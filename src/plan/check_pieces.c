/* The checks on words whose places have strides in a few rectangles of the axes (address_pieces.c): each inside its
 * memory, no two in one place, whether of one rectangle or of two. Called by check_words.c, which lists all words where
 * this does not decide. */
#include "plan/places.h"

/* Words of two pieces in one place: the same search, over the steps of both. Steps that both have alike differ by
 * anything between, and the pieces begin somewhere. */
typedef struct pair_search {
    int count;
    struct pair_term {
        int64_t stride, low, high;
    } term[2 * TD_MAX_BOUND];
    int64_t low[2 * TD_MAX_BOUND + 1], high[2 * TD_MAX_BOUND + 1]; /* of what is left from this term on */
    int64_t near;
    long budget;
} pair_search;

static void add_term(pair_search *s, int64_t stride, int64_t low, int64_t high)
{
    for (int i = 0; i < s->count; i++)
        if (s->term[i].stride == stride) {
            s->term[i].low += low;
            s->term[i].high += high;
            return;
        }
    s->term[s->count++] = (struct pair_term){stride, low, high};
}

/* Steps of one side; those of the other count backwards. */
static bool add_side(pair_search *s, const td_bound *bound, const td_words *words, const td_region *in, int64_t worth,
                     bool back)
{
    for (int a = 0; a < bound->axis_count; a++) {
        int64_t stride = 0;
        if (bound->axis[a].role == TD_ROLE_LANE || in->extent[a] == 1)
            continue;
        if (__builtin_mul_overflow(words->bank_stride[a], worth, &stride) ||
            __builtin_add_overflow(stride, words->address_stride[a], &stride) || stride == INT64_MIN)
            return false;
        const int64_t most = (int64_t)in->extent[a] - 1;
        if ((stride < 0) == back)
            add_term(s, stride < 0 ? -stride : stride, 0, most);
        else
            add_term(s, stride < 0 ? -stride : stride, -most, 0);
    }
    return true;
}

/* Longest stride first, with what is left behind each; false where sums might not fit. */
static bool sort_terms(pair_search *s)
{
    for (int i = 1; i < s->count; i++)
        for (int j = i; j > 0 && s->term[j].stride > s->term[j - 1].stride; j--) {
            const struct pair_term one = s->term[j];
            s->term[j] = s->term[j - 1];
            s->term[j - 1] = one;
        }
    bool fits = true;
    s->low[s->count] = s->high[s->count] = 0;
    for (int i = s->count - 1; i >= 0 && fits; i--) {
        int64_t low = 0, high = 0;
        fits = !__builtin_mul_overflow(s->term[i].stride, s->term[i].low, &low) &&
               !__builtin_mul_overflow(s->term[i].stride, s->term[i].high, &high) &&
               !__builtin_add_overflow(s->low[i + 1], low, &s->low[i]) &&
               !__builtin_add_overflow(s->high[i + 1], high, &s->high[i]) && s->low[i] > INT64_MIN / 4 &&
               s->high[i] < INT64_MAX / 4;
    }
    return fits;
}

static td_apart look_at_pair(pair_search *s, int i, int64_t sum)
{
    if (sum + s->low[i] > s->near || sum + s->high[i] < -s->near)
        return TD_APART;
    if (i == s->count)
        return TD_TOGETHER;
    if (--s->budget < 0)
        return TD_UNDECIDED;
    const struct pair_term *t = &s->term[i];
    int64_t low = t->low, high = t->high;
    if (t->stride) {
        const int64_t least = (-s->near - s->high[i + 1] - sum) / t->stride - 1,
                      greatest = (s->near - s->low[i + 1] - sum) / t->stride + 1;
        low = least > low ? least : low;
        high = greatest < high ? greatest : high;
    }
    td_apart v = TD_APART;
    for (int64_t d = low; d <= high && v == TD_APART; d++)
        v = look_at_pair(s, i + 1, sum + t->stride * d);
    return v;
}

/* A rectangle of the axes with strides of its own. */
typedef struct part {
    td_words words;
    td_region in;
} part;

/* Where no load writes the words past the tensor's end: what holds all words of the piece that one writes; false where
 * there are none. */
static bool find_written(const td_bound *bound, const td_words_piece *piece, const td_regions *written, td_region *out)
{
    bool any = false;
    if (!bound->clip || !bound->ragged) {
        *out = piece->at;
        return true;
    }
    for (size_t r = 0; r < written->count; r++) {
        td_region in = written->region[r];
        if (!td_region_cut(bound, &piece->at, &in))
            continue;
        for (int a = 0; a < bound->axis_count && any; a++) {
            const uint64_t end = out->start[a] + out->extent[a], last = in.start[a] + in.extent[a];
            in.start[a] = in.start[a] < out->start[a] ? in.start[a] : out->start[a];
            in.extent[a] = (last > end ? last : end) - in.start[a];
        }
        *out = in;
        any = true;
    }
    return any;
}

/* Places of different banks are far apart only where all of them lie inside the memories. */
static bool lies_inside(const td_bound *bound, const td_plan *plan, const part *p)
{
    uint64_t at[TD_MAX_BOUND];
    int64_t low = 0, high = 0, low_bank = 0, high_bank = 0;
    return td_words_extreme(bound, &p->in, p->words.address, p->words.address_stride, false, at, &low) &&
           td_words_extreme(bound, &p->in, p->words.address, p->words.address_stride, true, at, &high) &&
           td_words_extreme(bound, &p->in, p->words.bank, p->words.bank_stride, false, at, &low_bank) &&
           td_words_extreme(bound, &p->in, p->words.bank, p->words.bank_stride, true, at, &high_bank) && low >= 0 &&
           low_bank >= 0 && (uint64_t)high < plan->geometry.depth_words && (uint64_t)high_bank < plan->geometry.banks;
}

/* What the first word of a part has, banks counted as addresses. */
static int64_t first_place(const td_bound *bound, const part *p, int64_t worth)
{
    int64_t address = p->words.address, bank = p->words.bank;
    for (int a = 0; a < bound->axis_count; a++) {
        address += p->words.address_stride[a] * (int64_t)p->in.start[a];
        bank += p->words.bank_stride[a] * (int64_t)p->in.start[a];
    }
    return bank * worth + address;
}

static bool parts_apart(const td_bound *bound, const td_plan *plan, const part *one, const part *two)
{
    const int64_t worth = (int64_t)(plan->geometry.depth_words + plan->beats);
    pair_search s = {.near = (int64_t)plan->beats - 1, .budget = 200000};
    return add_side(&s, bound, &one->words, &one->in, worth, false) &&
           add_side(&s, bound, &two->words, &two->in, worth, true) && sort_terms(&s) &&
           look_at_pair(&s, 0, first_place(bound, one, worth) - first_place(bound, two, worth)) == TD_APART;
}

td_apart td_pieces_apart(const td_bound *bound, const td_words *words, const td_plan *plan, const td_regions *written)
{
    uint64_t first[TD_MAX_BOUND], second[TD_MAX_BOUND];
    for (size_t i = 0; i < words->piece_count; i++) {
        part own = {.words = td_words_of_piece(words, &words->piece[i])};
        if (!find_written(bound, &words->piece[i], written, &own.in))
            continue;
        if (!lies_inside(bound, plan, &own) ||
            td_words_apart(bound, &own.words, plan, &own.in, first, second) != TD_APART)
            return TD_UNDECIDED;
        for (size_t k = 0; k < i; k++) {
            part other = {.words = td_words_of_piece(words, &words->piece[k])};
            if (find_written(bound, &words->piece[k], written, &other.in) && !parts_apart(bound, plan, &own, &other))
                return TD_UNDECIDED;
        }
    }
    return TD_APART;
}

/* Each written word of a piece, where some that no load writes lie outside. */
td_status td_pieces_check_range(const td_bound *bound, const td_words *words, const td_plan *plan,
                                const td_regions *written)
{
    td_status status = TD_OK;
    for (size_t r = 0; r < written->count && !status; r++)
        for (size_t i = 0; i < words->piece_count && !status; i++) {
            const td_words own = td_words_of_piece(words, &words->piece[i]);
            td_region in = written->region[r];
            if (td_region_cut(bound, &words->piece[i].at, &in))
                status = td_words_range(bound, &own, plan, &in);
        }
    return status;
}

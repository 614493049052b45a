/* Which sparse packing fits (fit.c has those of blocks): the order of metadata, the first bit of a mask's words, the
 * base of numbers and all else that designs differ by, one word at a time. Called by fit.c with parts that are
 * whole. */
#include "parts/fit.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    "order=plain", "order=ampere",    "order=marlin", "order=hopper",      "tile=16",        "tile=32",
    "tile=64",     "tile=128",        "spare=torch",  "spare=first",       "spare=last",     "prune=none",
    "prune=torch", "prune=magnitude", "first=lsb",    "first=msb",         "base=0",         "base=1",
    "zeros=none",  "zeros=signed",    "zeros=row",    "pointers=elements", "pointers=bytes", "reading=document",
    "reading=tool"};

static bool same(const td_tensor *a, const td_tensor *b, uint64_t i)
{
    return memcmp(a->data + i * a->dtype.bytes, b->data + i * b->dtype.bytes, a->dtype.bytes) == 0;
}

static uint64_t count_same(const td_tensor *a, const td_tensor *b)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < a->elems; i++)
        count += same(a, b, i);
    return count;
}

/* Elements of all parts that are equal; none where a part has another size. */
static uint64_t agreement(const td_parts *tried, const td_parts *found)
{
    uint64_t count = 0;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        const td_tensor *a = tried->tensor[kind], *b = found->tensor[kind];
        if (!a || !b)
            continue;
        if (a->elems != b->elems || !td_dtype_equal(a->dtype, b->dtype))
            return 0;
        count += count_same(a, b);
    }
    return count;
}

/* One word of the packing is another; tile= goes with one order alone. */
static void change(const char *packing, const char *word, char *out)
{
    char whole[TD_PACKING_TEXT_BYTES];
    const char *tile = strncmp(word, "order=", 6) == 0 ? td_fit_find_word(packing, "tile=") : NULL;
    const char *rest = tile ? tile + strcspn(tile, " ") : "";
    const int before = (int)(tile ? tile - packing - 1 : (ptrdiff_t)strlen(packing));
    snprintf(whole, sizeof whole, "%.*s%s", before, packing, rest);
    td_fit_replace_word(whole, word, out);
}

static void describe(td_text *t, const td_parts *best, const td_parts *found, const char *word)
{
    uint64_t equal = 0, all = 0;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        all += found->tensor[kind] ? found->tensor[kind]->elems : 0;
    equal = agreement(best, found);
    if (equal == all && !word) {
        td_text_add(t, "every part is that of \"%s\"", found->text);
        return;
    }
    for (int kind = 0; kind < TD_MOST_PARTS && equal; kind++)
        if (found->tensor[kind])
            td_text_add(t, "%s%" PRIu64 " of %" PRIu64 " %s", kind ? ", " : "",
                        count_same(best->tensor[kind], found->tensor[kind]), found->tensor[kind]->elems,
                        found->form[kind].name);
    if (equal)
        td_text_add(t, " are those of %s", word ? word : "the packing");
    else
        td_text_add(t, "no packing that is known has parts of these sizes; the tensor's values are another number");
    const char *asked = word ? td_fit_find_word(found->text, word) : NULL;
    if (asked)
        td_text_add(t, "; the packing says %.*s", (int)strcspn(asked, " "), asked);
}

td_status td_fit_sparse(const td_parts *found, const td_tensor *golden, char **text)
{
    td_parts *best = NULL;
    td_text t = {0};
    const char *best_word = NULL;
    td_status status = td_parts_pack(golden, found->text, &best);
    uint64_t most = status ? 0 : agreement(best, found);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !status; i++) {
        char packing[TD_PACKING_TEXT_BYTES];
        td_parts *tried = NULL;
        change(found->text, words[i], packing);
        const td_status refused = td_parts_pack(golden, packing, &tried);
        if (refused == TD_NO_MEMORY)
            status = refused;
        if (refused)
            continue; /* most often a word that does not go with this packing */
        const uint64_t equal = agreement(tried, found);
        if (equal > most) {
            most = equal;
            best_word = words[i];
            td_parts_destroy(&best);
            best = tried;
        } else
            td_parts_destroy(&tried);
    }
    if (!status)
        describe(&t, best, found, best_word);
    td_parts_destroy(&best);
    if (!status && t.failed)
        status = td_fail_alloc(t.room);
    if (status)
        td_free(t.text);
    else
        *text = t.text;
    return status;
}

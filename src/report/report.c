/* A report as an object: made, given names, freed; and the public questions about one, which answer for NULL as for an
 * empty report. Who counts into it is count.c. */
#include "report/report.h"

#include "report/macros.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The texts share the report's block, so that the smallest comparison makes one allocation. */
td_report *td_report_new(const char *memory, const td_layout *layout, const td_tensor *golden, const td_tensor *actual)
{
    const char *const text[] = {memory,
                                layout ? layout->pattern.text : NULL,
                                layout ? layout->options_text : NULL,
                                layout ? layout->address_text : NULL,
                                golden->name,
                                actual ? actual->name : NULL};
    enum { TEXTS = sizeof text / sizeof text[0] };
    size_t bytes[TEXTS], all = sizeof(td_report);
    for (int i = 0; i < TEXTS; i++)
        all += bytes[i] = text[i] ? strlen(text[i]) + 1 : 0;
    td_report *r = malloc(all);
    if (!r)
        return NULL;
    memset(r, 0, offsetof(td_report, last_at));
    const char **const place[TEXTS] = {&r->memory, &r->pattern, &r->options, &r->address, &r->golden, &r->actual};
    char *next = (char *)(r + 1);
    for (int i = 0; i < TEXTS; i++)
        if (text[i]) {
            *place[i] = memcpy(next, text[i], bytes[i]);
            next += bytes[i];
        }
    return r;
}

void td_report_name_banks(td_report *r, const td_memory *const *bank, size_t banks)
{
    if (banks < 2 || !(r->mismatches || r->pad_mismatches || r->outside_words))
        return;
    size_t bytes = banks * sizeof *r->bank_name;
    for (size_t i = 0; i < banks; i++)
        bytes += strlen(bank[i]->name) + 1;
    r->bank_name = malloc(bytes);
    if (!r->bank_name) {
        r->failed = true;
        return;
    }
    char *next = (char *)(r->bank_name + banks);
    for (size_t i = 0; i < banks; i++) {
        const size_t length = strlen(bank[i]->name) + 1;
        r->bank_name[i] = memcpy(next, bank[i]->name, length);
        next += length;
    }
}

const char *td_report_bank_name(const td_report *r, uint64_t bank)
{
    return r->bank_name ? r->bank_name[bank] : "";
}

void td_report_destroy(td_report **report)
{
    if (!report || !*report)
        return;
    td_report *r = *report;
    *report = NULL;
    for (size_t i = 0; i < r->tally_count; i++) {
        free(r->tally[i].name);
        free(r->tally[i].mismatches);
    }
    for (size_t i = 0; i < r->guess_count; i++)
        free(r->guess[i]);
    td_report_parts_free(r->parts);
    td_macros_free(r);
    free(r->bank_name);
    free(r->pad_place);
    free(r->tally);
    free(r->first);
    free(r->sample);
    free(r->grid);
    free(r->time);
    free(atomic_load(&r->line));
    free(r);
}

td_status td_report_set_time(td_report *r, const char *time)
{
    if (!r || !time)
        return td_fail(TD_ARGUMENT, "report_set_time: the %s is NULL; pass one", r ? "time" : "report");
    char *copy = strdup(time);
    if (!copy)
        return td_fail_alloc(strlen(time) + 1);
    free(r->time);
    r->time = copy;
    return TD_OK;
}

int td_report_passed(const td_report *r)
{
    return r && !r->mismatches && !r->pad_mismatches && !r->outside_bits;
}

uint64_t td_report_compared(const td_report *r)
{
    return r ? r->compared : 0;
}

uint64_t td_report_mismatches(const td_report *r)
{
    return r ? r->mismatches : 0;
}

uint64_t td_report_pad_mismatches(const td_report *r)
{
    return r ? r->pad_mismatches : 0;
}

uint64_t td_report_outside_bits(const td_report *r)
{
    return r ? r->outside_bits : 0;
}

uint64_t td_report_worst_ulp(const td_report *r)
{
    return r ? r->worst_ulp : 0;
}

double td_report_worst_error(const td_report *r)
{
    return r ? r->worst_error : 0;
}

size_t td_report_first_count(const td_report *r)
{
    return r ? r->first_count : 0;
}

td_status td_report_first(const td_report *r, size_t number, td_mismatch *out)
{
    if (!r || !out)
        return td_fail(TD_ARGUMENT, "report_first: the %s is NULL; pass one", r ? "output" : "report");
    if (number >= r->first_count)
        return td_fail(TD_RANGE, "report_first: mismatch %zu of %zu kept; pass max=%zu in the policy to keep more",
                       number, r->first_count, number + 1);
    const td_entry *e = &r->first[number];
    *out = (td_mismatch){.elem = e->elem,
                         .expected = e->expected,
                         .actual = e->actual,
                         .expected_value = td_judge_value(&r->judge, e->expected),
                         .actual_value = td_judge_value(&r->judge, e->actual),
                         .ulp = e->verdict.ulp,
                         .error = e->verdict.apart ? NAN : e->verdict.error,
                         .bank = e->place.bank,
                         .address = e->place.address,
                         .msb = e->place.msb,
                         .lsb = e->place.lsb,
                         .lane = e->lane};
    td_shape_at(&r->shape, e->elem, &out->at);
    return TD_OK;
}

int td_report_statistics(const td_report *r, td_statistics *out)
{
    if (!r || !r->judge.policy.stats)
        return 0;
    if (out)
        *out = r->statistics;
    return 1;
}

const char *td_report_guess(const td_report *r, size_t number)
{
    return r && number < r->guess_count ? r->guess[number] : NULL;
}

const char *td_report_line(const td_report *r)
{
    if (!r)
        return "";
    /* The first caller makes it; of two at once, one keeps its own and the other takes that. */
    td_report *const mine = (td_report *)(uintptr_t)r;
    char *line = atomic_load(&mine->line);
    if (!line) {
        char *const made = td_report_make_line(r);
        if (atomic_compare_exchange_strong(&mine->line, &line, made))
            line = made;
        else
            free(made);
    }
    return line ? line : "";
}

size_t td_report_group_count(const td_report *r)
{
    return r ? r->tally_count : 0;
}

const char *td_report_group_name(const td_report *r, size_t group)
{
    return r && group < r->tally_count ? r->tally[group].name : NULL;
}

uint64_t td_report_group_size(const td_report *r, size_t group)
{
    return r && group < r->tally_count ? r->tally[group].size : 0;
}

uint64_t td_report_group_mismatches(const td_report *r, size_t group, uint64_t step)
{
    if (!r || group >= r->tally_count || step >= r->tally[group].size)
        return 0;
    const td_tally *t = &r->tally[group];
    return t->mismatches[step / t->bucket];
}

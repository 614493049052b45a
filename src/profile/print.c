/* Prints the profile (print.h): a table for people, JSON for programs, and the events of a trace in the format that
 * Chrome, Perfetto and Speedscope read. Names are those of functions and steps of the library, so that none needs a
 * quote in JSON. Called by profile.c. */
#include "profile/print.h"

#include "base/profile.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MARKED_SHARE 0.3
#define NAME_COLUMNS 32

/* -- the lines in the order of the table --------------------------------------------------------------------------- */

typedef struct listed {
    td_profile_lines lines;
    size_t *order; /* numbers of lines: each below its parent, the longest first; without the root */
    unsigned *depth;
    double all_ns; /* the time of callers inside of the library: without threads of the pool */
} listed;

/* Their work is a caller's, too, which waits meanwhile: it has its lines, and no share. */
static bool is_apart(const td_profile_lines *p, size_t line)
{
    while (p->line[line].parent)
        line = p->line[line].parent;
    return strcmp(p->line[line].name, "thread of the pool") == 0;
}

static size_t next_child(const td_profile_lines *p, size_t parent, const bool *taken)
{
    size_t best = 0;
    for (size_t i = 1; i < p->count; i++)
        if (!taken[i] && p->line[i].parent == parent && (!best || p->line[i].total_ns > p->line[best].total_ns))
            best = i;
    return best;
}

static td_status list(listed *out)
{
    *out = (listed){0};
    td_profile_lines *p = &out->lines;
    if (!td_profile_read(p))
        return td_fail_alloc(sizeof(td_profile_line));
    bool *taken = calloc(p->count, sizeof *taken);
    out->order = calloc(p->count, sizeof *out->order);
    out->depth = calloc(p->count, sizeof *out->depth);
    if (!taken || !out->order || !out->depth) {
        free(taken);
        return td_fail_alloc(p->count * sizeof *out->order);
    }
    unsigned depth = 0;
    for (size_t at = 0, used = 0; used + 1 < p->count;) {
        const size_t child = next_child(p, at, taken);
        if (!child) {
            at = p->line[at].parent;
            depth--;
            continue;
        }
        taken[child] = true;
        out->order[used] = child;
        out->depth[used++] = depth;
        if (!depth && !is_apart(p, child))
            out->all_ns += p->line[child].total_ns;
        at = child;
        depth++;
    }
    free(taken);
    return TD_OK;
}

static void free_list(listed *l)
{
    free(l->lines.line);
    free(l->order);
    free(l->depth);
}

static double share_of(const listed *l, size_t line)
{
    return l->all_ns > 0 && !is_apart(&l->lines, line) ? l->lines.line[line].self_ns / l->all_ns : 0;
}

static td_status give(td_text *t, char **text)
{
    if (t->failed) {
        free(t->text);
        return td_fail_alloc(t->used + 1);
    }
    *text = t->text;
    return TD_OK;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

#define QUANTITY_BYTES 24

/* "~": of some calls, which stand for all. */
static const char *print_time(double ns, bool sampled, char *text)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    size_t u = 0;
    for (; u < 3 && ns >= 999.5; u++)
        ns /= 1000;
    td_text_print(text, QUANTITY_BYTES, "%s%.*f %s", sampled ? "~" : "",
                  u && ns < 9.95   ? 2
                  : u && ns < 99.5 ? 1
                                   : 0,
                  ns, unit[u]);
    return text;
}

static bool is_sampled(const td_profile_line *line)
{
    return line->timed < line->calls;
}

static const char *print_bytes(uint64_t bytes, char *text)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t u = 0;
    for (; u < 4 && size >= 1023.5; u++)
        size /= 1024;
    if (!bytes)
        text[0] = 0;
    else
        td_text_print(text, QUANTITY_BYTES, "%.*f %s", u && size < 9.95 ? 2 : u && size < 99.5 ? 1 : 0, size, unit[u]);
    return text;
}

static void add_line(td_text *t, const listed *l, size_t number)
{
    const size_t at = l->order[number];
    const td_profile_line *line = &l->lines.line[at];
    const int indent = (int)(2 * l->depth[number]);
    const double share = share_of(l, at);
    char bytes[QUANTITY_BYTES], total[QUANTITY_BYTES], self[QUANTITY_BYTES], part[QUANTITY_BYTES] = "";
    if (!is_apart(&l->lines, at))
        td_text_print(part, sizeof part, "%.1f %%", 100 * share);
    td_text_add(t, "%*s%-*s %10" PRIu64 " %10s %10s %10s %8s%s\n", indent, "",
                indent < NAME_COLUMNS ? NAME_COLUMNS - indent : 0, line->name, line->calls,
                print_bytes(line->bytes, bytes), print_time(line->total_ns, is_sampled(line), total),
                print_time(line->self_ns, is_sampled(line), self), part, share > MARKED_SHARE ? "  <== over 30 %" : "");
}

td_status td_profile_print_table(char **text)
{
    listed l;
    td_text t = {0};
    char elapsed[QUANTITY_BYTES], inside[QUANTITY_BYTES];
    const td_status status = list(&l);
    if (status) {
        free_list(&l);
        return status;
    }
    bool sampled = false;
    for (size_t i = 0; i < l.lines.count; i++)
        sampled |= is_sampled(&l.lines.line[i]);
    td_text_add(&t, "tensordoor profile: %s, of which %s inside of the library, %zu thread%s\n",
                print_time(l.lines.elapsed_ns, false, elapsed), print_time(l.all_ns, sampled, inside), l.lines.threads,
                td_text_s(l.lines.threads));
    td_text_add(&t, "%-*s %10s %10s %10s %10s %8s\n", NAME_COLUMNS, "operation, and its steps", "calls", "bytes",
                "total", "self", "share");
    for (size_t i = 0; i + 1 < l.lines.count; i++)
        add_line(&t, &l, i);
    if (l.lines.count == 1)
        td_text_add(&t, "no operation was called while the profile was on\n");
    if (sampled)
        td_text_add(&t, "~ short calls, timed in samples that stand for all; calls and bytes are exact\n");
    if (l.lines.lost)
        td_text_add(&t, "%" PRIu64 " step%s deeper or of more names than there is place for: in those around them\n",
                    l.lines.lost, td_text_s(l.lines.lost));
    free_list(&l);
    return give(&t, text);
}

/* -- JSON ---------------------------------------------------------------------------------------------------------- */

static void add_steps(td_text *t, const listed *l, size_t *number, unsigned depth)
{
    for (bool first = true; *number + 1 < l->lines.count && l->depth[*number] == depth; first = false) {
        const size_t at = l->order[*number];
        const td_profile_line *line = &l->lines.line[at];
        td_text_add(t,
                    "%s{\"name\": \"%s\", \"calls\": %" PRIu64 ", \"timed_calls\": %" PRIu64 ", \"bytes\": %" PRIu64
                    ", \"total_ns\": %.1f, \"self_ns\": %.1f, \"share\": %.6f, \"steps\": [",
                    first ? "" : ", ", line->name, line->calls, line->timed, line->bytes, line->total_ns, line->self_ns,
                    share_of(l, at));
        ++*number;
        add_steps(t, l, number, depth + 1);
        td_text_add(t, "]}");
    }
}

td_status td_profile_print_json(char **text)
{
    listed l;
    td_text t = {0};
    size_t number = 0;
    const td_status status = list(&l);
    if (status) {
        free_list(&l);
        return status;
    }
    td_text_add(&t,
                "{\"version\": \"%s\", \"elapsed_ns\": %.0f, \"library_ns\": %.1f, \"threads\": %zu, \"lost_steps\": "
                "%" PRIu64 ", \"operations\": [",
                td_version(), l.lines.elapsed_ns, l.all_ns, l.lines.threads, l.lines.lost);
    add_steps(&t, &l, &number, 0);
    td_text_add(&t, "]}\n");
    free_list(&l);
    return give(&t, text);
}

/* -- the trace ----------------------------------------------------------------------------------------------------- */

/* An event that began earlier is the outer one; of two that began at the same tick, the longer. */
static int by_start(const void *a, const void *b)
{
    const td_profile_event *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns < y->start_ns || x->start_ns > y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->length_ns < y->length_ns) - (x->length_ns > y->length_ns);
}

/* Microseconds with three places: the format's unit, and whole nanoseconds. */
td_status td_profile_print_trace(char **text)
{
    td_profile_events events;
    td_text t = {0};
    if (!td_profile_read_events(&events))
        return td_fail_alloc(sizeof(td_profile_event));
    qsort(events.event, events.count, sizeof *events.event, by_start);
    td_text_add(&t,
                "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"version\": \"%s\", \"dropped\": %" PRIu64
                "}, \"traceEvents\": [\n"
                "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 0, "
                "\"args\": {\"name\": \"tensordoor\"}}",
                td_version(), events.dropped);
    for (size_t i = 0; i < events.count; i++) {
        const td_profile_event *e = &events.event[i];
        td_text_add(&t,
                    ",\n{\"name\": \"%s\", \"cat\": \"tensordoor\", \"ph\": \"X\", \"pid\": 1, \"tid\": %zu, "
                    "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"bytes\": %" PRIu64 "}}",
                    e->name, e->thread, e->start_ns / 1000, e->length_ns / 1000, e->bytes);
    }
    td_text_add(&t, "\n]}\n");
    free(events.event);
    return give(&t, text);
}

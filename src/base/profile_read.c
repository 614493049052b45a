/* The profile switched on and off, and read (profile.h): the trees of all threads added up. */
#include "base/profile_tree.h"

#include <stdlib.h>
#include <string.h>

#define CALIBRATION_NS 2000000 /* between two readings of both clocks: their error is then below 0.01 % */

static double ns_per_tick(void)
{
    if (!td_profile_has_counter())
        return 1;
    uint64_t ns = td_now_ns(), at = td_profile_clock();
    while (ns - td_profile_all.start_ns < CALIBRATION_NS) {
        ns = td_now_ns();
        at = td_profile_clock();
    }
    return (double)(ns - td_profile_all.start_ns) / (double)(at - td_profile_all.start_ticks);
}

/* -- on, off, out -------------------------------------------------------------------------------------------------- */

static uint64_t elapsed_ns(void)
{
    return td_profile_all.past_ns +
           (td_profile_all.start_ns
                ? (td_profile_all.stop_ns ? td_profile_all.stop_ns : td_now_ns()) - td_profile_all.start_ns
                : 0);
}

void td_profile_switch(int on)
{
    pthread_mutex_lock(&td_profile_all.lock);
    const int was = atomic_load(&td_profile_on);
    if (on && !was) {
        if (!td_profile_all.start_ns) { /* once: every tick is counted from here */
            td_profile_weigh();
            td_profile_all.start_ns = td_now_ns();
            td_profile_all.start_ticks = td_profile_clock();
        } else
            td_profile_all.past_ns -= td_now_ns() - td_profile_all.stop_ns; /* modulo 2^64; elapsed_ns adds it */
        td_profile_all.stop_ns = 0;
    }
    if (!on && was)
        td_profile_all.stop_ns = td_now_ns();
    atomic_store(&td_profile_on, on);
    pthread_mutex_unlock(&td_profile_all.lock);
}

void td_profile_clear(void)
{
    pthread_mutex_lock(&td_profile_all.lock);
    td_profile_all.past_ns -= elapsed_ns();
    atomic_store(&td_profile_events_dropped, 0);
    atomic_fetch_add(&td_profile_generation, 1);
    pthread_mutex_unlock(&td_profile_all.lock);
}

/* The place of a name below `parent` in `out`; the array has room. */
static size_t line_of(td_profile_lines *out, size_t parent, const profile_node *n)
{
    for (size_t i = 1; i < out->count; i++)
        if (out->line[i].parent == parent && out->line[i].name && strcmp(out->line[i].name, n->seen.name) == 0)
            return i;
    out->line[out->count] = (td_profile_line){.name = n->seen.name, .parent = parent, .kind = n->kind};
    return out->count++;
}

static bool is_current(const profile_tree *t)
{
    return atomic_load_explicit(&t->generation, memory_order_relaxed) ==
               atomic_load_explicit(&td_profile_generation, memory_order_relaxed) &&
           atomic_load_explicit(&t->count, memory_order_relaxed) > 1;
}

static void add_tree(td_profile_lines *out, profile_tree *t, double scale)
{
    size_t at[PROFILE_MOST_NODES] = {0};
    const unsigned count = atomic_load_explicit(&t->count, memory_order_acquire);
    out->threads++;
    out->lost += atomic_load_explicit(&t->lost, memory_order_relaxed);
    for (unsigned i = 1; i < count; i++) {
        profile_node *n = &t->node[i];
        at[i] = line_of(out, at[td_profile_node_of(n->seen.parent) - t->node], n);
        td_profile_line *line = &out->line[at[i]];
        line->calls += atomic_load_explicit(&n->seen.calls, memory_order_relaxed);
        line->bytes += atomic_load_explicit(&n->seen.bytes, memory_order_relaxed);
        line->timed += atomic_load_explicit(&n->timed, memory_order_relaxed);
        line->self_ns += scale * (double)atomic_load_explicit(&n->self_ticks, memory_order_relaxed);
    }
}

bool td_profile_read(td_profile_lines *out)
{
    size_t room = 1;
    pthread_mutex_lock(&td_profile_all.lock);
    *out = (td_profile_lines){.count = 1, .elapsed_ns = (double)elapsed_ns()};
    for (profile_tree *t = td_profile_all.first; t; t = t->next)
        room += PROFILE_MOST_NODES;
    out->line = calloc(room, sizeof *out->line);
    if (out->line) {
        const double scale = td_profile_all.start_ns ? ns_per_tick() : 1;
        out->line[0].name = "";
        for (profile_tree *t = td_profile_all.first; t; t = t->next)
            if (is_current(t))
                add_tree(out, t, scale);
        for (size_t i = out->count; i-- > 1;) { /* children come behind their parents */
            out->line[i].total_ns += out->line[i].self_ns;
            out->line[out->line[i].parent].total_ns += out->line[i].total_ns;
        }
    }
    pthread_mutex_unlock(&td_profile_all.lock);
    return out->line != NULL;
}

static size_t count_events(void)
{
    size_t count = 0;
    for (profile_tree *t = td_profile_all.first; t; t = t->next)
        for (profile_block *b = is_current(t) ? t->events : NULL; b; b = b->next)
            count += atomic_load_explicit(&b->count, memory_order_acquire);
    return count;
}

bool td_profile_read_events(td_profile_events *out)
{
    pthread_mutex_lock(&td_profile_all.lock);
    const size_t room = count_events();
    *out = (td_profile_events){.dropped = atomic_load(&td_profile_events_dropped)};
    out->event = calloc(room ? room : 1, sizeof *out->event);
    const double scale = td_profile_all.start_ns ? ns_per_tick() : 1;
    for (profile_tree *t = td_profile_all.first; t && out->event; t = t->next)
        for (profile_block *b = is_current(t) ? t->events : NULL; b; b = b->next) {
            const size_t count = atomic_load_explicit(&b->count, memory_order_acquire);
            for (size_t i = 0; i < count && out->count < room; i++) {
                const profile_event *e = &b->event[i];
                out->event[out->count++] =
                    (td_profile_event){.name = e->name,
                                       .thread = t->number,
                                       .start_ns = scale * (double)(e->start - td_profile_all.start_ticks),
                                       .length_ns = scale * (double)e->length,
                                       .bytes = e->bytes};
            }
        }
    pthread_mutex_unlock(&td_profile_all.lock);
    return out->event != NULL;
}

/* A record as one line of JSON and back; README and tests/tool/bench_schema.py describe the members. A reader refuses
 * what it does not know whole: another format, another version of it, a line that ends early. */
#include "tool/bench/json_read.h"
#include "tool/bench/record.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void write_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": \"", name);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void write_stat(FILE *out, const bench_stat *s)
{
    fprintf(out,
            "{\"median\": %.7g, \"low\": %.7g, \"high\": %.7g, \"spread\": %.4g, \"spread_low\": %.4g, "
            "\"spread_high\": %.4g, \"samples\": %u, \"outliers\": %u}",
            s->median, s->low, s->high, s->spread, s->spread_low, s->spread_high, s->samples, s->outliers);
}

static void write_figure(FILE *out, const bench_figure *f)
{
    fputc('{', out);
    write_text(out, "group", f->group);
    fputs(", ", out);
    write_text(out, "case", f->name);
    if (f->skipped[0]) {
        fputs(", ", out);
        write_text(out, "skipped", f->skipped);
        fputc('}', out);
        return;
    }
    fputs(", ", out);
    write_text(out, "series", f->series);
    fprintf(out,
            ", \"elems\": %.0f, \"bytes\": %.0f, \"threads\": %u, \"calm\": %s, \"disturbed\": %u, \"ns\": ", f->elems,
            f->bytes, f->threads, f->calm ? "true" : "false", f->disturbed);
    write_stat(out, &f->ns);
    if (f->reference[0]) {
        fputs(", ", out);
        write_text(out, "reference", f->reference);
        fputs(", \"ratio\": ", out);
        write_stat(out, &f->ratio);
    }
    fputs(", \"peers\": {", out);
    for (size_t i = 0; i < f->peer_count; i++) {
        fprintf(out, "%s\"%s\": ", i ? ", " : "", f->peer[i].name);
        write_stat(out, &f->peer[i].ns);
    }
    fputc('}', out);
    if (f->allocations >= 0)
        fprintf(out, ", \"allocations\": %.4g, \"peak_bytes\": %.0f", f->allocations, f->peak_bytes);
    if (f->hits >= 0)
        fprintf(out, ", \"hits\": %.6g", f->hits);
    fputs(", \"extra\": {", out);
    for (size_t i = 0; i < f->extra_count; i++)
        fprintf(out, "%s\"%s\": %.6g", i ? ", " : "", f->extra[i].name, f->extra[i].value);
    fputs("}}", out);
}

void bench_record_write(FILE *out, const bench_record *r)
{
    const bench_fitness *f = &r->fitness;
    fprintf(out, "{\"format\": \"%s\", \"version\": %d, ", BENCH_FORMAT, BENCH_FORMAT_VERSION);
    write_text(out, "tensordoor", r->library);
    fputs(", ", out);
    write_text(out, "commit", r->commit);
    fputs(", ", out);
    write_text(out, "time", r->time);
    fputs(", \"machine\": {", out);
    write_text(out, "processor", r->processor);
    fputs(", ", out);
    write_text(out, "system", r->system);
    fputs(", ", out);
    write_text(out, "isa", r->isa);
    fprintf(out,
            ", \"cores\": %u}, \"fitness\": {\"fit\": %s, \"load\": %.3g, \"steal\": %.4g, \"calibration\": %.4g, "
            "\"clock\": %.4g, \"calm\": %.4g, \"probe_clocks\": %.6g, ",
            r->cores, f->fit ? "true" : "false", f->load, f->steal, f->calibration, f->clock, f->calm, f->probe_clocks);
    write_text(out, "governor", f->governor);
    fputs(", ", out);
    write_text(out, "why", f->why);
    fprintf(out, "}, \"method\": {\"samples\": %u, \"measurement_ns\": %.0f, \"warm_up_ns\": %.0f}, \"figures\": [",
            r->method.samples, r->method.measurement_ns, r->method.warm_up_ns);
    for (size_t i = 0; i < r->count; i++) {
        fputs(i ? ", " : "", out);
        write_figure(out, &r->figure[i]);
    }
    fputs("]}", out);
}

static bool say(char *message, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool say(char *message, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, size, fmt, args);
    va_end(args);
    return false;
}

static bool get_text(const bench_json *from, const char *name, char *out, size_t size)
{
    const bench_json *m = bench_json_get(from, name);
    if (!m || m->kind != JSON_TEXT || strlen(m->text) >= size)
        return false;
    memcpy(out, m->text, strlen(m->text) + 1);
    return true;
}

static bool get_number(const bench_json *from, const char *name, double *out)
{
    const bench_json *m = bench_json_get(from, name);
    if (!m || m->kind != JSON_NUMBER)
        return false;
    *out = m->number;
    return true;
}

static bool get_count(const bench_json *from, const char *name, unsigned *out)
{
    double number;
    if (!get_number(from, name, &number) || number < 0 || number > 1e9)
        return false;
    *out = (unsigned)number;
    return true;
}

static bool get_bool(const bench_json *from, const char *name, bool *out)
{
    const bench_json *m = bench_json_get(from, name);
    if (!m || m->kind != JSON_BOOL)
        return false;
    *out = m->number != 0;
    return true;
}

static bool get_stat(const bench_json *m, bench_stat *out)
{
    return get_number(m, "median", &out->median) && get_number(m, "low", &out->low) &&
           get_number(m, "high", &out->high) && get_number(m, "spread", &out->spread) &&
           get_number(m, "spread_low", &out->spread_low) && get_number(m, "spread_high", &out->spread_high) &&
           get_count(m, "samples", &out->samples) && get_count(m, "outliers", &out->outliers);
}

static bool get_peers(const bench_json *peers, bench_figure *f)
{
    if (!peers || peers->kind != JSON_OBJECT)
        return false;
    for (const bench_json *p = peers->first; p; p = p->next) {
        if (f->peer_count == BENCH_MAX_RUNNERS || strlen(p->name) >= sizeof f->peer[0].name ||
            !get_stat(p, &f->peer[f->peer_count].ns))
            return false;
        memcpy(f->peer[f->peer_count++].name, p->name, strlen(p->name) + 1);
    }
    return true;
}

static bool get_figure(const bench_json *m, bench_figure *f)
{
    if (!get_text(m, "group", f->group, sizeof f->group) || !get_text(m, "case", f->name, sizeof f->name))
        return false;
    if (get_text(m, "skipped", f->skipped, sizeof f->skipped))
        return true;
    if (!get_text(m, "series", f->series, sizeof f->series) || !get_number(m, "elems", &f->elems) ||
        !get_number(m, "bytes", &f->bytes) || !get_count(m, "threads", &f->threads) || !get_bool(m, "calm", &f->calm) ||
        !get_count(m, "disturbed", &f->disturbed) || !get_stat(bench_json_get(m, "ns"), &f->ns) ||
        !get_peers(bench_json_get(m, "peers"), f))
        return false;
    if (get_text(m, "reference", f->reference, sizeof f->reference) && !get_stat(bench_json_get(m, "ratio"), &f->ratio))
        return false;
    get_number(m, "allocations", &f->allocations);
    get_number(m, "peak_bytes", &f->peak_bytes);
    get_number(m, "hits", &f->hits);
    const bench_json *extra = bench_json_get(m, "extra");
    for (const bench_json *e = extra ? extra->first : NULL; e; e = e->next)
        bench_figure_extra(f, e->name ? e->name : "", e->number);
    return true;
}

static bool get_head(const bench_json *doc, bench_record *r)
{
    const bench_json *machine = bench_json_get(doc, "machine"), *fitness = bench_json_get(doc, "fitness");
    const bench_json *method = bench_json_get(doc, "method");
    bench_fitness *f = &r->fitness;
    (void)get_number(fitness, "clock", &f->clock); /* which was not always looked at */
    return get_bool(fitness, "fit", &f->fit) && get_text(doc, "tensordoor", r->library, sizeof r->library) &&
           get_text(doc, "commit", r->commit, sizeof r->commit) && get_text(doc, "time", r->time, sizeof r->time) &&
           get_text(machine, "processor", r->processor, sizeof r->processor) &&
           get_text(machine, "system", r->system, sizeof r->system) &&
           get_text(machine, "isa", r->isa, sizeof r->isa) && get_count(machine, "cores", &r->cores) &&
           get_number(fitness, "load", &f->load) && get_number(fitness, "steal", &f->steal) &&
           get_number(fitness, "calibration", &f->calibration) && get_number(fitness, "calm", &f->calm) &&
           get_number(fitness, "probe_clocks", &f->probe_clocks) &&
           get_text(fitness, "governor", f->governor, sizeof f->governor) &&
           get_text(fitness, "why", f->why, sizeof f->why) && get_count(method, "samples", &r->method.samples) &&
           get_number(method, "measurement_ns", &r->method.measurement_ns) &&
           get_number(method, "warm_up_ns", &r->method.warm_up_ns);
}

static bool get_record(const bench_json *doc, bench_record *out, char *message, size_t size)
{
    char format[32] = "";
    double version = 0;
    if (!get_text(doc, "format", format, sizeof format) || strcmp(format, BENCH_FORMAT) != 0)
        return say(message, size, "is no run of tensordoor bench: it has no \"format\": \"%s\"", BENCH_FORMAT);
    if (!get_number(doc, "version", &version) || version != BENCH_FORMAT_VERSION)
        return say(message, size, "has version %g of the format, and this tensordoor reads version %d; measure it anew",
                   version, BENCH_FORMAT_VERSION);
    if (!get_head(doc, out))
        return say(message, size, "lacks a member that every run has (machine, fitness, method); measure it anew");
    const bench_json *list = bench_json_get(doc, "figures");
    if (!list || list->kind != JSON_LIST)
        return say(message, size, "has no list of figures; measure it anew");
    for (const bench_json *m = list->first; m; m = m->next) {
        bench_figure *f = bench_record_add(out);
        if (!f)
            return say(message, size, "does not fit into memory");
        if (!get_figure(m, f))
            return say(message, size, "has a figure (number %zu) that lacks a member; measure it anew", out->count);
    }
    return true;
}

/* A text whose brackets or quotes are still open was cut off. */
static bool is_cut(const char *text, size_t length)
{
    long depth = 0;
    bool quoted = false, escaped = false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (quoted) {
            quoted = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return length == 0 || quoted || depth > 0;
}

bool bench_record_read(const char *text, size_t length, bench_record *out, char *message, size_t size)
{
    size_t where = 0;
    *out = (bench_record){0};
    bench_json *doc = bench_json_read(text, length, &where);
    bool good = doc != NULL;
    if (doc)
        good = get_record(doc, out, message, size);
    else if (is_cut(text, length))
        say(message, size, "ends early, after %zu bytes: it was half written; remove it, or measure it anew", length);
    else
        say(message, size, "is no JSON at byte %zu", where);
    bench_json_free(doc);
    if (!good)
        bench_record_clear(out);
    return good;
}

/* Puts the records into the page, as JSON in a script that is no code. `</` in a text would end that script early, so
 * that every `<` of what the machine says about itself becomes a parenthesis; names of cases have none. */
#include "tool/bench/page.h"

#include <stdlib.h>
#include <string.h>

extern const char bench_page_html[];

#define MARK "/*DATA*/"

static void write_judgements(FILE *out, const bench_out *what)
{
    fputs("[", out);
    for (size_t i = 0; i < what->now->count; i++)
        fprintf(out, "%s{\"verdict\": \"%s\", \"change\": %.5g, \"text\": \"%s\"}", i ? ", " : "",
                bench_verdict_name(what->judgement[i].verdict), what->judgement[i].change, what->judgement[i].text);
    fputs("]", out);
}

static void write_data(FILE *out, const bench_out *what)
{
    fputs("{\"now\": ", out);
    bench_record_write(out, what->now);
    fputs(", \"then\": ", out);
    if (what->then)
        bench_record_write(out, what->then);
    else
        fputs("null", out);
    fputs(", \"judgements\": ", out);
    write_judgements(out, what);
    fputs(", \"groups\": {", out);
    for (size_t g = 0; g < bench_group_count; g++)
        fprintf(out, "%s\"%s\": \"%s\"", g ? ", " : "", bench_groups[g]->name, bench_groups[g]->about);
    fputs("}, \"profiles\": ", out);
    bench_profiles_write(out, what->now);
    fputs("}", out);
}

bool bench_page_write(const char *path, const bench_out *what)
{
    const char *mark = strstr(bench_page_html, MARK);
    char *data = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&data, &length);
    if (!text || !mark)
        return false;
    write_data(text, what);
    if (fclose(text)) {
        free(data);
        return false;
    }
    for (char *p = data; *p; p++)
        if (*p == '<')
            *p = '(';
    FILE *out = fopen(path, "w");
    bool good = out != NULL;
    if (good) {
        fwrite(bench_page_html, 1, (size_t)(mark - bench_page_html), out);
        fwrite(data, 1, length, out);
        fputs(mark + strlen(MARK), out);
        good = fclose(out) == 0;
    }
    free(data);
    return good;
}

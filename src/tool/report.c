/* What `compare` and `diff` share: how a report is shown, and the bar while they work. */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Shorter work shows no bar. */
#define PATIENCE_S 0.5
#define REDRAW_S 0.1
#define BAR_CHARS 40

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void tool_progress_start(tool_progress *progress, const char *command)
{
    *progress = (tool_progress){.command = command, .started = now_s()};
}

void tool_progress_at(void *context, uint64_t done, uint64_t total)
{
    tool_progress *p = context;
    const double now = now_s();
    if (now - p->started < PATIENCE_S || now - p->shown < REDRAW_S || !isatty(STDERR_FILENO))
        return;
    const double share = total ? (double)done / (double)total : 1;
    const int full = (int)(share * BAR_CHARS);
    char bar[BAR_CHARS + 1];
    memset(bar, ' ', BAR_CHARS);
    memset(bar, '=', (size_t)full);
    bar[BAR_CHARS] = '\0';
    fprintf(stderr, "\rtensordoor %s [%s] %3d %%", p->command, bar, (int)(share * 100));
    p->shown = now;
    p->drawn = true;
}

void tool_progress_end(tool_progress *p)
{
    if (p->drawn)
        fprintf(stderr, "\r\033[K");
    p->drawn = false;
}

int tool_report(const char *command, td_report **report, bool json, const char *html)
{
    char *text = NULL;
    int code = td_report_passed(*report) ? TOOL_OK : TOOL_DIFFERS;
    if ((json ? td_report_json(*report, &text) : td_report_text(*report, &text)) != TD_OK ||
        (html && td_report_html(*report, html) != TD_OK))
        code = tool_fail_library(command);
    else {
        fputs(text, stdout);
        if (html && !json)
            printf("  page: %s\n", html);
    }
    td_free(text);
    td_report_destroy(report);
    return code;
}

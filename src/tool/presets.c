/* `tensordoor presets`: the layouts that have a name, each with what it stands for. */
#include "base/suggest.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const tool_usage usage = {
    .command = "presets",
    .file = "NAME",
    .file_required = false,
    .about = "Lists the layouts of real hardware and libraries that have a name, or shows the one that is named. Use "
             "one as\n"
             "--preset \"NAME KEY=VALUE ...\", or as the pattern \"preset:NAME KEY=VALUE ...\" everywhere else.",
};

/* Parameters that have no default get one here, so that the pattern can be shown. */
static const char *examples(const char *name)
{
    static const struct {
        const char *name, *parameters;
    } needed[] = {{"xor_swizzle", "b=3 s=3"}, {"bank_interleave", "banks=3"}, {"fft_bitrev", "bits=10"}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (strcmp(needed[i].name, name) == 0)
            return needed[i].parameters;
    return "";
}

static void show(const td_preset_info *preset)
{
    td_layout *layout = NULL;
    char pattern[128];
    snprintf(pattern, sizeof pattern, "preset:%s %s", preset->name, examples(preset->name));
    printf("%s\n    %s\n    parameters  %s\n", preset->name, preset->about, preset->parameters);
    if (td_layout_create(pattern, NULL, NULL, &layout) == TD_OK) {
        printf("    pattern     %s\n", td_layout_pattern(layout));
        if (*td_layout_options(layout))
            printf("    options     %s\n", td_layout_options(layout));
        if (*td_layout_address(layout))
            printf("    address     %s%s%s\n", td_layout_address(layout), *examples(preset->name) ? "   with " : "",
                   examples(preset->name));
    }
    td_layout_destroy(&layout);
}

int tool_presets(int argc, char **argv)
{
    const char *name = NULL;
    tool_parsed parsed = tool_parse(&usage, argc, argv, NULL, 0, &name);
    if (parsed != TOOL_GO_ON)
        return parsed == TOOL_HELP_SHOWN ? TOOL_OK : TOOL_FAILED;
    const char *known[64];
    size_t count = 0;
    for (size_t i = 0; i < td_preset_count(); i++) {
        const td_preset_info *preset = td_preset_at(i);
        if (count < 64)
            known[count++] = preset->name;
        if (!name) {
            printf("%s", i ? "\n" : "");
            show(preset);
        } else if (strcmp(name, preset->name) == 0) {
            show(preset);
            return TOOL_OK;
        }
    }
    if (!name)
        return TOOL_OK;
    const char *near = td_suggest(name, known, count);
    if (near)
        return tool_fail(usage.command, "unknown preset \"%s\"; did you mean %s?", name, near);
    return tool_fail(usage.command, "unknown preset \"%s\"; see tensordoor presets", name);
}

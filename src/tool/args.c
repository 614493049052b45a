/* The arguments of a subcommand: flags from its table, one or two file names, help made from the same table. Every
 * subcommand calls it first. It refuses unknown flags with the nearest known one, flags twice or without a value, and
 * missing ones. */
#include "base/suggest.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FLAGS 32
#define MAX_WORD 32

int tool_fail(const char *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "tensordoor%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return TOOL_FAILED;
}

int tool_fail_library(const char *command)
{
    const char *message = td_last_error();
    return tool_fail(command, "%.*s", (int)strcspn(message, "\n"), message);
}

int tool_fail_kind(const char *command, const char *file)
{
    return tool_fail(
        command,
        "\"%s\" has the extension of no tensor file (.npy, .npz, .safetensors, .gguf, .raw) and of no memory "
        "image (.hex, .mem, .memb, .bin, .mif, .coe, .ihex, .srec, .elf); put the format in front, as "
        "npy:FILE or readmemh:FILE",
        file);
}

void tool_remove(const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISREG(info.st_mode))
        (void)unlink(path);
}

static void print_help(const tool_usage *usage, const tool_flag *flags, size_t flag_count)
{
    printf("usage: tensordoor %s", usage->command);
    if (usage->file)
        printf(usage->file_required ? " %s" : " [%s]", usage->file);
    if (usage->second_file)
        printf(" %s", usage->second_file);
    for (size_t f = 0; f < flag_count; f++)
        if (!flags[f].placeholder)
            printf(" [--%s]", flags[f].name);
        else
            printf(flags[f].required ? " --%s %s" : " [--%s %s]", flags[f].name, flags[f].placeholder);
    printf("\n\n%s\n", usage->about);
    for (size_t f = 0; f < flag_count; f++) {
        char left[64];
        int used =
            snprintf(left, sizeof left, flags[f].placeholder ? "--%s %s" : "--%s", flags[f].name, flags[f].placeholder);
        if (flags[f].letter)
            snprintf(left + used, sizeof left - (size_t)used, ", -%c", flags[f].letter);
        printf("%s  %-23s %s%s\n", f ? "" : "\n", left, flags[f].meaning, flags[f].required ? " (required)" : "");
    }
}

static int fail_unknown(const tool_usage *usage, const char *name, size_t length, const tool_flag *flags,
                        size_t flag_count)
{
    char word[MAX_WORD + 1] = ""; /* to compare with; a longer one resembles no flag */
    const char *known[MAX_FLAGS];
    if (length <= MAX_WORD)
        memcpy(word, name, length);
    for (size_t f = 0; f < flag_count; f++)
        known[f] = flags[f].name;
    const char *near = td_suggest(word, known, flag_count);
    if (near)
        return tool_fail(usage->command, "unknown flag \"--%s\"; did you mean --%s?", word, near);
    return tool_fail(usage->command, "unknown flag \"--%.*s\"; see tensordoor %s --help", (int)length, name,
                     usage->command);
}

/* The flag that argv[*i] names, with its value; moves *i onto the value when it stands apart. */
static bool take_flag(const tool_usage *usage, int argc, char **argv, int *i, tool_flag *flags, size_t flag_count)
{
    const char *text = argv[*i];
    bool long_form = text[1] == '-';
    const char *name = long_form ? text + 2 : text + 1;
    size_t length = long_form ? strcspn(name, "=") : 1;
    tool_flag *flag = NULL;
    for (size_t f = 0; f < flag_count && !flag; f++)
        if (long_form ? strlen(flags[f].name) == length && memcmp(flags[f].name, name, length) == 0
                      : flags[f].letter == name[0] && name[1] == '\0')
            flag = &flags[f];
    if (!flag) {
        if (long_form)
            fail_unknown(usage, name, length, flags, flag_count);
        else
            tool_fail(usage->command, "unknown flag \"%s\"; see tensordoor %s --help", text, usage->command);
        return false;
    }
    if (flag->value) {
        tool_fail(usage->command, "--%s is given twice; give it once", flag->name);
        return false;
    }
    if (!flag->placeholder) {
        flag->value = "yes";
        if (long_form && name[length] == '=')
            tool_fail(usage->command, "--%s takes no value; write --%s alone", flag->name, flag->name);
        return !long_form || name[length] != '=';
    }
    if (long_form && name[length] == '=') {
        flag->value = name + length + 1;
        return true;
    }
    if (*i + 1 >= argc) {
        tool_fail(usage->command, "--%s needs a value: --%s %s", flag->name, flag->name, flag->placeholder);
        return false;
    }
    flag->value = argv[++*i];
    return true;
}

tool_parsed tool_parse(const tool_usage *usage, int argc, char **argv, tool_flag *flags, size_t flag_count,
                       const char **file)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage, flags, flag_count);
            return TOOL_HELP_SHOWN;
        }
    size_t files = 0;
    size_t files_known = usage->second_file ? 2 : usage->file ? 1 : 0;
    for (size_t f = 0; f < (files_known ? files_known : 1); f++)
        file[f] = NULL;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!take_flag(usage, argc, argv, &i, flags, flag_count))
                return TOOL_REFUSED;
        } else if (files == files_known) {
            tool_fail(usage->command, "one argument too many: \"%s\"; see tensordoor %s --help", argv[i],
                      usage->command);
            return TOOL_REFUSED;
        } else {
            file[files++] = argv[i];
        }
    }
    if ((usage->file_required && files == 0) || (usage->second_file && files < 2)) {
        tool_fail(usage->command, "no %s; see tensordoor %s --help", files == 0 ? usage->file : usage->second_file,
                  usage->command);
        return TOOL_REFUSED;
    }
    for (size_t f = 0; f < flag_count; f++)
        if (flags[f].required && !flags[f].value) {
            tool_fail(usage->command, "no --%s; pass --%s %s, %s", flags[f].name, flags[f].name, flags[f].placeholder,
                      flags[f].meaning);
            return TOOL_REFUSED;
        }
    return TOOL_GO_ON;
}

bool tool_take(const tool_usage *usage, const tool_repeated *flag, int *argc, char **argv, const char **value,
               size_t *count)
{
    const size_t length = strlen(flag->name);
    int left = 0;
    *count = 0;
    for (int i = 0; i < *argc; i++) {
        const bool named = strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, flag->name, length) == 0;
        const int end = named ? argv[i][2 + length] : 'x';
        if (end != '\0' && end != '=') {
            argv[left++] = argv[i];
            continue;
        }
        if (!end && i + 1 == *argc) {
            tool_fail(usage->command, "--%s needs a value: --%s %s", flag->name, flag->name, flag->placeholder);
            return false;
        }
        if (*count == flag->most) {
            tool_fail(usage->command, "more than %zu --%s; %s", flag->most, flag->name, flag->advice);
            return false;
        }
        value[(*count)++] = end ? argv[i] + 3 + length : argv[++i];
    }
    *argc = left;
    return true;
}

bool tool_number(const tool_usage *usage, const tool_flag *flag, uint64_t *value)
{
    const char *p = flag->value;
    unsigned base = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 16 : 10;
    p += base == 16 ? 2 : 0;
    uint64_t number = 0;
    bool good = *p != '\0';
    for (; good && *p; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? (unsigned)(*p - '0')
                         : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
                         : *p >= 'A' && *p <= 'F' ? (unsigned)(*p - 'A') + 10
                                                  : base;
        good = digit < base && number <= ((uint64_t)INT64_MAX - digit) / base;
        number = good ? number * base + digit : 0;
    }
    if (!good || number == 0) {
        tool_fail(usage->command, "--%s is \"%s\"; it needs a whole number of at least 1, decimal or 0x", flag->name,
                  flag->value);
        return false;
    }
    *value = number;
    return true;
}

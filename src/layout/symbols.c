/* Looks one symbol up in an ELF file, through libelf: the symbol table, or where it was stripped the dynamic one.
 * Called by expr.c when an address is parsed, so that the value is a constant from then on. Segments and sections as
 * memory images are in files/image/elf.c. */
#include "layout/symbols.h"

#ifdef TD_HAVE_ELF

#include "base/pages.h"
#include "base/suggest.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 4096 /* that a suggestion looks at */

typedef struct lookup {
    const char *name;
    uint64_t value;
    bool found, undefined;
    const char *known[MAX_NAMES];
    size_t known_count;
} lookup;

/* A global symbol wins over local ones of the same name. */
static void look(Elf *elf, Elf_Scn *scn, const GElf_Shdr *table, lookup *l)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    const uint64_t count = data && table->sh_entsize ? table->sh_size / table->sh_entsize : 0;
    bool global = false;
    for (uint64_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, table->sh_link, symbol.st_name) : NULL;
        if (!name || !*name)
            continue;
        if (l->known_count < MAX_NAMES)
            l->known[l->known_count++] = name;
        if (strcmp(name, l->name) != 0 || global)
            continue;
        l->undefined = symbol.st_shndx == SHN_UNDEF;
        l->found = !l->undefined;
        l->value = symbol.st_value;
        global = l->found && GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
    }
}

static td_status find(Elf *elf, const char *path, lookup *l)
{
    bool tables = false;
    for (int dynamic = 0; dynamic < 2 && !l->found; dynamic++)
        for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
            GElf_Shdr table;
            if (!gelf_getshdr(scn, &table) || table.sh_type != (dynamic ? SHT_DYNSYM : SHT_SYMTAB))
                continue;
            tables = true;
            look(elf, scn, &table, l);
        }
    if (l->found)
        return TD_OK;
    if (!tables)
        return td_fail(TD_FORMAT, "\"%s\" has no symbol table; pass the file as it was before `strip`", path);
    if (l->undefined)
        return td_fail(TD_ADDRESS, "symbol %s of \"%s\" is not defined there; pass the linked file", l->name, path);
    const char *near = td_suggest(l->name, l->known, l->known_count);
    if (near)
        return td_fail(TD_ADDRESS, "\"%s\" has no symbol %s; did you mean %s?", path, l->name, near);
    return td_fail(TD_ADDRESS, "\"%s\" has no symbol %s among its %zu; `nm` lists them", path, l->name, l->known_count);
}

td_status td_symbol_find(const char *path, const char *name, uint64_t *value)
{
    td_file_map file = {0};
    Elf *elf = NULL;
    td_status status = td_file_copy_open(path, &file);
    if (status) {
        td_fail_prefix("option elf=%s: ", path);
        return status;
    }
    lookup *l = calloc(1, sizeof *l);
    if (!l) {
        status = td_fail_alloc(sizeof *l);
        goto done;
    }
    l->name = name;
    /* libelf takes a char * and only reads through it. */
    if (elf_version(EV_CURRENT) != EV_NONE && file.size)
        elf = elf_memory((char *)(uintptr_t)file.bytes, file.size);
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        status = td_fail(TD_FORMAT, "\"%s\" is no ELF file, or damaged; pass the file that the linker wrote", path);
    else
        status = find(elf, path, l);
    if (!status)
        *value = l->value;
done:
    if (elf)
        (void)elf_end(elf);
    free(l);
    td_file_unmap(&file);
    return status;
}

#else

td_status td_symbol_find(const char *path, const char *name, uint64_t *value)
{
    (void)value;
    return td_fail(TD_FORMAT,
                   "symbol %s of \"%s\": this build reads no ELF; build it with libelf (meson configure -Delf=enabled)",
                   name, path);
}

#endif

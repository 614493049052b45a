/* Maps of chips against byte maps that are calculated here: random memories, random regions over them that are
 * interleaved by patterns, hashed banks and DRAM orders, then bytes written and read at random addresses, and ELF files
 * of random segments. After each write, every byte of every memory must be what a plain array of bytes per memory
 * holds, whose places are found field by field, without the library's expressions.
 *
 *     prop_map [--cases N] [--seed S]
 *     prop_map --case S                   one case, as the failure line says */
#include "random.h"
#include "tensordoor.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REGIONS = 3, MAX_MEMORIES = 8, MAX_FIELDS = 4, TEXT = 4000 };

/* A region: its units are numbered by fields, field 0 the slowest; `chooses` gives the memory. */
typedef struct region {
    uint64_t size[MAX_FIELDS];
    int fields, chooses;
    int order[MAX_FIELDS]; /* of the other fields in the memory, slowest first */
    int hash;              /* the field that the memory's number is hashed with, or -1 */
    uint64_t unit, base, bytes, skip;
    uint64_t memories, depth, width;
    bool big;
    unsigned char *byte[MAX_MEMORIES]; /* what each memory must hold, byte by byte */
} region;

typedef struct world {
    int regions;
    region region[MAX_REGIONS];
    char text[TEXT];
    td_map *map;
} world;

static void add(world *w, const char *format, unsigned long long a, unsigned long long b)
{
    const size_t used = strlen(w->text);
    snprintf(w->text + used, TEXT - used, format, a, b);
}

static uint64_t word_bytes(const region *g)
{
    return (g->width + 7) / 8;
}

/* Where byte `offset` of the region lies. */
static void find(const region *g, uint64_t offset, uint64_t *memory, uint64_t *at)
{
    uint64_t unit = offset / g->unit, value[MAX_FIELDS] = {0}, in_memory = 0;
    for (int f = g->fields - 1; f >= 0; f--) {
        value[f] = unit % g->size[f];
        unit /= g->size[f];
    }
    *memory = value[g->chooses];
    if (g->hash >= 0)
        *memory ^= value[g->hash] % g->memories;
    for (int i = 0; i < g->fields - 1; i++)
        in_memory = in_memory * g->size[g->order[i]] + value[g->order[i]];
    *at = (in_memory + g->skip) * g->unit + offset % g->unit;
}

static void draw_region(random_state *r, world *w, int number, uint64_t *next)
{
    static const uint64_t widths[] = {8, 16, 24, 32, 64, 72, 128, 12, 33};
    region *g = &w->region[number];
    *g = (region){.hash = -1};
    g->fields = 2 + (int)random_below(r, MAX_FIELDS - 1);
    g->width = widths[random_below(r, 9)];
    g->chooses = (int)random_below(r, (uint64_t)g->fields);
    g->big = random_chance(r, 30);
    g->unit = word_bytes(g) << random_below(r, 4);
    uint64_t units = 1;
    for (int f = 0; f < g->fields; f++) {
        g->size[f] = random_chance(r, 60) ? (uint64_t)1 << random_below(r, 4) : 1 + random_below(r, 6);
        units *= g->size[f];
    }
    g->memories = g->size[g->chooses];
    if (g->memories > 1 && (g->memories & (g->memories - 1)) == 0 && random_chance(r, 60))
        g->hash = (g->chooses + 1 + (int)random_below(r, (uint64_t)g->fields - 1)) % g->fields;
    for (int f = 0, i = 0; f < g->fields; f++)
        if (f != g->chooses) {
            const int at = (int)random_below(r, (uint64_t)i + 1);
            g->order[i++] = g->order[at];
            g->order[at] = f;
        }
    g->skip = random_chance(r, 30) ? random_below(r, 3) : 0;
    g->bytes = units * g->unit;
    g->depth = (units / g->memories + g->skip) * g->unit / word_bytes(g) + random_below(r, 3);
    g->base = *next + (random_chance(r, 50) ? random_below(r, 100) : 0);
    *next = g->base + g->bytes;
    for (uint64_t m = 0; m < g->memories; m++) {
        g->byte[m] = calloc(g->depth, word_bytes(g));
        if (!g->byte[m])
            abort();
        add(w, "m%llu_%llu: ", (unsigned long long)number, m);
        add(w, "words %llu x %llu\n", g->depth, g->width);
    }
}

/* The region as a preset, where its fields are those of a DRAM in the order that one has them in. */
static bool write_dram(const region *g, world *w)
{
    static const char *const name[MAX_FIELDS] = {"Ra", "Ba", "Ro", "Co"};
    int rank[MAX_FIELDS] = {0};
    if (g->skip || g->bytes / g->unit % g->memories || g->depth * word_bytes(g) * g->memories < g->bytes)
        return false;
    for (int i = 0; i < g->fields - 1; i++)
        rank[g->order[i]] = i;
    add(w, "interleave dram:", 0, 0);
    for (int f = 0; f < g->fields; f++)
        strcat(w->text, f == g->chooses ? "Ch" : name[rank[f]]);
    for (int f = 0; f < g->fields; f++) {
        strcat(w->text, f == g->chooses ? " ch" : rank[f] == 0 ? " ra" : rank[f] == 1 ? " ba" : " ro");
        add(w, "=%llu", g->size[f], 0);
    }
    if (g->hash >= 0) {
        strcat(w->text, " xor=ch^");
        strcat(w->text, rank[g->hash] == 0 ? "ra" : rank[g->hash] == 1 ? "ba" : "ro");
    }
    return true;
}

static void write_interleave(const region *g, bool expression, world *w)
{
    static const char name[] = "abcd";
    char left[20] = "", right[20] = "", one[3] = " ";
    for (int f = 0; f < g->fields; f++) {
        one[0] = name[f];
        one[1] = ' ';
        strcat(left, one);
    }
    for (int i = 0; i < g->fields - 1; i++) {
        one[0] = name[g->order[i]];
        strcat(right, one);
    }
    const size_t used = strlen(w->text);
    if (!expression)
        snprintf(w->text + used, TEXT - used, "interleave (%s) -> %c (%s); options ", left, name[g->chooses], right);
    else
        snprintf(w->text + used, TEXT - used, "interleave (%s) -> (%s); options ", left, left);
    for (int f = 0; f < g->fields; f++) {
        one[0] = name[f];
        one[1] = 0;
        strcat(w->text, f ? " " : "");
        strcat(w->text, one);
        add(w, "=%llu", g->size[f], 0);
    }
    if (!expression) {
        if (g->skip)
            add(w, "; address %llu + index", g->skip, 0);
        return;
    }
    one[0] = name[g->chooses];
    strcat(strcat(w->text, ";\n   address bank = "), one);
    if (g->hash >= 0) {
        one[0] = name[g->hash];
        strcat(strcat(w->text, " ^ ("), one);
        add(w, " & %llu)", g->memories - 1, 0);
    }
    add(w, "; addr = %llu", g->skip, 0);
    uint64_t stride = 1;
    for (int i = g->fields - 2; i >= 0; i--) {
        one[0] = name[g->order[i]];
        add(w, " + %llu*", stride, 0);
        strcat(w->text, one);
        stride *= g->size[g->order[i]];
    }
}

static void draw(random_state *r, world *w)
{
    uint64_t next = random_chance(r, 50) ? 0x80000000 : random_below(r, 1000);
    memset(w, 0, sizeof *w);
    w->regions = 1 + (int)random_below(r, MAX_REGIONS);
    for (int i = 0; i < w->regions; i++)
        draw_region(r, w, i, &next);
    for (int i = w->regions - 1; i >= 0; i--) {
        const region *g = &w->region[i];
        add(w, "r%llu: base 0x%llx; ", (unsigned long long)i, g->base);
        add(w, "size %llu; unit %llu; ", g->bytes, g->unit);
        strcat(w->text, g->big ? "endian big; memories" : "memories");
        for (uint64_t m = 0; m < g->memories; m++)
            add(w, " m%llu_%llu", (unsigned long long)i, m);
        strcat(w->text, ";\n   ");
        if (!(random_chance(r, 30) && write_dram(g, w)))
            write_interleave(g, g->hash >= 0 || random_chance(r, 30), w);
        strcat(w->text, "\n");
    }
}

/* -- what must hold -- */

static region *region_at(world *w, uint64_t address)
{
    for (int i = 0; i < w->regions; i++)
        if (address >= w->region[i].base && address - w->region[i].base < w->region[i].bytes)
            return &w->region[i];
    return NULL;
}

/* The byte of the model at this address, or NULL; `top` becomes the bits that the byte has. */
static unsigned char *model_at(world *w, uint64_t address, unsigned *bits)
{
    region *g = region_at(w, address);
    uint64_t memory = 0, at = 0;
    if (!g)
        return NULL;
    find(g, address - g->base, &memory, &at);
    const uint64_t lanes = word_bytes(g), lane = at % lanes;
    *bits = lane == (g->big ? 0 : lanes - 1) && g->width % 8 ? (unsigned)(g->width % 8) : 8;
    return &g->byte[memory][at];
}

static bool check_memories(world *w)
{
    for (int i = 0; i < w->regions; i++)
        for (uint64_t m = 0; m < w->region[i].memories; m++) {
            const region *g = &w->region[i];
            char name[40];
            td_map_entry e;
            snprintf(name, sizeof name, "m%d_%llu", i, (unsigned long long)m);
            if (td_map_find(w->map, name, &e))
                return false;
            const unsigned char *data = td_memory_data(e.memory);
            const size_t stored = td_memory_word_bytes(e.memory), lanes = word_bytes(g);
            for (uint64_t b = 0; b < g->depth * lanes; b++) {
                const uint64_t lane = b % lanes;
                if (data[b / lanes * stored + (g->big ? lanes - 1 - lane : lane)] != g->byte[m][b]) {
                    printf("# %s, byte %llu\n", name, (unsigned long long)b);
                    return false;
                }
            }
        }
    return true;
}

/* Random bytes from `address` on as the model takes them; the length until the first byte in no region. */
static uint64_t draw_bytes(random_state *r, world *w, uint64_t address, unsigned char *bytes, uint64_t count)
{
    unsigned bits = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!model_at(w, address + i, &bits))
            return i;
        bytes[i] = (unsigned char)(random_next(r) & ((1u << bits) - 1));
    }
    return count;
}

static void take(world *w, uint64_t address, const unsigned char *bytes, uint64_t count)
{
    unsigned bits = 0;
    for (uint64_t i = 0; i < count; i++)
        *model_at(w, address + i, &bits) = bytes[i];
}

static bool try_bytes(random_state *r, world *w)
{
    unsigned char bytes[600], back[600];
    const region *g = &w->region[random_below(r, (uint64_t)w->regions)];
    const uint64_t address = g->base + random_below(r, g->bytes);
    const uint64_t count = 1 + random_below(r, random_chance(r, 50) ? 20 : sizeof bytes),
                   fits = draw_bytes(r, w, address, bytes, count);
    const td_status status = td_map_write(w->map, address, bytes, count);
    unsigned bits = 0;
    if ((status == TD_OK) != (fits == count) || (status && status != TD_RANGE))
        return false;
    if (!status)
        take(w, address, bytes, count);
    if (!check_memories(w) || (td_map_read(w->map, address, back, count) == TD_OK) != (fits == count))
        return false;
    for (uint64_t i = 0; i < fits && !status; i++)
        if (back[i] != *model_at(w, address + i, &bits))
            return false;
    return true;
}

#ifdef TD_HAVE_ELF
/* An ELF file of two or three segments, which may overlap no other. */
static bool try_elf(random_state *r, world *w)
{
    enum { SEGMENTS = 3, BYTES = 200 };
    static unsigned char file[sizeof(Elf64_Ehdr) + SEGMENTS * (sizeof(Elf64_Phdr) + BYTES)];
    char path[] = "/tmp/prop-map-XXXXXX", name[64];
    Elf64_Ehdr head = {.e_type = ET_EXEC,
                       .e_machine = EM_RISCV,
                       .e_version = EV_CURRENT,
                       .e_phoff = sizeof head,
                       .e_ehsize = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = SEGMENTS};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(file, &head, sizeof head);
    size_t end = sizeof head + SEGMENTS * sizeof(Elf64_Phdr);
    bool whole = true;
    Elf64_Phdr part[SEGMENTS];
    for (size_t s = 0; s < SEGMENTS; s++) {
        const region *g = &w->region[random_below(r, (uint64_t)w->regions)];
        const uint64_t address = g->base + random_below(r, g->bytes), count = 1 + random_below(r, BYTES);
        const uint64_t fits = draw_bytes(r, w, address, file + end, count), used = random_chance(r, 5) ? count : fits;
        whole &= used == fits;
        part[s] = (Elf64_Phdr){
            .p_type = PT_LOAD, .p_offset = end, .p_vaddr = 1, .p_paddr = address, .p_filesz = used, .p_memsz = used};
        memcpy(file + sizeof head + s * sizeof *part, &part[s], sizeof *part);
        end += used;
    }
    const int fd = mkstemp(path);
    const bool written = fd >= 0 && write(fd, file, end) == (ssize_t)end && close(fd) == 0;
    snprintf(name, sizeof name, "elf:%s", path);
    const td_status status = written ? td_map_load_file(w->map, name, NULL) : TD_FILE;
    unlink(path);
    if (status != (whole ? TD_OK : TD_RANGE))
        return false;
    for (size_t s = 0; s < SEGMENTS && whole; s++)
        take(w, part[s].p_paddr, file + part[s].p_offset, part[s].p_filesz);
    return check_memories(w);
}
#endif

static bool run_case(uint64_t seed)
{
    random_state r = {seed};
    static world w;
    draw(&r, &w);
    bool good = td_map_create(w.text, NULL, 0, &w.map) == TD_OK;
    for (int i = 0; i < 8 && good; i++)
        good = try_bytes(&r, &w);
#ifdef TD_HAVE_ELF
    if (good && random_chance(&r, 30))
        good = try_elf(&r, &w);
#endif
    if (!good)
        printf("%s# %s\n", w.text, td_last_error());
    td_map_destroy(&w.map);
    for (int i = 0; i < w.regions; i++)
        for (uint64_t m = 0; m < w.region[i].memories; m++)
            free(w.region[i].byte[m]);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t cases = 3000, seed = (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--cases") == 0)
            cases = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(strtoull(argv[i + 1], NULL, 0)) ? 0 : 1;
    random_state r = {seed};
    for (uint64_t i = 0; i < cases; i++) {
        const uint64_t one = random_next(&r);
        if (!run_case(one)) {
            printf("prop_map --case 0x%llx\n", (unsigned long long)one);
            return 1;
        }
    }
    printf("%llu maps, seed %llu\n", (unsigned long long)cases, (unsigned long long)seed);
    return 0;
}

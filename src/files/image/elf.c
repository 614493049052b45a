/* ELF (.elf, .axf): the loadable segments, 32 and 64 bits, either byte order, through libelf. The bytes of a segment go
 * to its physical address, where a programmer or a loader puts them, or with address=virtual to its virtual one. What a
 * segment has in memory and not in the file (BSS) stays as it is, or is zeroed with bss=zero. With section=NAME only
 * that section is loaded. Refuses segments past the end of the file. It never writes ELF. */
#include "base/suggest.h"
#include "files/image/formats.h"

#ifdef TD_HAVE_ELF

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

/* Zeros are written, so a damaged header must not be able to make the reader fill a large memory. */
#define MAX_BSS_BYTES ((uint64_t)1 << 30)

static td_status check_zeros(const char *what, uint64_t zeros)
{
    if (zeros > MAX_BSS_BYTES)
        return td_fail(TD_RANGE,
                       "%s asks for %" PRIu64 " bytes of zeros; at most %" PRIu64 " are written, so leave bss=zero out",
                       what, zeros, MAX_BSS_BYTES);
    return TD_OK;
}

static td_status put_segment(const GElf_Phdr *p, size_t index, const td_file_map *file, const td_file_options *options,
                             td_image *image)
{
    uint64_t address = options->virtual_addresses ? p->p_vaddr : p->p_paddr;
    if (p->p_offset > file->size || p->p_filesz > file->size - p->p_offset)
        return td_fail(TD_FORMAT,
                       "segment %zu has %" PRIu64 " bytes at offset %" PRIu64
                       ", the file has %zu; it is cut short or damaged",
                       index, p->p_filesz, p->p_offset, file->size);
    if (p->p_memsz < p->p_filesz)
        return td_fail(TD_FORMAT,
                       "segment %zu has %" PRIu64 " bytes in the file and %" PRIu64 " in memory; it is damaged", index,
                       p->p_filesz, p->p_memsz);
    if (p->p_memsz > UINT64_MAX - address)
        return td_fail(TD_FORMAT, "segment %zu of %" PRIu64 " bytes at 0x%" PRIx64 " passes 2^64; it is damaged", index,
                       p->p_memsz, address);
    char name[32];
    snprintf(name, sizeof name, "segment %zu", index);
    const uint64_t zeros = options->zero_bss ? p->p_memsz - p->p_filesz : 0;
    td_status status = check_zeros(name, zeros);
    if (status != TD_OK)
        return status;
    status = td_image_put_bytes(image, options, address, file->bytes + p->p_offset, p->p_filesz);
    if (status == TD_OK)
        status = td_image_put_bytes(image, options, address + p->p_filesz, NULL, zeros);
    if (status == TD_RANGE || status == TD_FORMAT)
        td_fail_prefix("segment %zu: ", index);
    return status;
}

static td_status put_segments(Elf *elf, const td_file_map *file, const td_file_options *options, td_image *image)
{
    size_t count = 0;
    if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
        return td_fail(TD_FORMAT, "not an ELF file, or damaged: %s", elf_errmsg(-1));
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            return td_fail(TD_FORMAT, "the program header %zu cannot be read: %s; the file is cut short or damaged", i,
                           elf_errmsg(-1));
        if (header.p_type != PT_LOAD)
            continue;
        td_status status = put_segment(&header, i, file, options, image);
        if (status != TD_OK)
            return status;
    }
    return td_image_check_words(image, "the file has no bytes to load; link it to an executable first");
}

/* -- one section -- */

/* Where a section is loaded: its own address is virtual, and its segment says how far the physical one lies from it. */
static td_status section_address(Elf *elf, const GElf_Shdr *s, const td_file_options *options, uint64_t *out)
{
    size_t count = 0;
    *out = s->sh_addr;
    if (options->virtual_addresses || elf_getphdrnum(elf, &count) != 0)
        return TD_OK;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && s->sh_addr >= p.p_vaddr &&
            s->sh_addr - p.p_vaddr < p.p_memsz) {
            *out = s->sh_addr - p.p_vaddr + p.p_paddr;
            break;
        }
    }
    return TD_OK;
}

static td_status put_found(Elf *elf, const GElf_Shdr *s, const td_file_map *file, const td_file_options *options,
                           td_image *image)
{
    uint64_t address = 0;
    td_status status = section_address(elf, s, options, &address);
    if (status != TD_OK)
        return status;
    if (s->sh_size > UINT64_MAX - address)
        return td_fail(TD_FORMAT, "it has %" PRIu64 " bytes at 0x%" PRIx64 ", which passes 2^64; it is damaged",
                       s->sh_size, address);
    if (s->sh_type == SHT_NOBITS) {
        const uint64_t zeros = options->zero_bss ? s->sh_size : 0;
        status = check_zeros("it", zeros);
        return status == TD_OK ? td_image_put_bytes(image, options, address, NULL, zeros) : status;
    }
    if (s->sh_offset > file->size || s->sh_size > file->size - s->sh_offset)
        return td_fail(TD_FORMAT,
                       "it has %" PRIu64 " bytes at offset %" PRIu64 ", the file has %zu; it is cut short or damaged",
                       s->sh_size, s->sh_offset, file->size);
    return td_image_put_bytes(image, options, address, file->bytes + s->sh_offset, s->sh_size);
}

#define MAX_NAMES 64

static td_status put_section(Elf *elf, const td_file_map *file, const td_file_options *options, td_image *image)
{
    const char *known[MAX_NAMES];
    size_t count = 0, names = 0;
    if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
        return td_fail(TD_FORMAT, "the file has no sections: %s; leave section= out", elf_errmsg(-1));
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr s;
        const char *name = gelf_getshdr(scn, &s) ? elf_strptr(elf, names, s.sh_name) : NULL;
        if (!name)
            return td_fail(TD_FORMAT, "the sections cannot be read: %s; the file is cut short or damaged",
                           elf_errmsg(-1));
        if (strcmp(name, options->section) == 0) {
            td_status status = put_found(elf, &s, file, options, image);
            if (status == TD_OK)
                return td_image_check_words(image, "the section has no bytes in the file; pass bss=zero to clear it");
            td_fail_prefix("section %s: ", name);
            return status;
        }
        if (count < MAX_NAMES && s.sh_flags & SHF_ALLOC)
            known[count++] = name;
    }
    const char *near = td_suggest(options->section, known, count);
    td_fail(TD_ARGUMENT, "the file has no section %s; %s%s%sit has ", options->section, near ? "did you mean " : "",
            near ? near : "", near ? "? " : "");
    for (size_t i = 0; i < count; i++)
        td_fail_append("%s%s", i ? ", " : "", known[i]);
    td_fail_append("%s", count == MAX_NAMES ? ", ..." : count ? "" : "none to load");
    return TD_ARGUMENT;
}

static td_status elf_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    static const unsigned char magic[4] = {0x7f, 'E', 'L', 'F'};
    for (size_t i = 0; i < 4; i++)
        if (file->size <= i || file->bytes[i] != magic[i])
            return td_fail(TD_FORMAT,
                           "not an ELF file: it does not begin with \\x7fELF; name its format in front of it");
    if (elf_version(EV_CURRENT) == EV_NONE)
        return td_fail(TD_FORMAT, "libelf is of another version: %s", elf_errmsg(-1));
    /* libelf takes a char * and only reads through it. */
    Elf *elf = elf_memory((char *)(uintptr_t)file->bytes, file->size);
    if (!elf)
        return td_fail(TD_FORMAT, "not an ELF file, or damaged: %s", elf_errmsg(-1));
    td_status status =
        options->section[0] ? put_section(elf, file, options, image) : put_segments(elf, file, options, image);
    (void)elf_end(elf);
    return status;
}

#else

static td_status elf_scan(const td_file_map *file, const td_file_options *options, td_image *image)
{
    (void)file;
    (void)options;
    (void)image;
    return td_fail(TD_FILE,
                   "this build reads no ELF, it was made without libelf; install libelf-dev and build again, or "
                   "convert the file with objcopy -O srec");
}

#endif

const td_image_format td_format_elf = {elf_scan, NULL};

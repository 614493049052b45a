/* ELF (.elf, .axf): the loadable segments, 32 and 64 bits, either byte order, through libelf. The bytes of a segment go
 * to its physical address, where a programmer or a loader puts them, or with address=virtual to its virtual one. What a
 * segment has in memory and not in the file (BSS) stays as it is, or is zeroed with bss=zero. Refuses segments past the
 * end of the file. It never writes ELF. */
#include "files/image/formats.h"

#ifdef TD_HAVE_ELF

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>

/* Zeros are written, so a damaged header must not be able to make the reader fill a large memory. */
#define MAX_BSS_BYTES ((uint64_t)1 << 30)

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
    uint64_t zeros = options->zero_bss ? p->p_memsz - p->p_filesz : 0;
    if (zeros > MAX_BSS_BYTES)
        return td_fail(TD_RANGE,
                       "segment %zu asks for %" PRIu64 " bytes of zeros; at most %" PRIu64
                       " are written, so leave bss=zero out",
                       index, zeros, MAX_BSS_BYTES);
    td_status status = td_image_put_bytes(image, options, address, file->bytes + p->p_offset, p->p_filesz);
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
    if (image->top_words == 0)
        return td_fail(TD_FORMAT, "the file has no bytes to load; link it to an executable first");
    return TD_OK;
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
    td_status status = put_segments(elf, file, options, image);
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

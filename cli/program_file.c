/* program_file.c - reads ELF headers, sections and the dynamic table of a program before it is started.
 *
 * The kernels of a program are registered by __cudaRegisterFatBinary, which is imported where the runtime is shared and inside the program
 * where it is static (nvcc's default). .nv_fatbin and .nvFatBinSegment are no sign of kernels, nvcc puts them into what it links in any
 * case; __nv_module_id is one, from compiled CUDA C++. A static runtime without kernels shows by the name of its shared memory.
 * Every offset of the file is checked before it is followed.
 */
#include "cli/program_file.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct mapped { const char *at; size_t bytes; } mapped;

static const void *part(mapped file, uint64_t offset, uint64_t bytes)
{
    return offset <= file.bytes && bytes <= file.bytes - offset ? file.at + offset : NULL;
}

/* A string of a table that ends inside of it. */
static const char *text_at(mapped file, const Elf64_Shdr *table, uint64_t index)
{
    const char *all = table ? part(file, table->sh_offset, table->sh_size) : NULL;
    return all && index < table->sh_size && memchr(all + index, '\0', table->sh_size - index) ? all + index : NULL;
}

static const Elf64_Shdr *section(mapped file, const Elf64_Ehdr *head, uint64_t index)
{
    return head->e_shentsize == sizeof(Elf64_Shdr) && index < head->e_shnum
               ? part(file, head->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr))
               : NULL;
}

static void read_needed(mapped file, const Elf64_Shdr *dynamic, const Elf64_Shdr *names, program_file *out)
{
    bool runpath = false;
    for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= dynamic->sh_size; i += sizeof(Elf64_Dyn)) {
        const Elf64_Dyn *entry = part(file, dynamic->sh_offset + i, sizeof *entry);
        if (!entry || entry->d_tag == DT_NULL)
            break;
        const char *text = entry->d_tag == DT_NEEDED ? text_at(file, names, entry->d_un.d_val) : NULL;
        if (text && strncmp(text, "libcudart.so", 12) == 0)
            snprintf(out->runtime, sizeof out->runtime, "%s", text);
        out->rpath |= entry->d_tag == DT_RPATH;
        runpath |= entry->d_tag == DT_RUNPATH;
    }
    out->rpath &= !runpath;
}

static bool imports_registration(mapped file, const Elf64_Shdr *symbols, const Elf64_Shdr *names)
{
    for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= symbols->sh_size; i += sizeof(Elf64_Sym)) {
        const Elf64_Sym *symbol = part(file, symbols->sh_offset + i, sizeof *symbol);
        const char *name = symbol && symbol->st_shndx == SHN_UNDEF ? text_at(file, names, symbol->st_name) : NULL;
        if (name && strcmp(name, "__cudaRegisterFatBinary") == 0)
            return true;
    }
    return false;
}

static bool holds_runtime(mapped file, const Elf64_Shdr *data)
{
    static const char mark[] = "/cudart.shm.";
    const char *at = part(file, data->sh_offset, data->sh_size);
    return at && memmem(at, data->sh_size, mark, sizeof mark - 1);
}

static void examine(mapped file, program_file *out)
{
    const Elf64_Ehdr *head = part(file, 0, sizeof *head);
    out->narrow = file.bytes > EI_CLASS && memcmp(file.at, ELFMAG, SELFMAG) == 0 && file.at[EI_CLASS] == ELFCLASS32;
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
        return;
    out->elf = true;
    bool imports = false, inside = false;
    const Elf64_Shdr *names = section(file, head, head->e_shstrndx);
    for (uint64_t i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = section(file, head, i);
        const char *name = s ? text_at(file, names, s->sh_name) : NULL;
        if (name && strcmp(name, "__nv_module_id") == 0)
            out->has_kernels = true;
        if (name && strcmp(name, ".rodata") == 0)
            inside = holds_runtime(file, s);
        if (s && s->sh_type == SHT_DYNAMIC)
            read_needed(file, s, section(file, head, s->sh_link), out);
        if (s && s->sh_type == SHT_DYNSYM)
            imports |= imports_registration(file, s, section(file, head, s->sh_link));
    }
    out->static_runtime = inside || (out->has_kernels && !imports);
}

void examine_program(const char *path, program_file *out)
{
    struct stat status;
    *out = (program_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) {
            examine((mapped){at, (size_t)status.st_size}, out);
            munmap(at, (size_t)status.st_size);
        }
    }
    close(fd);
}

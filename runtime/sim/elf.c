/* elf.c - the code object loader: ELF64 for AMDGPU into the arena (LLVM, "User Guide for AMDGPU Backend", "ELF Code Object"
 * and "Kernel Descriptor").
 *
 * Nothing in the file is believed: every offset and size is compared with the file or the image before it is used.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/sim/state.h"

enum {
    MACHINE_AMDGPU = 224, OSABI_AMDGPU_HSA = 64, ABI_VERSION_5 = 3,
    RELOCATION_ABS64 = 3, RELOCATION_RELATIVE64 = 13,
    NOTE_METADATA = 32, DESCRIPTOR_BYTES = 64,
    MAX_THREADS = 1024
};

static const uint64_t max_image = (uint64_t)1 << 32;

static const struct { const char *name; uint32_t mach; } machines[] = {
    {"gfx1030", 0x36}, {"gfx90a", 0x3f}, {"gfx1100", 0x41}, {"gfx1101", 0x46}, {"gfx1102", 0x47}, {"gfx1103", 0x44},
    {"gfx1150", 0x43}, {"gfx1151", 0x4a}, {"gfx1200", 0x48}, {"gfx1201", 0x4e}, {"gfx942", 0x4c}, {"gfx950", 0x4f},
};

typedef struct loader {
    sim_module *m;
    const Elf64_Ehdr *head;
    const Elf64_Phdr *programs;
    const Elf64_Sym *symbols;            /* the dynamic table in the file, NULL: none */
    uint64_t nsymbols;
    const char *strings;
    uint64_t string_bytes;
    sim_error *error;
} loader;

static bool bad(loader *l, const char *why)
{
    sim_set_error(l->error, SIM_BAD_INPUT, "%s", why);
    return false;
}

/* `bytes` at `offset` of the file, NULL when they do not lie in it or are not aligned for their type. */
static const void *file_at(const loader *l, uint64_t offset, uint64_t bytes, uint32_t align)
{
    if (offset > l->m->bytes || bytes > l->m->bytes - offset || offset % align) return NULL;
    return l->m->file + offset;
}

/* Memory of the image at a virtual address. */
static uint8_t *image_at(const sim_module *m, uint64_t address, uint64_t bytes)
{
    if (address < m->low || address - m->low > m->span || bytes > m->span - (address - m->low)) return NULL;
    return (uint8_t *)(uintptr_t)(m->base + (address - m->low));
}

/* ------------------------------------------------------------ headers */

static bool check_machine(loader *l)
{
    uint32_t mach = l->head->e_flags & 0xff;
    const char *want = l->m->device->info.name, *found = "another processor";
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
        if (machines[k].mach == mach) found = machines[k].name;
    if (!strcmp(found, want)) return true;
    sim_set_error(l->error, SIM_BAD_INPUT, "the code object is for %s, the device is %s", found, want);
    return false;
}

static bool check_head(loader *l)
{
    const Elf64_Ehdr *h = l->head = file_at(l, 0, sizeof *h, 1);
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG)) return bad(l, "no ELF file");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE_AMDGPU)
        return bad(l, "no 64-bit ELF file for AMDGPU");
    if (h->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA || h->e_ident[EI_ABIVERSION] != ABI_VERSION_5)
        return bad(l, "no code object of version 5 for HSA");
    if (h->e_type != ET_DYN) return bad(l, "the code object is not linked (ld.lld -shared)");
    if (h->e_phentsize != sizeof(Elf64_Phdr)) return bad(l, "damaged ELF header");
    l->programs = file_at(l, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), 8);
    if (!l->programs) return bad(l, "program headers outside of the file");
    return check_machine(l);
}

/* ------------------------------------------------------------ the image */

static bool measure(loader *l)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t k = 0; k < l->head->e_phnum; k++) {
        const Elf64_Phdr *p = &l->programs[k];
        if (p->p_type != PT_LOAD || !p->p_memsz) continue;
        if (p->p_filesz > p->p_memsz || !file_at(l, p->p_offset, p->p_filesz, 1) || p->p_vaddr >= max_image ||
            p->p_memsz >= max_image)
            return bad(l, "damaged segment");
        if (p->p_vaddr < low) low = p->p_vaddr;
        if (p->p_vaddr + p->p_memsz > high) high = p->p_vaddr + p->p_memsz;
    }
    if (low >= high) return bad(l, "no segment to load");
    l->m->low = low & ~(uint64_t)4095;
    l->m->span = high - l->m->low;
    return true;
}

static bool place(loader *l)
{
    sim_module *m = l->m;
    m->base = sim_memory_take(&m->device->memory, m->span, RANGE_MODULE);
    if (!m->base) {
        sim_set_error(l->error, SIM_NO_MEMORY, "no room for a code object of %llu bytes", (unsigned long long)m->span);
        return false;
    }
    for (uint32_t k = 0; k < l->head->e_phnum; k++) {
        const Elf64_Phdr *p = &l->programs[k];
        if (p->p_type != PT_LOAD || !p->p_memsz) continue;
        memcpy(image_at(m, p->p_vaddr, p->p_memsz), m->file + p->p_offset, p->p_filesz);
        if (!(p->p_flags & PF_X)) continue;
        if (m->text_bytes) return bad(l, "more than one executable segment");
        if (p->p_vaddr % 4) return bad(l, "executable segment not aligned");
        m->text = m->base + (p->p_vaddr - m->low);
        m->text_bytes = p->p_filesz & ~(uint64_t)3;
    }
    return true;
}

/* ------------------------------------------------------------ symbols and relocations */

/* The dynamic symbols, through the section headers. */
static bool find_symbols(loader *l)
{
    const Elf64_Ehdr *h = l->head;
    if (!h->e_shnum) return true;
    const Elf64_Shdr *s = file_at(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s, 8);
    if (!s || h->e_shentsize != sizeof *s) return bad(l, "section headers outside of the file");
    for (uint32_t k = 0; k < h->e_shnum; k++) {
        if (s[k].sh_type != SHT_DYNSYM) continue;
        if (s[k].sh_link >= h->e_shnum) return bad(l, "damaged symbol table");
        const Elf64_Shdr *t = &s[s[k].sh_link];
        l->nsymbols = s[k].sh_size / sizeof *l->symbols;
        l->symbols = file_at(l, s[k].sh_offset, s[k].sh_size, 8);
        l->string_bytes = t->sh_size;
        l->strings = file_at(l, t->sh_offset, t->sh_size, 1);
        if (!l->symbols || !l->strings || !l->string_bytes || l->strings[l->string_bytes - 1])
            return bad(l, "damaged symbol table");
    }
    return true;
}

static const char *symbol_name(const loader *l, const Elf64_Sym *s)
{
    return s->st_name < l->string_bytes ? l->strings + s->st_name : "";
}

static bool collect_symbols(loader *l)
{
    sim_module *m = l->m;
    m->symbols = calloc(l->nsymbols + 1, sizeof *m->symbols);
    if (!m->symbols) {
        sim_set_error(l->error, SIM_NO_MEMORY, "no memory");
        return false;
    }
    for (uint64_t k = 0; k < l->nsymbols; k++) {
        const Elf64_Sym *s = &l->symbols[k];
        if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE || !*symbol_name(l, s)) continue;
        const uint8_t *at = image_at(m, s->st_value, s->st_size);
        if (!at) return bad(l, "symbol outside of the image");
        m->symbols[m->nsymbols++] = (sim_symbol_entry){symbol_name(l, s), (uint64_t)(uintptr_t)at, s->st_size,
                                                       ELF64_ST_TYPE(s->st_info) == STT_FUNC};
    }
    return true;
}

static bool relocate_one(loader *l, const Elf64_Rela *r)
{
    sim_module *m = l->m;
    uint8_t *at = image_at(m, r->r_offset, 8);
    uint64_t value;
    if (!at) return bad(l, "relocation outside of the image");
    if (ELF64_R_TYPE(r->r_info) == RELOCATION_RELATIVE64) {
        value = m->base - m->low + (uint64_t)r->r_addend;
    } else if (ELF64_R_TYPE(r->r_info) == RELOCATION_ABS64) {
        uint64_t index = ELF64_R_SYM(r->r_info);
        if (index >= l->nsymbols) return bad(l, "relocation against no symbol");
        const Elf64_Sym *s = &l->symbols[index];
        if (s->st_shndx == SHN_UNDEF) {
            sim_set_error(l->error, SIM_NOT_FOUND, "undefined symbol '%s'", symbol_name(l, s));
            return false;
        }
        value = m->base - m->low + s->st_value + (uint64_t)r->r_addend;
    } else {
        sim_set_error(l->error, SIM_BAD_INPUT, "unknown relocation type %u", (uint32_t)ELF64_R_TYPE(r->r_info));
        return false;
    }
    memcpy(at, &value, 8);
    return true;
}

static bool relocate(loader *l)
{
    uint64_t table = 0, bytes = 0;
    for (uint32_t k = 0; k < l->head->e_phnum; k++) {
        const Elf64_Phdr *p = &l->programs[k];
        if (p->p_type != PT_DYNAMIC) continue;
        const uint8_t *d = image_at(l->m, p->p_vaddr, p->p_memsz);
        if (!d) return bad(l, "dynamic table outside of the image");
        for (uint64_t n = 0; n < p->p_memsz / sizeof(Elf64_Dyn); n++) {
            Elf64_Dyn e;
            memcpy(&e, d + n * sizeof e, sizeof e);
            if (e.d_tag == DT_NULL) break;
            if (e.d_tag == DT_RELA) table = e.d_un.d_ptr;
            if (e.d_tag == DT_RELASZ) bytes = e.d_un.d_val;
            if (e.d_tag == DT_REL || e.d_tag == DT_JMPREL || e.d_tag == DT_NEEDED)
                return bad(l, "the code object needs a linker feature that AMDGPU objects do not use");
        }
    }
    const uint8_t *r = bytes ? image_at(l->m, table, bytes) : NULL;
    if (bytes && !r) return bad(l, "relocations outside of the image");
    for (uint64_t n = 0; n < bytes / sizeof(Elf64_Rela); n++) {
        Elf64_Rela one;
        memcpy(&one, r + n * sizeof one, sizeof one);
        if (!relocate_one(l, &one)) return false;
    }
    return true;
}

/* ------------------------------------------------------------ kernels */

static uint32_t get32(const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

/* LLVM, "User Guide for AMDGPU Backend", table "code-object-v3-kernel-descriptor". */
static bool read_descriptor(loader *l, const sim_symbol_entry *s, sim_kernel *k)
{
    const sim_module *m = l->m;
    const uint8_t *d = (const uint8_t *)(uintptr_t)s->address;
    size_t n = strlen(s->name) - 3;
    int64_t entry;
    if (s->bytes < DESCRIPTOR_BYTES) return bad(l, "kernel descriptor too short");
    k->symbol = s->name;
    k->name = strndup(s->name, n);
    if (!k->name) {
        sim_set_error(l->error, SIM_NO_MEMORY, "no memory");
        return false;
    }
    memcpy(&entry, d + 16, 8);
    k->module = l->m;
    k->entry = s->address + (uint64_t)entry;
    if (k->entry % 4 || k->entry < m->text || k->entry - m->text >= m->text_bytes)
        return bad(l, "kernel entry outside of the text");
    k->kernarg_segment = get32(d + 8);
    k->rsrc3 = get32(d + 44);
    k->rsrc1 = get32(d + 48);
    k->rsrc2 = get32(d + 52);
    k->properties = get32(d + 56) & 0xffff;
    k->preload = get32(d + 56) >> 16;
    k->lanes = m->device->info.generation >= SIM_GFX10 && k->properties & 1 << 10 ? 32 : 64;
    k->dynamic_stack = k->properties & 1 << 11;
    k->info = (sim_kernel_info){.kernarg_bytes = k->kernarg_segment, .lds_bytes = get32(d), .scratch_bytes = get32(d + 4),
                                .max_threads = MAX_THREADS};
    if (k->kernarg_segment > 1 << 16 || k->info.lds_bytes > 1 << 20 || k->info.scratch_bytes > 1 << 24)
        return bad(l, "unreasonable sizes in a kernel descriptor");
    return true;
}

static bool is_descriptor(const sim_symbol_entry *s)
{
    size_t n = strlen(s->name);
    return n > 3 && !strcmp(s->name + n - 3, ".kd") && !s->function;
}

static bool collect_kernels(loader *l)
{
    sim_module *m = l->m;
    uint32_t count = 0;
    for (uint32_t k = 0; k < m->nsymbols; k++)
        count += is_descriptor(&m->symbols[k]);
    m->kernels = calloc(count + 1, sizeof *m->kernels);
    if (!m->kernels) {
        sim_set_error(l->error, SIM_NO_MEMORY, "no memory");
        return false;
    }
    for (uint32_t k = 0; k < m->nsymbols; k++)
        if (is_descriptor(&m->symbols[k]) && !read_descriptor(l, &m->symbols[k], &m->kernels[m->nkernels++])) return false;
    return true;
}

/* Each note: sizes of name and description, type, then both, padded to 4. */
static bool read_notes(loader *l, const Elf64_Phdr *p)
{
    const uint8_t *at = file_at(l, p->p_offset, p->p_filesz, 1);
    uint64_t left = p->p_filesz;
    if (!at) return bad(l, "notes outside of the file");
    while (left >= 12) {
        uint64_t name = get32(at), description = get32(at + 4), type = get32(at + 8);
        uint64_t whole = 12 + ((name + 3) & ~(uint64_t)3);
        if (whole > left || description > left - whole) return bad(l, "damaged note");
        if (type == NOTE_METADATA && name == 7 && !memcmp(at + 12, "AMDGPU", 7) &&
            !sim_read_metadata(l->m, at + whole, description, l->error))
            return false;
        whole += (description + 3) & ~(uint64_t)3;
        if (whole > left) whole = left;
        at += whole;
        left -= whole;
    }
    return true;
}

static bool read_kernels(loader *l)
{
    if (!collect_kernels(l)) return false;
    for (uint32_t k = 0; k < l->head->e_phnum; k++)
        if (l->programs[k].p_type == PT_NOTE && !read_notes(l, &l->programs[k])) return false;
    return true;
}

/* ------------------------------------------------------------ modules */

static void module_free(sim_module *m)
{
    for (int k = 0; k < 2; k++)
        if (m->code_open[k]) sim_code_close(&m->code[k]);
    if (m->base) sim_memory_give(&m->device->memory, m->base, RANGE_MODULE);
    free(m->symbols);
    for (uint32_t k = 0; m->kernels && k < m->nkernels; k++)
        free(m->kernels[k].name);
    free(m->kernels);
    free(m->file);
    free(m);
}

static bool open_code(loader *l)
{
    sim_module *m = l->m;
    bool want[2] = {m->device->info.wave == 32, m->device->info.wave == 64};
    for (uint32_t k = 0; k < m->nkernels; k++)
        want[m->kernels[k].lanes == 64] = true;
    for (int k = 0; k < 2; k++) {
        if (!want[k]) continue;
        m->code_open[k] = sim_code_open(&m->code[k], &m->device->info, k ? 64 : 32, m->text, m->text_bytes);
        if (!m->code_open[k]) {
            sim_set_error(l->error, SIM_NO_MEMORY, "LLVM has no disassembler for %s, or no memory", m->device->info.name);
            return false;
        }
    }
    return true;
}

sim_module *sim_module_load(sim_device *device, const void *data, size_t bytes, sim_error *error)
{
    sim_error scratch;
    if (!error) error = &scratch;
    memset(error, 0, sizeof *error);
    sim_module *m = device && data ? calloc(1, sizeof *m) : NULL;
    if (!m || !(m->file = malloc(bytes + 1))) {
        sim_set_error(error, device && data ? SIM_NO_MEMORY : SIM_BAD_ARGUMENT, "no memory, or no code object given");
        free(m);
        return NULL;
    }
    memcpy(m->file, data, bytes);
    m->file[bytes] = 0;
    m->bytes = bytes;
    m->device = device;
    loader l = {.m = m, .error = error};
    if (!check_head(&l) || !measure(&l) || !place(&l) || !find_symbols(&l) || !collect_symbols(&l) || !relocate(&l) ||
        !read_kernels(&l) || !open_code(&l)) {
        module_free(m);
        return NULL;
    }
    pthread_mutex_lock(&device->list);
    m->next = device->modules;
    device->modules = m;
    pthread_mutex_unlock(&device->list);
    return m;
}

void sim_module_unload(sim_module *module)
{
    if (!module) return;
    sim_device *device = module->device;
    pthread_mutex_lock(&device->launch);
    pthread_mutex_lock(&device->list);
    for (sim_module **at = &device->modules; *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            break;
        }
    pthread_mutex_unlock(&device->list);
    module_free(module);
    pthread_mutex_unlock(&device->launch);
}

sim_code *sim_module_code(sim_module *module, uint32_t lanes)
{
    return module->code_open[lanes == 64] ? &module->code[lanes == 64] : NULL;
}

sim_kernel *sim_kernel_get(sim_module *module, const char *name, sim_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    for (uint32_t k = 0; module && name && k < module->nkernels; k++)
        if (!strcmp(module->kernels[k].name, name)) return &module->kernels[k];
    sim_set_error(error, SIM_NOT_FOUND, "no kernel '%s'", name ? name : "");
    return NULL;
}

uint64_t sim_symbol(sim_module *module, const char *name, uint64_t *bytes)
{
    for (uint32_t k = 0; module && name && k < module->nsymbols; k++)
        if (!strcmp(module->symbols[k].name, name)) {
            if (bytes) *bytes = module->symbols[k].bytes;
            return module->symbols[k].address;
        }
    return 0;
}

void sim_kernel_describe(const sim_kernel *kernel, sim_kernel_info *info)
{
    *info = kernel->info;
}

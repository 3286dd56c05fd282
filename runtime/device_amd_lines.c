/* device_amd_lines.c - from an offset in machine code to the line of the PTX: reads the line table that the translator had
 * LLVM write (DWARF version 5, section 6.2, in the ELF section .debug_line; 32-bit form, one instruction an operation).
 *
 * The code object comes from a cache file, so every read is checked against the end; a table that does not make sense gives no line.
 */
#include <elf.h>
#include <string.h>
#include "runtime/device_amd.h"

typedef struct bytes { const uint8_t *at, *end; bool bad; } bytes;

static uint64_t take(bytes *b, uint32_t n)
{
    uint64_t v = 0;
    if (n > (size_t)(b->end - b->at)) {
        b->bad = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&v, b->at, n);
    b->at += n;
    return v;
}

static void skip(bytes *b, uint64_t n)
{
    if (n > (uint64_t)(b->end - b->at)) {
        b->bad = true;
        n = (uint64_t)(b->end - b->at);
    }
    b->at += n;
}

static uint64_t take_leb(bytes *b, bool is_signed)
{
    uint64_t v = 0, byte = 0;
    uint32_t shift = 0;
    do {
        byte = take(b, 1);
        if (shift < 64)
            v |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && (byte & 0x40))
        v |= ~(uint64_t)0 << shift;
    return v;
}

/* ------------------------------------------------------------ ELF */

static const void *part(const pxb_blob *code, uint64_t offset, uint64_t size)
{
    return offset <= code->bytes && size <= code->bytes - offset ? (const char *)code->data + offset : NULL;
}

/* Sets the section's contents and the virtual address at which the text segment starts. */
static bool open_lines(const pxb_blob *code, bytes *lines, uint64_t *text)
{
    Elf64_Ehdr h;
    Elf64_Shdr s, names;
    Elf64_Phdr p;
    bool have_text = false;
    const void *from = part(code, 0, sizeof h);
    if (!from)
        return false;
    memcpy(&h, from, sizeof h);
    for (uint32_t i = 0; i < h.e_phnum && !have_text && (from = part(code, h.e_phoff + (uint64_t)i * sizeof p, sizeof p)); i++) {
        memcpy(&p, from, sizeof p);
        have_text = p.p_type == PT_LOAD && (p.p_flags & PF_X);
        *text = p.p_vaddr;
    }
    from = part(code, h.e_shoff + (uint64_t)h.e_shstrndx * sizeof names, sizeof names);
    if (!from || !have_text)
        return false;
    memcpy(&names, from, sizeof names);
    for (uint32_t i = 0; i < h.e_shnum && (from = part(code, h.e_shoff + (uint64_t)i * sizeof s, sizeof s)); i++) {
        memcpy(&s, from, sizeof s);
        const char *name = part(code, names.sh_offset + s.sh_name, sizeof ".debug_line");
        const uint8_t *data = part(code, s.sh_offset, s.sh_size);
        if (!name || !data || s.sh_type == SHT_NOBITS || memcmp(name, ".debug_line", sizeof ".debug_line"))
            continue;
        *lines = (bytes){data, data + s.sh_size, false};
        return true;
    }
    return false;
}

/* ------------------------------------------------------------ the line program */

typedef struct program {
    uint32_t min_length, line_range, opcode_base;
    int32_t line_base;
    uint8_t lengths[256];
} program;

typedef struct row { uint64_t address; uint32_t line, column; } row;

static bool read_header(bytes *unit, program *p)
{
    uint32_t version = (uint32_t)take(unit, 2);
    if (version != 5)
        return false;
    skip(unit, 2);                                     /* sizes of an address and a segment selector */
    uint64_t header = take(unit, 4);
    bytes rest = *unit;
    skip(unit, header);
    p->min_length = (uint32_t)take(&rest, 1);
    skip(&rest, 2);                                    /* operations an instruction, default_is_stmt */
    p->line_base = (int8_t)take(&rest, 1);
    p->line_range = (uint32_t)take(&rest, 1);
    p->opcode_base = (uint32_t)take(&rest, 1);
    for (uint32_t i = 1; i < p->opcode_base; i++)
        p->lengths[i] = (uint8_t)take(&rest, 1);
    return !rest.bad && !unit->bad && p->line_range && p->opcode_base;
}

/* One of the operations that a later version may add to: DW_LNE_… Returns true at the end of a sequence. */
static bool extended(bytes *unit, row *r)
{
    uint64_t length = take_leb(unit, false);
    bytes op = *unit;
    skip(unit, length);
    switch (take(&op, 1)) {
    case 1: return true;                               /* end_sequence */
    case 2: r->address = take(&op, 8); break;          /* set_address */
    }
    return false;
}

/* A standard operation; true when it adds a row. */
static bool standard(bytes *unit, const program *p, uint32_t op, row *r)
{
    switch (op) {
    case 1: return true;                               /* copy */
    case 2: r->address += take_leb(unit, false) * p->min_length; break;
    case 3: r->line += (uint32_t)take_leb(unit, true); break;
    case 5: r->column = (uint32_t)take_leb(unit, false); break;
    case 8: r->address += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_length; break;
    case 9: r->address += take(unit, 2); break;
    default:
        for (uint32_t i = 0; i < p->lengths[op]; i++)
            take_leb(unit, false);
    }
    return false;
}

/* Looks for the row that covers `address`; an address belongs to the last row at or before it. */
static bool search(bytes *unit, const program *p, uint64_t address, row *found)
{
    row now = {0, 1, 0}, last = {0};
    bool any = false;
    while (unit->at < unit->end && !unit->bad) {
        uint32_t op = (uint32_t)take(unit, 1);
        bool adds = false, ends = false;
        if (op >= p->opcode_base) {
            uint32_t k = op - p->opcode_base;
            now.address += (uint64_t)(k / p->line_range) * p->min_length;
            now.line += (uint32_t)(p->line_base + (int32_t)(k % p->line_range));
            adds = true;
        } else if (op == 0) {
            ends = extended(unit, &now);
        } else {
            adds = standard(unit, p, op, &now);
        }
        if (!adds && !ends)
            continue;
        if (any && last.address <= address && address < now.address && last.line) {
            *found = last;
            return true;
        }
        last = now;
        any = !ends;
        if (ends)
            now = (row){0, 1, 0};
    }
    return false;
}

bool amd_line_of(const amd_object *object, uint64_t pc, uint32_t *line, uint32_t *column)
{
    bytes lines;
    uint64_t text = 0;
    if (!open_lines(&object->code, &lines, &text))
        return false;
    while (lines.at < lines.end) {
        uint64_t length = take(&lines, 4);
        bytes unit = lines;
        skip(&lines, length);
        if (lines.bad)
            return false;
        unit.end = lines.at;
        program p = {0};
        row found;
        if (!read_header(&unit, &p) || !search(&unit, &p, text + pc, &found))
            continue;
        *line = found.line;
        *column = found.column;
        return true;
    }
    return false;
}

/* parser_init.c - initialisers of .global and .const variables.
 *
 * PTX ISA, "Initializers": nested braces follow the dimensions, what is not written is zero. An
 * address (of a variable in .global or .const, or of a function) becomes a relocation; mask(x) puts one
 * byte of an address into a byte.
 */
#include "ptx/parser.h"

#include <string.h>

typedef struct filler {
    ptx_parser *p;
    ptx_variable *variable;
    uint8_t *bytes; /* room for the variable; the parser's scratch while the first dimension is unknown */
    uint64_t dimensions[PTX_MAX_DIMENSIONS + 1];
    uint64_t strides[PTX_MAX_DIMENSIONS + 1];   /* bytes of one step in each dimension */
    uint32_t ndimensions;          /* a vector type counts as the last one */
    uint32_t first_relocation;
    bool open;                     /* first dimension unknown */
} filler;

static void store(filler *f, uint64_t offset, uint64_t bits, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes && i < 8; i++)
        f->bytes[offset + i] = (uint8_t)(bits >> 8 * i);
}

static ptx_relocation *add_relocation(filler *f, uint64_t offset, uint32_t bytes)
{
    ptx_parser *p = f->p;
    PTX_GROW(p, p->relocations, p->relocation_room, p->nrelocations + 1);
    ptx_relocation *r = &p->relocations[p->nrelocations++];
    *r = (ptx_relocation){.offset = (uint32_t)offset, .bytes = bytes};
    return r;
}

/* ------------------------------------------------------------ addresses */

/* A symbol, or generic(symbol). */
static bool parse_symbol(filler *f, ptx_relocation *r)
{
    ptx_parser *p = f->p;
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "a variable or a function"))
        return false;
    bool generic = ptx_token_is(&name, "generic") && ptx_at(p, '(');
    if (generic) {
        ptx_advance(p);
        name = p->token;
        if (!ptx_expect(p, PTX_TOKEN_NAME, "a variable") || !ptx_expect(p, ')', "')'"))
            return false;
    }
    r->generic = generic;
    const ptx_symbol *s = ptx_find_symbol(p, name.start, name.length);
    const ptx_binding *b = s ? s->binding : NULL;
    if (b && b->kind == PTX_BIND_FUNCTION && !generic) {
        r->function = b->as.function;
        return true;
    }
    if (!b || b->kind != PTX_BIND_VARIABLE)
        return PTX_FAULT(p, ptx_token_at(&name), "'%.*s' is not a variable or function declared before",
                         (int)name.length, name.start);
    r->variable = b->as.variable;
    if (r->variable->space != PTX_SPACE_GLOBAL && r->variable->space != PTX_SPACE_CONST)
        return PTX_FAULT(p, ptx_token_at(&name), "only addresses in .global and .const can initialise a variable");
    return true;
}

static bool parse_address(filler *f, uint64_t offset)
{
    ptx_parser *p = f->p;
    ptx_location at = ptx_token_at(&p->token);
    ptx_type type = f->variable->type;
    uint32_t bytes = ptx_type_bytes(type);
    char class = ptx_type_class(type);
    if (bytes == 4 && (class == 'u' || class == 's'))
        return PTX_UNSUPPORTED(p, at, "an address cut to 32 bits in an initialiser is not supported");
    if (bytes != 8 || (class != 'u' && class != 'b' && class != 's'))
        return PTX_FAULT(p, at, "an address needs an element of type .u64, or mask(address) one of type .u8, not .%s",
                         ptx_type_name(type));
    ptx_relocation r = {0};
    if (!parse_symbol(f, &r))
        return false;
    if (ptx_accept(p, '+')) {
        if (r.function)
            return PTX_FAULT(p, at, "nothing can be added to the address of a function");
        if (!ptx_parse_offset(p, &r.addend))
            return false;
    }
    ptx_relocation *kept = add_relocation(f, offset, 8);
    r.offset = kept->offset;
    r.bytes = kept->bytes;
    *kept = r;
    return true;
}

/* Behind `mask (`: 0xff(x) … 0xff00000000000000(x), byte by byte of the address of x. */
static bool parse_masked(filler *f, uint64_t offset, uint64_t mask, ptx_location at)
{
    ptx_parser *p = f->p;
    uint32_t shift = 0;
    while (shift < 64 && mask != (uint64_t)0xff << shift)
        shift += 8;
    if (shift == 64)
        return PTX_FAULT(p, at, "a mask selects one byte: 0xff, 0xff00 and so on");
    if (ptx_type_bytes(f->variable->type) != 1 || ptx_type_class(f->variable->type) == 'f')
        return PTX_FAULT(p, at, "mask(address) needs elements of type .u8, not .%s", ptx_type_name(f->variable->type));
    ptx_relocation r = {0};
    if (!parse_symbol(f, &r) || (ptx_accept(p, '+') && !ptx_parse_offset(p, &r.addend)) || !ptx_expect(p, ')', "')'"))
        return false;
    if (ptx_accept(p, '+') && !ptx_parse_offset(p, &r.addend))
        return false;
    ptx_relocation *kept = add_relocation(f, offset, 1);
    r.offset = kept->offset;
    r.bytes = 1;
    r.shift = shift;
    *kept = r;
    return true;
}

/* ------------------------------------------------------------ elements and braces */

static bool parse_element(filler *f, uint64_t offset)
{
    ptx_parser *p = f->p;
    ptx_type type = f->variable->type;
    ptx_location at = ptx_token_at(&p->token);
    char class = ptx_type_class(type);
    if (ptx_at(p, PTX_TOKEN_NAME) && !ptx_token_is(&p->token, "WARP_SZ"))
        return parse_address(f, offset);
    ptx_constant c;
    if (!ptx_parse_constant(p, &c))
        return false;
    if (c.kind == PTX_CONST_INT && ptx_accept(p, '('))
        return parse_masked(f, offset, c.bits, at);
    uint32_t bits = ptx_type_bits(type);
    bool float_type = type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
    if (type == PTX_TYPE_F16 || type == PTX_TYPE_F16X2)
        return PTX_FAULT(p, at, "a .%s variable cannot be initialised; declare .b%u", ptx_type_name(type), bits);
    if (c.kind == PTX_CONST_FLOAT && !float_type && (class != 'b' || (bits != 32 && bits != 64)))
        return PTX_FAULT(p, at, "a floating-point constant cannot initialise an element of type .%s",
                         ptx_type_name(type));
    if (c.kind == PTX_CONST_INT && float_type)
        return PTX_FAULT(p, at, "an integer cannot initialise an element of type .%s; write 0f or 0d and its bits",
                         ptx_type_name(type));
    store(f, offset, ptx_constant_bits(&c, type), ptx_type_bytes(type));
    return true;
}

/* Makes room for element `index` of an unknown first dimension. */
static bool reach(filler *f, uint64_t index)
{
    uint64_t needed = (index + 1) * f->strides[0];
    if (needed > PTX_MAX_INIT - f->p->init_bytes)
        return PTX_LIMIT(f->p, f->variable->at, "initialised variables of more than %u MiB",
                         (unsigned)(PTX_MAX_INIT >> 20));
    PTX_GROW(f->p, f->p->init_scratch, f->p->init_room, (uint32_t)needed);
    f->bytes = f->p->init_scratch;
    memset(f->bytes + index * f->strides[0], 0, f->strides[0]);
    f->dimensions[0] = index + 1;
    return true;
}

static bool parse_level(filler *f, uint32_t level, uint64_t offset)
{
    ptx_parser *p = f->p;
    if (level == f->ndimensions)
        return parse_element(f, offset);
    bool is_vector = f->variable->vector > 1 && level == f->ndimensions - 1;
    ptx_location at = ptx_token_at(&p->token);
    if (!ptx_at(p, '{'))
        return PTX_FAULT(p, at, "expected '{': '%s' has %u dimension%s%s", f->variable->name, f->ndimensions,
                         f->ndimensions == 1 ? "" : "s",
                         f->variable->vector > 1 ? " (its vector type is the last)" : "");
    ptx_advance(p);
    uint64_t index = 0;
    while (!(index == 0 && ptx_at(p, '}'))) {
        if (level == 0 && f->open) {
            if (!reach(f, index))
                return false;
        } else if (index == f->dimensions[level]) {
            return PTX_FAULT(p, ptx_token_at(&p->token), "more than %llu elements",
                             (unsigned long long)f->dimensions[level]);
        }
        if (!parse_level(f, level + 1, offset + index * f->strides[level]))
            return false;
        index++;
        if (!ptx_accept(p, ','))
            break;
    }
    if (is_vector && index != f->dimensions[level])
        return PTX_FAULT(p, at, "a vector of %u elements needs all of them", f->variable->vector);
    return ptx_expect(p, '}', "',' or '}'");
}

/* Settings of textures and samplers are not kept: a texture is bound by its handle at run time. */
static bool parse_opaque_settings(ptx_parser *p, const ptx_variable *v)
{
    PTX_WARN(p, v->at, "the settings of .%s '%s' are not used; its texture is described when it is bound",
             ptx_type_name(v->type), v->name);
    if (!ptx_expect(p, '{', "'{'"))
        return false;
    while (!ptx_at(p, '}')) {
        ptx_constant c;
        if (!ptx_expect(p, PTX_TOKEN_NAME, "the name of a setting") || !ptx_expect(p, '=', "'='"))
            return false;
        if (!ptx_accept(p, PTX_TOKEN_NAME) && !ptx_parse_constant(p, &c))
            return false;
        if (!ptx_accept(p, ','))
            break;
    }
    return ptx_expect(p, '}', "',' or '}'");
}

static void set_dimensions(filler *f, const uint64_t *dimensions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        f->dimensions[i] = dimensions[i];
    f->ndimensions = n;
    if (f->variable->vector > 1)
        f->dimensions[f->ndimensions++] = f->variable->vector;
    uint64_t stride = ptx_type_bytes(f->variable->type);
    for (uint32_t i = f->ndimensions; i-- > 0;) {
        f->strides[i] = stride;
        stride *= f->dimensions[i];
    }
    f->open = n > 0 && dimensions[0] == 0;
}

static void keep_filled(filler *f)
{
    ptx_parser *p = f->p;
    ptx_variable *v = f->variable;
    uint32_t n = p->nrelocations - f->first_relocation;
    if (n) {
        ptx_relocation *kept = PTX_NEW(p, ptx_relocation, n);
        memcpy(kept, p->relocations + f->first_relocation, n * sizeof *kept);
        v->relocations = kept;
        v->nrelocations = n;
    }
    v->init = f->bytes;
    p->init_bytes += v->size;
}

/* The first dimension is known only now: the bytes move into the arena. */
static void close_dimension(filler *f)
{
    ptx_variable *v = f->variable;
    v->size = f->dimensions[0] * f->strides[0];
    v->count = v->size / ((uint64_t)ptx_type_bytes(v->type) * v->vector);
    uint8_t *bytes = ptx_new(f->p, v->size ? v->size : 1, 16);
    if (v->size)
        memcpy(bytes, f->bytes, v->size);
    f->bytes = bytes;
}

bool ptx_parse_initialiser(ptx_parser *p, ptx_variable *v, const uint64_t *dimensions, uint32_t ndimensions)
{
    if (ptx_type_class(v->type) == 'o')
        return parse_opaque_settings(p, v);
    filler f = {.p = p, .variable = v};
    set_dimensions(&f, dimensions, ndimensions);
    p->nrelocations = 0;
    if (!f.open) {
        if (v->size > PTX_MAX_INIT - p->init_bytes)
            return PTX_LIMIT(p, v->at, "initialised variables of more than %u MiB", (unsigned)(PTX_MAX_INIT >> 20));
        f.bytes = v->size > 65536 ? ptx_arena_zeroed(p->arena, v->size) : ptx_new(p, v->size ? v->size : 1, 16);
        if (!f.bytes)
            ptx_out_of_memory(p);
        if (v->size <= 65536)
            memset(f.bytes, 0, v->size);
    }
    bool ok = parse_level(&f, 0, 0);
    if (ok && f.open)
        close_dimension(&f);
    if (ok)
        keep_filled(&f);
    return ok;
}

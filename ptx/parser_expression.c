/* parser_expression.c - PTX ISA, "Constant Expressions": the operators of C over s64, u64 and f64.
 *
 * Integers wrap at 64 bits. An operation is unsigned when one of its operands is; shifts take the type
 * of their left side, comparisons give s64. Integers and floats do not mix. 0f is exact
 * 32-bit data and takes no operators.
 */
#include "ptx/parser.h"

#include <string.h>

static bool parse_ternary(ptx_parser *p, ptx_constant *out);

static double as_double(const ptx_constant *c)
{
    double d;
    memcpy(&d, &c->bits, sizeof d);
    return d;
}

static ptx_constant from_double(double d)
{
    ptx_constant c = {.kind = PTX_CONST_FLOAT};
    memcpy(&c.bits, &d, sizeof d);
    return c;
}

static ptx_constant from_int(uint64_t bits, bool is_unsigned)
{
    return (ptx_constant){.kind = PTX_CONST_INT, .bits = bits, .is_unsigned = is_unsigned};
}

static bool truth(const ptx_constant *c)
{
    return c->kind == PTX_CONST_INT ? c->bits != 0 : as_double(c) != 0;
}

/* ------------------------------------------------------------ primaries */

static bool enter(ptx_parser *p)
{
    if (p->expression_depth >= PTX_MAX_DEPTH)
        return PTX_LIMIT(p, ptx_token_at(&p->token), "more than %d nested parts in one expression", PTX_MAX_DEPTH);
    p->expression_depth++;
    return true;
}

/* Behind `(`: a cast or a parenthesis. */
static bool parse_parenthesis(ptx_parser *p, ptx_constant *out, bool (*parse_unary)(ptx_parser *, ptx_constant *))
{
    if (!ptx_at(p, PTX_TOKEN_WORD))
        return parse_ternary(p, out) && ptx_expect(p, ')', "')'");
    bool to_unsigned = ptx_at_word(p, ".u64");
    if (!to_unsigned && !ptx_at_word(p, ".s64"))
        return PTX_FAULT(p, ptx_token_at(&p->token), "'%.*s' is not a cast; expected .s64 or .u64",
                         (int)p->token.length, p->token.start);
    ptx_location at = ptx_token_at(&p->token);
    ptx_advance(p);
    if (!ptx_expect(p, ')', "')'") || !parse_unary(p, out))
        return false;
    if (out->kind == PTX_CONST_FLOAT)
        return PTX_FAULT(p, at, "a floating-point constant cannot be cast");
    out->is_unsigned = to_unsigned;
    return true;
}

static bool parse_primary(ptx_parser *p, ptx_constant *out, bool (*parse_unary)(ptx_parser *, ptx_constant *))
{
    if (ptx_at(p, PTX_TOKEN_WORD) && p->token.length > 1 && (unsigned char)(p->token.start[1] - '0') <= 9)
        ptx_lexer_number(&p->lexer, &p->token);         /* .5 */
    if (ptx_at(p, PTX_TOKEN_INT)) {
        *out = from_int(p->token.value, p->token.is_unsigned);
    } else if (ptx_at(p, PTX_TOKEN_FLOAT)) {
        *out = (ptx_constant){.kind = PTX_CONST_FLOAT, .is_single = p->token.is_single, .bits = p->token.value};
    } else if (ptx_at(p, '(')) {
        ptx_advance(p);
        if (!enter(p) || !parse_parenthesis(p, out, parse_unary))
            return false;
        p->expression_depth--;
        return true;
    } else if (ptx_token_is(&p->token, "WARP_SZ")) {
        *out = from_int(32, false);
    } else {
        return ptx_unexpected(p, "a constant");
    }
    ptx_advance(p);
    return true;
}

static bool parse_unary(ptx_parser *p, ptx_constant *out)
{
    int operator = (int)p->token.kind;
    if (operator != '+' && operator != '-' && operator != '~' && operator != '!')
        return parse_primary(p, out, parse_unary);
    ptx_location at = ptx_token_at(&p->token);
    ptx_advance(p);
    if (!enter(p) || !parse_unary(p, out))
        return false;
    p->expression_depth--;
    if (out->kind == PTX_CONST_FLOAT && (operator == '~' || out->is_single))
        return PTX_FAULT(p, at,
                         out->is_single ? "an exact constant 0f takes no operator" : "~ needs an integer constant");
    if (operator == '!')
        *out = from_int(!truth(out), false);
    else if (operator == '~')
        out->bits = ~out->bits;
    else if (operator == '-' && out->kind == PTX_CONST_INT)
        out->bits = 0 - out->bits;
    else if (operator == '-')
        *out = from_double(-as_double(out));
    return true;
}

/* ------------------------------------------------------------ binary operators */

static int precedence(int operator)
{
    switch (operator) {
    case PTX_TOKEN_OROR: return 1;
    case PTX_TOKEN_ANDAND: return 2;
    case '|': return 3;
    case '^': return 4;
    case '&': return 5;
    case PTX_TOKEN_EQ: case PTX_TOKEN_NE: return 6;
    case '<': case '>': case PTX_TOKEN_LE: case PTX_TOKEN_GE: return 7;
    case PTX_TOKEN_SHL: case PTX_TOKEN_SHR: return 8;
    case '+': case '-': return 9;
    case '*': case '/': case '%': return 10;
    default: return 0;
    }
}

static bool compare_doubles(int operator, double a, double b)
{
    switch (operator) {
    case PTX_TOKEN_EQ: return a == b;
    case PTX_TOKEN_NE: return a != b;
    case '<': return a < b;
    case '>': return a > b;
    case PTX_TOKEN_LE: return a <= b;
    default: return a >= b;
    }
}

static bool compare_ints(int operator, const ptx_constant *x, const ptx_constant *y)
{
    bool u = x->is_unsigned || y->is_unsigned;
    uint64_t a = x->bits, b = y->bits;
    bool less = u ? a < b : (int64_t)a < (int64_t)b;
    switch (operator) {
    case PTX_TOKEN_EQ: return a == b;
    case PTX_TOKEN_NE: return a != b;
    case '<': return less;
    case '>': return !less && a != b;
    case PTX_TOKEN_LE: return less || a == b;
    default: return !less;
    }
}

static uint64_t shift_right(const ptx_constant *x, uint64_t count)
{
    bool fill = !x->is_unsigned && (int64_t)x->bits < 0;
    if (count >= 64)
        return fill ? UINT64_MAX : 0;
    uint64_t shifted = x->bits >> count;
    return fill && count ? shifted | ~(UINT64_MAX >> count) : shifted;
}

static uint64_t divide(const ptx_constant *x, const ptx_constant *y, bool remainder)
{
    uint64_t a = x->bits, b = y->bits;
    if (x->is_unsigned || y->is_unsigned)
        return remainder ? a % b : a / b;
    if (b == UINT64_MAX)           /* -1: the quotient of the least number would overflow */
        return remainder ? 0 : 0 - a;
    return (uint64_t)(remainder ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool apply_ints(ptx_parser *p, int operator, ptx_location at, ptx_constant *x, const ptx_constant *y)
{
    uint64_t a = x->bits, b = y->bits;
    bool u = x->is_unsigned || y->is_unsigned;
    if ((operator == '/' || operator == '%') && b == 0)
        return PTX_FAULT(p, at, "division by zero in a constant expression");
    switch (operator) {
    case '*': a *= b; break;
    case '/': a = divide(x, y, false); break;
    case '%': a = divide(x, y, true); break;
    case '+': a += b; break;
    case '-': a -= b; break;
    case '&': a &= b; break;
    case '|': a |= b; break;
    case '^': a ^= b; break;
    case PTX_TOKEN_SHL: a = b < 64 ? a << b : 0; u = x->is_unsigned; break;
    case PTX_TOKEN_SHR: a = shift_right(x, b); u = x->is_unsigned; break;
    case PTX_TOKEN_ANDAND: a = a && b; u = false; break;
    case PTX_TOKEN_OROR: a = a || b; u = false; break;
    default: a = compare_ints(operator, x, y); u = false; break;
    }
    *x = from_int(a, u);
    return true;
}

static bool apply_floats(ptx_parser *p, int operator, ptx_location at, ptx_constant *x, const ptx_constant *y)
{
    double a = as_double(x), b = as_double(y);
    switch (operator) {
    case '*': *x = from_double(a * b); return true;
    case '/':
        if (b == 0)
            return PTX_FAULT(p, at, "division by zero in a constant expression");
        *x = from_double(a / b);
        return true;
    case '+': *x = from_double(a + b); return true;
    case '-': *x = from_double(a - b); return true;
    case PTX_TOKEN_ANDAND: *x = from_int(a != 0 && b != 0, false); return true;
    case PTX_TOKEN_OROR: *x = from_int(a != 0 || b != 0, false); return true;
    case '<': case '>': case PTX_TOKEN_LE: case PTX_TOKEN_GE: case PTX_TOKEN_EQ: case PTX_TOKEN_NE:
        *x = from_int(compare_doubles(operator, a, b), false);
        return true;
    default:
        return PTX_FAULT(p, at, "this operator needs integer constants");
    }
}

static bool apply(ptx_parser *p, int operator, ptx_location at, ptx_constant *x, const ptx_constant *y)
{
    if (x->is_single || y->is_single)
        return PTX_FAULT(p, at, "an exact constant 0f takes no operator");
    if (x->kind != y->kind)
        return PTX_FAULT(p, at, "integer and floating-point constants do not mix in one operation");
    return x->kind == PTX_CONST_INT ? apply_ints(p, operator, at, x, y) : apply_floats(p, operator, at, x, y);
}

/* At most one level of recursion for each precedence, so only unary operators and parentheses nest. */
static bool parse_binary(ptx_parser *p, int least, ptx_constant *out)
{
    if (!parse_unary(p, out))
        return false;
    for (;;) {
        int operator = (int)p->token.kind, level = precedence(operator);
        if (level == 0 || level < least)
            return true;
        ptx_location at = ptx_token_at(&p->token);
        ptx_advance(p);
        ptx_constant right;
        if (!parse_binary(p, level + 1, &right) || !apply(p, operator, at, out, &right))
            return false;
    }
}

static bool parse_ternary(ptx_parser *p, ptx_constant *out)
{
    if (!enter(p) || !parse_binary(p, 1, out))
        return false;
    if (ptx_at(p, '?')) {
        ptx_location at = ptx_token_at(&p->token);
        ptx_constant yes, no;
        ptx_advance(p);
        if (!parse_ternary(p, &yes) || !ptx_expect(p, ':', "':'") || !parse_ternary(p, &no))
            return false;
        if (yes.kind != no.kind)
            return PTX_FAULT(p, at, "the two values of ?: are an integer and a floating-point constant");
        *out = truth(out) ? yes : no;
    }
    p->expression_depth--;
    return true;
}

/* ------------------------------------------------------------ for the other files */

bool ptx_parse_constant(ptx_parser *p, ptx_constant *out)
{
    p->expression_depth = 0;
    return parse_ternary(p, out);
}

bool ptx_parse_integer(ptx_parser *p, uint64_t *out, const char *what)
{
    ptx_location at = ptx_token_at(&p->token);
    ptx_constant c;
    if (!ptx_parse_constant(p, &c))
        return false;
    if (c.kind != PTX_CONST_INT || (!c.is_unsigned && (int64_t)c.bits < 0))
        return PTX_FAULT(p, at, "%s must be an integer that is not negative", what);
    *out = c.bits;
    return true;
}

bool ptx_parse_offset(ptx_parser *p, int64_t *out)
{
    ptx_location at = ptx_token_at(&p->token);
    ptx_constant c;
    if (!ptx_parse_constant(p, &c))
        return false;
    if (c.kind != PTX_CONST_INT)
        return PTX_FAULT(p, at, "an address offset must be an integer");
    *out = (int64_t)c.bits;
    return true;
}

static uint32_t single_of(const ptx_constant *c)
{
    if (c->is_single)
        return (uint32_t)c->bits;
    float f = (float)as_double(c);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* f32 to f64 in integer arithmetic for NaN, so that a signalling one keeps its payload. */
static uint64_t double_of(const ptx_constant *c)
{
    if (!c->is_single)
        return c->bits;
    uint32_t s = (uint32_t)c->bits;
    if ((s & 0x7f800000) == 0x7f800000)
        return (uint64_t)(s >> 31) << 63 | (uint64_t)0x7ff << 52 | (uint64_t)(s & 0x7fffff) << 29;
    float f;
    memcpy(&f, &s, sizeof f);
    double d = f;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

uint64_t ptx_constant_bits(const ptx_constant *c, ptx_type type)
{
    uint32_t bits = ptx_type_bits(type);
    if (c->kind == PTX_CONST_FLOAT)
        return bits == 32 ? single_of(c) : double_of(c);
    if (type == PTX_TYPE_PRED)
        return c->bits != 0;
    return bits < 64 ? c->bits & (((uint64_t)1 << bits) - 1) : c->bits;
}

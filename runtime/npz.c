/* npz.c - NumPy's bundles: ZIP archives of .npy members, stored or deflated.
 *
 * Format: PKWARE's APPNOTE 6.3, sections 4.3.6 to 4.3.16, with the ZIP64 extra field that numpy.savez writes. The
 * central directory is the authority; of a local header only its length is used. Every offset is checked
 * against the file, sizes before anything is allocated, and the CRC of what comes out.
 */
#include "runtime/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { END_SIZE = 22, END64_LOCATOR_SIZE = 20, END64_SIZE = 56, CENTRAL_SIZE = 46, LOCAL_SIZE = 30 };
#define END_MAGIC 0x06054b50u
#define END64_LOCATOR_MAGIC 0x07064b50u
#define END64_MAGIC 0x06064b50u
#define CENTRAL_MAGIC 0x02014b50u
#define LOCAL_MAGIC 0x04034b50u

typedef struct archive {
    pxb_context *ctx;
    const char *name;
    const unsigned char *data;
    uint64_t length;
} archive;

typedef struct member {
    uint16_t flags, method;
    uint32_t crc;
    uint64_t packed, size, local;
} member;

static uint64_t little(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static pxb_status bad(const archive *z, const char *why)
{
    return rt_fail_at(z->ctx, PXB_BAD_INPUT, z->name, 0, 0, "is no .npz file that can be read: %s", why);
}

/* Is [at, at + size) inside the file? */
static bool inside(const archive *z, uint64_t at, uint64_t size)
{
    return at <= z->length && size <= z->length - at;
}

/* Finds the central directory: the end record stands last, behind it only a comment of at most 65535 bytes. */
static pxb_status find_directory(const archive *z, uint64_t *start, uint64_t *entries)
{
    if (z->length < END_SIZE)
        return bad(z, "it is too short");
    uint64_t at = z->length - END_SIZE, lowest = at > 65535 ? at - 65535 : 0;
    while (little(z->data + at, 4) != END_MAGIC || little(z->data + at + 20, 2) != z->length - at - END_SIZE) {
        if (at == lowest)
            return bad(z, "it has no ZIP directory");
        at--;
    }
    *entries = little(z->data + at + 10, 2);
    *start = little(z->data + at + 16, 4);
    if (*entries != 0xffff && *start != 0xffffffff)
        return PXB_OK;
    if (at < END64_LOCATOR_SIZE || little(z->data + at - END64_LOCATOR_SIZE, 4) != END64_LOCATOR_MAGIC)
        return PXB_OK; /* really 65535 entries, without ZIP64 */
    uint64_t end64 = little(z->data + at - END64_LOCATOR_SIZE + 8, 8);
    if (!inside(z, end64, END64_SIZE) || little(z->data + end64, 4) != END64_MAGIC)
        return bad(z, "its ZIP64 directory is damaged");
    *entries = little(z->data + end64 + 32, 8);
    *start = little(z->data + end64 + 48, 8);
    return PXB_OK;
}

/* Sizes and offset of 0xffffffff stand in the extra field with id 1, in this order (APPNOTE 4.5.3). */
static void read_zip64(member *m, const unsigned char *p, uint32_t n)
{
    while (n >= 4) {
        uint32_t id = (uint32_t)little(p, 2), size = (uint32_t)little(p + 2, 2);
        p += 4;
        n -= 4;
        if (size > n)
            return;
        if (id == 1) {
            uint64_t *fields[3] = {&m->size, &m->packed, &m->local};
            const unsigned char *q = p;
            for (int i = 0; i < 3; i++) {
                if (*fields[i] == 0xffffffff && (size_t)(p + size - q) >= 8) {
                    *fields[i] = little(q, 8);
                    q += 8;
                }
            }
            return;
        }
        p += size;
        n -= size;
    }
}

static bool name_matches(const unsigned char *name, uint32_t length, const char *wanted)
{
    size_t n = strlen(wanted);
    if (length >= 4 && memcmp(name + length - 4, ".npy", 4) == 0 && length - 4 == n && memcmp(name, wanted, n) == 0)
        return true;
    return length == n && memcmp(name, wanted, n) == 0;
}

static pxb_status find_member(const archive *z, const char *wanted, member *m)
{
    uint64_t at = 0, entries = 0;
    char names[512] = "";
    pxb_status status = find_directory(z, &at, &entries);
    if (status)
        return status;
    for (uint64_t i = 0; i < entries; i++) {
        if (!inside(z, at, CENTRAL_SIZE) || little(z->data + at, 4) != CENTRAL_MAGIC)
            return bad(z, "its ZIP directory is damaged");
        const unsigned char *p = z->data + at;
        uint32_t nname = (uint32_t)little(p + 28, 2), nextra = (uint32_t)little(p + 30, 2),
                 ncomment = (uint32_t)little(p + 32, 2);
        if (!inside(z, at, (uint64_t)CENTRAL_SIZE + nname + nextra + ncomment))
            return bad(z, "its ZIP directory is damaged");
        if (name_matches(p + CENTRAL_SIZE, nname, wanted)) {
            m->flags = (uint16_t)little(p + 8, 2);
            m->method = (uint16_t)little(p + 10, 2);
            m->crc = (uint32_t)little(p + 16, 4);
            m->packed = little(p + 20, 4);
            m->size = little(p + 24, 4);
            m->local = little(p + 42, 4);
            read_zip64(m, p + CENTRAL_SIZE + nname, nextra);
            return PXB_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)(nname < 64 ? nname : 64),
                 (const char *)p + CENTRAL_SIZE);
        at += (uint64_t)CENTRAL_SIZE + nname + nextra + ncomment;
    }
    return rt_fail_at(z->ctx, PXB_NOT_FOUND, z->name, 0, 0, "has no member \"%.100s\"; it has: %s", wanted, names);
}

static pxb_status inflate_member(const archive *z, const member *m, const unsigned char *from, unsigned char *to)
{
    z_stream s = {0};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return rt_no_memory(z->ctx);
    /* zlib counts in 32 bits: both sides are fed in pieces. */
    uint64_t in = m->packed, out = m->size;
    int rc = Z_OK;
    s.next_in = (unsigned char *)from;
    s.next_out = to;
    while (rc == Z_OK) {
        uint32_t give = in > 1u << 30 ? 1u << 30 : (uint32_t)in, room = out > 1u << 30 ? 1u << 30 : (uint32_t)out;
        s.avail_in = give;
        s.avail_out = room;
        rc = inflate(&s, Z_NO_FLUSH);
        uint64_t used = give - s.avail_in, made = room - s.avail_out;
        in -= used;
        out -= made;
        if (rc == Z_OK && used == 0 && made == 0)
            rc = Z_BUF_ERROR;
    }
    inflateEnd(&s);
    return rc == Z_STREAM_END && out == 0 ? PXB_OK : bad(z, "a member's compressed data are damaged");
}

static uint32_t crc_of(const unsigned char *p, uint64_t n)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), p, (size_t)n);
}

static pxb_status unpack_member(const archive *z, const member *m, unsigned char **out)
{
    if (m->flags & 1)
        return bad(z, "the member is encrypted");
    if (m->method != 0 && m->method != 8)
        return bad(z, "the member is neither stored nor deflated");
    if (!inside(z, m->local, LOCAL_SIZE) || little(z->data + m->local, 4) != LOCAL_MAGIC)
        return bad(z, "a member's header is damaged");
    const unsigned char *p = z->data + m->local;
    uint64_t start = m->local + LOCAL_SIZE + little(p + 26, 2) + little(p + 28, 2);
    if (!inside(z, start, m->packed))
        return bad(z, "a member is longer than the file");
    /* deflate cannot shrink to less than 1 : 1032, so larger claims need no memory to be refused. */
    if (m->size > z->ctx->array_limit + 65536 || (m->method == 0 && m->size != m->packed) ||
        (m->method == 8 && m->size / 1032 > m->packed + 1))
        return bad(z, "a member's size cannot be true");
    *out = malloc((size_t)m->size + 1);
    if (!*out)
        return rt_no_memory(z->ctx);
    pxb_status status = PXB_OK;
    if (m->method == 8)
        status = inflate_member(z, m, z->data + start, *out);
    else
        memcpy(*out, z->data + start, (size_t)m->size);
    if (!status && crc_of(*out, m->size) != m->crc)
        status = bad(z, "a member's checksum is wrong");
    return status;
}

pxb_status rt_npz_parse(pxb_context *ctx, const char *name, const void *data, size_t length, const char *wanted,
                        rt_array *out)
{
    archive z = {ctx, name, data, length};
    member m = {0};
    unsigned char *npy = NULL;
    memset(out, 0, sizeof *out);
    pxb_status status = find_member(&z, wanted, &m);
    if (!status)
        status = unpack_member(&z, &m, &npy);
    if (!status) {
        char full[512];
        snprintf(full, sizeof full, "%.300s(%.100s)", name, wanted);
        status = rt_npy_parse(ctx, full, npy, (size_t)m.size, out);
    }
    free(npy);
    return status;
}

pxb_status rt_npz_read(pxb_context *ctx, const char *path, const char *wanted, rt_array *out)
{
    char *data;
    size_t length;
    memset(out, 0, sizeof *out);
    pxb_status status = rt_read_file(ctx, path, 4 * ctx->array_limit, &data, &length);
    if (!status)
        status = rt_npz_parse(ctx, path, data, length, wanted, out);
    free(data);
    return status;
}

/* ------------------------------------------------------------ writing */

/* A growing file in memory, each member's central record kept aside until the end. */
typedef struct writer {
    pxb_context *ctx;
    unsigned char *data, *central;
    size_t length, room, ncentral, central_room;
} writer;

static pxb_status append(pxb_context *ctx, unsigned char **to, size_t *length, size_t *room, const void *from, size_t n)
{
    if (*room - *length < n) {
        size_t more = (*length + n) * 3 / 2;
        unsigned char *p = realloc(*to, more);
        if (!p)
            return rt_no_memory(ctx);
        *to = p;
        *room = more;
    }
    memcpy(*to + *length, from, n);
    *length += n;
    return PXB_OK;
}

static void put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static pxb_status deflate_all(pxb_context *ctx, const void *from, size_t n, unsigned char **out, size_t *length)
{
    z_stream s = {0};
    if (deflateInit2(&s, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return rt_no_memory(ctx);
    size_t bound = deflateBound(&s, n);
    *out = malloc(bound);
    if (*out) {
        s.next_in = (unsigned char *)from;
        s.avail_in = (uInt)n;
        s.next_out = *out;
        s.avail_out = (uInt)bound;
        int rc = deflate(&s, Z_FINISH);
        *length = bound - s.avail_out;
        deflateEnd(&s);
        return rc == Z_STREAM_END ? PXB_OK : rt_fail(ctx, PXB_INTERNAL, "deflate gave %d", rc);
    }
    deflateEnd(&s);
    return rt_no_memory(ctx);
}

static pxb_status add_member(writer *w, const char *name, const rt_array *a)
{
    void *npy = NULL;
    unsigned char *packed = NULL;
    size_t size = 0, npacked = 0, nname = strlen(name) + 4;
    char full[256];
    snprintf(full, sizeof full, "%.200s.npy", name);
    nname = strlen(full);
    pxb_status status = rt_npy_format(w->ctx, a, &npy, &size);
    if (!status && size >= UINT32_MAX / 2)
        status = rt_fail(w->ctx, PXB_UNSUPPORTED, "an array of 2 GiB or more cannot be written to an .npz file");
    if (!status)
        status = deflate_all(w->ctx, npy, size, &packed, &npacked);
    if (!status) {
        unsigned char local[LOCAL_SIZE] = {0}, central[CENTRAL_SIZE] = {0};
        /* version 2.0, method 8, no date (1 January 1980), so that equal arrays give equal files */
        put(local, LOCAL_MAGIC, 4);
        put(local + 4, 20, 2);
        put(local + 8, 8, 2);
        put(local + 12, 0x21, 2);
        put(local + 14, crc_of(npy, size), 4);
        put(local + 18, npacked, 4);
        put(local + 22, size, 4);
        put(local + 26, nname, 2);
        put(central, CENTRAL_MAGIC, 4);
        put(central + 4, 20, 2);
        memcpy(central + 6, local + 4, 26);
        put(central + 42, w->length, 4);
        status = append(w->ctx, &w->data, &w->length, &w->room, local, sizeof local);
        if (!status)
            status = append(w->ctx, &w->data, &w->length, &w->room, full, nname);
        if (!status)
            status = append(w->ctx, &w->data, &w->length, &w->room, packed, npacked);
        if (!status)
            status = append(w->ctx, &w->central, &w->ncentral, &w->central_room, central, sizeof central);
        if (!status)
            status = append(w->ctx, &w->central, &w->ncentral, &w->central_room, full, nname);
    }
    free(npy);
    free(packed);
    return status;
}

pxb_status rt_npz_write(pxb_context *ctx, const char *path, uint32_t count, const char *const *names,
                        const rt_array *const *arrays)
{
    writer w = {.ctx = ctx};
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = add_member(&w, names[i], arrays[i]);
    if (!status && w.length >= UINT32_MAX)
        status = rt_fail(ctx, PXB_UNSUPPORTED, "an .npz file of 4 GiB or more cannot be written");
    if (!status) {
        unsigned char end[END_SIZE] = {0};
        put(end, END_MAGIC, 4);
        put(end + 8, count, 2);
        put(end + 10, count, 2);
        put(end + 12, w.ncentral, 4);
        put(end + 16, w.length, 4);
        status = append(ctx, &w.data, &w.length, &w.room, w.central ? w.central : end, w.ncentral);
        if (!status)
            status = append(ctx, &w.data, &w.length, &w.room, end, sizeof end);
    }
    if (!status)
        status = rt_write_file(ctx, path, w.data, w.length);
    free(w.data);
    free(w.central);
    return status;
}

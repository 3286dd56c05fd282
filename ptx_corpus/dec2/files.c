/* .npz and PNG writers. Zip: PKWARE APPNOTE 4.3.7 and 4.3.12; .npy: NumPy's format 1.0. */
#include "files.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_MEMBERS = 16 };

struct npz {
    FILE *file;
    int members, bad;
    struct member {
        char name[64];
        uint32_t crc, packed, plain, offset;
    } member[MAX_MEMBERS];
};

static void put(uint8_t **to, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) *(*to)++ = (uint8_t)(v >> 8 * i);
}

static void emit(struct npz *z, const void *data, size_t n)
{
    if (fwrite(data, 1, n, z->file) != n) z->bad = 1;
}

/* The fields that the local and the central header share. */
static void put_common(uint8_t **to, const struct member *m)
{
    put(to, 20, 2);         /* version 2.0 */
    put(to, 0, 2);          /* flags */
    put(to, 8, 2);          /* deflate */
    put(to, 0x00210000, 4); /* 1980-01-01 00:00, so that two runs are equal */
    put(to, m->crc, 4);
    put(to, m->packed, 4);
    put(to, m->plain, 4);
    put(to, (uint32_t)strlen(m->name), 2);
    put(to, 0, 2); /* extra */
}

struct npz *npz_create(const char *path)
{
    struct npz *z = calloc(1, sizeof *z);
    if (z && !(z->file = fopen(path, "wb"))) {
        free(z);
        z = NULL;
    }
    return z;
}

/* .npy header and data in one block; the caller frees it. */
static uint8_t *npy_block(const char *dtype, const int shape[4], const void *data, size_t *size)
{
    size_t n = strcmp(dtype, "|u1") ? 2 : 1;
    char dims[64] = "";
    for (int i = 0; i < 4 && shape[i]; i++) {
        n *= (size_t)shape[i];
        /* NumPy's own spelling: (6,) and (6, 4). */
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), i == 0 ? "%d," : i == 1 ? " %d" : ", %d", shape[i]);
    }
    uint8_t *block = calloc(1, 128 + n);
    if (!block) return NULL;
    memcpy(block, "\x93NUMPY\x01\x00\x76\x00", 10); /* header length 118: data starts at 128 */
    memset(block + 10, ' ', 117);
    int used =
        snprintf((char *)block + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, dims);
    block[10 + used] = ' ';
    block[127] = '\n';
    memcpy(block + 128, data, n);
    *size = 128 + n;
    return block;
}

int npz_add(struct npz *z, const char *name, const char *dtype, const int shape[4], const void *data)
{
    size_t size = 0;
    uint8_t header[30], *to = header, *block = npy_block(dtype, shape, data, &size), *packed = NULL;
    z_stream s = {0};

    if (block && z->members < MAX_MEMBERS && deflateInit2(&s, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK &&
        (packed = malloc(deflateBound(&s, (uLong)size)))) {
        struct member *m = &z->member[z->members++];
        s.next_in = block;
        s.avail_in = (uInt)size;
        s.next_out = packed;
        s.avail_out = (uInt)deflateBound(&s, (uLong)size);
        z->bad |= deflate(&s, Z_FINISH) != Z_STREAM_END;
        snprintf(m->name, sizeof m->name, "%s.npy", name);
        m->crc = (uint32_t)crc32(0, block, (uInt)size);
        m->packed = (uint32_t)s.total_out;
        m->plain = (uint32_t)size;
        m->offset = (uint32_t)ftell(z->file);
        put(&to, 0x04034B50, 4);
        put_common(&to, m);
        emit(z, header, 30);
        emit(z, m->name, strlen(m->name));
        emit(z, packed, m->packed);
    } else z->bad = 1;
    deflateEnd(&s);
    free(packed);
    free(block);
    return z->bad;
}

int npz_close(struct npz *z)
{
    uint32_t start = (uint32_t)ftell(z->file), end;
    uint8_t record[46], *to;

    for (int i = 0; i < z->members; i++) {
        const struct member *m = &z->member[i];
        to = record;
        put(&to, 0x02014B50, 4);
        put(&to, 20, 2);
        put_common(&to, m);
        put(&to, 0, 2); /* comment */
        put(&to, 0, 2); /* disk */
        put(&to, 0, 2); /* internal attributes */
        put(&to, 0, 4); /* external attributes */
        put(&to, m->offset, 4);
        emit(z, record, 46);
        emit(z, m->name, strlen(m->name));
    }
    end = (uint32_t)ftell(z->file);
    to = record;
    put(&to, 0x06054B50, 4);
    put(&to, 0, 4);
    put(&to, (uint32_t)z->members, 2);
    put(&to, (uint32_t)z->members, 2);
    put(&to, end - start, 4);
    put(&to, start, 4);
    put(&to, 0, 2);
    emit(z, record, 22);
    int bad = z->bad | (fclose(z->file) != 0);
    free(z);
    return bad;
}

int png_write(const char *path, int width, int height, const uint8_t *rgb)
{
    png_image image;

    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = PNG_FORMAT_RGB;
    return !png_image_write_to_file(&image, path, 0, rgb, 3 * width, NULL);
}

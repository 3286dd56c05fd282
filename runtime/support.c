/* support.c - reading and writing whole files, and memory that is freed at once. */
#include "runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pxb_status read_open_file(pxb_context *ctx, FILE *f, const char *path, uint64_t limit, char **out,
                                 size_t *length)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0)
        return rt_fail_at(ctx, PXB_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return rt_fail_at(ctx, PXB_IO, path, 0, 0, "is not a regular file");
    if ((uint64_t)st.st_size > limit)
        return rt_fail_at(ctx, PXB_BAD_INPUT, path, 0, 0, "has %llu bytes; at most %llu are read",
                          (unsigned long long)st.st_size, (unsigned long long)limit);
    size_t size = (size_t)st.st_size;
    char *data = malloc(size + 1);
    if (!data)
        return rt_no_memory(ctx);
    size_t got = fread(data, 1, size, f);
    if (got != size) { /* also a file that shrank meanwhile */
        free(data);
        return rt_fail_at(ctx, PXB_IO, path, 0, 0, "could be read only in part");
    }
    data[size] = '\0';
    *out = data;
    *length = size;
    return PXB_OK;
}

pxb_status rt_read_file(pxb_context *ctx, const char *path, uint64_t limit, char **out, size_t *length)
{
    *out = NULL;
    *length = 0;
    /* A pipe that nobody writes to would be waited for. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!f) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rt_fail_at(ctx, PXB_IO, path, 0, 0, "cannot be opened: %s", strerror(error));
    }
    pxb_status status = read_open_file(ctx, f, path, limit, out, length);
    fclose(f);
    return status;
}

pxb_status rt_write_file(pxb_context *ctx, const char *path, const void *data, size_t bytes)
{
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        /* A pipe, /dev/stdout and other links: rename would replace it, so it is written as it is. */
        FILE *f = fopen(path, "wb");
        bool ok = f && fwrite(data, 1, bytes, f) == bytes;
        if (f)
            ok = fclose(f) == 0 && ok;
        return ok ? PXB_OK : rt_fail_at(ctx, PXB_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    }
    size_t n = strlen(path) + 16;
    char *temporary = malloc(n);
    if (!temporary)
        return rt_no_memory(ctx);
    snprintf(temporary, n, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    int error = errno;
    if (fd >= 0)
        fchmod(fd, 0644);
    if (f && fclose(f) != 0)
        ok = false, error = errno;
    else if (!f && fd >= 0)
        close(fd);
    if (ok && rename(temporary, path) != 0)
        ok = false, error = errno;
    if (!ok && fd >= 0)
        unlink(temporary);
    free(temporary);
    return ok ? PXB_OK : rt_fail_at(ctx, PXB_IO, path, 0, 0, "cannot be written: %s", strerror(error));
}

/* ------------------------------------------------------------ pool */

struct rt_pool_block {
    struct rt_pool_block *next;
    max_align_t data[];
};

void *rt_pool_alloc(rt_pool *pool, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - sizeof(struct rt_pool_block)) / size)
        return NULL;
    struct rt_pool_block *block = calloc(1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = pool->first;
    pool->first = block;
    return block->data;
}

char *rt_pool_strdup(rt_pool *pool, const char *text)
{
    size_t n = strlen(text) + 1;
    char *to = rt_pool_alloc(pool, n, 1);
    return to ? memcpy(to, text, n) : NULL;
}

char *rt_pool_printf(rt_pool *pool, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n < 0 ? NULL : rt_pool_alloc(pool, (size_t)n + 1, 1);
    if (!to)
        return NULL;
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    return to;
}

void rt_pool_free(rt_pool *pool)
{
    while (pool->first) {
        struct rt_pool_block *next = pool->first->next;
        free(pool->first);
        pool->first = next;
    }
}

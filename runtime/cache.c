/* cache.c - a folder of files, one per entry.
 *
 * An entry is written beside its place and renamed, so that a reader sees all of it or nothing, and of two writers of one
 * key the last wins with the same bytes. It holds its own key, label, length and a CRC-32 of everything behind
 * the checksum: a damaged, cut or misplaced file is found when it is read, removed, and made again by the
 * caller. The time of last modification is the time of last use; when the whole exceeds the limit,
 * the oldest go until a tenth is free, so that not every further entry has to clean up.
 *
 * Environment: PTXBRIDGE_CACHE=0 turns it off, PTXBRIDGE_CACHE_MB is the limit (default 512).
 */
#include "runtime/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { NAME_LENGTH = 2 * RT_KEY_BYTES, MAX_LABEL = 512, DEFAULT_LIMIT_MB = 512, MOST_LIMIT_MB = 1 << 20, STALE_SECONDS = 3600 };
#define MAX_ENTRY ((uint64_t)1 << 30)

/* Little-endian on disk, like the hosts that we build for. */
typedef struct entry_header {
    char magic[8];
    uint32_t crc; /* of all bytes that follow this member, to the end of the file */
    uint32_t label_bytes;
    uint64_t data_bytes;
    uint8_t key[RT_KEY_BYTES];
} entry_header;
_Static_assert(sizeof(entry_header) == 56, "the header has no padding");

static const char magic[8] = {'p', 'x', 'b', 'c', 'a', 'c', 'h', '1'};

/* ------------------------------------------------------------ the folder */

const char *pxb_cache_path(pxb_context *context)
{
    if (context->cache_path_known)
        return context->cache_path;
    context->cache_path_known = true;
    const char *off = getenv("PTXBRIDGE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (off && strcmp(off, "0") == 0)
        return NULL;
    /* XDG Base Directory Specification: a relative path is to be ignored. */
    const char *base = xdg && xdg[0] == '/' ? xdg : home && home[0] == '/' ? home : NULL;
    if (!base)
        return NULL;
    size_t n = strlen(base) + 32;
    context->cache_path = malloc(n);
    if (context->cache_path)
        snprintf(context->cache_path, n, "%s%s/ptxbridge", base, base == xdg ? "" : "/.cache");
    return context->cache_path;
}

static bool make_folders(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return false;
    for (char *p = copy + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            mkdir(copy, 0700);
            *p = '/';
        }
    }
    bool ok = mkdir(copy, 0700) == 0 || errno == EEXIST;
    free(copy);
    return ok;
}

bool rt_cache_limit(const char *text, uint64_t *bytes)
{
    char *end = NULL;
    unsigned long long mb = text ? strtoull(text, &end, 10) : DEFAULT_LIMIT_MB;
    bool good = !text || !*text || (*text >= '0' && *text <= '9' && !*end && mb <= MOST_LIMIT_MB);
    if (!good || (text && !*text))
        mb = DEFAULT_LIMIT_MB;
    *bytes = (uint64_t)mb << 20;
    return good;
}

static uint64_t size_limit(void)
{
    uint64_t bytes;
    rt_cache_limit(getenv("PTXBRIDGE_CACHE_MB"), &bytes);
    return bytes;
}

static char *join(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (path)
        snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static void name_of_key(const uint8_t key[RT_KEY_BYTES], char name[NAME_LENGTH + 1])
{
    for (int i = 0; i < RT_KEY_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", key[i]);
}

static bool is_entry_name(const char *name)
{
    return strlen(name) == NAME_LENGTH && strspn(name, "0123456789abcdef") == NAME_LENGTH;
}

/* ------------------------------------------------------------ one entry */

static uint32_t crc_of(const entry_header *h, const void *label, const void *data)
{
    const size_t skip = offsetof(entry_header, label_bytes);
    uLong crc = crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)h + skip, sizeof *h - skip);
    crc = crc32_z(crc, label, h->label_bytes);
    return (uint32_t)crc32_z(crc, data, (size_t)h->data_bytes);
}

/* Reads and checks a whole entry; the result is freed by the caller. NULL: damaged (or gone, *missing). */
static char *load_entry(const char *path, const char *name, entry_header *h, bool *missing)
{
    struct stat st;
    char *body = NULL;
    FILE *f = fopen(path, "rb");
    *missing = f == NULL && errno == ENOENT;
    if (!f)
        return NULL;
    char expected[NAME_LENGTH + 1];
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && fread(h, sizeof *h, 1, f) == 1 &&
        memcmp(h->magic, magic, sizeof magic) == 0 && h->label_bytes <= MAX_LABEL && h->data_bytes <= MAX_ENTRY &&
        (uint64_t)st.st_size == sizeof *h + h->label_bytes + h->data_bytes) {
        size_t n = h->label_bytes + (size_t)h->data_bytes;
        body = malloc(n + 1);
        name_of_key(h->key, expected);
        if (body && (fread(body, 1, n, f) != n || strcmp(expected, name) != 0 ||
                     crc_of(h, body, body + h->label_bytes) != h->crc)) {
            free(body);
            body = NULL;
        }
    }
    fclose(f);
    return body;
}

bool rt_cache_get(pxb_context *ctx, const uint8_t key[RT_KEY_BYTES], void **data, size_t *bytes)
{
    const char *folder = pxb_cache_path(ctx);
    char name[NAME_LENGTH + 1];
    entry_header h;
    bool missing;
    *data = NULL;
    *bytes = 0;
    if (!folder)
        return false;
    double started = rt_now_ms();
    name_of_key(key, name);
    char *path = join(folder, name), *body = path ? load_entry(path, name, &h, &missing) : NULL;
    if (body) {
        memmove(body, body + h.label_bytes, (size_t)h.data_bytes);
        *data = body;
        *bytes = (size_t)h.data_bytes;
        utimensat(AT_FDCWD, path, NULL, 0);
    } else if (path && !missing) {
        unlink(path);
    }
    rt_debug_phase(ctx, RT_DEBUG_CACHE, body ? "hit" : "miss", started);
    free(path);
    return body != NULL;
}

/* ------------------------------------------------------------ all entries */

typedef struct listed {
    char name[NAME_LENGTH + 1];
    uint64_t bytes;
    struct timespec used;
} listed;

static int newest_first(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void add_listed(listed **list, size_t *count, const char *name, const struct stat *st)
{
    if ((*count & (*count - 1)) == 0) { /* at every power of two the room doubles */
        listed *more = realloc(*list, (*count ? 2 * *count : 1) * sizeof *more);
        if (!more)
            return;
        *list = more;
    }
    listed *l = &(*list)[(*count)++];
    memcpy(l->name, name, NAME_LENGTH + 1);
    l->bytes = (uint64_t)st->st_size;
    l->used = st->st_mtim;
}

/* All entries, newest first; temporary files that a writer has left behind are removed on the way. */
static listed *list_entries(const char *folder, size_t *count)
{
    listed *list = NULL;
    *count = 0;
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir)
        return NULL;
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (is_entry_name(d->d_name))
            add_listed(&list, count, d->d_name, &st);
        else if (strncmp(d->d_name, "tmp.", 4) == 0 && time(NULL) - st.st_mtime > STALE_SECONDS)
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    closedir(dir);
    if (list)
        qsort(list, *count, sizeof *list, newest_first);
    return list;
}

static void trim(const char *folder)
{
    size_t count;
    listed *list = list_entries(folder, &count);
    uint64_t limit = size_limit(), total = 0;
    for (size_t i = 0; i < count; i++)
        total += list[i].bytes;
    bool over = total > limit;
    for (size_t i = count; over && i-- > 0 && total > limit - limit / 10;) {
        char *path = join(folder, list[i].name);
        if (path && unlink(path) == 0)
            total -= list[i].bytes;
        free(path);
    }
    free(list);
}

static bool write_entry(int fd, const entry_header *h, const char *label, const void *data)
{
    FILE *f = fdopen(fd, "wb");
    if (!f) {
        close(fd);
        return false;
    }
    bool ok = fwrite(h, sizeof *h, 1, f) == 1 && fwrite(label, 1, h->label_bytes, f) == h->label_bytes &&
              fwrite(data, 1, (size_t)h->data_bytes, f) == h->data_bytes;
    return fclose(f) == 0 && ok;
}

void rt_cache_put(pxb_context *ctx, const uint8_t key[RT_KEY_BYTES], const char *label, const void *data, size_t bytes)
{
    const char *folder = pxb_cache_path(ctx);
    char name[NAME_LENGTH + 1];
    if (!folder || bytes > MAX_ENTRY || bytes > size_limit() || !make_folders(folder))
        return;
    double started = rt_now_ms();
    entry_header h = {.label_bytes = (uint32_t)strnlen(label, MAX_LABEL), .data_bytes = bytes};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.key, key, RT_KEY_BYTES);
    h.crc = crc_of(&h, label, data);
    name_of_key(key, name);
    char *path = join(folder, name), *temporary = join(folder, "tmp.XXXXXX");
    int fd = path && temporary ? mkstemp(temporary) : -1;
    if (fd >= 0 && (!write_entry(fd, &h, label, data) || rename(temporary, path) != 0))
        unlink(temporary);
    free(path);
    free(temporary);
    trim(folder);
    rt_debug_phase(ctx, RT_DEBUG_CACHE, "put", started);
}

/* ------------------------------------------------------------ public */

/* Hands one entry to the visitor. The label is read without checking the data unless `verify`. */
static bool visit_entry(const char *folder, const listed *l, bool verify, pxb_cache_fn visit, void *user, bool *damaged)
{
    char label[MAX_LABEL + 1] = "";
    char *path = join(folder, l->name);
    entry_header h = {0};
    bool missing = false;
    *damaged = false;
    if (verify) {
        char *body = path ? load_entry(path, l->name, &h, &missing) : NULL;
        *damaged = !body && !missing;
        if (body)
            memcpy(label, body, h.label_bytes);
        free(body);
    } else {
        FILE *f = path ? fopen(path, "rb") : NULL;
        if (f && fread(&h, sizeof h, 1, f) == 1 && h.label_bytes <= MAX_LABEL &&
            fread(label, 1, h.label_bytes, f) != h.label_bytes)
            label[0] = '\0';
        if (f)
            fclose(f);
    }
    if (*damaged && path)
        unlink(path);
    free(path);
    pxb_cache_entry entry = {l->name, label, l->bytes, l->used.tv_sec, *damaged};
    return !visit || missing || visit(user, &entry);
}

static uint64_t walk(pxb_context *ctx, bool verify, pxb_cache_fn visit, void *user, uint64_t *entries, uint64_t *bytes)
{
    const char *folder = pxb_cache_path(ctx);
    size_t count;
    uint64_t ndamaged = 0, total = 0;
    listed *list = list_entries(folder, &count);
    bool go_on = visit != NULL || verify;
    for (size_t i = 0; i < count; i++) {
        bool damaged = false;
        total += list[i].bytes;
        if (go_on)
            go_on = visit_entry(folder, &list[i], verify, visit, user, &damaged);
        ndamaged += damaged;
    }
    free(list);
    if (entries)
        *entries = count;
    if (bytes)
        *bytes = total;
    return ndamaged;
}

pxb_status pxb_cache_list(pxb_context *context, pxb_cache_fn visit, void *user, uint64_t *entries, uint64_t *bytes)
{
    walk(context, false, visit, user, entries, bytes);
    return PXB_OK;
}

pxb_status pxb_cache_verify(pxb_context *context, pxb_cache_fn visit, void *user, uint64_t *damaged)
{
    uint64_t n = walk(context, true, visit, user, NULL, NULL);
    if (damaged)
        *damaged = n;
    return n ? rt_fail(context, PXB_NO, "%llu damaged entries were removed", (unsigned long long)n) : PXB_OK;
}

pxb_status pxb_cache_clear(pxb_context *context, uint64_t *removed)
{
    const char *folder = pxb_cache_path(context);
    size_t count;
    uint64_t n = 0;
    pxb_status status = PXB_OK;
    listed *list = list_entries(folder, &count);
    if (removed)
        *removed = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = join(folder, list[i].name);
        if (path && (unlink(path) == 0 || errno == ENOENT))
            n++;
        else
            status = rt_fail_at(context, PXB_IO, path, 0, 0, "cannot be removed");
        free(path);
    }
    free(list);
    if (removed)
        *removed = n;
    return status;
}

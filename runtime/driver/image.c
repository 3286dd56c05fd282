/* image.c - images that programs hand over: PTX text, and fat binaries, from which the best PTX member is taken.
 *
 * A fat binary is hostile input: every length is compared with what is there before it is used, decompression writes into a buffer
 * of the claimed size and no further, and claims above 1 GiB are refused. Where only the image's own header says how long it is,
 * the system is asked whether there is so much.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/image.h"

enum {
    WRAPPER_MAGIC = 0x466243b1, FATBIN_HEADER = 16, MEMBER_LEAST = 64,
    KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000
};
static const uint32_t fatbin_magic = 0xba55ed50;
static const uint64_t most_text = (uint64_t)1 << 30;

/* ------------------------------------------------------------ decompression */

/* LZ4's block format: tokens of literal and match lengths. Returns the bytes written, or 0 when the block is damaged. */
size_t dr_lz4_block(const unsigned char *from, size_t bytes, unsigned char *to, size_t room)
{
    const unsigned char *in = from, *end = from + bytes;
    size_t out = 0;
    while (in < end) {
        unsigned token = *in++;
        size_t literals = token >> 4, match = (token & 15) + 4u;
        if (literals == 15) {
            unsigned more = 255;
            while (more == 255 && in < end)
                literals += more = *in++;
            if (more == 255)
                return 0;
        }
        if (literals > (size_t)(end - in) || literals > room - out)
            return 0;
        memcpy(to + out, in, literals);
        in += literals;
        out += literals;
        if (in == end)
            return out;            /* the last sequence has no match */
        if (end - in < 2)
            return 0;
        size_t distance = in[0] | (size_t)in[1] << 8;
        in += 2;
        if (match == 19) {
            unsigned more = 255;
            while (more == 255 && in < end)
                match += more = *in++;
            if (more == 255)
                return 0;
        }
        if (distance == 0 || distance > out || match > room - out)
            return 0;
        for (size_t i = 0; i < match; i++, out++)
            to[out] = to[out - distance];
    }
    return 0;
}

typedef size_t (*zstd_decompress_fn)(void *to, size_t room, const void *from, size_t bytes);
typedef unsigned (*zstd_is_error_fn)(size_t code);

static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static zstd_decompress_fn zstd_decompress;
static zstd_is_error_fn zstd_is_error;

/* Opened where it is needed: only programs with compressed images need it, and its two functions have not changed since 1.0. */
static void open_zstd(void)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    zstd_is_error = (zstd_is_error_fn)(uintptr_t)dlsym(library, "ZSTD_isError");
    zstd_decompress = (zstd_decompress_fn)(uintptr_t)dlsym(library, "ZSTD_decompress");
}

static cu_result zstd_frame(const unsigned char *from, size_t bytes, unsigned char *to, size_t room, size_t *written)
{
    pthread_once(&zstd_once, open_zstd);
    if (!zstd_decompress || !zstd_is_error)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "the PTX of this image is compressed with Zstandard, and there is no libzstd.so.1; nvcc "
                                                "--compress-mode=none or speed does without");
    *written = zstd_decompress(to, room, from, bytes);
    return zstd_is_error(*written) ? DR_ERROR(INVALID_IMAGE) : CUABI_SUCCESS;
}

/* ------------------------------------------------------------ members */

typedef struct member {
    uint32_t kind, architecture;
    uint64_t flags, plain;         /* bytes when uncompressed */
    const unsigned char *payload;
    size_t bytes;                  /* of the payload, without padding when it is known */
} member;

enum { PAGE = 4096 };

/* Can so many bytes be read from there? An image comes without its size, and only its own header says how long it is, or a wrapper
 * where it is: where that leads out of the process's memory is an error, and not the process's end. One byte of each page is tried. */
bool dr_readable(const void *from, size_t bytes)
{
    enum { AT_ONCE = 256 };
    struct iovec pages[AT_ONCE];
    char read[AT_ONCE];
    uintptr_t at = (uintptr_t)from, end = at + (bytes ? bytes - 1 : 0);
    while (at <= end && end >= (uintptr_t)from) {
        size_t n = 0;
        for (; n < AT_ONCE && at <= end; at = (at | (PAGE - 1)) + 1)
            pages[n++] = (struct iovec){(void *)at, 1};
        ssize_t got = process_vm_readv(getpid(), &(struct iovec){read, n}, 1, pages, n, 0);
        if (got < 0 && errno != EFAULT)
            return true;           /* the system does not tell */
        if (got != (ssize_t)n)
            return false;
    }
    return end >= (uintptr_t)from;
}

/* As strlen(), of a text whose end may be missing. */
static size_t length_of(const char *text)
{
    for (size_t n = 0, room = 64 * PAGE;;) {
        if (!dr_readable(text + n, room)) {
            if (room <= PAGE)
                return n;
            room = PAGE - ((uintptr_t)(text + n) & (PAGE - 1));
            continue;
        }
        const char *end = memchr(text + n, '\0', room);
        if (end)
            return (size_t)(end - text);
        n += room;
        room = room < PAGE ? PAGE : room;
    }
}

static uint64_t read_le(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i--;)
        v = v << 8 | p[i];
    return v;
}

/* The member at `at`, and where the next one begins. False when its lengths do not fit. */
static bool read_member(const unsigned char *at, size_t left, member *out, size_t *step)
{
    if (left < MEMBER_LEAST)
        return false;
    uint64_t header = read_le(at + 4, 4), payload = read_le(at + 8, 8), compressed = read_le(at + 16, 4);
    if (header < MEMBER_LEAST || header > left || payload > left - header)
        return false;
    *out = (member){.kind = (uint32_t)read_le(at, 2), .architecture = (uint32_t)read_le(at + 28, 4), .flags = read_le(at + 40, 8),
                    .plain = read_le(at + 56, 8), .payload = at + header, .bytes = (size_t)payload};
    if (compressed) {
        if (compressed > payload)
            return false;
        out->bytes = (size_t)compressed;
    }
    *step = (size_t)(header + payload);
    return *step > 0;
}

static cu_result unpack(const member *m, char **text, size_t *length)
{
    bool lz4 = m->flags & FLAG_LZ4, zstd = m->flags & FLAG_ZSTD;
    uint64_t room = lz4 || zstd ? m->plain : m->bytes;
    if (room == 0 || room > most_text)
        return dr_fail(DR_ERROR(INVALID_IMAGE), "a member of a fat binary claims %llu bytes of PTX", (unsigned long long)room);
    char *out = malloc((size_t)room + 1);
    size_t written = (size_t)room;
    cu_result result = CUABI_SUCCESS;
    if (!out)
        return DR_ERROR(OUT_OF_MEMORY);
    if (lz4) {
        written = dr_lz4_block(m->payload, m->bytes, (unsigned char *)out, (size_t)room);
        result = written ? CUABI_SUCCESS : DR_ERROR(INVALID_IMAGE);
    } else if (zstd)
        result = zstd_frame(m->payload, m->bytes, (unsigned char *)out, (size_t)room, &written);
    else
        memcpy(out, m->payload, (size_t)room);
    if (result) {
        free(out);
        return dr_fail(result, "a compressed member of a fat binary is damaged");
    }
    out[written] = '\0';
    *length = strlen(out);         /* the text ends with NULs */
    *text = out;
    return CUABI_SUCCESS;
}

/* Architecture-specific PTX (sm_90a) runs on its own architecture alone; here it runs if it must. */
static bool better(const member *m, const member *best, int capability)
{
    if (m->kind != KIND_PTX || (int)m->architecture > capability)
        return false;
    return !best->payload || m->architecture > best->architecture;
}

static void describe_members(const unsigned char *at, size_t left, char *text, size_t size)
{
    member m;
    size_t step, n = 0;
    text[0] = '\0';
    for (; left && read_member(at, left, &m, &step) && n + 32 < size; at += step, left -= step)
        n += (size_t)snprintf(text + n, size - n, "%s%s %u", n ? ", " : "", m.kind == KIND_PTX ? "PTX for" : m.kind == KIND_CUBIN ?
                              "machine code for" : m.kind == KIND_LTO ? "LTO code for" : "something for", m.architecture);
}

static cu_result text_of_fatbin(const unsigned char *image, size_t bytes, int capability, char **text, size_t *length)
{
    char have[512];
    if (bytes ? bytes < FATBIN_HEADER : !dr_readable(image, FATBIN_HEADER))
        return DR_ERROR(INVALID_IMAGE);
    uint64_t header = read_le(image + 6, 2), size = read_le(image + 8, 8);
    /* The header's length has been 16 always; another one would move all that follows beyond what the size vouches for. */
    if (header != FATBIN_HEADER || size > most_text || (bytes && (header > bytes || size > bytes - header)))
        return dr_fail(DR_ERROR(INVALID_IMAGE), "a fat binary whose header does not agree with its size");
    if (!bytes && !dr_readable(image, (size_t)(header + size)))
        return dr_fail(DR_ERROR(INVALID_IMAGE), "a fat binary whose header says that it is longer than it can be");
    member m, best = {0};
    size_t step, left = (size_t)size;
    const unsigned char *at = image + header;
    for (; left; at += step, left -= step) {
        if (!read_member(at, left, &m, &step))
            return dr_fail(DR_ERROR(INVALID_IMAGE), "a member of a fat binary does not fit into it");
        if (better(&m, &best, capability))
            best = m;
    }
    if (best.payload)
        return unpack(&best, text, length);
    describe_members(image + header, (size_t)size, have, sizeof have);
    return dr_fail(DR_ERROR(NO_BINARY_FOR_GPU), "the image has no PTX for capability %d or lower; it holds: %s. Compile with -gencode "
                   "arch=compute_75,code=compute_75, or set PTXBRIDGE_CAPABILITY", capability, have[0] ? have : "nothing");
}

/* ------------------------------------------------------------ images of any kind */

typedef struct wrapper { uint32_t magic, version; const void *data; const void *const *more; } wrapper;

static uint32_t magic_of(const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    return magic;
}

/* The first words of a text tell it from anything else. */
static bool looks_like_text(const char *text, size_t bytes)
{
    size_t n = bytes ? bytes : 64;
    for (size_t i = 0; i < n && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '.' || c == '/')
            return true;
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f')
            return false;
    }
    return false;
}

cu_result dr_image_text(const void *image, size_t bytes, int capability, char **text, size_t *length)
{
    *text = NULL;
    *length = 0;
    if (bytes ? bytes < 4 : !dr_readable(image, 4))
        return DR_ERROR(INVALID_IMAGE);
    if (looks_like_text(image, bytes)) {
        *length = bytes ? strnlen(image, bytes) : length_of(image);
        *text = malloc(*length + 1);
        if (!*text)
            return DR_ERROR(OUT_OF_MEMORY);
        memcpy(*text, image, *length);
        (*text)[*length] = '\0';
        return CUABI_SUCCESS;
    }
    uint32_t magic = magic_of(image);
    if (magic == fatbin_magic)
        return text_of_fatbin(image, bytes, capability, text, length);
    if (magic == WRAPPER_MAGIC && (bytes ? bytes >= sizeof(wrapper) : dr_readable(image, sizeof(wrapper)))) {
        const wrapper *w = image;
        if (w->version == 1 && w->data)
            return dr_image_text(w->data, 0, capability, text, length);
    }
    if (memcmp(image, "\177ELF", 4) == 0)
        return dr_fail(DR_ERROR(NO_BINARY_FOR_GPU), "the image is a cubin, machine code of an NVIDIA GPU; PTX is needed");
    return dr_fail(DR_ERROR(INVALID_IMAGE), "the image is neither PTX nor a fat binary");
}

/* -rdc=true: `data` is what nvlink made, machine code alone; the units that it came from stand in a list behind it, and are linked here. */
static cu_result text_of_units(const void *const *units, int capability, dr_jit *jit, char **text, size_t *length)
{
    size_t count = 0;
    while (dr_readable(&units[count], sizeof *units) && units[count])
        count++;
    char **texts = calloc(count + 1, sizeof *texts);
    size_t *lengths = calloc(count + 1, sizeof *lengths);
    cu_result result = texts && lengths ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
    /* NVIDIA's device runtime is among the units of every such program, as machine code: what has no PTX is left out, and a
     * kernel that calls it is the only one that cannot be run. */
    size_t found = 0;
    for (size_t i = 0; i < count && !result; i++) {
        result = dr_image_text(units[i], 0, capability, &texts[found], &lengths[found]);
        found += !result;
        if (result == DR_ERROR(NO_BINARY_FOR_GPU))
            result = CUABI_SUCCESS;
    }
    if (!result && !found)
        result = DR_ERROR(NO_BINARY_FOR_GPU);
    if (!result)
        result = dr_link_texts(texts, lengths, found, false, jit, text, length);
    for (size_t i = 0; texts && i < found; i++)
        free(texts[i]);
    free(texts);
    free(lengths);
    return result;
}

static cu_result text_of_image(const void *image, size_t bytes, int capability, dr_jit *jit, char **text, size_t *length)
{
    const wrapper *w = image;
    if (!bytes && !looks_like_text(image, 0) && magic_of(image) == WRAPPER_MAGIC && dr_readable(image, sizeof *w) && w->version == 2 &&
        w->more)
        return text_of_units(w->more, capability, jit, text, length);
    return dr_image_text(image, bytes, capability, text, length);
}

/* ------------------------------------------------------------ parsing */

/* One string with everything that the parser had to say. */
static char *all_diagnostics(const ptx_module *m)
{
    size_t room = 1;
    for (uint32_t i = 0; i < m->ndiagnostics; i++)
        room += ptx_format_diagnostic(m, &m->diagnostics[i], NULL, 0) + 1;
    char *text = malloc(room), *at = text;
    for (uint32_t i = 0; text && i < m->ndiagnostics; i++) {
        at += ptx_format_diagnostic(m, &m->diagnostics[i], at, room - (size_t)(at - text));
        *at++ = '\n';
    }
    if (text)
        *at = '\0';
    return text;
}

/* A function that cannot be run keeps its symbol and fails when it is asked for; an image without any that can fails now. */
static cu_result judge(const ptx_module *m)
{
    if (m->nfunctions == 0)
        return m->nerrors ? DR_ERROR(INVALID_PTX) : CUABI_SUCCESS;
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->broken == PTX_REASON_NONE)
            return CUABI_SUCCESS;
    return DR_ERROR(INVALID_PTX);
}

cu_result dr_parse(const char *text, size_t length, const char *name, dr_jit *jit, ptx_module **out)
{
    ptx_module *m = ptx_parse(text, length, name);
    *out = NULL;
    if (!m)
        return DR_ERROR(OUT_OF_MEMORY);
    cu_result result = judge(m);
    char *said = m->ndiagnostics ? all_diagnostics(m) : NULL;
    dr_jit_write(jit, m->nerrors > 0, said ? said : "");
    if (said && (result || m->nerrors))
        dr_log("ptxbridge: %s", said);
    free(said);
    if (result)
        ptx_module_free(m);
    else
        *out = m;
    return result;
}

static cu_result whole_text(const void *image, size_t bytes, int capability, dr_jit *jit, char **text, size_t *length)
{
    *text = NULL;
    if (!image)
        return DR_ERROR(INVALID_VALUE);
    if (!bytes && !dr_readable(image, 4))
        return DR_ERROR(INVALID_IMAGE);
    cu_result result = text_of_image(image, bytes, capability, jit, text, length);
    return result ? result : dr_link_library(text, length);
}

cu_result dr_image_ptx(const void *image, size_t bytes, int capability, char **text, size_t *length)
{
    cu_result result = whole_text(image, bytes, capability, NULL, text, length);
    if (result) {
        free(*text);
        *text = NULL;
    }
    return result;
}

/* Whether or not there is a log: many programs do not look at what loading and launching say, and end as if nothing were wrong. */
static void tell_of_machine_code(void)
{
    static _Atomic bool told;
    if (!atomic_exchange(&told, true))
        fprintf(stderr, "ptxbridge: an image of this program has no PTX that the device takes, so that its kernels cannot run (error 209; "
                        "PTXBRIDGE_LOG=1 says what it holds).\nCompile it with PTX: nvcc -gencode arch=compute_75,code=compute_75 …\n");
}

cu_result dr_image_parse(const void *image, size_t bytes, int capability, dr_jit *jit, ptx_module **out)
{
    char *text;
    size_t length;
    *out = NULL;
    cu_result result = whole_text(image, bytes, capability, jit, &text, &length);
    if (result == DR_ERROR(NO_BINARY_FOR_GPU))
        tell_of_machine_code();
    if (!result)
        result = dr_parse(text, length, "image", jit, out);
    free(text);
    return result;
}

/* ------------------------------------------------------------ options of the JIT */

cu_result dr_jit_read(dr_jit *jit, uint32_t count, const int32_t *options, void **values)
{
    memset(jit, 0, sizeof *jit);
    if (count && (!options || !values))
        return DR_ERROR(INVALID_VALUE);
    for (uint32_t i = 0; i < count; i++) {
        switch (options[i]) {
        case CUABI_CU_JIT_ERROR_LOG_BUFFER: jit->error = values[i]; break;
        case CUABI_CU_JIT_INFO_LOG_BUFFER: jit->info = values[i]; break;
        case CUABI_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_size = (uint32_t)(uintptr_t)values[i];
            jit->error_length = &values[i];
            break;
        case CUABI_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_size = (uint32_t)(uintptr_t)values[i];
            jit->info_length = &values[i];
            break;
        case CUABI_CU_JIT_WALL_TIME: jit->wall_time = &values[i]; break;
        default: break;            /* hints to a compiler that is not there */
        }
    }
    dr_jit_write(jit, true, "");
    dr_jit_write(jit, false, "");
    return CUABI_SUCCESS;
}

void dr_jit_write(dr_jit *jit, bool error, const char *text)
{
    char *buffer = !jit ? NULL : error ? jit->error : jit->info;
    if (!buffer)
        return;
    size_t size = error ? jit->error_size : jit->info_size;
    void **length = error ? jit->error_length : jit->info_length;
    if (size)
        snprintf(buffer, size, "%s", text);
    if (length)
        *length = (void *)(uintptr_t)(size ? strlen(buffer) + (*text != '\0') : 0);
    if (jit->wall_time) {
        float none = 0;            /* read through the same union as the other options */
        memcpy(jit->wall_time, &none, sizeof none);
    }
}

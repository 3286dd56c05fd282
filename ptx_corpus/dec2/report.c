/*
 * dec2_report panels.png output.npy directory: what a run of dec2.json made, as pictures and numbers.
 *
 * panels.png is dec2.png: noisy, history, reference output, clean, side by side. output.npy is the
 * surface that `ptxbridge run dec2.json --npy output=output.npy` wrote, (height, width, 4) of f16.
 * Leaves noisy.png, output.png, reference.png and clean.png, and prints the PSNR against clean.
 */
#include "display.h"
#include "files.h"
#include "ref_numeric.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

struct image {
    int width, height;
    uint8_t *rgb;
};

static void die(const char *what, const char *path)
{
    fprintf(stderr, "dec2_report: %s %s\n", what, path);
    exit(2);
}

static struct image read_png(const char *path)
{
    png_image png;
    memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(&png, path)) die("cannot read", path);
    png.format = PNG_FORMAT_RGB;
    struct image out = {(int)png.width, (int)png.height, malloc(PNG_IMAGE_SIZE(png))};
    if (!out.rgb || !png_image_finish_read(&png, NULL, out.rgb, 0, NULL)) die("cannot read", path);
    return out;
}

/* The n-th of four panels. */
static struct image panel(const struct image *all, int n)
{
    struct image out = {all->width / 4, all->height, malloc((size_t)all->width * (size_t)all->height * 3 / 4)};
    if (!out.rgb) exit(2);
    for (int y = 0; y < all->height; y++)
        memcpy(out.rgb + 3 * (size_t)(y * out.width), all->rgb + 3 * (size_t)(y * all->width + n * out.width), 3 * (size_t)out.width);
    return out;
}

/* .npy, format 1.0 or 2.0, "<f2"; the shape must be the panel's. */
static struct image read_output(const char *path, const struct image *like)
{
    size_t pixels = (size_t)like->width * (size_t)like->height;
    struct image out = {like->width, like->height, malloc(3 * pixels)};
    FILE *f = fopen(path, "rb");
    char shape[64], header[512] = "";
    uint8_t start[10];
    f16 texel[4];

    if (!f || !out.rgb || fread(start, 1, 10, f) != 10 || memcmp(start, "\x93NUMPY\x01", 7)) die("not an .npy file:", path);
    size_t length = start[8] | (size_t)start[9] << 8;
    snprintf(shape, sizeof shape, "(%d, %d, 4)", like->height, like->width);
    if (length >= sizeof header || fread(header, 1, length, f) != length || !strstr(header, "<f2") || !strstr(header, shape))
        die("not an f16 picture of the right shape:", path);
    for (size_t i = 0; i < pixels; i++) {
        if (fread(texel, sizeof *texel, 4, f) != 4) die("too short:", path);
        for (int c = 0; c < 3; c++) out.rgb[3 * i + (size_t)c] = (uint8_t)lrint(255 * displayed(f16_to_double(texel[c])));
    }
    fclose(f);
    return out;
}

static double psnr(const struct image *a, const struct image *b)
{
    size_t n = 3 * (size_t)a->width * (size_t)a->height;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow((a->rgb[i] - b->rgb[i]) / 255.0, 2);
    return -10 * log10(sum / (double)n);
}

static void save(const char *directory, const char *name, const struct image *image)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.png", directory, name);
    if (png_write(path, image->width, image->height, image->rgb)) die("cannot write", path);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: dec2_report dec2.png output.npy directory\n");
        return 2;
    }
    struct image all = read_png(argv[1]), noisy = panel(&all, 0), reference = panel(&all, 2), clean = panel(&all, 3);
    struct image output = read_output(argv[2], &clean);
    save(argv[3], "noisy", &noisy);
    save(argv[3], "output", &output);
    save(argv[3], "reference", &reference);
    save(argv[3], "clean", &clean);
    printf("PSNR against the clean picture: noisy input %.2f dB, output %.2f dB, reference %.2f dB\n",
           psnr(&noisy, &clean), psnr(&output, &clean), psnr(&reference, &clean));
    return 0;
}

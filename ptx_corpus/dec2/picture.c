/* The dec2 scene. See picture.h. Distances are metres, y is up, the camera looks along +z. */
#include "picture.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct {
    double x, y, z;
} vec;

static const double pi = 3.14159265358979323846;

static vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vec mul(vec a, double s) { return (vec){a.x * s, a.y * s, a.z * s}; }
static vec tint(vec a, vec b) { return (vec){a.x * b.x, a.y * b.y, a.z * b.z}; }
static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec unit(vec a) { return mul(a, 1 / sqrt(dot(a, a))); }
static vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static vec mix(vec a, vec b, double t) { return add(mul(a, 1 - t), mul(b, t)); }

/* ---- random numbers ------------------------------------------------------------------ */

uint64_t picture_hash(uint64_t s)
{
    uint64_t z = s + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

struct random {
    uint64_t state;
};
static double next(struct random *r)
{
    r->state += 0x9E3779B97F4A7C15u;
    return (double)(picture_hash(r->state) >> 11) * 0x1p-53;
}

/* ---- geometry ------------------------------------------------------------------------ */

enum { SKY = 0, FLOOR = 1, MARBLE = 2, MIRROR = 3, RED = 4, MOVING = 5, SPOTS = 6, GOLD = 7, SPHERES = 6 };

static const struct sphere {
    vec centre;
    double radius;
    int id;
} spheres[SPHERES] = {
    {{-1.45, 1.0, 0.7}, 1.0, MARBLE}, {{1.05, 0.85, 0.5}, 0.85, MIRROR}, {{-0.1, 0.42, -0.9}, 0.42, RED},
    {{0.0, 0.3, -1.9}, 0.3, MOVING},  {{1.75, 0.38, -1.1}, 0.38, SPOTS}, {{0.1, 0.7, 2.6}, 0.7, GOLD},
};
static const vec light_centre = {-3.2, 5.2, -3.0};
static const double light_radius = 1.3, light_power = 11.0;

static vec sphere_centre(const struct sphere *s, double time)
{
    vec c = s->centre;
    if (s->id == MOVING) c.x += -0.95 + 0.62 * time;
    return c;
}

struct hit {
    double t;
    vec point, normal;
    int id;
};

static bool intersect(vec o, vec d, double time, double limit, struct hit *h)
{
    h->t = limit;
    h->id = SKY;
    if (d.y < 0 && -o.y / d.y > 1e-6 && -o.y / d.y < h->t) {
        h->t = -o.y / d.y;
        h->id = FLOOR;
        h->normal = (vec){0, 1, 0};
    }
    for (int i = 0; i < SPHERES; i++) {
        vec c = sphere_centre(&spheres[i], time), q = sub(o, c);
        double b = dot(q, d), disc = b * b - dot(q, q) + spheres[i].radius * spheres[i].radius;
        if (disc <= 0) continue;
        double t = -b - sqrt(disc);
        if (t > 1e-6 && t < h->t) {
            h->t = t;
            h->id = spheres[i].id;
            h->normal = mul(sub(add(o, mul(d, t)), c), 1 / spheres[i].radius);
        }
    }
    h->point = add(o, mul(d, h->t));
    return h->id != SKY;
}

static vec sky(vec d)
{
    double up = fmax(d.y, 0.0);
    vec s = mix((vec){0.95, 0.78, 0.62}, (vec){0.22, 0.42, 0.85}, pow(up, 0.45));
    double haze = pow(fmax(dot(d, unit((vec){0.55, 0.12, 0.8})), 0.0), 40.0);
    return add(s, mul((vec){0.8, 0.45, 0.2}, haze));
}

static vec albedo(const struct hit *h)
{
    vec p = h->point, n = h->normal;

    switch (h->id) {
    case FLOOR: {
        bool odd = ((long)floor(p.x * 1.4) + (long)floor(p.z * 1.4)) & 1;
        double far = exp(-0.02 * (p.x * p.x + p.z * p.z));
        return mix((vec){0.45, 0.42, 0.4}, odd ? (vec){0.82, 0.8, 0.76} : (vec){0.13, 0.15, 0.2}, far);
    }
    case MARBLE: {
        double band = sin(9 * n.y + 1.3 * sin(5 * n.x) + 1.1 * sin(4 * n.z));
        return band > 0 ? (vec){0.12, 0.3, 0.72} : (vec){0.86, 0.84, 0.78};
    }
    case RED: return (vec){0.8, 0.12, 0.08};
    case MOVING: return (vec){0.25, 0.72, 0.2};
    case SPOTS: {
        double a = atan2(n.z, n.x) * 4 / pi, b = asin(fmax(-1, fmin(1, n.y))) * 6 / pi;
        double fa = a - floor(a) - 0.5, fb = b - floor(b) - 0.5;
        return fa * fa + fb * fb < 0.09 ? (vec){0.55, 0.08, 0.5} : (vec){0.9, 0.78, 0.3};
    }
    case GOLD: return (vec){0.85, 0.55, 0.18};
    default: return (vec){0.9, 0.9, 0.9};
    }
}

/* ---- light --------------------------------------------------------------------------- */

static void frame(vec n, vec *a, vec *b)
{
    *a = unit(cross(fabs(n.y) < 0.9 ? (vec){0, 1, 0} : (vec){1, 0, 0}, n));
    *b = cross(n, *a);
}

/* One sample of the disk light; irradiance over pi. */
static double direct(vec point, vec normal, double time, struct random *r)
{
    vec a, b, axis = unit(mul(light_centre, -1));
    double radius = light_radius * sqrt(next(r)), angle = 2 * pi * next(r);
    struct hit h;

    frame(axis, &a, &b);
    vec at = add(light_centre, add(mul(a, radius * cos(angle)), mul(b, radius * sin(angle))));
    vec to = sub(at, point);
    double distance = sqrt(dot(to, to)), cosine, facing;
    to = mul(to, 1 / distance);
    cosine = dot(to, normal);
    facing = -dot(to, axis);
    if (cosine <= 0 || facing <= 0 || intersect(add(point, mul(normal, 1e-4)), to, time, distance, &h)) return 0;
    return light_power * cosine * facing * light_radius * light_radius / (distance * distance);
}

static vec diffuse_direction(vec normal, struct random *r)
{
    vec a, b;
    double u = next(r), angle = 2 * pi * next(r), s = sqrt(u);

    frame(normal, &a, &b);
    return unit(add(mul(normal, sqrt(1 - u)), add(mul(a, s * cos(angle)), mul(b, s * sin(angle)))));
}

static vec shade(const struct hit *h, double time, struct random *r)
{
    vec colour = albedo(h), origin = add(h->point, mul(h->normal, 1e-4)), d, light;
    double lit = direct(h->point, h->normal, time, r);
    struct hit far;

    d = diffuse_direction(h->normal, r);
    if (intersect(origin, d, time, 1e9, &far)) {
        double second = direct(far.point, far.normal, time, r);
        light = mul(albedo(&far), second + 0.12);
    } else light = mul(sky(d), 0.75);
    return tint(colour, add((vec){lit, lit * 0.95, lit * 0.86}, light));
}

/* ---- camera -------------------------------------------------------------------------- */

static const vec eye = {0.15, 1.75, -5.6};

static void axes(vec *right, vec *up, vec *ahead)
{
    *ahead = unit(sub((vec){0.05, 0.72, 0.2}, eye));
    *right = unit(cross((vec){0, 1, 0}, *ahead));
    *up = cross(*ahead, *right);
}

static vec pixel_ray(const struct view *v, int x, int y)
{
    vec right, up, ahead;
    double u = (v->x + x + 0.5) / v->full * 2 - 1, w = 1 - (v->y + y + 0.5) / v->full * 2;

    axes(&right, &up, &ahead);
    return unit(add(ahead, add(mul(right, u * 0.47), mul(up, w * 0.47))));
}

/* Follows mirrors. False: the sky. */
static bool first_surface(vec d, double time, struct hit *h, vec *through, vec *out, double *length)
{
    vec o = eye;

    *through = (vec){1, 1, 1};
    *length = 0;
    for (int bounce = 0; intersect(o, d, time, 1e9, h); bounce++) {
        *length += h->t;
        if (h->id != MIRROR || bounce == 3) {
            h->id += bounce ? 8 : 0;
            return true;
        }
        *through = tint(*through, (vec){0.82, 0.86, 0.9});
        d = sub(d, mul(h->normal, 2 * dot(d, h->normal)));
        o = add(h->point, mul(h->normal, 1e-4));
    }
    h->id = through->x < 1 ? 8 : SKY;
    h->normal = mul(d, -1);
    h->point = mul(d, 30);
    *out = tint(sky(d), *through);
    *length += 30;
    return false;
}

void picture_render(const struct view *view, uint64_t seed, int samples, double *rgb)
{
    for (int y = 0; y < view->height; y++) {
        for (int x = 0; x < view->width; x++) {
            uint64_t pixel = (uint64_t)(view->y + y) << 20 | (uint64_t)(view->x + x);
            struct random r = {picture_hash(seed ^ picture_hash(pixel))};
            vec through, out, sum = {0, 0, 0};
            struct hit h;
            double length, *to = rgb + 3 * ((size_t)y * (size_t)view->width + (size_t)x);
            bool surface = first_surface(pixel_ray(view, x, y), view->time, &h, &through, &out, &length);
            h.id &= 7;
            for (int i = 0; i < samples && surface; i++) sum = add(sum, tint(through, shade(&h, view->time, &r)));
            if (surface) out = mul(sum, 1.0 / samples);
            to[0] = out.x, to[1] = out.y, to[2] = out.z;
        }
    }
}

void picture_guides(const struct view *view, struct guide *guides)
{
    for (int y = 0; y < view->height; y++) {
        for (int x = 0; x < view->width; x++) {
            struct guide *g = guides + (size_t)y * (size_t)view->width + (size_t)x;
            struct hit h;
            vec through, out = {0, 0, 0}, a;
            bool surface = first_surface(pixel_ray(view, x, y), view->time, &h, &through, &out, &g->depth);
            g->depth = fmin(g->depth, 32); /* the floor goes on to the horizon */
            g->id = h.id;
            h.id &= 7;
            a = surface ? tint(through, albedo(&h)) : out;
            memcpy(g->albedo, &a, sizeof g->albedo);
            memcpy(g->normal, &h.normal, sizeof g->normal);
            memcpy(g->position, &h.point, sizeof g->position);
        }
    }
}

void picture_glow(const struct view *view, int x, int y, double rgb[3])
{
    double u = (view->x + x + 0.5) / view->full - 0.82, v = (view->y + y + 0.5) / view->full - 0.17;
    double r = sqrt(u * u + v * v), ring = exp(-pow((r - 0.075) / 0.008, 2)), core = exp(-pow(r / 0.03, 2));

    rgb[0] = 1.6 * ring + 1.5 * core;
    rgb[1] = 0.5 * ring + 1.3 * core;
    rgb[2] = 1.2 * ring + 0.8 * core;
}

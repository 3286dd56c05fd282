/* cmd_cache.c - `ptxbridge cache`: looks into the disk cache of translations. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "cli/cli.h"

static bool add_entry(void *user, const pxb_cache_entry *entry)
{
    table *t = user;
    char size[32], used[32] = "";
    time_t when = (time_t)entry->used;
    struct tm tm;
    snprintf(size, sizeof size, "%" PRIu64, entry->bytes);
    if (localtime_r(&when, &tm))
        strftime(used, sizeof used, "%Y-%m-%d %H:%M", &tm);
    const char *cells[] = {entry->key, used, size, entry->damaged ? "damaged, removed" : entry->label};
    char key[20];
    snprintf(key, sizeof key, "%.16s", entry->key);
    cells[0] = key;
    table_row(t, cells);
    return true;
}

static bool add_json(void *user, const pxb_cache_entry *entry)
{
    json_array_append_new(user, json_pack("{s:s, s:s, s:I, s:I, s:b}", "key", entry->key, "label", entry->label,
                                          "bytes", (json_int_t)entry->bytes, "used", (json_int_t)entry->used, "damaged",
                                          entry->damaged));
    return true;
}

static int list_cache(pxb_context *ctx, bool json)
{
    uint64_t entries = 0, bytes = 0;
    const char *path = pxb_cache_path(ctx);
    if (json) {
        json_t *list = json_array();
        pxb_cache_list(ctx, add_json, list, &entries, &bytes);
        return print_json(json_pack("{s:s?, s:I, s:o}", "path", path, "bytes", (json_int_t)bytes, "entries", list));
    }
    if (!path) {
        printf("the cache is off\n");
        return EXIT_DONE;
    }
    table t;
    table_start(&t, 4, "<<><");
    table_row(&t, (const char *[]){"key", "last use", "bytes", "what"});
    pxb_cache_list(ctx, add_entry, &t, &entries, &bytes);
    if (entries)
        table_print(&t, stdout, 0);
    else
        table_free(&t);
    printf("%" PRIu64 " entries, %.1f MB in %s\n", entries, (double)bytes / 1e6, path);
    return EXIT_DONE;
}

static bool print_damaged(void *user, const pxb_cache_entry *entry)
{
    (void)user;
    if (entry->damaged)
        printf("%s: damaged, removed\n", entry->key);
    return true;
}

static int verify_cache(pxb_context *ctx)
{
    uint64_t entries = 0, damaged = 0;
    pxb_cache_list(ctx, NULL, NULL, &entries, NULL);
    pxb_status status = pxb_cache_verify(ctx, print_damaged, NULL, &damaged);
    printf("%" PRIu64 " entries, %" PRIu64 " damaged\n", entries, damaged);
    return exit_of(status);
}

static int clear_cache(pxb_context *ctx)
{
    uint64_t removed = 0;
    pxb_status status = pxb_cache_clear(ctx, &removed);
    printf("%" PRIu64 " entries removed\n", removed);
    return status ? report_error(ctx) : EXIT_DONE;
}

static int print_path(pxb_context *ctx)
{
    const char *path = pxb_cache_path(ctx);
    if (path)
        printf("%s\n", path);
    else
        fprintf(stderr, "ptxbridge: the cache is off\n");
    return path ? EXIT_DONE : EXIT_NO;
}

static int run_cache(pxb_context *ctx, int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (c) {
        case 'j': json = true; break;
        case 'h': return print_usage(&command_cache);
        default: return option_error(&command_cache, c, argv);
        }
    }
    const char *action = optind < argc ? argv[optind++] : "list";
    if (optind < argc)
        return usage_error(&command_cache, "too many arguments: \"%s\"", argv[optind]);
    if (strcmp(action, "list") == 0)
        return list_cache(ctx, json);
    if (json)
        return usage_error(&command_cache, "--json goes with list");
    if (strcmp(action, "clear") == 0)
        return clear_cache(ctx);
    if (strcmp(action, "path") == 0)
        return print_path(ctx);
    if (strcmp(action, "verify") == 0)
        return verify_cache(ctx);
    return usage_error(&command_cache, "there is no action \"%s\"", action);
}

const command command_cache = {
    "cache",
    "lists, verifies or clears the disk cache of translations",
    "Usage: ptxbridge cache [list [--json] | clear | path | verify]\n\n"
    "  list     shows the entries, most recently used first (the default)\n"
    "  clear    removes them all\n"
    "  path     prints the folder; exit status 1 when the cache is off\n"
    "  verify   reads every entry and removes damaged ones; exit status 1 when there were any\n\n"
    "The folder is $XDG_CACHE_HOME/ptxbridge or ~/.cache/ptxbridge. PTXBRIDGE_CACHE=0 turns the cache off,\n"
    "PTXBRIDGE_CACHE_MB limits its size (512 MB when not set).\n",
    run_cache,
};

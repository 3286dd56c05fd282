/* cmd_devices.c - `ptxbridge devices`: what there is, and why something is not available. */
#include <string.h>
#include "cli/cli.h"

/* False: the device is there, but cannot be opened as things are (an environment variable, memory). */
static bool add_properties(pxb_context *ctx, const char *name, json_t *to)
{
    pxb_device *device;
    pxb_property p;
    if (pxb_device_open(ctx, name, &device) != PXB_OK)
        return false;
    for (uint32_t i = 0; pxb_device_property(device, i, &p) == PXB_OK; i++)
        json_object_set_new(to, p.name, json_string(p.value));
    pxb_device_close(device);
    return true;
}

/* "gfx1100 gfx1201" of "sim" as the names to open. */
static json_t *split_choices(const char *name, const char *choices)
{
    json_t *list = json_array();
    while (*choices) {
        int n = (int)strcspn(choices, " ");
        json_array_append_new(list, json_sprintf("%s:%.*s", name, n, choices));
        choices += n;
        choices += strspn(choices, " ");
    }
    return list;
}

static json_t *describe(pxb_context *ctx, uint32_t index)
{
    pxb_device_info info;
    if (pxb_device_kind(ctx, index, &info) != PXB_OK)
        return NULL;
    json_t *device = json_object(), *properties = json_object();
    json_object_set_new(device, "name", json_string(info.name));
    json_object_set_new(device, "description", json_string(info.description));
    json_object_set_new(device, "available", json_boolean(info.available));
    if (info.reason)
        json_object_set_new(device, "reason", json_string(info.reason));
    if (info.available && !info.needs_choice && !add_properties(ctx, info.name, properties)) {
        json_object_set_new(device, "available", json_false());
        json_object_set_new(device, "reason", json_text(pxb_last_error(ctx)->message));
    }
    json_object_set_new(device, "properties", properties);
    if (info.available && info.choices)
        json_object_set_new(device, "choices", split_choices(info.name, info.choices));
    return device;
}

static void print_device(const json_t *device)
{
    const char *key;
    json_t *value;
    const char *reason = json_string_value(json_object_get(device, "reason"));
    printf("%s: %s\n", json_string_value(json_object_get(device, "name")),
           json_string_value(json_object_get(device, "description")));
    if (reason)
        printf("  not available: %s\n", reason);
    json_object_foreach(json_object_get(device, "properties"), key, value)
        printf("  %-16s %s\n", key, json_string_value(value));
    size_t i;
    const json_t *choices = json_object_get(device, "choices");
    if (json_array_size(choices) == 0)
        return;
    printf("  names           ");
    json_array_foreach(choices, i, value) printf(" %s", json_string_value(value));
    putchar('\n');
}

static int run_devices(pxb_context *ctx, int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (c) {
        case 'j': json = true; break;
        case 'h': return print_usage(&command_devices);
        default: return option_error(&command_devices, c, argv);
        }
    }
    if (optind < argc)
        return usage_error(&command_devices, "no argument is expected, but \"%s\" is given", argv[optind]);
    json_t *list = json_array();
    for (uint32_t i = 0; i < pxb_device_kind_count(); i++)
        json_array_append_new(list, describe(ctx, i));
    size_t i;
    json_t *device;
    if (json)
        return print_json(json_pack("{s:o}", "devices", list));
    json_array_foreach(list, i, device) print_device(device);
    json_decref(list);
    return EXIT_DONE;
}

const command command_devices = {
    "devices",
    "lists the devices, and why one is not available",
    "Usage: ptxbridge devices [--json]\n\n"
    "Lists the kinds of device that this build knows, whether each is available here, and its properties.\n",
    run_devices,
};

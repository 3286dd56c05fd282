/* json_path.h - where in a JSON text a value stands.
 *
 * jansson keeps no positions. A path of steps is followed through the text again when an error has to name line and
 * column: the price is paid only by inputs that are wrong. The text must have been accepted by jansson.
 */
#ifndef RUNTIME_JSON_PATH_H
#define RUNTIME_JSON_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From a value to the document's root. key != NULL: member of an object; else element `index` of an array. */
typedef struct json_step {
    const struct json_step *parent;   /* NULL at the root, whose key and index mean nothing */
    const char *key;
    size_t index;
} json_step;

/* "$.params[2].f32", cut when it does not fit. */
const char *json_path_text(const json_step *step, char *buffer, size_t size);

/* Line and column (from 1) of the value, or of the key when `at_key`. False when the path does not exist. */
bool json_path_locate(const char *text, size_t length, const json_step *step, bool at_key, uint32_t *line, uint32_t *column);

#endif

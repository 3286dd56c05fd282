/* object.c - memory of objects behind handles. It is used again for the same kind only and never given back, so that whatever
 * handle a program still holds, its first word can be read and says whether the object lives. It is used again late, the longest dead
 * first: a program that destroys something twice should not destroy what it has made meanwhile. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"

pthread_mutex_t dr_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t dead_lock = PTHREAD_MUTEX_INITIALIZER;
enum { KEPT_DEAD = 64 };               /* of each kind, before memory is used again */
static struct { dr_object *first, *last; uint32_t count; } dead[DR_KINDS];
static dr_object *all;                 /* a program may keep handles where nobody finds them: they are kept here as well */

void *dr_object_new(dr_kind kind, size_t bytes)
{
    pthread_mutex_lock(&dead_lock);
    bool used = dead[kind].count > KEPT_DEAD;
    dr_object *object = used ? dead[kind].first : NULL;
    if (used) {
        dead[kind].first = object->next_dead;
        dead[kind].count--;
    } else if ((object = calloc(1, bytes)) != NULL) {
        object->next_all = all;
        all = object;
    }
    pthread_mutex_unlock(&dead_lock);
    if (!object)
        return NULL;
    if (used && kind != DR_STREAM)     /* a stream's tickets go on: see dr_stream_new */
        memset(object + 1, 0, bytes - sizeof *object);
    object->next_dead = NULL;
    atomic_store_explicit(&object->kind, kind, memory_order_release);
    return object;
}

void dr_object_free(void *p, dr_kind kind)
{
    dr_object *object = p;
    if (!object)
        return;
    atomic_store_explicit(&object->kind, DR_DEAD, memory_order_release);
    pthread_mutex_lock(&dead_lock);
    object->next_dead = NULL;
    *(dead[kind].count++ ? &dead[kind].last->next_dead : &dead[kind].first) = object;
    dead[kind].last = object;
    pthread_mutex_unlock(&dead_lock);
}

dr_kind dr_kind_of(const void *handle)
{
    /* Small numbers are special streams and mistakes; objects are aligned. */
    if ((uintptr_t)handle < 4096 || (uintptr_t)handle % sizeof(void *) != 0 || dr_forked)
        return DR_DEAD;
    return (dr_kind)atomic_load_explicit(&((dr_object *)(uintptr_t)handle)->kind, memory_order_acquire);
}

void *dr_object_of(const void *handle, dr_kind kind)
{
    return dr_kind_of(handle) == kind ? (void *)(uintptr_t)handle : NULL;
}

/* managed.c - advice about managed memory, and access between devices: things that move nothing here but are asked for. */
#include <string.h>
#include "runtime/driver/driver.h"

static cu_result check_managed(cu_address address, size_t count)
{
    dr_range range;
    if (!count || !dr_range_find(address, &range) || (range.kind != DR_MEMORY_MANAGED && !(range.kind == DR_MEMORY_VARIABLE && range.flags)) ||
        count > range.bytes - (address - range.base))
        return DR_ERROR(INVALID_VALUE);
    return CUABI_SUCCESS;
}

/* -1 is the host. */
static bool is_place(int device)
{
    return device == -1 || dr_device_at(device);
}

/* A location: 1 a device, 2 the host, 3 and 4 a part of the host. */
static int device_at(cu_location location)
{
    return location.type == CUABI_CU_MEM_LOCATION_TYPE_DEVICE ? location.id : location.type >= 2 && location.type <= 4 ? -1 : -2;
}

static cu_location place_of(int device)
{
    return device < 0 ? (cu_location){CUABI_CU_MEM_LOCATION_TYPE_HOST, 0} : (cu_location){CUABI_CU_MEM_LOCATION_TYPE_DEVICE, device};
}

cu_result impl_cuMemAdvise_v2(cu_address dev_ptr, size_t count, int32_t advice, cu_location location)
{
    DR_NEED(advice >= CUABI_CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CUABI_CU_MEM_ADVISE_UNSET_ACCESSED_BY);
    DR_USE(c);
    if (advice > CUABI_CU_MEM_ADVISE_UNSET_READ_MOSTLY && advice != CUABI_CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION && !is_place(device_at(location)))
        return DR_ERROR(INVALID_DEVICE);
    cu_result result = check_managed(dev_ptr, count);
    return result ? result : dr_advice_set(dev_ptr, count, advice, location);
}

cu_result impl_cuMemAdvise(cu_address dev_ptr, size_t count, int32_t advice, cu_device device)
{
    if (advice > CUABI_CU_MEM_ADVISE_UNSET_READ_MOSTLY && advice != CUABI_CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION && !is_place(device))
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_DEVICE);
    return impl_cuMemAdvise_v2(dev_ptr, count, advice, place_of(device));
}

static cu_result prefetch(cu_address address, size_t bytes, cu_location where, cu_stream stream)
{
    DR_USE(c);
    dr_stream *s;
    cu_result result = dr_stream_of(c, stream, &s);
    if (!result && !is_place(device_at(where)))
        result = DR_ERROR(INVALID_DEVICE);
    if (!result)
        result = check_managed(address, bytes);
    return result ? result : dr_advice_set(address, bytes, DR_PREFETCHED, where);
}

cu_result impl_cuMemPrefetchAsync(cu_address dev_ptr, size_t count, cu_device dst_device, cu_stream stream)
{
    const cu_location nowhere = {0, 0};
    return prefetch(dev_ptr, count, is_place(dst_device) ? place_of(dst_device) : nowhere, stream);
}

cu_result impl_cuMemPrefetchAsync_v2(cu_address dev_ptr, size_t count, cu_location location, uint32_t flags, cu_stream stream)
{
    DR_NEED(flags == 0);
    return prefetch(dev_ptr, count, location, stream);
}

cu_result impl_cuMemRangeGetAttribute(void *data, size_t data_size, int32_t attribute, cu_address dev_ptr, size_t count)
{
    DR_USE(c);
    cu_result result = check_managed(dev_ptr, count);
    return result ? result : dr_advice_get(data, data_size, attribute, dev_ptr, count);
}

cu_result impl_cuMemRangeGetAttributes(void **data, size_t *data_sizes, int32_t *attributes, size_t num_attributes, cu_address dev_ptr,
                                       size_t count)
{
    cu_result result = CUABI_SUCCESS;
    DR_NEED(data && data_sizes && attributes && num_attributes);
    for (size_t i = 0; i < num_attributes && !result; i++)
        result = impl_cuMemRangeGetAttribute(data[i], data_sizes[i], attributes[i], dev_ptr, count);
    return result;
}

/* What a stream's order asks for is true at any time: nothing moves. */
static cu_result check_batch(const cu_address *addresses, const size_t *sizes, size_t count, uint64_t flags, cu_stream stream)
{
    DR_NEED(addresses && sizes && count && flags == 0);
    DR_USE(c);
    dr_stream *s;
    cu_result result = dr_stream_of(c, stream, &s);
    for (size_t i = 0; i < count && !result; i++)
        result = check_managed(addresses[i], sizes[i]);
    return result;
}

/* Each location is for the ranges from its index on. */
cu_result impl_cuMemPrefetchBatchAsync(cu_address *dptrs, size_t *sizes, size_t count, cu_location *prefetch_locs, size_t *prefetch_loc_idxs,
                                       size_t num_prefetch_locs, uint64_t flags, cu_stream stream)
{
    DR_NEED(prefetch_locs && prefetch_loc_idxs && num_prefetch_locs && num_prefetch_locs <= count && prefetch_loc_idxs[0] == 0);
    cu_result result = check_batch(dptrs, sizes, count, flags, stream);
    for (size_t i = 0; i < num_prefetch_locs && !result; i++) {
        DR_NEED(prefetch_loc_idxs[i] < count && (!i || prefetch_loc_idxs[i] > prefetch_loc_idxs[i - 1]));
        result = is_place(device_at(prefetch_locs[i])) ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
    }
    for (size_t i = 0, k = 0; i < count && !result; i++) {
        k += k + 1 < num_prefetch_locs && prefetch_loc_idxs[k + 1] == i;
        result = dr_advice_set(dptrs[i], sizes[i], DR_PREFETCHED, prefetch_locs[k]);
    }
    return result;
}

/* What is discarded has any contents, so those that it has will do. */
cu_result impl_cuMemDiscardBatchAsync(cu_address *dptrs, size_t *sizes, size_t count, uint64_t flags, cu_stream stream)
{
    return check_batch(dptrs, sizes, count, flags, stream);
}

cu_result impl_cuMemDiscardAndPrefetchBatchAsync(cu_address *dptrs, size_t *sizes, size_t count, cu_location *prefetch_locs,
                                                 size_t *prefetch_loc_idxs, size_t num_prefetch_locs, uint64_t flags, cu_stream stream)
{
    return impl_cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetch_locs, prefetch_loc_idxs, num_prefetch_locs, flags, stream);
}

cu_result impl_cuStreamAttachMemAsync(cu_stream stream, cu_address address, size_t length, uint32_t flags)
{
    DR_NEED(flags == CUABI_CU_MEM_ATTACH_GLOBAL || flags == CUABI_CU_MEM_ATTACH_HOST || flags == CUABI_CU_MEM_ATTACH_SINGLE);
    DR_USE(c);
    dr_stream *s;
    dr_range range;
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    if (!dr_range_find(address, &range) || (length && length != range.bytes))
        return DR_ERROR(INVALID_VALUE);
    return check_managed(address, range.bytes - (address - range.base));
}

/* ------------------------------------------------------------ peers: every device has memory of its own */

cu_result impl_cuDeviceCanAccessPeer(int *can_access_peer, cu_device device, cu_device peer_device)
{
    DR_NEED(can_access_peer);
    if (dr_ready())
        return dr_ready();
    if (!dr_device_at(device) || !dr_device_at(peer_device))
        return DR_ERROR(INVALID_DEVICE);
    *can_access_peer = 0;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetP2PAttribute(int *value, int32_t attribute, cu_device src_device, cu_device dst_device)
{
    DR_NEED(value && attribute >= CUABI_CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK && attribute <= 5);
    if (dr_ready())
        return dr_ready();
    if (!dr_device_at(src_device) || !dr_device_at(dst_device) || src_device == dst_device)
        return DR_ERROR(INVALID_DEVICE);
    *value = 0;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxEnablePeerAccess(cu_context peer_context, uint32_t flags)
{
    DR_NEED(flags == 0);
    DR_USE(c);
    dr_context *peer = dr_object_of(peer_context, DR_CONTEXT);
    return !peer || peer == c ? DR_ERROR(INVALID_CONTEXT) : DR_ERROR(PEER_ACCESS_UNSUPPORTED);
}

cu_result impl_cuCtxDisablePeerAccess(cu_context peer_context)
{
    DR_USE(c);
    return dr_object_of(peer_context, DR_CONTEXT) ? DR_ERROR(PEER_ACCESS_NOT_ENABLED) : DR_ERROR(INVALID_CONTEXT);
}

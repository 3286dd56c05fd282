// textures.cu - arrays, texture objects of several kinds, a surface, linear and pitched memory as textures.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"     // cudaMemcpyArrayToArray
#include <cmath>
#include <vector>
#include "check.h"

__global__ void sample_2d(cudaTextureObject_t texture, float *out, int width, int height, float dx, float dy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(texture, x + dx, y + dy);
}

__global__ void sample_normalized(cudaTextureObject_t texture, float4 *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float4>(texture, (x + 0.5f) / width + 1.0f, (y + 0.5f) / height);
}

__global__ void fetch_linear(cudaTextureObject_t texture, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(texture, n - 1 - i);
}

__global__ void sample_3d(cudaTextureObject_t texture, float *out)
{
    out[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
        tex3D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}

__global__ void sample_layered(cudaTextureObject_t texture, float *out, int width)
{
    out[blockIdx.x * width + threadIdx.x] = tex2DLayered<float>(texture, threadIdx.x + 0.5f, 0.5f, blockIdx.x);
}

__global__ void write_surface(cudaSurfaceObject_t surface, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float old;
        surf2Dread(&old, surface, x * (int)sizeof(float), y);
        surf2Dwrite(old * 2 + x, surface, x * (int)sizeof(float), y);
    }
}

static cudaTextureObject_t make_texture(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normalized,
                                        cudaTextureAddressMode address)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = address;
    desc.filterMode = filter;
    desc.readMode = read;
    desc.normalizedCoords = normalized;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    cudaResourceDesc back;
    cudaTextureDesc desc_back;
    CHECK(cudaGetTextureObjectResourceDesc(&back, texture));
    CHECK(cudaGetTextureObjectTextureDesc(&desc_back, texture));
    EXPECT(back.resType == cudaResourceTypeArray && back.res.array.array == array);
    EXPECT(desc_back.filterMode == filter && desc_back.addressMode[1] == address && desc_back.normalizedCoords == (int)normalized);
    return texture;
}

int main()
{
    const int width = 37, height = 21;
    std::vector<float> image(width * height), out(width * height);
    for (int i = 0; i < width * height; i++)
        image[i] = (float)(i % 97);
    float *device;
    CHECK(cudaMalloc(&device, width * height * sizeof(float4)));

    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &channel, width, height, cudaArraySurfaceLoadStore));
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&got, &extent, &flags, array));
    EXPECT(got.x == 32 && got.y == 0 && got.f == cudaChannelFormatKindFloat);
    EXPECT(extent.width == width && extent.height == height && extent.depth == 0 && flags == cudaArraySurfaceLoadStore);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));

    dim3 block(8, 8), grid((width + 7) / 8, (height + 7) / 8);
    cudaTextureObject_t point =
        make_texture(array, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp);
    sample_2d<<<grid, block>>>(point, device, width, height, 1.5f, 0.5f);
    CHECK(cudaMemcpy(out.data(), device, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(out[y * width + x] == image[y * width + (x + 1 < width ? x + 1 : width - 1)]);

    cudaTextureObject_t linear =
        make_texture(array, cudaFilterModeLinear, cudaReadModeElementType, false, cudaAddressModeClamp);
    sample_2d<<<grid, block>>>(linear, device, width, height, 1.0f, 0.5f);
    CHECK(cudaMemcpy(out.data(), device, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x + 1 < width; x++)
            EXPECT(out[y * width + x] == (image[y * width + x] + image[y * width + x + 1]) / 2);

    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    write_surface<<<grid, block>>>(surface, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2DFromArray(out.data(), width * sizeof(float), array, 0, 0, width * sizeof(float), height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(out[y * width + x] == image[y * width + x] * 2 + x);
    // A run of elements between arrays whose rows are of different lengths.
    const int narrow = 7, run = 3 * width + 2;
    cudaArray_t other;
    std::vector<float> strip(narrow * height * 8, -1.0f);
    CHECK(cudaMallocArray(&other, &channel, narrow, height * 8));
    CHECK(cudaMemcpy2DToArray(other, 0, 0, strip.data(), narrow * sizeof(float), narrow * sizeof(float), height * 8, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyArrayToArray(other, 5 * sizeof(float), 1, array, 2 * sizeof(float), 1, run * sizeof(float), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(strip.data(), narrow * sizeof(float), other, 0, 0, narrow * sizeof(float), height * 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < narrow * height * 8; i++) {
        const int at = i - narrow - 5;
        EXPECT(strip[i] == (at >= 0 && at < run ? out[width + 2 + at] : -1.0f));
    }
    EXPECT(cudaMemcpyArrayToArray(other, 0, height * 8 - 1, array, 0, 0, 8 * sizeof(float), cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(other));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaDestroyTextureObject(point));
    CHECK(cudaDestroyTextureObject(linear));
    CHECK(cudaFreeArray(array));

    // Four channels of 8 bits as normalised floats, repeated beyond the edge.
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    std::vector<uchar4> colours(width * height);
    std::vector<float4> seen(width * height);
    for (int i = 0; i < width * height; i++)
        colours[i] = make_uchar4(i & 255, i * 3 & 255, i * 7 & 255, 255 - (i & 255));
    CHECK(cudaMallocArray(&array, &bytes, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, colours.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaTextureObject_t wrapped = make_texture(array, cudaFilterModePoint, cudaReadModeNormalizedFloat, true, cudaAddressModeWrap);
    sample_normalized<<<grid, block>>>(wrapped, (float4 *)device, width, height);
    CHECK(cudaMemcpy(seen.data(), device, seen.size() * sizeof(float4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++) {
        EXPECT(std::fabs(seen[i].x - colours[i].x / 255.0f) < 1e-6f && std::fabs(seen[i].y - colours[i].y / 255.0f) < 1e-6f);
        EXPECT(std::fabs(seen[i].z - colours[i].z / 255.0f) < 1e-6f && std::fabs(seen[i].w - colours[i].w / 255.0f) < 1e-6f);
    }
    CHECK(cudaDestroyTextureObject(wrapped));
    CHECK(cudaFreeArray(array));

    // Plain memory as a texture of integers.
    const int n = 1000;
    std::vector<int> numbers(n), reversed(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i * i - 7;
    int *buffer, *result;
    CHECK(cudaMalloc(&buffer, n * sizeof(int)));
    CHECK(cudaMalloc(&result, n * sizeof(int)));
    CHECK(cudaMemcpy(buffer, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = buffer;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = n * sizeof(int);
    cudaTextureDesc plain = {};
    plain.readMode = cudaReadModeElementType;
    cudaTextureObject_t memory;
    CHECK(cudaCreateTextureObject(&memory, &resource, &plain, nullptr));
    fetch_linear<<<(n + 63) / 64, 64>>>(memory, result, n);
    CHECK(cudaMemcpy(reversed.data(), result, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(reversed[i] == numbers[n - 1 - i]);
    CHECK(cudaDestroyTextureObject(memory));

    // Pitched memory as a 2D texture.
    float *rows;
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    CHECK(cudaMemcpy2D(rows, pitch, image.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = rows;
    resource.res.pitch2D.desc = channel;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    plain.addressMode[0] = plain.addressMode[1] = cudaAddressModeBorder;
    cudaTextureObject_t pitched;
    CHECK(cudaCreateTextureObject(&pitched, &resource, &plain, nullptr));
    sample_2d<<<grid, block>>>(pitched, device, width, height, 0.5f, 1.5f);
    CHECK(cudaMemcpy(out.data(), device, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(out[y * width + x] == (y + 1 < height ? image[(y + 1) * width + x] : 0));
    CHECK(cudaDestroyTextureObject(pitched));

    // Three dimensions by cudaMemcpy3D, and layers.
    const int side = 5;
    std::vector<float> volume(side * side * side), volume_out(side * side * side);
    for (int i = 0; i < side * side * side; i++)
        volume[i] = i * 1.5f;
    CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(side, side, side)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume.data(), side * sizeof(float), side, side);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(side, side, side);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaTextureObject_t box = make_texture(array, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp);
    sample_3d<<<1, dim3(side, side, side)>>>(box, device);
    CHECK(cudaMemcpy(volume_out.data(), device, volume.size() * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(volume_out == volume);
    CHECK(cudaDestroyTextureObject(box));
    CHECK(cudaFreeArray(array));

    CHECK(cudaMalloc3DArray(&array, &channel, make_cudaExtent(side, side, side), cudaArrayLayered));
    copy.dstArray = array;
    CHECK(cudaMemcpy3D(&copy));
    cudaTextureObject_t layers = make_texture(array, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp);
    sample_layered<<<side, side>>>(layers, device, side);
    CHECK(cudaMemcpy(volume_out.data(), device, side * side * sizeof(float), cudaMemcpyDeviceToHost));
    for (int layer = 0; layer < side; layer++)
        for (int x = 0; x < side; x++)
            EXPECT(volume_out[layer * side + x] == volume[layer * side * side + x]);
    CHECK(cudaDestroyTextureObject(layers));
    CHECK(cudaFreeArray(array));
    std::printf("textures: ok\n");
}

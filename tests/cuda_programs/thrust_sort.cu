// thrust_sort.cu - Thrust: sort, scan, reduce, transform, unique, by key.
#include <algorithm>
#include <numeric>
#include <vector>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include "check.h"

struct triple {
    __host__ __device__ int operator()(int x) const { return 3 * x + 1; }
};

int main()
{
    const int n = 20011;
    std::vector<int> host(n);
    unsigned state = 1;
    for (int &v : host)
        v = (int)(state = state * 1664525u + 1013904223u) >> 8;
    thrust::device_vector<int> data(host.begin(), host.end()), keys(n), out(n);
    thrust::sort(data.begin(), data.end());
    std::vector<int> sorted = host;
    std::sort(sorted.begin(), sorted.end());
    thrust::host_vector<int> back = data;
    EXPECT(std::equal(back.begin(), back.end(), sorted.begin()));

    thrust::transform(data.begin(), data.end(), out.begin(), triple());
    EXPECT(thrust::reduce(out.begin(), out.end(), 0LL) ==
           std::accumulate(sorted.begin(), sorted.end(), 0LL, [](long long s, int v) { return s + (3 * v + 1); }));
    thrust::sequence(keys.begin(), keys.end());
    thrust::inclusive_scan(keys.begin(), keys.end(), out.begin());
    EXPECT(out[n - 1] == n * (n - 1) / 2);
    std::printf("thrust_sort: ok\n");
}

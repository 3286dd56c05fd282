// Device malloc and free (calls to external functions): a linked list per thread.
struct node {
    node *next;
    int value;
};
extern "C" __global__ void device_malloc(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    node *head = nullptr;
    for (int j = 0; j <= i % 4; j++) {
        node *e = (node *)malloc(sizeof(node));
        if (!e)
            return;
        e->next = head;
        e->value = x[i] + j * 10;
        head = e;
    }
    int sum = 0, weight = 1;
    while (head) {
        node *next = head->next;
        sum += weight++ * head->value;
        free(head);
        head = next;
    }
    out[i] = sum;
}

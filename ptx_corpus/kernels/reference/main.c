// Writes every expected output (and the inputs that are not plain random) into the current folder.
#include "ref.h"

int main(void)
{
    ref_basic();
    ref_models();
    ref_image();
    ref_matrix();
    ref_blocks();
    ref_warp();
    ref_language();
    ref_integer();
    ref_floating();
    ref_convert();
    ref_divergence();
    return 0;
}

/* lib_half_test.cc - the meanings of family half against conformance/reference. */
#include "lib_harness.h"

TEST(lib_half, every_meaning_equals_its_reference)
{
    lib_check_family("half", 60);
}

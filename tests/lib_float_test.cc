/* lib_float_test.cc - the meanings of family float against conformance/reference. */
#include "lib_harness.h"

TEST(lib_float, every_meaning_equals_its_reference)
{
    lib_check_family("float", 60);
}

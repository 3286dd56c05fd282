/* lib_compare_test.cc - the meanings of family compare against conformance/reference. */
#include "lib_harness.h"

TEST(lib_compare, every_meaning_equals_its_reference)
{
    lib_check_family("compare", 60);
}

/* lib_int_test.cc - the meanings of family int against conformance/reference. */
#include "lib_harness.h"

TEST(lib_int, every_meaning_equals_its_reference)
{
    lib_check_family("int", 60);
}

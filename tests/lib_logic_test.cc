/* lib_logic_test.cc - the meanings of family logic against conformance/reference. */
#include "lib_harness.h"

TEST(lib_logic, every_meaning_equals_its_reference)
{
    lib_check_family("logic", 60);
}

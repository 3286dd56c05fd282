/* lib_move_test.cc - the meanings of family move against conformance/reference. */
#include "lib_harness.h"

TEST(lib_move, every_meaning_equals_its_reference)
{
    lib_check_family("move", 60);
}

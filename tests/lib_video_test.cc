/* lib_video_test.cc - the video instructions against conformance/reference, with every selector and mask. */
#include "lib_harness.h"

/* An immediate follows its operand: first of all the mask or d's selector, where there is one. */
static uint32_t selector(const lib_meaning &m, uint32_t element, lib_random &random)
{
    const size_t digit = m.name.find_first_of("_") - 1;
    const bool simd = m.name[digit] == '2' || m.name[digit] == '4';
    const uint32_t n = simd ? (uint32_t)(m.name[digit] - '0') : 0;
    const bool may_negate = m.name.compare(0, 4, "vmad") == 0 && m.name.find("_po") == std::string::npos;
    if (m.name.compare(0, 4, "vmad") == 0 && element == 6)  /* of c, which is a whole register */
        return may_negate ? random.below(2) * ISA_SELECTOR_MINUS : 0;
    if (!simd)
        return random.below(7) | (may_negate ? random.below(2) * ISA_SELECTOR_MINUS : 0);
    if (element == 1)
        return random.below(1u << n);
    uint32_t places = 0;
    for (uint32_t i = 0; i < n; i++)
        places |= random.below(2 * n) << (4 * i);
    return places;
}

TEST(lib_video, every_meaning_equals_its_reference)
{
    lib_check_family("video", 80, selector);
}

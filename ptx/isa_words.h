/* isa_words.h - the hash of words that isa_gen fills and isa.c looks up. */
#ifndef PTX_ISA_WORDS_H
#define PTX_ISA_WORDS_H

#include <stdint.h>

/* Words are hashed into a table of this many slots (a power of two), probed linearly. */
enum { ISA_WORD_SLOTS = 4096 };

static inline uint32_t isa_word_hash(const char *text, uint32_t length)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return (h ^ h >> 15) & (ISA_WORD_SLOTS - 1);
}

#endif

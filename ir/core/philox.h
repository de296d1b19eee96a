// Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC11).
//
// Words live in the low halves of 64-bit lanes: the products need 64 bits, and scalars and vectors
// share the source.
#pragma once

#include <cstdint>

#include "ir/core/math/lanes.h"

namespace kiln {

/// Four words, each below 2^32; W is uint64_t or a vector of it.
template <class W>
struct PhiloxBlock {
  W word[4];
};

/// The block of 128 random bits at `counter` under `key`.
template <class W>
KILN_INLINE PhiloxBlock<W> philox(PhiloxBlock<W> counter, uint32_t key0, uint32_t key1) {
  constexpr uint64_t low = 0xffffffffu;
  W c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const W p0 = (c0 & low) * uint64_t{0xD2511F53u};
    const W p1 = (c2 & low) * uint64_t{0xCD9E8D57u};
    c0 = (p1 >> uint64_t{32}) ^ c1 ^ uint64_t { key0 };
    c2 = (p0 >> uint64_t{32}) ^ c3 ^ uint64_t { key1 };
    c1 = p1 & low;
    c3 = p0 & low;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0 & low, c1, c2 & low, c3}};
}

/// The block that belongs to one logical element: counter (position, stream), key seed.
template <class W>
KILN_INLINE PhiloxBlock<W> philox_at(uint64_t seed, uint64_t stream, W position) {
  constexpr uint64_t low = 0xffffffffu;
  const PhiloxBlock<W> counter = {
      {position & low, position >> uint64_t{32}, W(stream & low), W(stream >> 32)}};
  return philox(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

}  // namespace kiln

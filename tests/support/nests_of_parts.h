// Nests of several parts with schedules by hand.
#pragma once

#include <string_view>
#include <vector>

namespace twinloom::tests {

// Causal attention of h heads: scores, softmax of rows, and what it weighs.
inline constexpr std::string_view ATTENTION = R"(
program attention(q: f32[h*160], k: f32[h*160], v: f32[h*160], y: written f32[h*160], s: local f32[20], p: local f32[20]; h in 0..) {
  for b < h {
    for i < 20 {
      scratch s[20] in scratch {
        scratch p[20] in scratch {
          for j < 20 {
            start t0: sum f32 free
            for d < 8 {
              t0 += mul(q[160*b + 8*i + d], k[160*b + 8*j + d]) at d
            }
            s[j] = where(ge(count(i), count(j)), mul(t0, 0x1p-2:f32), -inf:f32)
          }
          start t1: max f32
          for r < 20 {
            t1 += s[r] at r
          }
          start t2: sum f32
          for u < 20 {
            t2 += exp(sub(s[u], t1)) at u
          }
          for w < 20 {
            p[w] = div(exp(sub(s[w], t1)), t2)
          }
          for e < 8 {
            start t3: sum f32 free
            for m < 20 {
              t3 += mul(p[m], v[160*b + e + 8*m]) at m
            }
            y[160*b + 8*i + e] = t3
          }
        }
      }
    }
  }
})";

// The arrays of a block of rows, and each part in loops of its own.
inline const std::vector<std::string_view> ATTENTION_BY_ROWS = {
    "split i 8 mask", "store_at s at i.0 in scratch", "store_at p at i.0 in scratch", "distribute i.1"};
inline const std::vector<std::string_view> ATTENTION_BY_TILES = {
    "split i.1 4 exact",
    "split j 16, 8 mask",
    "reorder i.1.0, j.0, j.1, d, i.1.1, j.2",
    "cache k at j.1 in scratch",
    "bind i.1.1 unroll",
    "bind j.2 vector",
    "split r 4 mask",
    "bind r.1 vector",
    "split u 32, 4 mask",
    "bind u.1 unroll",
    "bind u.2 vector",
    "split w 4 exact",
    "bind w.1 vector",
    "split i.1_2 4 exact",
    "split e 4 exact",
    "split m 8 clip",
    "reorder i.1_2.0, e.0, m.0, m.1, i.1_2.1, e.1",
    "cache t3 at m.0 in registers",
    "bind i.1_2.1 unroll",
    "bind e.1 vector",
    "bind b block",
    "bind i.0 block"};

}  // namespace twinloom::tests

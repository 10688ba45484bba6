/* vector.h - SIMD vectors of 4, 8 and 16 floats, and `vf`, the widest of the instruction set.
 *
 * Arithmetic and comparison use the vector extensions of gcc and clang; what these lack, above all the fused
 * multiply-add, is wrapped here per instruction set: NEON, AVX2 with FMA (x86-64-v3), AVX-512 (x86-64-v4). The file is
 * compiled for one of them, which SFU__ISA names.
 */
#ifndef SFU_VECTOR_H
#define SFU_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#define SFU__LANES 4
#define SFU__TALL_16 5 /* rows of a register tile of 16 columns */
#else
#include <immintrin.h>
#if defined(__AVX512F__)
#define SFU__LANES 16
#define SFU__TALL_16 12
#else
#define SFU__LANES 8
#define SFU__TALL_16 6
#endif
#endif

#define SFU__INLINE static inline __attribute__((always_inline, unused))

/* Loops over the registers of a tile are fully unrolled; others can be unrolled twice. */
#if defined(__clang__)
#define SFU__UNROLL _Pragma("clang loop unroll(full)")
#define SFU__TWICE _Pragma("clang loop unroll_count(2)")
#else
#define SFU__UNROLL _Pragma("GCC unroll 32")
#define SFU__TWICE _Pragma("GCC unroll 2")
#endif

/* name: a vector of `lanes` floats; name##i and name##u: its integers; loads and stores at any address. */
#define SFU__VECTOR(name, lanes)                                                                                       \
    typedef float name __attribute__((vector_size(4 * (lanes))));                                                      \
    typedef int32_t name##i __attribute__((vector_size(4 * (lanes))));                                                 \
    typedef uint32_t name##u __attribute__((vector_size(4 * (lanes))));                                                \
    typedef float name##_anywhere __attribute__((vector_size(4 * (lanes)), aligned(4), may_alias));                    \
    SFU__INLINE name name##_load(const float *p) { return *(const name##_anywhere *)p; }                               \
    SFU__INLINE void name##_store(float *p, name a) { *(name##_anywhere *)p = a; }                                     \
    SFU__INLINE name name##_zero(void) { return (name){0}; }                                                           \
    SFU__INLINE name name##_keep(name##u mask, name a) { return (name)(mask & (name##u)a); }                           \
    SFU__INLINE name name##_drop(name##u mask, name a) { return (name)(~mask & (name##u)a); }

/* Token pasting, and the names of this kernel set. */
#define SFU__JOIN_(a, b) a##b
#define SFU__JOIN(a, b) SFU__JOIN_(a, b)
#define SFU__KERNEL_(name, isa) sfu__##name##_##isa
#define SFU__KERNEL__(name, isa) SFU__KERNEL_(name, isa)
#define KERNEL(name) SFU__KERNEL__(name, SFU__ISA)

/* Whether narrow products are delegated to another kernel set, and their names there: the same vectors of 4 and 8
 * floats were faster compiled for AVX2 than for AVX-512, on a machine that has both (docs/internals/kernels.md). */
#if SFU__LANES == 16
enum { SFU__NARROW_ELSEWHERE = 1 };
#define NARROW_KERNEL(name) SFU__KERNEL__(name, x86_64_v3)
#else
enum { SFU__NARROW_ELSEWHERE = 0 };
#define NARROW_KERNEL(name) KERNEL(name)
#endif

SFU__VECTOR(f4, 4)

/* name##_set: x in all lanes. name##_fma: a b + c rounded once. name##_smaller: |a| < b. name##_at_least: max(a, low),
 * NaN stays NaN. */
#if defined(__aarch64__)
SFU__INLINE f4 f4_set(float x) { return vdupq_n_f32(x); }
SFU__INLINE f4 f4_fma(f4 a, f4 b, f4 c) { return vfmaq_f32(c, a, b); }
SFU__INLINE f4 f4_sqrt(f4 a) { return vsqrtq_f32(a); }
/* One instruction; gcc emits two if b is a constant. */
SFU__INLINE f4u f4_smaller(f4 a, f4 b) {
    f4u smaller;
    __asm__("facgt %0.4s, %1.4s, %2.4s" : "=w"(smaller) : "w"(b), "w"(a));
    return smaller;
}
SFU__INLINE f4 f4_float_of_int(f4i a) { return vcvtq_f32_s32(a); }
SFU__INLINE f4 f4_max(f4 a, f4 b) { return vmaxq_f32(a, b); }
SFU__INLINE f4 f4_max_pairs(f4 a, f4 b) { return vpmaxq_f32(a, b); }
SFU__INLINE f4 f4_add_pairs(f4 a, f4 b) { return vpaddq_f32(a, b); }
SFU__INLINE f4 f4_at_least(f4 low, f4 a) { return vmaxq_f32(low, a); }
SFU__INLINE int f4_any(f4u mask) { return vmaxvq_u32(mask) != 0; }
#else
SFU__INLINE f4 f4_set(float x) { return (f4)_mm_set1_ps(x); }
SFU__INLINE f4 f4_fma(f4 a, f4 b, f4 c) { return (f4)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c); }
SFU__INLINE f4 f4_max(f4 a, f4 b) { return (f4)_mm_max_ps((__m128)a, (__m128)b); }
/* Maxima of pairs a01, a23, b01, b23: a[0] with a[1], and so on. */
SFU__INLINE f4 f4_max_pairs(f4 a, f4 b) {
    return f4_max((f4)_mm_shuffle_ps((__m128)a, (__m128)b, 0x88), (f4)_mm_shuffle_ps((__m128)a, (__m128)b, 0xdd));
}
SFU__INLINE f4 f4_add_pairs(f4 a, f4 b) { return (f4)_mm_hadd_ps((__m128)a, (__m128)b); }
SFU__INLINE int f4_any(f4u mask) { return _mm_movemask_ps((__m128)mask); }
SFU__INLINE f4u f4_smaller(f4 a, f4 b) { return (f4u)((f4)_mm_andnot_ps(_mm_set1_ps(-0.0F), (__m128)a) < b); }

SFU__VECTOR(f8, 8)
SFU__INLINE f8 f8_set(float x) { return (f8)_mm256_set1_ps(x); }
SFU__INLINE f8 f8_fma(f8 a, f8 b, f8 c) { return (f8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
SFU__INLINE f8 f8_sqrt(f8 a) { return (f8)_mm256_sqrt_ps((__m256)a); }
SFU__INLINE f8u f8_smaller(f8 a, f8 b) { return (f8u)((f8)_mm256_andnot_ps(_mm256_set1_ps(-0.0F), (__m256)a) < b); }
SFU__INLINE f8 f8_at_least(f8 low, f8 a) { return (f8)_mm256_max_ps((__m256)low, (__m256)a); }
SFU__INLINE f8 f8_float_of_int(f8i a) { return (f8)_mm256_cvtepi32_ps((__m256i)a); }

#if SFU__LANES == 16
SFU__VECTOR(f16, 16)
SFU__INLINE f16 f16_set(float x) { return (f16)_mm512_set1_ps(x); }
SFU__INLINE f16 f16_fma(f16 a, f16 b, f16 c) { return (f16)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
SFU__INLINE f16 f16_sqrt(f16 a) { return (f16)_mm512_sqrt_ps((__m512)a); }
SFU__INLINE f16u f16_smaller(f16 a, f16 b) {
    return (f16u)((f16)_mm512_andnot_ps(_mm512_set1_ps(-0.0F), (__m512)a) < b);
}
SFU__INLINE f16 f16_at_least(f16 low, f16 a) { return (f16)_mm512_max_ps((__m512)low, (__m512)a); }
SFU__INLINE f16 f16_float_of_int(f16i a) { return (f16)_mm512_cvtepi32_ps((__m512i)a); }
#endif
#endif

/* Four floats, one of which is multiplied with a whole vector: NEON takes it from a register lane in the same
 * instruction, x86 from memory. `lane` is a constant. */
#if defined(__aarch64__)
typedef f4 four;
SFU__INLINE four four_load(const float *p) { return f4_load(p); }
#define f4_fma_lane(a, lane, b, c) vfmaq_laneq_f32((c), (b), (a), (lane))
#else
typedef const float *four;
SFU__INLINE four four_load(const float *p) { return p; }
#define f4_fma_lane(a, lane, b, c) f4_fma(f4_set((a)[lane]), (b), (c))
#define f8_fma_lane(a, lane, b, c) f8_fma(f8_set((a)[lane]), (b), (c))
#define f16_fma_lane(a, lane, b, c) f16_fma(f16_set((a)[lane]), (b), (c))
#endif

/* Row `row` of contiguous rows of four floats, and two contiguous indices, for narrow products, which are bound by
 * loads: one instruction each on NEON, where gcc would emit two. The compiler is not told which memory the row is read
 * from; nothing writes there meanwhile. */
typedef struct index_pair {
    uint32_t first, second;
} index_pair;
#if defined(__aarch64__)
SFU__INLINE f4 f4_load_row(const char *rows, uint32_t row) {
    f4 loaded;
    __asm__("ldr %q0, [%1, %w2, uxtw #4]" : "=w"(loaded) : "r"(rows), "r"(row));
    return loaded;
}
SFU__INLINE index_pair index_pair_load(const int32_t *p) {
    uint64_t both;
    memcpy(&both, p, sizeof both);
    return (index_pair){(uint32_t)both, (uint32_t)(both >> 32)};
}
#else
SFU__INLINE f4 f4_load_row(const char *rows, uint32_t row) {
    return f4_load((const float *)(const void *)(rows + INT64_C(16) * row));
}
SFU__INLINE index_pair index_pair_load(const int32_t *p) { return (index_pair){(uint32_t)p[0], (uint32_t)p[1]}; }
#endif

/* Forces one base address for all parts of a row: otherwise gcc computes an address for each. */
#define AS_ONE_ADDRESS(pointer) __asm__("" : "+r"(pointer))

/* Four 16-bit indices: one load if there are shifts to separate them, else one load each. */
SFU__INLINE void index_four_load(uint32_t at[4], const uint16_t *p) {
#if defined(__aarch64__)
    uint64_t all;
    memcpy(&all, p, sizeof all);
    SFU__UNROLL for (int i = 0; i < 4; i++) { at[i] = (uint32_t)(all >> 16 * i) & 0xffff; }
#else
    SFU__UNROLL for (int i = 0; i < 4; i++) { at[i] = p[i]; }
#endif
}

/* The final step of a row sum: (0 + 1) + (2 + 3). */
SFU__INLINE float f4_sum(f4 lane) { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }

/* ---- the widest: the names that elementary.h is written in ---- */

#if SFU__LANES == 4
#define SFU__WIDEST(name) f4##name
#define SFU__VECTOR_OF_8 f4
#elif SFU__LANES == 8
#define SFU__WIDEST(name) f8##name
#else
#define SFU__WIDEST(name) f16##name
#endif

#if SFU__LANES > 4
#define SFU__VECTOR_OF_8 f8
#endif

enum { LANES = SFU__LANES };
typedef SFU__WIDEST() vf;
typedef SFU__WIDEST(i) vi;
typedef SFU__WIDEST(u) vu;

SFU__INLINE vf v_load(const float *p) { return SFU__WIDEST(_load)(p); }
/* Two adjacent vectors: one instruction on NEON, where gcc would emit two. */
SFU__INLINE void v_load_two(vf to[2], const float *p) {
#if defined(__aarch64__) && !defined(__clang__)
    __asm__("ldp %q0, %q1, %2"
            : "=w"(to[0]), "=w"(to[1])
            : "Ump"(*(const f4_anywhere *)p), "m"(*(const f4_anywhere *)(p + 4)));
#else
    to[0] = v_load(p);
    to[1] = v_load(p + LANES);
#endif
}
SFU__INLINE void v_store(float *p, vf a) { SFU__WIDEST(_store)(p, a); }
SFU__INLINE vf v_set(float x) { return SFU__WIDEST(_set)(x); }
SFU__INLINE vi v_set_int(int32_t x) { return (vi){0} + x; }
SFU__INLINE vf v_fma(vf a, vf b, vf c) { return SFU__WIDEST(_fma)(a, b, c); }
SFU__INLINE vf v_sqrt(vf a) { return SFU__WIDEST(_sqrt)(a); }

/* The same known number in all lanes, and a b + c with such a c. On NEON the accumulator is overwritten, so c is
 * reloaded each time: gcc would copy it from another register, and loads are cheaper here than copies. */
#if defined(__aarch64__)
typedef struct v_constant {
    float lanes[4];
} v_constant;
#define V_CONSTANT(x)                                                                                                  \
    {                                                                                                                  \
        { (x), (x), (x), (x) }                                                                                         \
    }
SFU__INLINE vf v_constant_of(const v_constant *c) { return v_load(c->lanes); }
SFU__INLINE vf v_fma_constant(vf a, vf b, const v_constant *c) {
    vf sum;
    __asm__("ldr %q0, %3\n\tfmla %0.4s, %1.4s, %2.4s" : "=&w"(sum) : "w"(a), "w"(b), "m"(*c));
    return sum;
}
#else
typedef float v_constant;
#define V_CONSTANT(x) (x)
SFU__INLINE vf v_constant_of(const v_constant *c) { return v_set(*c); }
SFU__INLINE vf v_fma_constant(vf a, vf b, const v_constant *c) { return v_fma(a, b, v_set(*c)); }
#endif
SFU__INLINE vi v_bits(vf a) { return (vi)a; }
SFU__INLINE vf v_float_of_bits(vi a) { return (vf)a; }
SFU__INLINE vi v_shift_left(vi a, int bits) { return (vi)((vu)a << bits); }
SFU__INLINE vf v_float_of_int(vi a) { return SFU__WIDEST(_float_of_int)(a); }
SFU__INLINE vu v_less(vf a, vf b) { return (vu)(a < b); }
SFU__INLINE vu v_smaller(vf a, vf b) { return SFU__WIDEST(_smaller)(a, b); }
SFU__INLINE vf v_at_least(vf low, vf a) { return SFU__WIDEST(_at_least)(low, a); }
SFU__INLINE vf v_keep(vu mask, vf a) { return SFU__WIDEST(_keep)(mask, a); }
SFU__INLINE vf v_drop(vu mask, vf a) { return SFU__WIDEST(_drop)(mask, a); }
SFU__INLINE vf v_pick(vu mask, vf a, vf b) { return (vf)((mask & (vu)a) | (~mask & (vu)b)); }
SFU__INLINE vf v_abs(vf a) { return (vf)((vu)a & (vu)v_set_int(INT32_MAX)); }

/* ---- integers: for Philox and its masks ---- */

/* LANES 16-bit numbers, widened to one per lane. */
#if defined(__aarch64__)
SFU__INLINE vu v_load_halves(const uint16_t *p) { return vmovl_u16(vld1_u16(p)); }
#else
typedef uint16_t halves __attribute__((vector_size(2 * SFU__LANES), aligned(2), may_alias));
SFU__INLINE vu v_load_halves(const uint16_t *p) { return __builtin_convertvector(*(const halves *)p, vu); }
#endif

/* Half a group of eight entries, or a whole one: the lanes of SFU__VECTOR_OF_8. */
typedef SFU__VECTOR_OF_8 e8;
typedef SFU__JOIN(SFU__VECTOR_OF_8, u) e8u;
enum { E8_LANES = sizeof(e8) / 4 };

/* All bits in the lanes of those of eight 16-bit numbers that are at least `least`. */
SFU__INLINE void e8_at_least(e8u at_least[8 / E8_LANES], const uint16_t *halves, uint16_t least) {
#if defined(__aarch64__)
    const int16x8_t large = vreinterpretq_s16_u16(vcgeq_u16(vld1q_u16(halves), vdupq_n_u16(least)));
    at_least[0] = vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(large)));
    at_least[1] = vreinterpretq_u32_s32(vmovl_high_s16(large));
#else
    typedef uint16_t eight __attribute__((vector_size(16), aligned(2), may_alias));
    at_least[0] = (e8u)(__builtin_convertvector(*(const eight *)halves, e8u) >= (e8u){0} + least);
#endif
}
SFU__INLINE e8 e8_load(const float *p) { return SFU__JOIN(SFU__VECTOR_OF_8, _load)(p); }
SFU__INLINE void e8_store(float *p, e8 a) { SFU__JOIN(SFU__VECTOR_OF_8, _store)(p, a); }
SFU__INLINE e8 e8_set(float x) { return SFU__JOIN(SFU__VECTOR_OF_8, _set)(x); }
SFU__INLINE e8 e8_keep(e8u mask, e8 a) { return SFU__JOIN(SFU__VECTOR_OF_8, _keep)(mask, a); }

/* For eight 16-bit numbers: 1 in the byte of each that is at least `least` and whose float is not zero, else 0. */
#if defined(__aarch64__)
SFU__INLINE uint64_t bytes_where(const uint16_t *halves, uint16_t least, const float *floats) {
    const uint16x8_t large = vcgeq_u16(vld1q_u16(halves), vdupq_n_u16(least));
    const uint32x4_t low = vceqzq_f32(vld1q_f32(floats)), high = vceqzq_f32(vld1q_f32(floats + 4));
    const uint16x8_t zero = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    const uint8x8_t bytes = vand_u8(vmovn_u16(vbicq_u16(large, zero)), vdup_n_u8(1));
    return vget_lane_u64(vreinterpret_u64_u8(bytes), 0);
}
#else
SFU__INLINE uint64_t bytes_where(const uint16_t *halves, uint16_t least, const float *floats) {
    const __m128i numbers = _mm_loadu_si128((const __m128i *)(const void *)halves);
    const __m128i large = _mm_cmpeq_epi16(_mm_max_epu16(numbers, _mm_set1_epi16((short)least)), numbers);
    const __m128i low = _mm_castps_si128(_mm_cmpeq_ps(_mm_loadu_ps(floats), _mm_setzero_ps()));
    const __m128i high = _mm_castps_si128(_mm_cmpeq_ps(_mm_loadu_ps(floats + 4), _mm_setzero_ps()));
    const __m128i both = _mm_andnot_si128(_mm_packs_epi32(low, high), large);
    return (uint64_t)_mm_cvtsi128_si64(_mm_and_si128(_mm_packs_epi16(both, both), _mm_set1_epi8(1)));
}
#endif

SFU__INLINE void v_store_words(uint32_t *p, vu words) { memcpy(p, &words, sizeof words); }
/* 0, 1, 2, ... */
SFU__INLINE vu v_count(void) {
    static const uint32_t count[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vu words;
    memcpy(&words, count, sizeof words);
    return words;
}
SFU__INLINE vu v_load_words(const uint32_t *p) {
    vu words;
    memcpy(&words, p, sizeof words);
    return words;
}

/* The low and high halves of a b; and storing a[0] b[0] c[0] d[0] a[1] b[1] ... to memory. */
#if SFU__LANES == 4
SFU__INLINE vu v_multiply(vu a, uint32_t b, vu *high) {
    const uint64x2_t lower = vmull_u32(vget_low_u32(a), vdup_n_u32(b)), upper = vmull_high_u32(a, vdupq_n_u32(b));
    *high = vuzp2q_u32(vreinterpretq_u32_u64(lower), vreinterpretq_u32_u64(upper));
    return vuzp1q_u32(vreinterpretq_u32_u64(lower), vreinterpretq_u32_u64(upper));
}
SFU__INLINE void v_store_permuted(uint32_t *to, vu a, vu b, vu c, vu d) {
    const vu ac0 = vzip1q_u32(a, c), ac1 = vzip2q_u32(a, c), bd0 = vzip1q_u32(b, d), bd1 = vzip2q_u32(b, d);
    vst1q_u32(to, vzip1q_u32(ac0, bd0));
    vst1q_u32(to + 4, vzip2q_u32(ac0, bd0));
    vst1q_u32(to + 8, vzip1q_u32(ac1, bd1));
    vst1q_u32(to + 12, vzip2q_u32(ac1, bd1));
}
#elif SFU__LANES == 8
SFU__INLINE vu v_multiply(vu a, uint32_t b, vu *high) {
    const __m256i factor = _mm256_set1_epi32((int)b);
    const __m256i even = _mm256_mul_epu32((__m256i)a, factor);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), factor);
    *high = (vu)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
    return (vu)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}
SFU__INLINE void v_store_permuted(uint32_t *to, vu a, vu b, vu c, vu d) {
    const __m256i ab0 = _mm256_unpacklo_epi32((__m256i)a, (__m256i)b),
                  cd0 = _mm256_unpacklo_epi32((__m256i)c, (__m256i)d);
    const __m256i ab1 = _mm256_unpackhi_epi32((__m256i)a, (__m256i)b),
                  cd1 = _mm256_unpackhi_epi32((__m256i)c, (__m256i)d);
    const __m256i q[4] = {_mm256_unpacklo_epi64(ab0, cd0), _mm256_unpackhi_epi64(ab0, cd0),
                          _mm256_unpacklo_epi64(ab1, cd1), _mm256_unpackhi_epi64(ab1, cd1)};
    SFU__UNROLL for (ptrdiff_t i = 0; i < 4; i++) {
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i), _mm256_castsi256_si128(q[i]));
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i + 16), _mm256_extracti128_si256(q[i], 1));
    }
}
#else
SFU__INLINE vu v_multiply(vu a, uint32_t b, vu *high) {
    const __m512i factor = _mm512_set1_epi32((int)b);
    const __m512i even = _mm512_mul_epu32((__m512i)a, factor);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a, 32), factor);
    *high = (vu)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
    return (vu)_mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
}
SFU__INLINE void v_store_permuted(uint32_t *to, vu a, vu b, vu c, vu d) {
    const __m512i ab0 = _mm512_unpacklo_epi32((__m512i)a, (__m512i)b),
                  cd0 = _mm512_unpacklo_epi32((__m512i)c, (__m512i)d);
    const __m512i ab1 = _mm512_unpackhi_epi32((__m512i)a, (__m512i)b),
                  cd1 = _mm512_unpackhi_epi32((__m512i)c, (__m512i)d);
    const __m512i q[4] = {_mm512_unpacklo_epi64(ab0, cd0), _mm512_unpackhi_epi64(ab0, cd0),
                          _mm512_unpacklo_epi64(ab1, cd1), _mm512_unpackhi_epi64(ab1, cd1)};
    SFU__UNROLL for (ptrdiff_t i = 0; i < 4; i++) {
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i), _mm512_castsi512_si128(q[i]));
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i + 16), _mm512_extracti32x4_epi32(q[i], 1));
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i + 32), _mm512_extracti32x4_epi32(q[i], 2));
        _mm_storeu_si128((__m128i *)(void *)(to + 4 * i + 48), _mm512_extracti32x4_epi32(q[i], 3));
    }
}
#endif

#endif

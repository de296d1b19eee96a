// Constants of the elementary functions: minimax fits of minimax.py, rounded to the lane type.
#pragma once

namespace kiln::math {

template <class L>
struct Coefficients;

template <>
struct Coefficients<float> {
  static constexpr float log2e = 0x1.715476p+0f;
  static constexpr float ln2_hi = 0x1.62e4p-1f;  // times an exponent it is exact
  static constexpr float ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float exp_max = 89.0f;    // beyond: infinite
  static constexpr float exp_min = -104.0f;  // below: rounds to 0
  static constexpr float tanh_max = 9.1f;    // beyond: 1
  static constexpr float erf_split = 0.92f;
  static constexpr float erf_max = 3.95f;  // beyond: 1
  static constexpr float erf_centre = 2.0f;
  static constexpr float two_pi = 0x1.921fb6p+2f;

  // (e^r - 1 - r) / r^2 for |r| <= ln2/2; error of e^r 2^-28.2
  static constexpr float exp[] = {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.55589ep-5f, 0x1.123ac6p-7f,
                                  0x1.6a623p-10f};
  // (log(1+f) - f + f^2/2) / f^3 for |f| <= 1/3; relative error of the logarithm 2^-27.7
  static constexpr float log[] = {0x1.555504p-2f, -0x1.ffff14p-3f, 0x1.99d112p-3f, -0x1.5597d4p-3f,
                                  0x1.1eca72p-3f, -0x1.f3b09ep-4f, 0x1.1e9da2p-3f, -0x1.06b4c8p-3f};
  // erf(x)/x - 1 in x^2 for |x| <= 0.92; error 2^-30
  static constexpr float erf[] = {0x1.06eba8p-3f, -0x1.812742p-2f, 0x1.ce2e08p-4f, -0x1.b8104p-6f,
                                  0x1.54e0eep-8f, -0x1.ab46cp-11f, 0x1.60900ep-14f};
  // log(erfc(2 + t)) for 2 + t in [0.92, 3.95]; relative error of erf 2^-30.4
  static constexpr float erfc[] = {-0x1.575b32p+2f, -0x1.1ac322p+2f, -0x1.d8f60ap-1f,
                                   -0x1.0df326p-6f, 0x1.d23372p-9f,  -0x1.7d58c6p-11f,
                                   0x1.3e0ac4p-13f, -0x1.041f88p-16f};
  // sin(2 pi f)/f - two_pi and (cos(2 pi f) - 1)/f^2, in f^2 for |f| <= 1/8; 2^-28.1, 2^-31.2
  static constexpr float sin[] = {-0x1.a32c04p-23f, -0x1.4abbbap+5f, 0x1.465eeap+6f,
                                  -0x1.2da156p+6f};
  static constexpr float cos[] = {-0x1.3bd3ccp+4f, 0x1.03c1aep+6f, -0x1.55b13p+6f, 0x1.d46c34p+5f};
};

template <>
struct Coefficients<double> {
  static constexpr double log2e = 0x1.71547652b82fep+0;
  static constexpr double ln2_hi = 0x1.62e42fefa4p-1;
  static constexpr double ln2_lo = -0x1.8432a1b0e2634p-43;
  static constexpr double exp_max = 710.0;
  static constexpr double exp_min = -746.0;
  static constexpr double tanh_max = 20.0;
  static constexpr double erf_split = 1.0;
  static constexpr double erf_max = 5.95;
  static constexpr double erf_centre = 2.0;
  static constexpr double two_pi = 0x1.921fb54442d18p+2;

  // as above; error of e^r 2^-63.8
  static constexpr double exp[] = {0x1p-1,
                                   0x1.555555555555bp-3,
                                   0x1.555555555553ap-5,
                                   0x1.111111110edacp-7,
                                   0x1.6c16c16c22e9ap-10,
                                   0x1.a01a01b31840bp-13,
                                   0x1.a01a016651976p-16,
                                   0x1.71ddf0efdb7d3p-19,
                                   0x1.27e564167b3c5p-22,
                                   0x1.af6abc4e071f6p-26,
                                   0x1.1ea3d6c4d2c10p-29};
  // (2 atanh(s) - 2 s) / s^3 in s^2 for s = f / (2 + f), |f| <= 1/3; relative error 2^-61.7
  static constexpr double log[] = {0x1.555555555554fp-1, 0x1.999999999c153p-2, 0x1.24924921e7ea9p-2,
                                   0x1.c71c748bc7b5fp-3, 0x1.745c4be8a314ap-3, 0x1.3b359ba94e25cp-3,
                                   0x1.0dce2893081d6p-3, 0x1.1b6f76d8ea78fp-3};
  // (2 atanh(s) - 2 s - 2/3 s^3) / s^5 in s^2; relative error 2^-68
  static constexpr double pow_log[] = {
      0x1.9999999999968p-2, 0x1.2492492498d3ap-2, 0x1.c71c71bc787f8p-3, 0x1.745d1bc2a348ap-3,
      0x1.3b12991e47bf9p-3, 0x1.113a03dc41a4ep-3, 0x1.dad2caeae10bfp-4, 0x1.017649906be21p-3};
  static constexpr double two_thirds_hi = 0x1.5555555555555p-1;
  static constexpr double two_thirds_lo = 0x1.5555555555555p-55;
  // erf(x)/x - 1 in x^2 for |x| <= 1; error 2^-55.9
  static constexpr double erf[] = {
      0x1.06eba8214db68p-3,  -0x1.812746b0379a2p-2,  0x1.ce2f21a03fe0cp-4,  -0x1.b82ce311c2fb9p-6,
      0x1.565bccf274c6ep-8,  -0x1.c02daf49c2932p-11, 0x1.f9a2a4f25bc7fp-14, -0x1.f4c90ee01b698p-17,
      0x1.b974129b1aa70p-20, -0x1.5bc213060174cp-23, 0x1.d54f8e2ad5b13p-27, -0x1.a684a850ce8b8p-31};
  // log(erfc(2 + t)) for 2 + t in [1, 5.95]; relative error of erf 2^-59.1
  static constexpr double erfc[] = {
      -0x1.575b329b1f516p+2,  -0x1.1ac3258a8dc2ep+2,  -0x1.d8f5dece923a5p-1,
      -0x1.0dc3b5fb0a328p-6,  0x1.d406b37482396p-9,   -0x1.7ffcfb4ab113fp-11,
      0x1.1bc3a57d9d092p-13,  -0x1.5b6570daf431bp-16, 0x1.0604d3356a4cdp-19,
      0x1.b54f16f8fe02ap-23,  -0x1.73f41f9823fd6p-23, 0x1.f084532b666edp-25,
      -0x1.df558edf20be9p-27, 0x1.5c90bbe0aa19fp-29,  -0x1.2db0dc6d4e0c3p-32,
      -0x1.724b63ea45754p-35, 0x1.47fc93a2e366fp-35,  -0x1.68eb417173b3cp-37,
      0x1.2d7a009ab77b5p-40};
  // as above; 2^-58, 2^-61.5
  static constexpr double sin[] = {
      0x1.02642e7277f27p-52, -0x1.4abbce625be41p+5, 0x1.466bc67758785p+6, -0x1.32d2cce2dd595p+6,
      0x1.50782fd17cf32p+5,  -0x1.e30069b0b4040p+3, 0x1.e3f0c13d25a36p+1};
  static constexpr double cos[] = {
      -0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5a50p+6, -0x1.55d3c7e3bf874p+6, 0x1.e1f50674f0f58p+5,
      -0x1.a6d1e185f79b4p+4, 0x1.f9c41419415ccp+2, -0x1.b002a67b02db3p+0};

  // pow of f32, computed in f64: log2(m)/s in s^2, relative error 2^-40.9; 2^r, |r| <= 1/2, 2^-34.3
  static constexpr double powf_log2[] = {0x1.71547652b7e93p+1, 0x1.ec709dcb58fdap-1,
                                         0x1.2776bc51344a4p-1, 0x1.a61e9c5bd73bep-2,
                                         0x1.46f2f02d3f692p-2, 0x1.29cc1dc0ee938p-2};
  static constexpr double powf_exp2[] = {0x1p+0,
                                         0x1.62e42ff0e4683p-1,
                                         0x1.ebfbe07855156p-3,
                                         0x1.c6b08aba79af5p-5,
                                         0x1.3b29f2cde5a7fp-7,
                                         0x1.5d8a8ac731f38p-10,
                                         0x1.445d3678d1fc0p-13,
                                         0x1.fde24973504f6p-17};
};

}  // namespace kiln::math

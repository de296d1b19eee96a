# Writes the file IN as a C++ array to OUT.
file(READ ${IN} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"ir/core/math/bitcode.h\"

namespace kiln {

alignas(16) const unsigned char kiln_math_bitcode[] = {
${bytes}};
const size_t kiln_math_bitcode_size = ${size};

}  // namespace kiln
")

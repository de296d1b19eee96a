# Copies LLVM text IN to OUT without what names a target: the attributes of the CPU, the data layout
# and triple, and the module flags, which would have to agree with those of the module linked into.
file(READ ${IN} text)
string(REGEX REPLACE " \"[a-z-]+\"=\"[^\"]*\"" "" text "${text}")
string(REGEX REPLACE "\ntarget [^\n]*" "" text "${text}")
string(REGEX REPLACE "\n!llvm[^\n]*" "" text "${text}")
file(WRITE ${OUT} "${text}")

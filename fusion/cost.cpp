#include "fusion/cost.h"

namespace kiln::fusion {

int32_t cost(ir::Op op) {
  using ir::Op;
  switch (op) {
    case Op::Div:
    case Op::Sqrt: return 4;
    case Op::Rsqrt:
    case Op::Exp: return 8;
    case Op::Log: return 9;
    case Op::Sigmoid:
    case Op::Tanh: return 12;
    case Op::Erf: return 15;
    case Op::Pow: return 30;
    case Op::Rand: return 25;
    case Op::Randn: return 45;
    default: break;
  }
  switch (ir::category(op)) {
    case ir::Category::Leaf:
    case ir::Category::View: return 0;
    default: return 1;
  }
}

}  // namespace kiln::fusion

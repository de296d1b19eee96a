// Printing as NumPy's str(array), after numpy/_core/arrayprint.py.
#include "kiln/print.h"

#include <cstring>
#include <ostream>

#include "api/internal.h"
#include "api/number_format.h"
#include "runtime/stats.h"
#include "tracer/access.h"

namespace kiln {

namespace {

constexpr int64_t threshold = 1000;
constexpr int64_t edge_items = 3;
constexpr size_t line_width = 75;

class Printer {
 public:
  explicit Printer(const tracer::HostView& view)
      : view_(view), shape_(view.shape()), summary_(numel(shape_) > threshold) {}

  std::string print() {
    collect();
    texts_ = detail::format_elements(view_.dtype(), elements_);
    next_ = texts_.begin();
    return print_axis(0, " ", line_width);
  }

 private:
  bool summarised(size_t axis) const { return summary_ && shape_[axis] > 2 * edge_items; }

  /// Calls f(position) for the shown positions of an axis, gap() between the two ends.
  template <class F, class G>
  void for_shown(size_t axis, F f, G gap) const {
    const int64_t n = shape_[axis];
    if (!summarised(axis)) {
      for (int64_t i = 0; i < n; ++i) f(i);
      return;
    }
    for (int64_t i = 0; i < edge_items; ++i) f(i);
    gap();
    for (int64_t i = n - edge_items; i < n; ++i) f(i);
  }

  /// The elements that are shown, in order.
  void collect() {
    Dims index(shape_.size(), 0);
    const auto walk = [&](const auto& self, size_t axis) -> void {
      if (axis == shape_.size()) {
        Bits b;
        std::memcpy(&b.raw, view_.element(index), size_of(view_.dtype()));
        elements_.push_back(b);
        return;
      }
      for_shown(
          axis,
          [&](int64_t i) {
            index[axis] = i;
            self(self, axis + 1);
          },
          [] {});
    };
    walk(walk, 0);
  }

  std::string print_axis(size_t axis, const std::string& indent, size_t width) {
    return axis + 1 == shape_.size() ? print_row(axis, indent, width)
                                     : print_rows(axis, indent, width);
  }

  /// Elements, wrapped at the line width.
  std::string print_row(size_t axis, const std::string& indent, size_t width) {
    const size_t limit = width - 1;
    std::string done, line = indent;
    bool first = true;
    const auto add = [&](const std::string& word) {
      if (!first) line += ' ';
      first = false;
      if (line.size() + word.size() > limit && line.size() > indent.size()) {
        done += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word;
    };
    for_shown(axis, [&](int64_t) { add(*next_++); }, [&] { add("..."); });
    return "[" + (done + line).substr(indent.size()) + "]";
  }

  std::string print_rows(size_t axis, const std::string& indent, size_t width) {
    const std::string separator(shape_.size() - axis - 1, '\n');
    std::string text;
    const auto add = [&](const std::string& block) {
      if (!text.empty()) text += separator;
      text += indent + block;
    };
    for_shown(
        axis, [&](int64_t) { add(print_axis(axis + 1, indent + " ", width - 1)); },
        [&] { add("..."); });
    return "[" + text.substr(indent.size()) + "]";
  }

  const tracer::HostView& view_;
  const Shape& shape_;
  const bool summary_;
  std::vector<Bits> elements_;
  std::vector<std::string> texts_;
  std::vector<std::string>::const_iterator next_;
};

}  // namespace

std::string to_string(const Tensor& a, SourceLocation at) {
  tracer::TensorImpl& impl = detail::Access::impl(a, "print", at);
  const tracer::HostView view(impl, SyncCause::Print, at);
  if (impl.shape().empty()) {
    Bits b;
    std::memcpy(&b.raw, view.element({}), size_of(view.dtype()));
    return detail::format_scalar(view.dtype(), b);
  }
  return a.numel() == 0 ? "[]" : Printer(view).print();
}

// An operator cannot know its caller's line.
std::ostream& operator<<(std::ostream& out, const Tensor& a) {
  return out << to_string(a, SourceLocation());
}

}  // namespace kiln

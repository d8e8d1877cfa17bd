#include "espalier/kernel/model/compile/kept_shapes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier {

namespace {

template <class T, class U>
constexpr bool is = std::is_same_v<std::remove_const_t<T>, U>;
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

/// All members of a structure of geometry, in one order for writing and reading.
template <class T>
auto members(T& x) {
  if constexpr (is<T, ShapeDescription>) {
    return std::tie(x.name, x.shape, x.origin, x.color, x.material, x.friction,
                    x.torsional_friction, x.rolling_friction, x.where);
  } else if constexpr (is<T, SourceLocation>) {
    return std::tie(x.file, x.line);
  } else if constexpr (is<T, Pose>) {
    return std::tie(x.xyz, x.rpy);
  } else if constexpr (is<T, Vec3<double>>) {
    return std::tie(x.x, x.y, x.z);
  } else if constexpr (is<T, Color>) {
    return std::tie(x.r, x.g, x.b, x.a);
  } else if constexpr (is<T, Box>) {
    return std::tie(x.size);
  } else if constexpr (is<T, Sphere>) {
    return std::tie(x.radius);
  } else if constexpr (is<T, Cylinder> || is<T, Capsule>) {
    return std::tie(x.radius, x.length);
  } else if constexpr (is<T, Ellipsoid>) {
    return std::tie(x.radii);
  } else if constexpr (is<T, Plane>) {
    return std::tie(x.x, x.y);
  } else if constexpr (is<T, Mesh>) {
    return std::tie(x.file, x.scale);
  } else {
    static_assert(is<T, HeightField>);
    return std::tie(x.file, x.size, x.base, x.rows, x.columns, x.heights);
  }
}

/// The shape of a kind by its number in the variant.
template <std::size_t... k>
Shape shape_of_kind(std::size_t kind, std::index_sequence<k...>) {
  constexpr std::array<Shape (*)(), sizeof...(k)> make{
      [] { return Shape(std::in_place_index<k>); }...};
  return make[kind]();
}

}  // namespace

class KeptShapes::Writer {
 public:
  explicit Writer(KeptShapes& to) : to_(to) {}

  template <class T>
  void operator()(const T& x) {
    if constexpr (std::is_arithmetic_v<T>) {
      to_.bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
    } else if constexpr (is<T, std::string>) {
      const auto begin = to_.texts_.end() - std::min<long>(looked_at, std::ssize(to_.texts_));
      const auto known = std::find(begin, to_.texts_.end(), x);
      (*this)(static_cast<int>(known - to_.texts_.begin()));
      if (known == to_.texts_.end()) to_.texts_.push_back(x);
    } else if constexpr (is<T, std::vector<double>>) {
      (*this)(x.size());
      for (const double number : x) (*this)(number);
    } else if constexpr (is_optional<T>) {
      (*this)(x.has_value());
      if (x) (*this)(*x);
    } else if constexpr (is<T, Shape>) {
      (*this)(static_cast<unsigned char>(x.index()));
      std::visit(*this, x);
    } else {
      std::apply([this](const auto&... member) { ((*this)(member), ...); }, members(x));
    }
  }

 private:
  static constexpr long looked_at = 32;  ///< last texts: more would be O(n²)

  KeptShapes& to_;
};

class KeptShapes::Reader {
 public:
  explicit Reader(const KeptShapes& from) : from_(from), at_(from.bytes_.data()) {}

  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_arithmetic_v<T>) {
      std::memcpy(&x, at_, sizeof x);
      at_ += sizeof x;
    } else if constexpr (is<T, std::string>) {
      x = from_.texts_[read<int>()];
    } else if constexpr (is<T, std::vector<double>>) {
      x.resize(read<std::size_t>());
      for (double& number : x) (*this)(number);
    } else if constexpr (is_optional<T>) {
      if (read<bool>()) (*this)(x.emplace());
    } else if constexpr (is<T, Shape>) {
      x = shape_of_kind(read<unsigned char>(),
                        std::make_index_sequence<std::variant_size_v<Shape>>());
      std::visit(*this, x);
    } else {
      std::apply([this](auto&... member) { ((*this)(member), ...); }, members(x));
    }
  }
  template <class T>
  T read() {
    T x{};
    (*this)(x);
    return x;
  }

 private:
  const KeptShapes& from_;
  const char* at_;
};

void KeptShapes::add(PlacedShape::Role role, int link, const ShapeDescription& shape) {
  Writer write(*this);
  write(role == PlacedShape::Role::collision);
  write(link);
  write(shape);
  ++count_;
}

void KeptShapes::finish() {
  bytes_.shrink_to_fit();
  texts_.shrink_to_fit();
}

const std::vector<PlacedShape>& KeptShapes::placed(std::span<const Link> links) const {
  std::call_once(made_once_, [&] {
    std::vector<PlacedShape> all(count_);
    Reader read(*this);
    for (PlacedShape& placed : all) {
      using Role = PlacedShape::Role;
      placed.role = read.read<bool>() ? Role::collision : Role::visual;
      read(placed.link);
      read(placed.shape);
      const Link& link = links[placed.link];
      placed.body = link.body;
      placed.X = placed.shape.origin.transform() * link.X;
    }
    made_ = std::move(all);
  });
  return made_;
}

}  // namespace espalier

// A bounded cache of shared values; the least recently used goes first. Safe from many threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace kiln::tracer {

/// Key has a member `hash` and full equality.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  /// Null if it is not there.
  std::shared_ptr<const Value> find(const Key& key) {
    std::lock_guard lock(mutex_);
    const auto it = locate(key);
    if (it == index_.end()) return nullptr;
    items_.splice(items_.begin(), items_, it->second);
    return it->second->value;
  }

  /// Keeps the first value where two threads made one.
  std::shared_ptr<const Value> insert(const Key& key, std::shared_ptr<const Value> value) {
    std::shared_ptr<const Value> evicted;  // ends after the lock
    std::lock_guard lock(mutex_);
    const auto it = locate(key);
    if (it != index_.end()) return it->second->value;
    items_.push_front({key, value});
    index_.emplace(key.hash, items_.begin());
    if (items_.size() > capacity_) evicted = evict();
    return value;
  }

  void clear() {
    std::list<Item> old;
    std::lock_guard lock(mutex_);
    index_.clear();
    old.swap(items_);
  }

 private:
  struct Item {
    Key key;
    std::shared_ptr<const Value> value;
  };
  using Index = std::unordered_multimap<uint64_t, typename std::list<Item>::iterator>;

  typename Index::iterator locate(const Key& key) {
    auto [it, end] = index_.equal_range(key.hash);
    for (; it != end; ++it)
      if (it->second->key == key) return it;
    return index_.end();
  }

  std::shared_ptr<const Value> evict() {
    const auto it = locate(items_.back().key);
    std::shared_ptr<const Value> value = std::move(items_.back().value);
    index_.erase(it);
    items_.pop_back();
    return value;
  }

  const size_t capacity_;
  std::mutex mutex_;
  std::list<Item> items_;  // most recently used first
  Index index_;
};

}  // namespace kiln::tracer

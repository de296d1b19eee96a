// Pools of the objects that recording makes: a free list per thread, refilled from and drained to a
// shared one. Memory of a pool stays an object of its type for ever, so that a stale pointer may
// still be asked whether it is stale.
#pragma once

#include <mutex>
#include <vector>

namespace kiln::tracer {

/// T has a member `T* next_free`. Objects are made by T() once and recycled as they were released.
template <class T>
class Pool {
 public:
  static T* take() {
    Local& l = local;
    if (!l.head) [[unlikely]]
      refill(l);
    T* object = l.head;
    l.head = object->next_free;
    --l.count;
    return object;
  }

  static void give(T* object) {
    Local& l = local;
    object->next_free = l.head;
    l.head = object;
    if (++l.count >= 2 * batch || l.ending) [[unlikely]]
      drain(l);
  }

 private:
  static constexpr int batch = 512;

  struct Local {
    T* head = nullptr;
    int count = 0;
    bool watched = false;  // the thread's end gives the list back
    bool ending = false;
  };
  struct Chain {
    T* head;
    int count;
  };
  struct Shared {
    std::mutex mutex;
    std::vector<Chain> chains;
    std::vector<T*> slabs;  // keeps them reachable
  };

  static Shared& shared() {
    static Shared& s = *new Shared;  // never destroyed: objects may outlive main
    return s;
  }

  struct Watch {
    ~Watch() {
      Local& l = local;
      l.ending = true;
      if (l.head) drain(l);
    }
  };

  static void refill(Local& l) {
    if (!l.watched) {
      thread_local Watch watch;
      (void)watch;
      l.watched = true;
    }
    Shared& s = shared();
    {
      std::lock_guard lock(s.mutex);
      if (!s.chains.empty()) {
        l.head = s.chains.back().head;
        l.count = s.chains.back().count;
        s.chains.pop_back();
        return;
      }
    }
    constexpr int slab = batch / 4;
    T* objects = new T[slab];
    {
      std::lock_guard lock(s.mutex);
      s.slabs.push_back(objects);
    }
    for (int i = 0; i < slab; ++i) objects[i].next_free = i + 1 < slab ? &objects[i + 1] : nullptr;
    l.head = objects;
    l.count = slab;
  }

  static void drain(Local& l) {
    Shared& s = shared();
    Chain chain{l.head, 0};
    T* last = l.head;
    chain.count = 1;
    while (last->next_free && (chain.count < batch || l.ending)) {
      last = last->next_free;
      ++chain.count;
    }
    l.head = last->next_free;
    l.count -= chain.count;
    last->next_free = nullptr;
    std::lock_guard lock(s.mutex);
    s.chains.push_back(chain);
  }

  static constinit thread_local Local local;
};

template <class T>
constinit thread_local typename Pool<T>::Local Pool<T>::local{};

}  // namespace kiln::tracer

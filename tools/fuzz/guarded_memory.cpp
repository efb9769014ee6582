#include "fuzz/guarded_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <map>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

namespace tilewright::fuzz {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t page_size() {
  static const int64_t size = sysconf(_SC_PAGESIZE);
  return size;
}

// Mappings are kept for the next of their size: making one takes longer than running a small kernel.
static std::multimap<int64_t, std::byte*>& idle_mappings() {
  static std::multimap<int64_t, std::byte*> mappings;
  return mappings;
}

GuardedMemory::GuardedMemory(int64_t bytes, int64_t alignment, Guard guard) : bytes_(bytes) {
  page_bytes_ = 4 * page_size();
  while (page_bytes_ < bytes + 2 * alignment) page_bytes_ *= 2;
  if (auto idle = idle_mappings().find(page_bytes_); idle != idle_mappings().end()) {
    pages_ = idle->second;
    idle_mappings().erase(idle);
  } else {
    int64_t all = page_bytes_ + 2 * page_size();
    void* mapping = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) throw std::runtime_error(fmt::format("cannot map {} bytes", all));
    pages_ = static_cast<std::byte*>(mapping) + page_size();
    if (mprotect(pages_, page_bytes_, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect failed");
  }
  if (guard == Guard::before) {
    data_ = pages_;
  } else {
    auto last = reinterpret_cast<uintptr_t>(pages_ + page_bytes_ - bytes);
    data_ = reinterpret_cast<std::byte*>(last / alignment * alignment);
  }
}

GuardedMemory::~GuardedMemory() { idle_mappings().emplace(page_bytes_, pages_); }

std::string GuardedMemory::describe(const void* address) const {
  auto at = static_cast<const std::byte*>(address);
  if (at < pages_ - page_size() || at >= pages_ + page_bytes_ + page_size()) return "";
  if (at < data_) return fmt::format("{} bytes before its begin", data_ - at);
  if (at >= data_ + bytes_) return fmt::format("{} bytes past its end", at - (data_ + bytes_));
  return fmt::format("at its byte {}", at - data_);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static constexpr int64_t kWatched = 512; // bytes on either side
static constexpr std::byte kPattern{0xb3};

GuardedArray::GuardedArray(const Array& source, int64_t alignment, Guard guard, std::string name)
    : name_(std::move(name)) {
  int64_t reach = 0, element = size_in_bytes(source.dtype());
  for (int dim = 0; dim < source.rank(); ++dim)
    reach += std::max<int64_t>(source.size(dim) - 1, 0) * source.stride(dim);
  int64_t bytes = source.numel() == 0 ? 0 : (reach + 1) * element;
  memory_ = std::make_unique<GuardedMemory>(bytes, std::max(alignment, element), guard);
  array_ = Array::from_pointer(memory_->data(), source.sizes(), source.strides(), source.dtype());

  window_ = std::max(memory_->begin(), memory_->data() - kWatched);
  std::byte* window_end = std::min(memory_->end(), memory_->data() + bytes + kWatched);
  std::fill(window_, window_end, kPattern);
  is_element_.resize(window_end - window_);
  std::vector<int64_t> index(source.rank());
  auto mark = [&](auto&& self, int dim, int64_t offset) -> void {
    if (dim == source.rank()) {
      auto first = is_element_.begin() + (memory_->data() - window_) + offset * element;
      std::fill(first, first + element, true);
      std::memcpy(memory_->data() + offset * element, static_cast<std::byte*>(source.data()) + offset * element,
                  element);
      return;
    }
    for (int64_t i = 0; i < source.size(dim); ++i) self(self, dim + 1, offset + i * source.stride(dim));
  };
  mark(mark, 0, 0);
  before_.assign(window_, window_end);
}

std::string GuardedArray::damage(bool elements_may_change) const {
  for (size_t i = 0; i < before_.size(); ++i) {
    if (window_[i] == before_[i] || (elements_may_change && is_element_[i])) continue;
    return fmt::format("{} was overwritten {}{}", name_, memory_->describe(window_ + i),
                       is_element_[i] ? ", an element that the kernel does not store to" : ", where no element is");
  }
  return "";
}

std::string GuardedArray::describe(const void* address) const {
  std::string where = memory_->describe(address);
  return where.empty() ? "" : fmt::format("{}, {}", name_, where);
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF};
static sigjmp_buf return_point;
static volatile sig_atomic_t in_generated_code = 0;
static const void* volatile fault_address = nullptr;

static void on_signal(int signal, siginfo_t* info, void*) {
  if (in_generated_code) {
    fault_address = info->si_addr;
    siglongjmp(return_point, signal);
  }
  // Ours, and not the generated code's: whoever watches this process sees it end.
  std::signal(signal, SIG_DFL);
  raise(signal);
}

static void install_handlers() {
  alignas(16) static std::byte stack[64 << 10];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : kSignals) sigaction(signal, &action, nullptr);
}

std::string run_generated(const std::function<void()>& generated,
                          const std::function<std::string(const void*)>& where) {
  static const bool installed = (install_handlers(), true);
  (void)installed;
  itimerval limit{}, none{};
  limit.it_value.tv_sec = 10;
  int signal = sigsetjmp(return_point, /*savemask=*/1);
  if (signal == 0) {
    setitimer(ITIMER_PROF, &limit, nullptr);
    in_generated_code = 1;
    generated();
  }
  in_generated_code = 0;
  setitimer(ITIMER_PROF, &none, nullptr);
  switch (signal) {
  case 0: return "";
  case SIGPROF: return "it does not end";
  case SIGFPE: return "it stops with SIGFPE, as an integer division by zero does";
  case SIGILL: return "it stops with SIGILL: no such instruction";
  default: return "access violation " + where(fault_address);
  }
}

} // namespace tilewright::fuzz

// SPDX-License-Identifier: MIT
#include "base/mapped_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

#include <sys/mman.h>
#include <unistd.h>

namespace nsys {
namespace {

// A mapping as the signal handler sees it. `begin` is set last and cleared first.
struct Entry {
  std::atomic<bool> taken = false;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> shrunk = false;
};

constexpr size_t kMostMappings = 64;
std::array<Entry, kMostMappings> g_entries;
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

struct sigaction g_before{};  // what SIGBUS did; set once, before any entry is
uintptr_t g_page_bytes = 0;   // likewise

// The mapping that `address` lies in, or nullptr.
Entry* Find(uintptr_t address) {
  for (Entry& entry : g_entries) {
    const uintptr_t begin = entry.begin.load();
    if (begin != 0 && begin <= address && address < entry.end.load()) {
      return &entry;
    }
  }
  return nullptr;
}

// Calls nothing but mmap and sigaction, which are plain system calls.
extern "C" void OnLostPage(int signal_number, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  // Only a fault has an address; a signal that was sent has none.
  Entry* const entry = info->si_code == BUS_ADRERR ? Find(address) : nullptr;
  if (entry != nullptr) {
    entry->shrunk.store(true);
    void* const page = static_cast<char*>(info->si_addr) - (address & (g_page_bytes - 1));
    if (mmap(page, g_page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
      return;
    }
  }
  // The access, or whoever sent the signal, finds what was there before.
  sigaction(signal_number, &g_before, nullptr);
  if (info->si_code <= 0) {
    raise(signal_number);  // delivered on return
  }
}

void InstallHandler() {
  static const bool kInstalled = [] {
    g_page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = OnLostPage;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, nullptr, &g_before) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  static_cast<void>(kInstalled);
}

// A free entry, or kMostMappings.
size_t TakeEntry() {
  for (size_t i = 0; i < kMostMappings; ++i) {
    if (!g_entries[i].taken.exchange(true)) {
      return i;
    }
  }
  return kMostMappings;
}

}  // namespace

MappedFile::MappedFile(int fd, size_t bytes) : size_(bytes) {
  InstallHandler();
  entry_ = TakeEntry();
  if (entry_ == kMostMappings) {
    return;
  }
  Entry& entry = g_entries[entry_];
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    entry.taken = false;
    return;
  }
  bytes_ = static_cast<const uint8_t*>(mapped);
  entry.shrunk = false;
  entry.end = reinterpret_cast<uintptr_t>(bytes_) + bytes;
  entry.begin = reinterpret_cast<uintptr_t>(bytes_);
}

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) {
    g_entries[entry_].begin = 0;
    munmap(const_cast<uint8_t*>(bytes_), size_);
    g_entries[entry_].taken = false;
  }
}

void MappedFile::Release(size_t begin, size_t end) const {
  const size_t first = (begin + g_page_bytes - 1) / g_page_bytes * g_page_bytes;
  const size_t last = std::min(end, size_) / g_page_bytes * g_page_bytes;
  if (is_mapped() && first < last) {
    madvise(const_cast<uint8_t*>(bytes_) + first, last - first, MADV_DONTNEED);
  }
}

bool MappedFile::shrunk() const { return is_mapped() && g_entries[entry_].shrunk; }

}  // namespace nsys

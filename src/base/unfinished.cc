// SPDX-License-Identifier: MIT
#include "base/unfinished.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

namespace nsys {
namespace {

constexpr size_t kSlots = 32;
constexpr size_t kSlotBytes = 4096;  // the longest path there is
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> filled{false};
  char path[kSlotBytes] = {};
};
std::array<Slot, kSlots> g_slots;

std::atomic<int> g_holds{0};
std::atomic<int> g_held_signal{0};

void RemoveFolder(const char* path) noexcept {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", path, static_cast<char*>(nullptr));
    _exit(127);
  }
  if (child > 0) {
    waitpid(child, nullptr, 0);
  }
}

}  // namespace

Unfinished::Unfinished(const std::string& path) : slot_(-1) {
  if (path.size() >= kSlotBytes) {
    return;
  }
  for (size_t i = 0; i < kSlots; ++i) {
    if (!g_slots[i].taken.exchange(true)) {
      std::memcpy(g_slots[i].path, path.c_str(), path.size() + 1);
      g_slots[i].filled.store(true);
      slot_ = static_cast<int>(i);
      return;
    }
  }
}

Unfinished::~Unfinished() {
  if (slot_ >= 0) {
    g_slots[static_cast<size_t>(slot_)].filled.store(false);
    g_slots[static_cast<size_t>(slot_)].taken.store(false);
  }
}

void RemoveUnfinished() noexcept {
  for (const Slot& slot : g_slots) {
    if (!slot.filled.load()) {
      continue;
    }
    // Linux says EISDIR for a folder, POSIX EPERM.
    if (unlink(slot.path) != 0 && (errno == EISDIR || errno == EPERM)) {
      RemoveFolder(slot.path);
    }
  }
}

HoldSignals::HoldSignals() { g_holds.fetch_add(1); }

HoldSignals::~HoldSignals() {
  if (g_holds.fetch_sub(1) != 1) {
    return;
  }
  const int held = g_held_signal.exchange(0);
  if (held != 0) {
    std::raise(held);
  }
}

bool HoldSignal(int signal_number) noexcept {
  if (g_holds.load() == 0) {
    return false;
  }
  g_held_signal.store(signal_number);
  return true;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "ingest/nsys_tool.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "ingest/file_kind.h"

namespace nsys {
namespace {

namespace fs = std::filesystem;

std::atomic<pid_t> running_child{0};

#if defined(__aarch64__)
constexpr std::string_view kTargetFolder = "/target-linux-sbsa-armv8/";
#else
constexpr std::string_view kTargetFolder = "/target-linux-x64/";
#endif

bool IsProgram(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// By the numbers in the path: 2024.10 is newer than 2024.9.
std::string Newest(const std::vector<std::string>& paths) {
  const auto newest =
      std::max_element(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
        return strverscmp(a.c_str(), b.c_str()) < 0;
      });
  return newest == paths.end() ? std::string() : *newest;
}

// The newest `nsys` for this kind of machine below `folder`.
std::string NewestBelow(const std::string& folder) {
  constexpr int kMaxDepth = 4;
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() >= kMaxDepth) {
      entry.disable_recursion_pending();
    }
    const std::string path = entry->path().string();
    const bool fits = path.find(kTargetFolder) != std::string::npos;
    if (fits && entry->path().filename() == "nsys" && IsProgram(path)) {
      found.push_back(path);
    }
  }
  return Newest(found);
}

std::string NewestOfCudaToolkits(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("cuda")) {
      continue;
    }
    const std::string path = (entry->path() / "bin" / "nsys").string();
    if (IsProgram(path)) {
      found.push_back(path);
    }
  }
  return Newest(found);
}

std::string FindInPath(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view folder = rest.substr(0, colon);
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (IsProgram(path)) {
      return path;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

int Wait(pid_t child) {
  int status = 0;
  pid_t waited = -1;
  do {
    waited = waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  running_child.store(0);
  if (waited < 0) {
    return 127;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<std::string> FindNamedNsys(const std::string& origin, const std::string& name) {
  const std::string path = name.find('/') == std::string::npos ? FindInPath(name) : name;
  if (IsProgram(path)) {
    return path;
  }
  return Error{.code = ErrorCode::kExportToolMissing,
               .message = fmt::format("{}{} is not an executable", origin, ShownPath(name)),
               .hint = origin.starts_with('-') ? "name the path of nsys, or leave the option out"
                                               : "set NSYS to the path of nsys, or unset it"};
}

Result<std::string> FindNsys(const std::string& root) {
  const char* named = std::getenv("NSYS");
  if (named != nullptr && *named != '\0') {
    return FindNamedNsys("NSYS=", named);
  }
  std::string path = NewestBelow(root + "/opt/nvidia/nsight-systems");
  if (path.empty()) {
    path = NewestOfCudaToolkits(root + "/usr/local");
  }
  if (path.empty()) {
    path = NewestBelow(root + "/usr/lib/nsight-systems");
  }
  if (path.empty()) {
    path = FindInPath("nsys");
  }
  return path;
}

int RunLogged(const std::vector<std::string>& arguments, const std::string& log,
              const std::string& folder) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A process group of its own, so that what nsys starts can be ended with it; and signals held
  // back until the group is known to the handler, but not in the child.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  posix_spawnattr_setsigmask(&attributes, &old);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  if (error == 0) {
    running_child.store(child);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return 127;
  }
  return Wait(child);
}

void KillRunningChild() noexcept {
  const pid_t child = running_child.load();
  if (child > 0) {
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);  // so that nothing is written any more when the folder goes
  }
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// The vendor's command `nsys`: where it is, and running it. No shell is involved.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace nsys {

// The program to run. In this order: $NSYS; the newest under /opt/nvidia/nsight-systems; the CUDA
// toolkits under /usr/local; /usr/lib/nsight-systems; PATH. `root` stands before the fixed folders.
// An empty text when there is none; an error when $NSYS is not an executable.
Result<std::string> FindNsys(const std::string& root = "");

// The program that `name` stands for: a path, or a word to look up in PATH. The error says where
// the name came from: `origin` is "NSYS=" or an option.
Result<std::string> FindNamedNsys(const std::string& origin, const std::string& name);

// Runs `arguments` (the program first) with stdin closed and all output in the file `log`, and
// waits. With `folder`, it runs in there; the paths must then be absolute. The exit status, 128 +
// signal, or 127 when it could not start.
int RunLogged(const std::vector<std::string>& arguments, const std::string& log,
              const std::string& folder = "");

// Kills the program that RunLogged waits for, if any. Safe in a signal handler.
void KillRunningChild() noexcept;

}  // namespace nsys

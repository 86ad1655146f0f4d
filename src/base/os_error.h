// SPDX-License-Identifier: MIT
// Errors of the system that say nothing about the file at hand: the process has no more of
// something.
#pragma once

#include <string>
#include <string_view>

namespace nsys {

// Whether `error`, a value of errno, says that the process or the system may open no more files.
bool IsOutOfFiles(int error);

// Whether a message of a library says so.
bool TellsOfOutOfFiles(std::string_view message);

// What to do then.
std::string OutOfFilesHint();

// What to do about `error`, a value of errno: OutOfFilesHint() where it applies, else `otherwise`.
std::string HintFor(int error, std::string_view otherwise);

}  // namespace nsys

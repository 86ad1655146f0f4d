// SPDX-License-Identifier: MIT
// Errors of the system that say nothing about the file at hand: the process has no more of
// something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nsys {

// Whether `error`, a value of errno, says that the process or the system may open no more files.
bool IsOutOfFiles(int error);

// Whether a message of a library says so.
bool TellsOfOutOfFiles(std::string_view message);

// What to do then.
std::string OutOfFilesHint();

// Whether a message of a library says that memory ended.
bool TellsOfOutOfMemory(std::string_view message);

// What to do then.
std::string OutOfMemoryHint();

// How many more bytes this process may map under a limit of its address space; nothing when there
// is no limit.
std::optional<int64_t> AddressSpaceLeft();

// What to do about `error`, a value of errno: OutOfFilesHint() where it applies, else `otherwise`.
std::string HintFor(int error, std::string_view otherwise);

}  // namespace nsys

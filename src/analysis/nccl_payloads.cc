// SPDX-License-Identifier: MIT
#include "analysis/nccl_payloads.h"

#include <array>
#include <string>

#include "trace/nvtx_payload.h"

namespace nsys {
namespace {

enum class Role {
  kNone,
  kCommunicator,
  kMessageBytes,
  kRanks,
  kRank,
  kCudaDevice,
  kPeer,
  kRoot,
  kReduction
};

Role RoleOf(std::string_view field_name) {
  const std::string name = NormalFieldName(field_name);
  const auto holds = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (holds("communicatorid")) {
    return Role::kCommunicator;
  }
  if (holds("messagesize")) {
    return Role::kMessageBytes;
  }
  if (holds("noofranks")) {
    return Role::kRanks;
  }
  if (holds("cudadevice")) {
    return Role::kCudaDevice;
  }
  if (holds("reductionoperation")) {
    return Role::kReduction;
  }
  if (holds("peerrank")) {
    return Role::kPeer;
  }
  if (name == "rank") {
    return Role::kRank;
  }
  return name == "root" ? Role::kRoot : Role::kNone;
}

// ncclRedOp_t; operations of the user's own have larger numbers.
std::string_view ReductionName(uint64_t number) {
  constexpr std::array<std::string_view, 5> kNames = {"Sum", "Product", "Max", "Min", "Avg"};
  return number < kNames.size() ? kNames[number] : "user-defined";
}

// No message is larger than the memory of a GPU; more is damage.
std::optional<int64_t> SaneBytes(uint64_t bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  return bytes <= kMost ? std::optional(static_cast<int64_t>(bytes)) : std::nullopt;
}

void SetField(Role role, uint64_t value, NcclPayload& to) {
  const auto number = static_cast<int64_t>(value);
  switch (role) {
    case Role::kCommunicator:
      to.communicator = value;
      break;
    case Role::kMessageBytes:
      to.message_bytes = SaneBytes(value);
      break;
    case Role::kRanks:
      to.ranks = number;
      break;
    case Role::kRank:
      to.rank = number;
      break;
    case Role::kCudaDevice:
      to.cuda_device = number;
      break;
    case Role::kPeer:
      to.peer = number;
      break;
    case Role::kRoot:
      to.root = number;
      break;
    case Role::kReduction:
      to.reduction = ReductionName(value);
      break;
    case Role::kNone:
      break;
  }
}

}  // namespace

NcclPayloads::NcclPayloads(const Trace& trace) {
  const std::vector<PayloadSchema>& schemas = trace.payload_schemas;
  std::vector<std::vector<Role>> roles(schemas.size());
  for (size_t i = 0; i < schemas.size(); ++i) {
    for (const PayloadField& field : schemas[i].fields) {
      roles[i].push_back(RoleOf(field.name));
    }
  }
  const PayloadReader reader(schemas);
  decoded_.reserve(trace.payloads.size());
  for (const std::string& payload : trace.payloads) {
    const std::string bytes = PayloadBytes(payload);
    const std::optional<PayloadBody> body = reader.Open(bytes);
    if (!body) {
      decoded_.emplace_back();
      continue;
    }
    NcclPayload decoded;
    decoded.schema = body->schema;
    for (size_t field = 0; field < roles[body->schema].size(); ++field) {
      if (const auto value = reader.Field(*body, field)) {
        SetField(roles[body->schema][field], *value, decoded);
      }
    }
    decoded_.emplace_back(decoded);
  }
}

std::string_view NcclSchemaCategory(const PayloadSchema& schema) {
  bool ranks = false;
  bool bytes = false;
  bool peer = false;
  for (const PayloadField& field : schema.fields) {
    const Role role = RoleOf(field.name);
    ranks = ranks || role == Role::kRanks;
    bytes = bytes || role == Role::kMessageBytes;
    peer = peer || role == Role::kPeer;
  }
  if (ranks) {
    return "init";
  }
  if (!bytes) {
    return "group_marker";
  }
  return peer ? "p2p" : "collective";
}

const NcclPayloads& NcclPayloadsOf(Views& views) {
  return views.Once<NcclPayloads>({}, [&] { return NcclPayloads(views.trace()); });
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// At which depth of the annotation the layers of a model stand, inferred from the labels.
//
// Labels are counted over the distinct paths that launched kernels, as normal labels, so that ids
// of single ranges make no layers. The depth with most distinct numbered labels wins ("layer_3",
// "blocks[3]", "encoder.3.mlp"; numbers of iterations do not count), else the depth with most
// labels that stand on two paths or more, which are operations and no layers. Both need two labels;
// of equal depths the outer one wins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/views.h"

namespace nsys {

struct LayerDetection {
  std::string_view method;         // numbered_pattern, repeated_siblings or fallback_top_level
  std::string_view grouping;       // layer, operation or flat
  double confidence = 0;           // numbered: names / 3, at most 1; repeated: 0.6; else 0.2
  std::optional<uint32_t> depth;   // nothing when flat
  std::set<StringId> labels;       // the normal labels at `depth` that were found, ids of labels()
  std::vector<std::string> names;  // their texts, ascending
  // When flat: per depth of a whole path, at most three of its last texts, ascending; five depths.
  std::map<uint32_t, std::vector<std::string>> samples;
  std::vector<uint32_t> depths;  // when flat: of all whole paths, ascending

  bool found_layers() const { return grouping == "layer"; }
};

// `paths` with normal labels; `is_whole` says of each node whether kernels have just this path.
LayerDetection DetectLayers(Views& views, const PathTree& paths,
                            const std::vector<uint8_t>& is_whole);

// Whether a label names one of several numbered things of a model.
bool IsNumberedLabel(std::string_view label);

}  // namespace nsys

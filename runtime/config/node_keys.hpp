#pragma once

#include "runtime/config/field.hpp"

#include <thalweg/config.hpp>

#include <span>
#include <string>
#include <string_view>

/// The keys of a [[node]] block, of which a job file has any number: what schema.hpp is to the sections.
namespace thalweg::config {

struct NodeKey {
  std::string_view name;
  std::string_view comment;
  Field (*field)(Config::Node&);
  FieldRule rule = {};
};

constexpr std::string_view node_section = "node";

/// All of them, in the order in which they are printed.
std::span<const NodeKey> node_keys();

/// Null when there is no such key.
const NodeKey* find_node_key(std::string_view name);

/// What to tell somebody who wrote a key that does not exist.
std::string unknown_node_key(std::string_view name);

/// The blocks as they stand in a job file; without any, one that is commented out.
std::string nodes_text(std::span<const Config::Node> nodes);

}  // namespace thalweg::config

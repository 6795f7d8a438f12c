#pragma once

#include <filesystem>

/// What a node proves who it is with: PEM files, as `thalweg keys` makes them.
namespace thalweg::net {

struct Credentials {
  std::filesystem::path authority;    ///< certificate of the cluster's authority (ca.pem)
  std::filesystem::path certificate;  ///< this node's, signed by it (node.pem)
  std::filesystem::path key;          ///< this node's private key (node.key), readable by its owner only
};

}  // namespace thalweg::net

#pragma once

#include "actors/status_json.hpp"
#include "runtime/net/http_server.hpp"

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What a run answers browsers and Prometheus while it goes on: `/`, `/status.json`, `/metrics`, `/healthz`
/// and
/// `/timeline`. On the HTTP server's thread.
namespace thalweg::actors {

class LiveEndpoint {
 public:
  struct Options {
    const RunStatus* status = nullptr;           ///< outlives this, as the next
    std::function<std::vector<Wait>()> waits;    ///< of the root's node
    std::function<std::string()> timeline = {};  ///< a page; empty: there is none
  };

  void begin(Options options) { options_ = std::move(options); }
  /// What the registrar says of all nodes, a few times a second. Any thread.
  void publish(std::string status) {
    const std::lock_guard lock(mutex_);
    published_ = std::move(status);
  }
  net::HttpResponse answer(std::string_view path) {
    if (path == "/") return {200, "text/html; charset=utf-8", live_page()};
    if (path == "/healthz") return {200, "text/plain; charset=utf-8", "ok\n"};
    if (path == "/metrics") {
      return {200, "text/plain; version=0.0.4; charset=utf-8",
              metrics_text(*options_.status, options_.waits())};
    }
    if (path == "/status.json") {
      const std::lock_guard lock(mutex_);
      return {200, "application/json",
              published_.empty() ? status_json(*options_.status, nullptr, options_.waits()) : published_};
    }
    if (path == "/timeline" && options_.timeline)
      return {200, "text/html; charset=utf-8", options_.timeline()};
    return {404, "text/plain; charset=utf-8",
            "there are /, /status.json, /metrics, /healthz and /timeline\n"};
  }

 private:
  Options options_;
  std::mutex mutex_;
  std::string published_;
};

}  // namespace thalweg::actors

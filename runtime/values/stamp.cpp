#include "runtime/values/stamp.hpp"

#include <algorithm>

namespace thalweg {

std::string kind_name(MessageKind kind) {
  switch (kind) {
    case MessageKind::none:
      return "none";
    case MessageKind::contribution:
      return "contribution";
    case MessageKind::parameters:
      return "parameters";
    case MessageKind::batch:
      return "batch";
    case MessageKind::want_batch:
      return "want_batch";
    case MessageKind::lease:
      return "lease";
    case MessageKind::step_done:
      return "step_done";
    case MessageKind::fold_done:
      return "fold_done";
    case MessageKind::committed:
      return "committed";
    case MessageKind::evaluate:
      return "evaluate";
    case MessageKind::evaluation:
      return "evaluation";
    case MessageKind::hello:
      return "hello";
    case MessageKind::roster:
      return "roster";
    case MessageKind::stop:
      return "stop";
    case MessageKind::stopped:
      return "stopped";
    case MessageKind::finished:
      return "finished";
    case MessageKind::failed:
      return "failed";
    case MessageKind::closing:
      return "closing";
    case MessageKind::tick:
      return "tick";
    case MessageKind::round_closed:
      return "round_closed";
    case MessageKind::data_spent:
      return "data_spent";
    case MessageKind::left:
      return "left";
    case MessageKind::departed:
      return "departed";
    case MessageKind::checkpoint:
      return "checkpoint";
    case MessageKind::best:
      return "best";
    case MessageKind::checkpoint_done:
      return "checkpoint_done";
    case MessageKind::progress:
      return "progress";
    case MessageKind::pull:
      return "pull";
    case MessageKind::slowest:
      return "slowest";
    case MessageKind::served:
      return "served";
    case MessageKind::fenced:
      return "fenced";
    case MessageKind::drained:
      return "drained";
    case MessageKind::joined:
      return "joined";
    case MessageKind::arrived:
      return "arrived";
    case MessageKind::add_worker:
      return "add_worker";
    case MessageKind::apply:
      return "apply";
    case MessageKind::admit:
      return "admit";
    case MessageKind::refuse:
      return "refuse";
    case MessageKind::host:
      return "host";
    case MessageKind::ready:
      return "ready";
    case MessageKind::heartbeat:
      return "heartbeat";
    case MessageKind::leave:
      return "leave";
    case MessageKind::hosted:
      return "hosted";
    case MessageKind::dismiss:
      return "dismiss";
    case MessageKind::met:
      return "met";
    case MessageKind::parted:
      return "parted";
    case MessageKind::assembled:
      return "assembled";
    case MessageKind::fetch:
      return "fetch";
    case MessageKind::holding:
      return "holding";
    case MessageKind::inquire:
      return "inquire";
    case MessageKind::report:
      return "report";
    case MessageKind::paused:
      return "paused";
  }
  return "kind-" + std::to_string(static_cast<unsigned>(kind));
}

std::string MessageId::text() const {
  return "n" + std::to_string(node().value) + ".a" + std::to_string(actor().value) + "." +
         std::to_string(counter());
}

std::uint64_t LogicalClock::tick(std::uint64_t wall_us) {
  last_ = std::max(wall_us << 12, last_ + 1);
  return last_;
}

void LogicalClock::observe(std::uint64_t hlc) { last_ = std::max(last_, hlc); }

}  // namespace thalweg

#include "actors/host.hpp"

#include "actors/middleman.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::actors {

using Seat = rules::Placement::Seat;

namespace {

/// Waits that a sign of life tells of: the longest.
constexpr std::size_t waits_told_max = 64;

}  // namespace

HostHandle::behavior_type HostState::start(Options options) {
  options_.emplace(std::move(options));
  self_->name_is("host");
  self_->set_down_handler([this](const caf::down_msg& down) { gone(down); });
  began_ = heard_ = self_->clock().now();
  self_->tell_later(HostHandle(self_), silence_.check_every(), Tick{});
  return {
      [this](const Stamp&, const Admit& admit) { admitted(admit); },
      [this](const Stamp&, const Refuse& refused) {
        end(Error{ErrorCode::failed, refused.why});
      },
      [this](const Stamp&, const Host& message) {
        heard_ = self_->clock().now();
        host(message);
      },
      [this](const Stamp&, const Fetch& wanted) {
        heard_ = self_->clock().now();
        fetch(wanted.version);
      },
      [this](const Stamp&, const Dismiss& message) { dismiss(message); },
      [this](const Stamp&, const Heartbeat&) { heard_ = self_->clock().now(); },
      [this](const Stamp& stamp, const Stop&) {
        const bool own = stamp.id.node() == self_->context().node;
        if (own && registrar_ && ready_) self_->tell(registrar_, Leave{"it was told to"});
        end({});
      },
      [this](const Stamp&, const Failed& message) {
        if (stopping_) return;
        say(message.who + ": " + message.why);
        self_->tell(registrar_, message);
      },
      [this](const Stamp&, const Stopped& last_words) {
        if (registrar_) self_->tell(registrar_, last_words);
      },
      [this](const Stamp&, const Assembled& message) { assembled(message); },
      [this](const Stamp&, const Met& message) { met(message); },
      [this](const Stamp&, const Parted& message) { parted(message); },
      [this](const Stamp&, const Tick&) { tick(); },
  };
}

void HostState::say(const std::string& line) const {
  if (options_->note) options_->note(line);
}

// -- being let in
// --------------------------------------------------------------------------------------------------

/// A node that has been in a run takes part in no other, and follows no root but those after the one that it
/// followed last.
void HostState::admitted(const Admit& admit) {
  heard_ = self_->clock().now();
  if (stopping_) return;
  const auto before = options_->held->run();
  if (!before.empty() && before != admit.run) {
    return end(Error{ErrorCode::failed, fmt::format("another run is there now: {}, not {}",
                                                    admit.run.substr(0, 8), before.substr(0, 8))});
  }
  if (admit.term < options_->held->term()) {
    return end(Error{ErrorCode::failed,
                     fmt::format("an older root is there: of term {}, and this node has followed term {}",
                                 admit.term, options_->held->term())});
  }
  options_->held->follow(admit.run, admit.term);
  admission_ = admit;
  if (options_->admitted) std::exchange(options_->admitted, nullptr)(admit);
  options_->in_thread([assemble = options_->assemble, admit, here = HostHandle(self_),
                       stamp = self_->stamp_for<Assembled>(),
                       &context = self_->context()] { post(context, "host", here, stamp, assemble(admit)); });
}

void HostState::met(const Met& message) {
  (message.data ? connected_ : reached_).insert(message.peer);
  if (!root_ && !message.data) {
    // The first one is whom this node has dialled.
    root_ = message.peer;
    auto& post = *options_->post;
    for (const auto at : {supervisor_at(root_->node), scheduler_at(), root_at()}) {
      post.directory().route(at, *root_);
    }
    registrar_ = post.stand_in<RegistrarHandle>(supervisor_at(root_->node));
    scheduler_ = post.stand_in<SchedulerHandle>(scheduler_at());
    root_handle_ = post.stand_in<AggregatorHandle>(root_at());
    self_->tell(registrar_, options_->application);
  }
  set_up_what_is_reached();
  send_held_if_reached();
}

void HostState::fetch(Version version) {
  if (stopping_ || !assembly_) return;
  fetched_ = version;
  if (!connected_.contains(*root_)) {
    options_->post->exchange().connect(*root_, endpoints_of(admission_->data));
  }
  send_held_if_reached();
}

void HostState::send_held_if_reached() {
  if (!fetched_ || !root_ || !connected_.contains(*root_)) return;
  const auto held = options_->held->newest();
  const auto wanted = *std::exchange(fetched_, std::nullopt);
  if (!held || held->version() < wanted) return;
  say(fmt::format("the root goes on from version {}, which this node holds", held->version().value));
  self_->tell(registrar_, Holding{*held});
}

void HostState::parted(const Parted& message) {
  (message.data ? connected_ : reached_).erase(message.peer);
  if (root_ == message.peer) {
    return end(Error{ErrorCode::unreachable, "the root is lost: " + message.why});
  }
  if (stopping_) return;
  say(fmt::format("node n{} is lost: {}", message.peer.node.value, message.why));
}

void HostState::assembled(const Assembled& message) {
  if (stopping_) return quit_if_all_stopped();
  Ready ready;
  ready.failure = message.failure;
  if (message.assembly) {
    assembly_ = message.assembly;
    silence_ = {assembly_->config.net.silence};
    ready.model = model_hash(*assembly_);
    auto data = options_->open_data(*admission_, *assembly_);
    if (data) {
      ready.data = *data;
    } else {
      ready.failure = data.error().text;
    }
  }
  ready_ = ready.failure.empty();
  heard_ = self_->clock().now();
  self_->tell(registrar_, std::move(ready));
}

// -- hosting
// -------------------------------------------------------------------------------------------------------

void HostState::host(const Host& message) {
  if (stopping_ || !assembly_) return;
  const auto here = self_->context().node;
  auto& directory = options_->post->directory();
  std::map<NodeNumber, const Host::Node*> nodes;
  for (const auto& node : message.nodes) nodes[node.node] = &node;
  const auto where = [&](MemberId member) -> std::optional<NodeNumber> {
    if (member == root_id()) return root_->node;
    for (const auto* seats : {&message.seats, &message.above}) {
      for (const auto& seat : *seats) {
        if (seat.member == member) return seat.node;
      }
    }
    return std::nullopt;
  };
  Pending pending{message, {}, {}};
  // Of two nodes that each lead members of the other, the lower number dials.
  std::set<NodeNumber> above, below;
  for (const auto& seat : message.seats) {
    const auto parent = where(seat.parent);
    if (!parent || *parent == seat.node) continue;
    if (seat.node == here) above.insert(*parent);
    if (*parent == here) below.insert(seat.node);
    for (const auto& [member, node] : {std::pair(seat.member, seat.node), std::pair(seat.parent, *parent)}) {
      const auto found = nodes.find(node);
      if (found != nodes.end() && node != here) {
        directory.route(address_of(member), {node, found->second->incarnation});
      }
    }
  }
  for (const auto& [number, node] : nodes) {
    if (number == here) continue;
    const bool up = above.contains(number), down = below.contains(number);
    if (!up && !down) continue;
    connect(*node, up && (!down || here < number), pending);
  }
  if (above.contains(root_->node)) {
    // The root's data plane: its postman was met long ago.
    Host::Node root{root_->node, root_->incarnation, {}, admission_->data};
    connect(root, true, pending);
  }
  pending_.push_back(std::move(pending));
  set_up_what_is_reached();
}

void HostState::connect(const Host::Node& node, bool dials, Pending& pending) {
  const net::PeerId peer{node.node, node.incarnation};
  if (!reached_.contains(peer)) {
    pending.control.insert(peer);
    if (dials) {
      dial(options_->post->system(), options_->post->postman(), endpoints_of(node.control),
           silence_.tolerance, [this_note = options_->note](const Error& error) {
             if (this_note) this_note("a neighbour is not reached: " + error.text);
           });
    }
  }
  if (!connected_.contains(peer)) {
    pending.data.insert(peer);
    if (dials) options_->post->exchange().connect(peer, endpoints_of(node.data));
  }
}

void HostState::set_up_what_is_reached() {
  for (auto at = pending_.begin(); at != pending_.end();) {
    std::erase_if(at->control, [this](const auto& peer) { return reached_.contains(peer); });
    std::erase_if(at->data, [this](const auto& peer) { return connected_.contains(peer); });
    if (!at->control.empty() || !at->data.empty()) {
      ++at;
      continue;
    }
    const Host message = std::move(at->host);
    at = pending_.erase(at);
    set_up(message);
  }
}

void HostState::set_up(const Host& message) {
  if (stopping_) return;
  const auto here = self_->context().node;
  if (!feeder_) spawn_feeder(message.first);
  std::string hosted;
  const auto learn_level = [this](const Seat& leader) {
    const auto above = levels_.find(leader.parent);
    levels_[leader.member] = (above == levels_.end() ? 0 : above->second) + 1;
  };
  for (const auto& leader : message.above) learn_level(leader);
  for (const auto& seat : message.seats) {
    if (seat.member.kind == MemberId::Kind::worker) continue;
    learn_level(seat);
    if (seat.node != here) continue;
    spawn_leader(seat, levels_[seat.member]);
    hosted += (hosted.empty() ? "" : ", ") + seat.member.text();
  }
  for (const auto& seat : message.seats) {
    if (seat.member.kind != MemberId::Kind::worker || seat.node != here) continue;
    spawn_worker(seat);
    hosted += (hosted.empty() ? "" : ", ") + seat.member.text();
  }
  if (!hosted.empty()) say("hosts " + hosted);
  self_->tell(registrar_, Hosted{message.number});
}

Spawning HostState::spawning() { return {self_->system(), *assembly_, HostHandle(self_), scheduler_}; }

void HostState::spawn_feeder(Round first) {
  feeder_ = spawning().feeder(first);
  feeder_address_ = feeder_->address();
  feeder_running_ = true;
  self_->monitor(feeder_);
  options_->post->directory().register_actor(feeder_at(self_->context().node), feeder_);
}

AggregatorHandle HostState::parent_of(const Seat& seat) {
  if (seat.parent == root_id()) return root_handle_;
  const auto own = leaders_.find(seat.parent);
  if (own != leaders_.end()) return own->second;
  return options_->post->stand_in<AggregatorHandle>(address_of(seat.parent));
}

void HostState::spawn_leader(const Seat& seat, std::size_t level) {
  const auto leader = spawning().aggregator(seat.member, level, parent_of(seat), seat.parent.text());
  leaders_[seat.member] = leader;
  watch(seat.member, leader);
}

void HostState::spawn_worker(const Seat& seat) {
  auto compute = assembly_->make_worker(seat.member.number);
  if (!compute) {
    return self_->tell(registrar_, Failed{seat.member.text(), compute.error().text, false, seat.member});
  }
  watch(seat.member, spawning().worker(seat.member.number, parent_of(seat), seat.parent.text(), feeder_,
                                       std::move(*compute)));
}

template <class Handle>
void HostState::watch(MemberId id, const Handle& handle) {
  self_->monitor(handle);
  members_[id] = {handle, handle->address()};
  options_->post->directory().register_actor(address_of(id), handle);
}

void HostState::dismiss(const Dismiss& dismissed) {
  for (const auto& id : dismissed.members) {
    const auto found = members_.find(id);
    if (found == members_.end()) continue;
    options_->post->directory().forget_actor(address_of(id));
    found->second.stopping = true;
    self_->tell(found->second.handle, Stop{Stop::When::now});
  }
}

void HostState::gone(const caf::down_msg& down) {
  if (down.source == feeder_address_) {
    feeder_running_ = false;
    if (!stopping_)
      end(Error{ErrorCode::failed, "feeder: its actor ended: " + self_->system().render(down.reason)});
    return quit_if_all_stopped();
  }
  for (auto at = members_.begin(); at != members_.end(); ++at) {
    if (at->second.address != down.source) continue;
    const auto id = at->first;
    const bool expected = stopping_ || at->second.stopping || !down.reason;
    members_.erase(at);
    leaders_.erase(id);
    options_->post->directory().forget_actor(address_of(id));
    if (!expected) {
      const auto why = "its actor ended: " + self_->system().render(down.reason);
      const bool worker = id.kind == MemberId::Kind::worker;
      self_->tell(registrar_, Failed{id.text(), why, false, worker ? std::optional(id) : std::nullopt});
    }
    break;
  }
  quit_if_all_stopped();
}

// -- the end
// -------------------------------------------------------------------------------------------------------

void HostState::tick() {
  const auto now = self_->clock().now();
  if (!stopping_) {
    if (root_ && ++beats_ % 2 == 0) {
      auto waits = options_->waits->now();
      if (waits.size() > waits_told_max) waits.resize(waits_told_max);
      self_->tell(registrar_, Heartbeat{beats_, std::move(waits)});
    }
    if (!root_ && now - began_ > options_->patience) {
      end(Error{ErrorCode::unreachable, "the root has not answered"});
    } else if (ready_ && now - heard_ > silence_.dead_after()) {
      end(Error{ErrorCode::unreachable,
                fmt::format("the root is lost: nothing was heard of it for {} ms",
                            std::chrono::duration_cast<std::chrono::milliseconds>(now - heard_).count())});
    }
  }
  self_->tell_later(HostHandle(self_), silence_.check_every(), Tick{});
}

void HostState::end(Status why) {
  if (!outcome_) outcome_ = std::move(why);
  if (std::exchange(stopping_, true)) return;
  if (feeder_running_) self_->tell(feeder_, Stop{Stop::When::now});
  for (auto& [id, member] : members_) self_->tell(member.handle, Stop{Stop::When::now});
  quit_if_all_stopped();
}

void HostState::quit_if_all_stopped() {
  if (!stopping_ || feeder_running_ || !members_.empty() || !outcome_) return;
  if (registrar_) {
    Stopped last_words;
    last_words.who = self_->own_name();
    last_words.messages = self_->messages_handled();
    self_->tell(registrar_, std::move(last_words));
  }
  auto ended = std::exchange(options_->ended, nullptr);
  leaders_.clear();
  self_->quit();
  if (ended) ended(std::move(*outcome_));
}

}  // namespace thalweg::actors

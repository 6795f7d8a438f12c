#include "actors/registrar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::actors {

using Seat = rules::Placement::Seat;

namespace {

Refuse refusal(const std::string& why) { return {"the run does not let this node in: " + why}; }

}  // namespace

RegistrarHandle::behavior_type RegistrarState::start(Options options) {
  options_.emplace(std::move(options));
  self_->name_is("registrar");
  self_->tell_later(RegistrarHandle(self_), options_->silence.check_every(), Tick{});
  numbers_.insert(self_->context().node);
  return {
      [this](const Stamp& stamp, const Apply& application) { apply(stamp, application); },
      [this](const Stamp& stamp, const Ready& message) {
        if (auto* guest = guest_of(stamp)) ready(*guest, message);
      },
      [this](const Stamp& stamp, const Holding& message) {
        if (auto* guest = guest_of(stamp)) take_held(*guest, message);
      },
      [this](const Stamp& stamp, const Inquire& message) { answer(stamp, message); },
      [this](const Stamp& stamp, const Hosted& message) {
        if (auto* guest = guest_of(stamp)) hosted(*guest, message.number);
      },
      [this](const Stamp& stamp, const Heartbeat& message) {
        if (auto* guest = guest_of(stamp)) guest->waits = message.waits;
      },
      [this](const Stamp& stamp, const Leave& message) {
        if (guest_of(stamp) != nullptr) lose(stamp.id.node(), "it leaves: " + message.why);
      },
      [this](const Stamp& stamp, const Failed& message) {
        if (guest_of(stamp) == nullptr || !supervisor_ || stopping_) return;
        if (message.worker) options_->placement.remove(*message.worker);
        self_->tell(supervisor_, message);
      },
      [this](const Stamp& stamp, const Stopped& last_words) {
        auto* guest = guest_of(stamp);
        if (guest == nullptr) return;
        if (supervisor_) self_->tell(supervisor_, last_words);
        if (last_words.who != "host") return;
        guest->stopped = true;
        quit_if_all_stopped();
      },
      [this](const Stamp&, const Parted& message) { parted(message); },
      [this](const Stamp&, const Stop& request) {
        if (request.when == Stop::When::now || !supervisor_) stop();
      },
      [this](const Stamp&, const Tick&) {
        check_silence();
        if (options_->publish && options_->status) options_->publish(options_->status(*this));
        self_->tell_later(RegistrarHandle(self_), options_->silence.check_every(), Tick{});
      },
  };
}

/// Whoever sent a message with this stamp, if it is let in: it is alive.
RegistrarState::Guest* RegistrarState::guest_of(const Stamp& stamp) {
  const auto found = guests_.find(stamp.id.node());
  if (found == guests_.end() || found->second.peer.incarnation.value != stamp.incarnation) return nullptr;
  found->second.heard = self_->clock().now();
  return &found->second;
}

void RegistrarState::say(const std::string& line) const {
  if (options_->note) options_->note(line);
}

// -- letting in
// ----------------------------------------------------------------------------------------------------

void RegistrarState::apply(const Stamp& stamp, const Apply& application) {
  const net::PeerId peer{stamp.id.node(), {stamp.incarnation}};
  auto& directory = options_->post->directory();
  directory.route(supervisor_at(peer.node), peer);
  auto host = options_->post->stand_in<HostHandle>(supervisor_at(peer.node));
  const auto refuse = [&](const std::string& why) {
    say(fmt::format("node {} is not let in: {}", application.name, why));
    self_->tell(host, refusal(why));
  };
  if (stopping_) return refuse("the run is ending");
  if (application.token != options_->token) return refuse("its token is of another cluster");
  if (application.release != options_->release) {
    return refuse(fmt::format("it runs release {}, this run {}: run the same release on all nodes",
                              application.release, options_->release));
  }
  if (application.workers == 0) return refuse("it offers no workers");
  if (!numbers_.insert(peer.node).second) return refuse("its number is taken: try again");
  auto& placement = options_->placement;
  if (!placement.begun()) {
    if (const auto seats = placement.take(peer.node, application.workers, application.group); !seats) {
      return refuse(seats.error().text);
    }
  }
  Guest guest{
      peer, std::move(host), application.name, application.workers, application.group, application.control};
  guest.heard = self_->clock().now();
  if (application.run == options_->admission.run) guest.held = application.held;
  self_->tell(guest.host, options_->admission);
  say(fmt::format("node {} comes: {} of the tree's workers are still wanted", application.name,
                  placement.begun() ? 0 : placement.free()));
  guests_[peer.node] = std::move(guest);
}

void RegistrarState::ready(Guest& guest, const Ready& message) {
  if (!message.failure.empty() || message.model != options_->model) {
    const auto why = !message.failure.empty()
                         ? message.failure
                         : "its model or its data set is another one: " +
                               fmt::format("{:016x}, not {:016x}", message.model, options_->model);
    self_->tell(guest.host, refusal(why));
    return lose(guest.peer.node, why);
  }
  guest.data = message.data;
  guest.ready = true;
  auto& placement = options_->placement;
  if (!placement.begun()) return begin_if_complete();
  std::vector<Seat> seats;
  for (std::uint64_t i = 0; i < guest.workers; ++i) {
    const auto added = placement.add(guest.peer.node, guest.group);
    if (!added) {
      self_->tell(guest.host, refusal(added.error().text));
      return lose(guest.peer.node, added.error().text);
    }
    seats.insert(seats.end(), added->begin(), added->end());
  }
  host(std::move(seats));
}

void RegistrarState::begin_if_complete() {
  auto& placement = options_->placement;
  const bool all =
      std::all_of(guests_.begin(), guests_.end(), [](const auto& each) { return each.second.ready; });
  if (placement.begun() || !placement.complete() || !all || fetch_newest()) return;
  placement.begin();
  host(placement.seats());
}

/// Whether somebody holds a newer version than this process, which is on its way then.
bool RegistrarState::fetch_newest() {
  if (fetching_) return true;
  auto newest = holding_ ? holding_->parameters.version() : options_->start;
  Guest* holder = nullptr;
  for (auto& [number, guest] : guests_) {
    if (!guest.held || *guest.held <= newest) continue;
    newest = *guest.held;
    holder = &guest;
  }
  if (holder == nullptr) return false;
  fetching_ = holder->peer.node;
  say(fmt::format("node {} holds version {}, which is newer than {}: the run is to go on from it",
                  holder->name, newest.value, options_->start.value));
  self_->tell(holder->host, Fetch{newest});
  return true;
}

void RegistrarState::take_held(const Guest& guest, const Holding& holding) {
  if (fetching_ != guest.peer.node) return;
  fetching_.reset();
  const auto& parameters = holding.parameters;
  const auto whole = [](const Parameters& held) {
    if (!held.ledger || !held.payload) return false;
    std::uint64_t counted = held.ledger->repeated;
    for (const auto& range : held.ledger->spent) counted += range.count;
    return counted == held.record.committed_samples;
  };
  if (whole(parameters) && parameters.version() > options_->start) {
    holding_ = holding;
    options_->first = Round{parameters.version().value};
  }
  guests_.at(guest.peer.node).held.reset();
  begin_if_complete();
}

/// A node was lost while the others set up their seats: they take them anew, and wait for another one.
void RegistrarState::begin_again(std::vector<MemberId> before) {
  auto& placement = options_->placement;
  for (const auto& seat : placement.seats()) before.push_back(seat.member);
  hosting_.clear();
  placement.begin_again();
  for (auto& [number, guest] : guests_) {
    self_->tell(guest.host, Dismiss{before});
    (void)placement.take(number, guest.workers, guest.group);  // there were seats for them before
  }
  say(fmt::format("it was lost before training began: {} of the tree's workers are wanted again",
                  placement.free()));
}

/// Whoever asks is no node of the run, and is forgotten when its connection ends.
void RegistrarState::answer(const Stamp& stamp, const Inquire& inquiry) {
  const net::PeerId peer{stamp.id.node(), {stamp.incarnation}};
  if (numbers_.contains(peer.node)) return;
  options_->post->directory().route(supervisor_at(peer.node), peer);
  const auto to = options_->post->stand_in<InquirerHandle>(supervisor_at(peer.node));
  if (inquiry.token != options_->token) return self_->tell(to, Refuse{"the token is of another cluster"});
  self_->tell(to, Report{options_->status ? options_->status(*this) : "{}"});
}

std::vector<Host::Node> RegistrarState::nodes() const {
  std::vector<Host::Node> nodes;
  for (const auto& [number, guest] : guests_) {
    nodes.push_back({number, guest.peer.incarnation, guest.control, guest.data});
  }
  return nodes;
}

/// Everybody who is to host one of the seats, or has a neighbour among them, sets it up; then they are set to
/// work.
void RegistrarState::host(std::vector<Seat> seats) {
  const auto number = ++hostings_;
  auto& hosting = hosting_[number];
  auto& directory = options_->post->directory();
  for (const auto& seat : seats) {
    const auto guest = guests_.find(seat.node);
    if (guest != guests_.end()) {
      directory.route(address_of(seat.member), guest->second.peer);
      directory.route(feeder_at(seat.node), guest->second.peer);
      hosting.awaited.insert(seat.node);
    }
    const auto parent = options_->placement.find(seat.parent);
    if (parent && guests_.contains(parent->node)) hosting.awaited.insert(parent->node);
  }
  const auto above = options_->placement.above(seats);
  for (const auto node : hosting.awaited) {
    self_->tell(guests_.at(node).host, Host{number, above, seats, nodes(), options_->first});
  }
  hosting.seats = std::move(seats);
  set_to_work_who_stands();
}

void RegistrarState::hosted(const Guest& guest, std::uint64_t number) {
  if (const auto found = hosting_.find(number); found != hosting_.end()) {
    found->second.awaited.erase(guest.peer.node);
  }
  set_to_work_who_stands();
}

/// In the order in which they are ready. Only a leader goes before those below it.
void RegistrarState::set_to_work_who_stands() {
  std::set<MemberId> yet_to_come;
  for (auto at = hosting_.begin(); at != hosting_.end();) {
    const auto& seats = at->second.seats;
    const bool below = std::any_of(seats.begin(), seats.end(), [&](const Seat& seat) {
      return yet_to_come.contains(seat.parent) && options_->placement.find(seat.member);
    });
    if (below || !at->second.awaited.empty()) {
      for (const auto& seat : seats) yet_to_come.insert(seat.member);
      ++at;
      continue;
    }
    const auto hosting = std::move(at->second);
    at = hosting_.erase(at);
    set_to_work(hosting);
  }
}

void RegistrarState::set_to_work(const Hosting& hosting) {
  if (stopping_) return;
  if (!supervisor_) {
    say("every node is ready: training begins");
    supervisor_ =
        options_->begin(options_->placement, RegistrarHandle(self_), holding_ ? &*holding_ : nullptr);
    holding_.reset();
    if (!supervisor_) stop();
    return;
  }
  for (const auto& seat : hosting.seats) {
    if (!options_->placement.find(seat.member)) continue;  // it is gone again
    Joined joined{{seat.member, options_->post->stand_ins().member(seat.member)}, seat.parent, {}, {}};
    if (seat.member.kind == MemberId::Kind::leader) {
      joined.leader = options_->post->stand_in<AggregatorHandle>(address_of(seat.member));
    } else {
      joined.feeder = options_->post->feeder(seat.node);
    }
    self_->tell(supervisor_, std::move(joined));
  }
}

// -- losing
// --------------------------------------------------------------------------------------------------------

void RegistrarState::parted(const Parted& message) {
  const auto found = guests_.find(message.peer.node);
  if (found == guests_.end() || found->second.peer != message.peer) return;
  lose(message.peer.node, message.why);
}

void RegistrarState::check_silence() {
  const auto now = self_->clock().now();
  const auto bound = std::chrono::nanoseconds(options_->silence.dead_after());
  ++beats_;
  std::vector<std::pair<NodeNumber, std::string>> silent;
  for (auto& [number, guest] : guests_) {
    if (beats_ % 2 == 0) self_->tell(guest.host, Heartbeat{beats_});
    // Before it has the job, a node does not know how long it may be silent.
    if (!guest.ready || now - guest.heard <= bound) continue;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - guest.heard).count();
    silent.emplace_back(number, fmt::format("nothing was heard of it for {} ms", ms));
  }
  for (const auto& [number, why] : silent) lose(number, why);
  if (stopping_ && now >= stop_at_) {
    guests_.clear();
    quit_if_all_stopped();
  }
}

/// Its members are gone; those below a leader of it begin anew elsewhere.
void RegistrarState::lose(NodeNumber node, const std::string& why) {
  const auto found = guests_.find(node);
  if (found == guests_.end()) return;
  const Guest guest = std::move(found->second);
  guests_.erase(found);
  options_->post->fence(guest.peer);
  const auto lost = options_->placement.lose(node);
  if (stopping_) return quit_if_all_stopped();
  const auto what = fmt::format("node {} is lost: {}", guest.name, why);
  say(what);
  for (auto& [number, hosting] : hosting_) hosting.awaited.erase(node);
  if (fetching_ == node) fetching_.reset();
  if (!supervisor_) {
    if (options_->placement.begun()) begin_again(lost.gone);
    return begin_if_complete();
  }
  for (const auto& member : lost.gone) self_->tell(supervisor_, Left{member, what});
  for (auto& [number, other] : guests_) self_->tell(other.host, Dismiss{lost.gone});
  if (!lost.seats.empty()) host(lost.seats);
  set_to_work_who_stands();  // whoever waited for it alone
}

// -- the end
// ------------------------------------------------------------------------------------------------------

void RegistrarState::stop() {
  if (std::exchange(stopping_, true)) return;
  stop_at_ = self_->clock().now() + std::chrono::nanoseconds(options_->silence.dead_at_the_latest());
  for (auto& [number, guest] : guests_) self_->tell(guest.host, Stop{Stop::When::now});
  quit_if_all_stopped();
}

void RegistrarState::quit_if_all_stopped() {
  if (!stopping_) return;
  const bool all =
      std::all_of(guests_.begin(), guests_.end(), [](const auto& each) { return each.second.stopped; });
  if (!all) return;
  options_->begin = nullptr;
  if (supervisor_) return self_->leave(std::exchange(supervisor_, SupervisorHandle()));
  self_->quit();
}

}  // namespace thalweg::actors

#pragma once

#include "actors/body_bytes.hpp"
#include "actors/messages.hpp"

#include <concepts>
#include <type_traits>

/// What each body that crosses nodes is made of, in the order of its bytes. Every field is named in a
/// structured binding, so that a struct which gets a field more does not compile until it is written down
/// here (and its format's number raised, actors/codec.cpp).
namespace thalweg {

/// `Body` or `const Body`.
template <class Type, class Body>
concept Same = std::same_as<std::remove_const_t<Type>, Body>;

// -- parts
// -----------------------------------------------------------------------------------------------------

template <class Tag, class Number, class Visit>
void fields(const Id<Tag, Number>& id, Visit& visit) {
  visit(id.value);
}
template <class Tag, class Number, class Visit>
void fields(Id<Tag, Number>& id, Visit& visit) {
  visit(id.value);
}

template <Same<MemberId> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [kind, number] = part;
  visit(actors::choice(kind, MemberId::Kind::worker), number);
}

template <Same<IndexRange> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [epoch, begin, count] = part;
  visit(epoch, begin, count);
}

template <Same<Score> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [loss_sum, correct, samples] = part;
  visit(actors::bits(loss_sum), correct, samples);
}

template <Same<Refusal> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [why, origin, spent, again] = part;
  visit(actors::choice(why, Refusal::Why::too_large), origin, spent, again);
}

template <Same<Work> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [worker, samples, steps, compute_ns, clock] = part;
  visit(worker, samples, steps, compute_ns, clock);
}

template <Same<Age> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [base, iterations] = part;
  visit(base, iterations);
}

template <Same<CommitRecord> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [term, version, round, committed_samples, spent, last, slowest] = part;
  visit(term, version, round, committed_samples, spent, last, slowest);
}

template <Same<Parameters::Answer> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [to, seq] = part;
  visit(to, seq);
}

// -- with bulk
// -------------------------------------------------------------------------------------------------

template <Same<Contribution> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [origin, via, incarnation, seq, round, base_version, ages, samples, batch, steps, iterations, spent,
         refused, score, compute_ns, work, serial, norm, again, payload] = body;
  visit(origin, via, incarnation, seq, round, base_version, ages, samples, batch, steps, iterations, spent,
        refused, score, compute_ns, work, serial, actors::bits(norm), again, payload);
}

template <Same<Ledger> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [spent, quarantined, repeated, refused] = part;
  visit(spent, quarantined, repeated, refused);
}

template <Same<Parameters> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [payload, record, answer, begins, moves, move_samples, ledger, newest_only] = body;
  static_cast<void>(newest_only);  // the sender's own business
  visit(payload, record, answer, begins, moves, move_samples, ledger);
}

}  // namespace thalweg

namespace thalweg::rules {

template <Same<RoundShare> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [round, ranges, again, steps_of] = part;
  visit(round, ranges, again, steps_of);
}

template <Same<GivenBatch> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [worker, serial, range, again] = part;
  visit(worker, serial, range, again);
}

template <Same<Placement::Seat> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [member, parent, node] = part;
  visit(member, parent, node);
}

}  // namespace thalweg::rules

namespace thalweg::actors {

// -- without
// ---------------------------------------------------------------------------------------------------

template <Same<Roster::Member> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [id, handle] = part;
  visit(id, handle_of(id, handle));
}

template <Same<Roster> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [added, removed, first, workers] = body;
  visit(added, removed, first, workers);
}

template <Same<Lease> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [rounds, open, batches, dry] = body;
  visit(rounds, open, batches, dry);
}

template <Same<Served> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [worker, serial] = body;
  visit(worker, serial);
}

template <Same<Fenced> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [member, serial] = body;
  visit(member, serial);
}

template <Same<Drained> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [drained, batches] = body;
  visit(drained, batches);
}

template <Same<DataSpent> Body, class Visit>
void fields(Body& /*body*/, Visit& /*visit*/) {
  static_assert(std::is_empty_v<DataSpent>, "write down its fields");
}

template <Same<Progress> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [origin, iterations, oldest, rests] = body;
  visit(origin, iterations, oldest, rests);
}

template <Same<Pull> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [round, version] = body;
  visit(round, version);
}

template <Same<Slowest> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [iterations] = body;
  visit(iterations);
}

template <Same<Left> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [member, why] = body;
  visit(member, why);
}

template <Same<Stop> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [when, by] = body;
  visit(choice(when, Stop::When::now), choice(by, EndedBy::target_accuracy));
}

template <Same<Failed> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [who, why, diverged, worker] = body;
  visit(who, why, diverged, worker);
}

template <Same<Stopped> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [who, messages, level, bytes_up, bytes_down] = body;
  visit(who, messages, level, bytes_up, bytes_down);
}

// -- of nodes

template <Same<Apply> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [release, token, name, workers, group, control, data, run, held] = body;
  visit(release, token, name, workers, group, control, data, run, held);
}

template <Same<Admit> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [run, term, job, data] = body;
  visit(run, term, job, data);
}

template <Same<Refuse> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [why] = body;
  visit(why);
}

template <Same<Ready> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [model, data, failure] = body;
  visit(model, data, failure);
}

template <Same<Host::Node> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [node, incarnation, control, data] = part;
  visit(node, incarnation, control, data);
}

template <Same<Host> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [number, above, seats, nodes, first] = body;
  visit(number, above, seats, nodes, first);
}

template <Same<Hosted> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [number] = body;
  visit(number);
}

template <Same<Dismiss> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [members] = body;
  visit(members);
}

template <Same<Wait> Part, class Visit>
void fields(Part& part, Visit& visit) {
  auto& [who, for_whom, until, ms] = part;
  visit(who, for_whom, until, ms);
}

template <Same<Heartbeat> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [number, waits] = body;
  visit(number, waits);
}

template <Same<Fetch> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [version] = body;
  visit(version);
}

template <Same<Holding> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [parameters] = body;
  visit(parameters);
}

template <Same<Inquire> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [token] = body;
  visit(token);
}

template <Same<Report> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [status] = body;
  visit(status);
}

template <Same<Leave> Body, class Visit>
void fields(Body& body, Visit& visit) {
  auto& [why] = body;
  visit(why);
}

}  // namespace thalweg::actors

#include "actors/middleman.hpp"
#include "actors/node_post.hpp"
#include "actors/role.hpp"
#include "runtime/net/keys.hpp"

#include <thalweg/status.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

/// The public face of somebody who asks a run's registrar how it is: a node that offers nothing.
namespace thalweg {

using namespace actors;

namespace {

/// What is awaited, from threads of the network.
struct Answers {
  std::mutex mutex;
  std::condition_variable came;
  std::optional<net::PeerId> root;
  std::optional<Result<std::string>> answer;
  std::string lost;  ///< why the root cannot be reached, or no longer; empty: it can

  template <class Change>
  void set(const Change& change) {
    const std::lock_guard lock(mutex);
    change();
    came.notify_all();
  }
};

class InquirerState {
 public:
  struct Options {
    Answers* answers = nullptr;
  };
  explicit InquirerState(RoleBase<InquirerHandle>* self) : self_(self) {}
  InquirerHandle::behavior_type start(Options options) {
    self_->name_is("inquirer");
    auto* answers = options.answers;
    return {
        [answers](const Stamp&, const Report& report) {
          answers->set([&] { answers->answer = report.status; });
        },
        [answers](const Stamp&, const Refuse& refused) {
          answers->set([&] {
            answers->answer = Error{ErrorCode::failed, "the run does not answer: " + refused.why};
          });
        },
    };
  }

 private:
  RoleBase<InquirerHandle>* self_;
};

}  // namespace

struct Inquiry::State {
  SteadyClock clock;
  Answers answers;
  net::Credentials credentials;
  std::string token;
  std::chrono::milliseconds patience{};

  // Last, so that the actors end before what they use.
  std::unique_ptr<NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
  std::unique_ptr<NodePost> post;
  std::unique_ptr<Outsider> program;
  RegistrarHandle registrar;

  ~State() {
    registrar = RegistrarHandle();
    if (post) post->close();
    if (system) system->await_all_actors_done();
    post.reset();
  }
};

Result<Inquiry> Inquiry::open(const InquiryOptions& options) {
  const auto root = net::parse_endpoint(options.root);
  if (!root) return root.error();
  auto credentials = net::find_credentials(options.keys);
  if (!credentials) return credentials.error();
  auto token = net::read_token(options.keys);
  if (!token) return token.error();

  auto state = std::make_unique<State>();
  state->credentials = *credentials;
  state->token = std::move(*token);
  state->patience = options.patience;
  state->context = make_node_context(state->clock);
  std::random_device random;
  state->context->node = {static_cast<std::uint16_t>(1 + random() % 0xffff)};
  state->context->incarnation = {random()};
  if (auto loaded = load_middleman(*state->context, state->credentials); !loaded) return loaded.error();
  state->program = std::make_unique<Outsider>(*state->context);
  state->system = std::make_unique<caf::actor_system>(*state->context);

  auto& answers = state->answers;
  NodePost::Options post;
  post.met = [&answers](net::PeerId peer, bool) { answers.set([&] { answers.root = peer; }); };
  post.parted = [&answers](net::PeerId, bool, const std::string& why) {
    answers.set([&] { answers.lost = "the root has ended the connection: " + why; });
  };
  state->post = std::make_unique<NodePost>(*state->context, *state->system, std::move(post));
  state->post->directory().register_actor(
      supervisor_at(state->context->node),
      spawn_role<InquirerHandle, InquirerState>(*state->system, {&answers}));
  dial(*state->system, state->post->postman(), {*root}, options.patience,
       [&answers](const Error& error) { answers.set([&] { answers.lost = error.text; }); });

  std::unique_lock lock(answers.mutex);
  const bool heard = answers.came.wait_for(lock, 2 * options.patience,
                                           [&] { return answers.root || !answers.lost.empty(); });
  if (!heard || !answers.root) {
    const auto why = heard ? answers.lost : "nobody answers at " + root->text();
    lock.unlock();  // what ends now may have something to say
    return Error{ErrorCode::unreachable, "the run's root: " + why};
  }
  const auto peer = *answers.root;
  lock.unlock();
  state->post->directory().route(supervisor_at(peer.node), peer);
  state->registrar = state->post->stand_in<RegistrarHandle>(supervisor_at(peer.node));
  return Inquiry(std::move(state));
}

Result<std::string> Inquiry::ask() {
  auto& answers = state_->answers;
  answers.set([&] { answers.answer.reset(); });
  state_->program->tell(state_->registrar, Inquire{state_->token});
  std::unique_lock lock(answers.mutex);
  answers.came.wait_for(lock, state_->patience, [&] { return answers.answer || !answers.lost.empty(); });
  if (answers.answer) return *answers.answer;
  return Error{ErrorCode::unreachable,
               answers.lost.empty() ? std::string("the root does not answer: it may be busy, or stopped")
                                    : answers.lost};
}

Inquiry::Inquiry(std::unique_ptr<State> state) : state_(std::move(state)) {}
Inquiry::Inquiry(Inquiry&&) noexcept = default;
Inquiry& Inquiry::operator=(Inquiry&&) noexcept = default;
Inquiry::~Inquiry() = default;

}  // namespace thalweg

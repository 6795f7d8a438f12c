#include "runtime/journal/journal.hpp"

#include "runtime/journal/database.hpp"
#include "runtime/journal/ring.hpp"
#include "runtime/journal/schema.hpp"
#include "runtime/journal/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace thalweg::journal {
namespace fs = std::filesystem;

namespace {

std::atomic<std::uint64_t> journals{0};

/// The calling thread's ring in each journal that it has written to. Few, and looked through from the newest.
struct Rings {
  struct Entry {
    std::uint64_t journal = 0;
    std::shared_ptr<Ring> ring;
  };
  std::vector<Entry> entries;
};
thread_local Rings rings_of_thread;

}  // namespace

std::string reason_of(const Record& record) {
  std::string text;
  if (record.sentence == nullptr) return text;
  std::size_t next = 0;
  for (const char* at = record.sentence; *at != '\0'; ++at) {
    if (at[0] == '{' && at[1] == '}' && next < record.arguments.size()) {
      fmt::format_to(std::back_inserter(text), "{}", record.arguments[next++]);
      ++at;
    } else {
      text += *at;
    }
  }
  return text;
}

struct Journal::State {
  Options options;
  const std::uint64_t number = ++journals;

  std::mutex rings_mutex;
  std::vector<std::shared_ptr<Ring>> rings;

  std::mutex texts_mutex;  // of the next two
  std::vector<std::pair<Record, std::string>> texts;
  std::vector<std::pair<std::uint16_t, std::string>> names;

  mutable std::mutex wake_mutex;  // of the next four
  std::condition_variable wake;
  bool closing = false;
  Counts counts;
  std::string failure;

  // The writer's own.
  std::map<std::uint16_t, std::string> known_names;  // for the next segment
  std::set<std::uint16_t> kinds;
  std::unique_ptr<Database> segment;
  Statement insert;
  unsigned segment_number = 0;
  std::thread writer;

  Ring* ring() {
    for (auto entry = rings_of_thread.entries.rbegin(); entry != rings_of_thread.entries.rend(); ++entry) {
      if (entry->journal == number) return entry->ring.get();
    }
    auto made = std::make_shared<Ring>();
    {
      const std::lock_guard lock(rings_mutex);
      rings.push_back(made);
    }
    // Rings of journals that are closed are only held here.
    std::erase_if(rings_of_thread.entries, [](const auto& entry) { return entry.ring.use_count() == 1; });
    rings_of_thread.entries.push_back({number, made});
    return made.get();
  }

  Status open_segment();
  void run();
  void write();
  Status write_all(std::vector<std::pair<Record, std::string>>& told,
                   std::vector<std::pair<std::uint16_t, std::string>>& named);
  Status write_name(std::uint16_t actor, const std::string& name);
  Status put(const Record& record, std::string_view reason);
  void rotate_if_full();
  void fail(const Error& error);
};

Status Journal::State::open_segment() {
  auto made =
      Database::open(segment_path(options.folder, options.node, ++segment_number), Database::Mode::create);
  if (!made) return made.error();
  insert = Statement();
  segment = std::make_unique<Database>(std::move(*made));
  kinds.clear();
  if (auto done = segment->run(segment_schema); !done) return done;
  for (const auto& [key, value] : options.meta) {
    auto meta = segment->prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
    if (!meta) return meta.error();
    meta->bind(1, key);
    meta->bind(2, value);
    if (auto stepped = meta->step(); !stepped) return stepped.error();
  }
  for (const auto& [actor, name] : known_names) {
    if (auto done = write_name(actor, name); !done) return done;
  }
  auto prepared = segment->prepare(insert_record);
  if (!prepared) return prepared.error();
  insert = std::move(*prepared);
  return {};
}

Status Journal::State::write_name(std::uint16_t actor, const std::string& name) {
  auto insertion = segment->prepare("INSERT OR REPLACE INTO actors VALUES (?, ?)");
  if (!insertion) return insertion.error();
  insertion->bind(1, std::int64_t{actor});
  insertion->bind(2, name);
  auto stepped = insertion->step();
  return stepped ? Status() : Status(stepped.error());
}

Status Journal::State::put(const Record& record, std::string_view reason) {
  if (record.kind != 0 && options.kind_of && kinds.insert(record.kind).second) {
    auto kind = segment->prepare("INSERT OR REPLACE INTO kinds VALUES (?, ?)");
    if (!kind) return kind.error();
    kind->bind(1, std::int64_t{record.kind});
    kind->bind(2, options.kind_of(record.kind));
    if (auto stepped = kind->step(); !stepped) return stepped.error();
  }
  const auto& numbers = record.numbers;
  int column = 0;
  const auto always = [&](auto value) { insert.bind(++column, static_cast<std::int64_t>(value)); };
  const auto if_known = [&](std::int64_t value) {
    ++column;
    if (value == RecordNumbers::none) {
      insert.bind_null(column);
    } else {
      insert.bind(column, value);
    }
  };
  always(record.type);
  always(record.hlc);
  always(record.at_ns);
  always(record.actor);
  always(record.kind);
  always(record.id);
  always(record.cause);
  always(record.term);
  always(record.incarnation);
  for (const auto value : {numbers.round, numbers.version, numbers.iteration, numbers.samples, numbers.bytes,
                           numbers.span_ns, record.queue_us, record.took_ns}) {
    if_known(value);
  }
  const auto text_if_any = [&](std::string_view text) {
    ++column;
    if (text.empty()) {
      insert.bind_null(column);
    } else {
      insert.bind(column, text);
    }
  };
  text_if_any(reason);
  const std::string_view whom(
      record.whom.data(), static_cast<std::size_t>(std::find(record.whom.begin(), record.whom.end(), '\0') -
                                                   record.whom.begin()));
  text_if_any(whom);
  auto stepped = insert.step();
  insert.reset();
  return stepped ? Status() : Status(stepped.error());
}

Status Journal::State::write_all(std::vector<std::pair<Record, std::string>>& told,
                                 std::vector<std::pair<std::uint16_t, std::string>>& named) {
  if (auto begun = segment->run("BEGIN"); !begun) return begun;
  for (auto& [actor, name] : named) {
    known_names[actor] = name;
    if (auto done = write_name(actor, name); !done) return done;
  }
  std::vector<std::shared_ptr<Ring>> all;
  {
    const std::lock_guard lock(rings_mutex);
    all = rings;
  }
  Status first;
  std::uint64_t written = 0, lost = 0;
  for (const auto& ring : all) {
    written += ring->drain([&](const Record& record) {
      if (first.ok()) first = put(record, reason_of(record));
    });
    lost += ring->take_lost();
  }
  for (const auto& [record, text] : told) {
    if (first.ok()) first = put(record, text);
    ++written;
  }
  if (lost > 0 && first.ok()) {
    Record dropped;
    dropped.type = RecordType::dropped;
    dropped.numbers.samples = static_cast<std::int64_t>(lost);
    first = put(dropped, fmt::format("{} records were lost: the writer was behind", lost));
  }
  {
    const std::lock_guard lock(wake_mutex);
    counts.written += written;
    counts.lost += lost;
  }
  if (!first) return first;
  return segment->run("COMMIT");
}

void Journal::State::write() {
  if (options.before_flush) options.before_flush();
  std::vector<std::pair<Record, std::string>> told;
  std::vector<std::pair<std::uint16_t, std::string>> named;
  {
    const std::lock_guard lock(texts_mutex);
    std::swap(told, texts);
    std::swap(named, names);
  }
  if (!segment) return;
  if (auto written = write_all(told, named); !written) return fail(written.error());
  rotate_if_full();
}

void Journal::State::rotate_if_full() {
  if (segment->bytes() < options.segment_bytes) return;
  if (auto opened = open_segment(); !opened) return fail(opened.error());
  const auto removed = remove_oldest(options.folder, options.node, options.bytes_max);
  const std::lock_guard lock(wake_mutex);
  counts.segments_removed += removed;
}

/// The run is worth more than its log: it goes on without.
void Journal::State::fail(const Error& error) {
  insert = Statement();
  segment.reset();
  const std::lock_guard lock(wake_mutex);
  failure = error.text;
}

void Journal::State::run() {
  std::unique_lock lock(wake_mutex);
  while (!closing) {
    wake.wait_for(lock, options.flush);
    lock.unlock();
    write();
    lock.lock();
  }
  lock.unlock();
  write();  // what came while the last was written
}

Result<std::unique_ptr<Journal>> Journal::open(Options options) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    return Error{ErrorCode::io, fmt::format("cannot make {}: {}", options.folder.string(), error.message())};
  }
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const auto earlier = segments_in(state->options.folder, state->options.node);
  if (!earlier.empty()) state->segment_number = earlier.back().number;
  if (auto opened = state->open_segment(); !opened) {
    return Error{ErrorCode::io, "cannot write the message log: " + opened.error().text};
  }
  state->writer = std::thread([raw = state.get()] { raw->run(); });
  return std::unique_ptr<Journal>(new Journal(std::move(state)));
}

Journal::Journal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Journal::~Journal() {
  {
    const std::lock_guard lock(state_->wake_mutex);
    state_->closing = true;
  }
  state_->wake.notify_one();
  state_->writer.join();
}

void Journal::add(const Record& record) noexcept {
  try {
    auto* ring = state_->ring();
    ring->push(record);
    if (ring->waiting() == Ring::capacity / 2) state_->wake.notify_one();
  } catch (const std::bad_alloc&) {  // no ring, no record
  }
}

void Journal::add(const Record& record, std::string_view text) {
  const std::lock_guard lock(state_->texts_mutex);
  state_->texts.emplace_back(record, text);
}

void Journal::name(std::uint16_t actor, std::string_view name) {
  const std::lock_guard lock(state_->texts_mutex);
  state_->names.emplace_back(actor, name);
}

Journal::Counts Journal::counts() const {
  const std::lock_guard lock(state_->wake_mutex);
  return state_->counts;
}

std::string Journal::failure() const {
  const std::lock_guard lock(state_->wake_mutex);
  return state_->failure;
}

}  // namespace thalweg::journal

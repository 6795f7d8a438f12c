#include "tools/cli/commands.hpp"

#include "models/registry.hpp"
#include "tools/bench/benches.hpp"

#include <thalweg/config.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thalweg::cli {

std::string Flag::name() const { return names.substr(names.rfind(',') + 1); }

const Flag* Command::find(std::string_view flag_name) const {
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      if (flag.name() == flag_name) return &flag;
    }
  }
  return nullptr;
}

namespace {

const Flag help_flag = {"-h,--help", "", "", "Print this text."};

/// The flags that say what is trained, wherever training is done.
FlagGroup what_to_train() {
  const Config defaults;
  return {
      "What to train",
      {
          {"--model", "NAME", "model.name",
           fmt::format("Network: {} (default {}).", fmt::join(models::network_names(), ", "),
                       defaults.model.name)},
          {"--data", "NAME", "data.name",
           fmt::format("Data set: {} (default {}).", fmt::join(models::dataset_names(), ", "),
                       defaults.data.name)},
          {"--data-dir", "DIR", "data.dir", "Where its files are (default: where its package puts them)."},
          {"--epochs", "N", "train.epochs",
           fmt::format("Passes over the data (default {}).", defaults.train.epochs)},
          {"--steps", "N", "train.steps", "Rounds to train, in place of epochs."},
          {"--batch", "N", "train.batch",
           fmt::format("Samples per worker and round (default {}); one number each: '[16, 48]'.",
                       fmt::join(defaults.train.batch, ", "))},
          {"--lr", "X", "train.lr", fmt::format("Learning rate (default {}).", defaults.train.lr)},
          {"--momentum", "X", "train.momentum",
           fmt::format("Momentum (default {}).", defaults.train.momentum)},
          {"--seed", "N", "run.seed",
           fmt::format("Decides all that is random: same seed, same model (default {}).", defaults.run.seed)},
      }};
}

Flag workers_flag() {
  return {"--workers", "N", "topology.workers",
          fmt::format("Workers, each with its own compute stream (default {}).", Config().topology.workers)};
}

Flag groups_flag() {
  return {"--groups", "N", "topology.groups",
          fmt::format("Leaders that share the workers; 0: the root leads them itself (default {}).",
                      Config().topology.groups)};
}

Flag method_flag() {
  return {"--method", "NAME", "sync.method",
          fmt::format("How workers synchronize (default {}).", Config().sync.method)};
}

FlagGroup where_it_goes() {
  return {"Where it goes",
          {
              {"--out", "DIR", "run.out",
               "New or empty folder for the results (default: the next free runs/MODEL-N)."},
              {"--http", "ADDR:PORT", "http.listen",
               "Show the run to browsers and Prometheus there while it goes on; port 0: any free one."},
              {"--resume", "DIR", "",
               "Go on with the run in this folder, from its newest checkpoint. Its job stays as it is; flags "
               "may set how long to train, and what is evaluated and kept."},
          }};
}

FlagGroup everything_else() {
  return {"Everything else",
          {
              {"--set", "SECTION.KEY=VALUE", "", "Set any key of the job file. May be repeated."},
              {"--print-config", "", "", "Print the resolved job file and do nothing."},
              {"--json", "", "", "Print the results as one JSON object, on the last line of stdout."},
              {"-q,--quiet", "", "", "No progress."},
              {"-v,--verbose", "", "", "A line for every evaluation, and more numbers at the end."},
              help_flag,
          }};
}

Command train_command() {
  Command command;
  command.name = "train";
  command.summary = "Train a model in this process, with as many workers as you like.";
  command.positionals = {
      {"JOB.toml", "Job file to start from (`thalweg init` writes one); flags win over it."}};
  command.groups = {
      what_to_train(),
      {"Who trains it", {workers_flag(), groups_flag(), method_flag()}},
      where_it_goes(),
      everything_else(),
  };
  command.examples =
      "thalweg train --data synthetic --epochs 2\n"
      "thalweg train job.toml --workers 8 --groups 2 --lr 0.1 --out runs/wide\n"
      "thalweg train job.toml --set train.schedule=cosine --json\n"
      "thalweg train --resume runs/wide --epochs 20";
  return command;
}

Command launch_command() {
  Command command;
  command.name = "launch";
  command.summary = "Train with a process for each node, on this machine or over ssh.";
  command.positionals = {
      {"JOB.toml",
       "Job file to start from; its [[node]] blocks say which nodes there are. Flags win over it."}};
  command.groups = {
      {"Which processes",
       {
           {"--workers-per-node", "N", "",
            "Workers in each process of a job without [[node]] blocks (default 1). One more process is the "
            "root."},
       }},
      what_to_train(),
      {"Who trains it", {workers_flag(), groups_flag(), method_flag()}},
      where_it_goes(),
      everything_else(),
  };
  command.examples =
      "thalweg launch job.toml --workers 4 --groups 2\n"
      "thalweg launch --data synthetic --workers 8 --workers-per-node 2 --out runs/apart\n"
      "thalweg launch --resume runs/apart";
  return command;
}

Command node_command() {
  Command command;
  command.name = "node";
  command.summary = "Begin a run whose workers are in other processes, or join one.";
  command.positionals = {
      {"JOB.toml", "With --root: the job, as for `thalweg train`. Nodes that join are told."}};
  command.groups = {
      {"Which node",
       {
           {"--root", "", "",
            "Begin the run, and wait for nodes that join. All flags of `thalweg train` go with it."},
           {"--join", "HOST:PORT", "", "Join the run whose root listens there."},
           {"--listen", "ADDR[:PORT]", "",
            "Where others reach this node; with --root ADDR:PORT, port 0: any free one (default with --join: "
            "an address that the root sees)."},
           {"--keys", "DIR", "",
            "This node's keys, as `thalweg keys node` makes them (default with --join: keys). A root that "
            "only this machine reaches makes some, in its run folder."},
           {"--local-workers", "N", "", "With --root: so many workers are in this process (default 0)."},
           {"--group", "gN", "", "With --join: only in this group (default: where a worker is wanted)."},
           {"--name", "NAME", "",
            "With --join: what others call this node (default: its machine and process)."},
           {"--log", "DIR", "",
            "With --join: folder for this node's message log (default: none is written)."},
           {"--rejoin-for", "S", "",
            "With --join: seconds for which a lost root is looked for (default 60; 0: not at all)."},
       }},
      what_to_train(),
      {"Who trains it",
       {
           {"--workers", "N", "topology.workers",
            fmt::format("With --join: workers that this node offers (default 1). With --root: workers of the "
                        "run (default {}).",
                        Config().topology.workers)},
           groups_flag(),
           method_flag(),
       }},
      where_it_goes(),
      everything_else(),
  };
  command.examples =
      "thalweg node --root job.toml --listen 10.0.0.1:7000 --keys keys/root\n"
      "thalweg node --join 10.0.0.1:7000 --workers 2 --keys keys    # on other machines";
  return command;
}

Command eval_command() {
  Command command;
  command.name = "eval";
  command.summary = "Evaluate the model of a run folder on its test set.";
  command.positionals = {{"DIR", "The run folder: its job.toml and model.safetensors are read.", true}};
  command.groups = {{"Flags",
                     {
                         {"--data-dir", "DIR", "data.dir", "Where the data are now, when they have moved."},
                         {"--json", "", "", "Print the results as one JSON object."},
                         help_flag,
                     }}};
  return command;
}

Command devices_command() {
  Command command;
  command.name = "devices";
  command.summary = "List the devices of this machine, and why others are absent.";
  command.groups = {{"Flags", {{"--json", "", "", "Print the list as one JSON object."}, help_flag}}};
  return command;
}

Command init_command() {
  Command command;
  command.name = "init";
  command.summary = "Write a job file with every key, its default and what it means.";
  command.positionals = {
      {"FILE", "File to write, never over an existing one; - for stdout (default job.toml)."}};
  command.groups = {{"Flags", {help_flag}}};
  return command;
}

Command bench_command() {
  Command command;
  command.name = "bench";
  command.summary = "Measure this program against what this machine can do, as ratios.";
  command.positionals = {{"NAME", "Bench to run (default: all; they are listed below).", false, true}};
  command.groups = {
      {"Flags",
       {
           {"--pairs", "N", "", "Turns of each contestant, taken in turn (default 10)."},
           {"--small", "", "", "As little of everything as shows that it works."},
           {"--out", "FILE", "", "Keep the results there, as JSON; what is there is replaced."},
           {"--json", "", "", "Print the results as one JSON object, on the last line of stdout."},
           help_flag,
       }}};
  for (const bench::Bench& each : bench::all_benches()) {
    command.examples += fmt::format("{}thalweg bench {:<10}  # {}", command.examples.empty() ? "" : "\n",
                                    each.name, each.what);
  }
  return command;
}

Command compare_command() {
  Command command;
  command.name = "compare";
  command.summary = "Train one job with several synchronization methods and show them side by side.";
  command.positionals = {
      {"JOB.toml", "Job file that all methods share (`thalweg init` writes one); flags win over it."}};
  command.groups = {
      {"What is compared",
       {
           {"--methods", "LIST", "", "The methods, as in sync.method: ssgd,asp,inhad(2). Must be given."},
           {"--seeds", "N", "",
            "Runs of each method, with the seeds --seed, --seed + 1 and so on (default 3)."},
           {"--with", "METHOD:KEY=VALUE,...", "",
            "Settings that only this method has, as 'inhad(2):train.lr=0.1,train.momentum=0'. It is then "
            "also "
            "run without them. May be repeated."},
           {"--no-equal", "", "", "Leave out the runs without a method's own settings."},
           {"--target-accuracy", "X", "",
            "Accuracy that \"time to\" is about, 0 to 1 (default: 99 % of the lowest final one, of "
            "methods that learned)."},
       }},
      what_to_train(),
      {"Who trains it", {workers_flag(), groups_flag()}},
      {"Where it goes",
       {
           {"--out", "DIR", "",
            "New or empty folder for the page, the figures and a folder per run (default: the next free "
            "runs/compare-N)."},
       }},
      {"Everything else",
       {
           {"--set", "SECTION.KEY=VALUE", "", "Set any key of the job file, for all. May be repeated."},
           {"--json", "", "", "Print the results as one JSON object, on the last line of stdout."},
           {"-q,--quiet", "", "", "No progress."},
           help_flag,
       }},
  };
  command.examples =
      "thalweg compare --methods 'ssgd,asp,inhad(2)' --workers 4 --groups 2\n"
      "thalweg compare job.toml --methods 'ssgd,diloco(8)' --seeds 5 --out runs/methods\n"
      "thalweg compare job.toml --methods 'ssgd,inhad(2)' --with 'inhad(2):train.momentum=0'";
  return command;
}

Command keys_command() {
  Command command;
  command.name = "keys";
  command.summary = "Make or check the keys by which the nodes of a cluster know each other.";
  command.positionals = {
      {"ACTION",
       "init: make the authority of a new cluster, and its token, in the folder DIR. node: make the keys of "
       "the node NAME, in a folder of that name below the authority's. check: say whose keys are in the "
       "folder DIR, or what is wrong with them.",
       true},
      {"DIR|NAME", "What the action is about. Nothing that is there is ever replaced."}};
  command.groups = {{"Flags",
                     {
                         {"--dir", "DIR", "", "With node: the folder of the authority (default: keys)."},
                         help_flag,
                     }}};
  command.examples =
      "thalweg keys init keys           # once; keys/ca.key stays on this machine\n"
      "thalweg keys node worker-1       # then copy keys/worker-1 to that machine\n"
      "thalweg keys check worker-1      # there";
  return command;
}

Command doctor_command() {
  Command command;
  command.name = "doctor";
  command.summary = "Check whether nodes can work on this machine, and reach another one.";
  command.positionals = {{"HOST:PORT", "Also try to connect to where another node listens."}};
  command.groups = {
      {"Flags",
       {
           {"--keys", "DIR", "", "Also check a node's keys, as `thalweg keys check` does."},
           {"--silence", "T", "", "Show the bounds that follow from this value of net.silence (default 2s)."},
           {"--json", "", "", "Print the findings as one JSON object, on the last line of stdout."},
           help_flag,
       }}};
  command.examples = "thalweg doctor root-machine:7000 --keys keys";
  return command;
}

Command status_command() {
  Command command;
  command.name = "status";
  command.summary = "How a run of several processes is: its nodes, and who waits for whom.";
  command.positionals = {
      {"HOST:PORT", "Where the run's root listens; or the run's folder, on the same machine.", true}};
  command.groups = {{"Flags",
                     {
                         {"--keys", "DIR", "", "A node's keys (default: keys; of a folder, the run's own)."},
                         {"--watch", "", "", "Ask again every second, until Ctrl-C."},
                         {"--json", "", "", "Print the root's answer as one JSON object a line."},
                         help_flag,
                     }}};
  command.examples = "thalweg status runs/my-run";
  return command;
}

Command log_command() {
  Command command;
  command.name = "log";
  command.summary = "Ask a run's message log: who said what to whom, when, and why.";
  command.positionals = {
      {"QUESTION", "ls, show, trace, why, stats, diff, sql, export or timeline.", true},
      {"RUN", "A run folder, whether its run goes on, has ended or was killed; or one log file.", true},
      {"WHAT", "trace: a message, as n0.a9.12; sql: a SELECT; diff: another run.", false, true},
  };
  command.groups = {{"Which records (show, export)",
                     {
                         {"--actor", "NAME", "", "Of this actor, as w3."},
                         {"--node", "NAME", "", "Of this node, as node-1."},
                         {"--type", "TYPE", "", "message, decision, wait or waiting."},
                         {"--kind", "KIND", "", "Of this kind of message, as contribution."},
                         {"--round", "N", "", "Of this round; with why: what took so long in it."},
                         {"--iteration", "N", "",
                          "With so many iterations; with why: of the round that committed this one."},
                         {"--from", "S", "", "From so many seconds after the log's first record on."},
                         {"--to", "S", "", "Before so many seconds."},
                         {"--min-bytes", "N", "", "With at least so many bytes."},
                         {"--reason", "TEXT", "", "With this text in the reason."},
                         {"--limit", "N", "", "The first so many."},
                         {"--last", "N", "", "The last so many."},
                     }},
                    {"Flags",
                     {
                         {"--now", "", "", "With why: whom everything waits for at the end of the log."},
                         {"--follow", "", "", "With show: go on as the log grows, until Ctrl-C."},
                         {"--perfetto", "FILE", "", "With export: a trace for ui.perfetto.dev."},
                         {"--csv", "FILE", "", "With export: a table."},
                         {"--output", "FILE", "", "With timeline: the page (default timeline.html)."},
                         {"--json", "", "", "With ls, show and sql: a JSON object a line."},
                         help_flag,
                     }}};
  command.examples =
      "thalweg log why runs/first --round 812\n"
      "thalweg log show runs/first --actor w3 --kind contribution --limit 10\n"
      "thalweg log sql runs/first \"SELECT kind, count(*) FROM messages GROUP BY kind\"";
  return command;
}

}  // namespace

std::vector<Command> all_commands() {
  return {train_command(),   launch_command(), node_command(),   eval_command(),
          devices_command(), init_command(),   bench_command(),  compare_command(),
          keys_command(),    doctor_command(), status_command(), log_command()};
}

}  // namespace thalweg::cli

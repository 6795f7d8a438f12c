#include "actors/status_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>
#include <variant>

namespace thalweg::actors {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::duration<double>>(time).count();
}

Json json_of(const std::string& node, const Wait& wait) {
  return {{"node", node},
          {"who", wait.who},
          {"for", wait.for_whom},
          {"until", wait.until},
          {"s", static_cast<double>(wait.ms) / 1000}};
}

Json nodes_of(const RegistrarState& registrar) {
  auto nodes = Json::array();
  for (const auto& [number, guest] : registrar.guests()) {
    auto members = Json::array();
    for (const auto& seat : registrar.placement().seats()) {
      if (seat.node == number) members.push_back(seat.member.text());
    }
    nodes.push_back({{"name", guest.name},
                     {"node", "n" + std::to_string(number.value)},
                     {"ready", guest.ready},
                     {"members", std::move(members)},
                     {"heard_s", seconds_of(registrar.now() - guest.heard)}});
  }
  return nodes;
}

}  // namespace

void RunStatus::begin(const Summary& summary, std::uint32_t term) {
  const std::lock_guard lock(mutex_);
  now_.run = summary.run;
  now_.method = summary.method;
  now_.model = summary.model;
  now_.term = term;
  now_.workers = summary.workers;
}

void RunStatus::hear(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  std::visit(
      [this]<class Event>(const Event& each) {
        if constexpr (std::is_same_v<Event, Progressed>) now_.progress = each;
        if constexpr (std::is_same_v<Event, Evaluated>) now_.evaluated = each;
        if constexpr (std::is_same_v<Event, WorkerLost>) now_.workers = each.workers_left;
        if constexpr (std::is_same_v<Event, WorkerJoined>) now_.workers = each.workers;
        if constexpr (std::is_same_v<Event, Checkpointed>) {
          if (each.failure.empty()) now_.checkpoint = each.version;
        }
        if constexpr (std::is_same_v<Event, Ended>) now_.ended = each.summary.end;
        if constexpr (std::is_same_v<Event, WorkerLost>) ++now_.workers_lost;
        if constexpr (std::is_same_v<Event, WorkerJoined>) ++now_.workers_joined;
        if constexpr (std::is_same_v<Event, RunPaused>) {
          now_.paused = each.workers < each.wanted ? std::optional(each) : std::nullopt;
        }
      },
      event);
}

RunStatus::Now RunStatus::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::string status_json(const RunStatus& run, const RegistrarState* registrar,
                        const std::vector<Wait>& here) {
  const auto now = run.now();
  Json json;
  json["run"] = now.run;
  json["term"] = now.term;
  json["method"] = now.method;
  json["model"] = now.model;
  const bool training = registrar == nullptr || registrar->training();
  json["state"] = now.ended.empty() ? now.paused ? "paused"
                                      : training ? "training"
                                                 : "waiting for nodes"
                                    : now.ended;
  json["workers"] = training ? now.workers : registrar->placement().workers();
  json["wanted"] = now.paused ? now.paused->wanted : training ? 0 : registrar->placement().free();
  if (now.progress) {
    json["version"] = now.progress->version;
    json["epoch"] = now.progress->epoch;
    json["samples"] = now.progress->samples;
    json["loss"] = now.progress->loss;
    json["samples_per_s"] = now.progress->samples_per_s;
    json["wall_s"] = now.progress->wall_s;
  }
  if (now.evaluated) json["accuracy"] = now.evaluated->accuracy;
  if (now.checkpoint) json["checkpoint"] = *now.checkpoint;
  json["nodes"] = registrar != nullptr ? nodes_of(*registrar) : Json::array();
  std::vector<Json> waits;
  for (const auto& wait : here) waits.push_back(json_of("root", wait));
  if (registrar != nullptr) {
    for (const auto& [number, guest] : registrar->guests()) {
      for (const auto& wait : guest.waits) waits.push_back(json_of(guest.name, wait));
    }
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Json& a, const Json& b) { return a["s"].get<double>() > b["s"].get<double>(); });
  json["waits"] = waits;
  // Names come from other nodes: what is no UTF-8 must not end this one.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string metrics_text(const RunStatus& run, const std::vector<Wait>& here) {
  const auto now = run.now();
  std::string text;
  const auto put = [&text](const char* name, const char* type, const char* help, auto value) {
    text += fmt::format("# HELP thalweg_{0} {1}\n# TYPE thalweg_{0} {2}\nthalweg_{0} {3}\n", name, help, type,
                        value);
  };
  put("workers", "gauge", "Workers that take part.", now.workers);
  put("workers_lost_total", "counter", "Workers that were lost.", now.workers_lost);
  put("workers_joined_total", "counter", "Workers that joined while the run went on.", now.workers_joined);
  put("paused", "gauge", "1 while there are fewer workers than sync.min_workers.", now.paused ? 1 : 0);
  put("term", "gauge", "How many roots the run has had.", now.term);
  if (now.progress) {
    const auto& progress = *now.progress;
    put("commits_total", "counter", "Versions of the model.", progress.version);
    put("samples_committed_total", "counter", "Samples in them.", progress.samples);
    put("received_bytes_total", "counter", "Contributions into the root.", progress.bytes_up);
    put("sent_bytes_total", "counter", "Parameters out of the root.", progress.bytes_down);
    put("samples_per_second", "gauge", "Since the last report.", progress.samples_per_s);
    put("staleness_versions", "gauge", "Mean age of what was committed since the last report.",
        progress.staleness);
    if (std::isfinite(progress.loss))
      put("train_loss_nats", "gauge", "Mean per sample since the last report.", progress.loss);
    put("run_seconds", "gauge", "Since the run began.", progress.wall_s);
  }
  if (now.evaluated)
    put("test_accuracy_ratio", "gauge", "Of the newest evaluation.", now.evaluated->accuracy);
  if (now.checkpoint) put("checkpoint_version", "gauge", "The newest version on the disk.", *now.checkpoint);
  double longest = 0;
  for (const auto& wait : here) longest = std::max(longest, static_cast<double>(wait.ms) / 1000);
  put("waiting_actors", "gauge", "Actors of the root's node that wait for another one.", here.size());
  put("longest_wait_seconds", "gauge", "Of those waits.", longest);
  return text;
}

std::string live_page() {
  return R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Thalweg</title><style>
:root{--back:#fff;--text:#1c1c1c;--faint:#6b6b6b;--line:#d8d8d8;--mark:#0072b2}
@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e8e8e8;--faint:#9a9a9a;--line:#3a3d44;--mark:#56b4e9}}
body{background:var(--back);color:var(--text);font:14px/1.45 system-ui,sans-serif;margin:1.2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.1rem}h2{font-size:1rem;margin:1.2rem 0 .3rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dt{color:var(--faint)}dd{margin:0}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.15rem .8rem .15rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{color:var(--faint);font-weight:500}
a{color:var(--mark)}
</style></head><body><h1 id="title">Thalweg</h1><p id="state" role="status">asking ...</p><dl id="facts"></dl>
<h2>Who waits for whom</h2><table id="waits"></table><h2>Nodes</h2><table id="nodes"></table>
<p><a href="timeline">timeline</a> <a href="status.json">status.json</a> <a href="metrics">metrics</a></p><script>
'use strict';
const by=id=>document.getElementById(id);
function rows(table,head,list){table.textContent='';const add=(cells,kind)=>{const tr=document.createElement('tr');for(const c of cells){const td=document.createElement(kind);td.textContent=c;tr.append(td)}table.append(tr)};
 add(list.length?head:['none'],'th');for(const r of list)add(r,'td')}
async function ask(){
 try{const s=await(await fetch('status.json')).json();
  by('title').textContent=s.model+' by '+s.method+', run '+s.run.slice(0,8);by('state').textContent=s.state+', '+s.workers+' workers'+(s.wanted?', '+s.wanted+' wanted':'');
  const facts=by('facts');facts.textContent='';
  for(const[n,k,f]of[['version','version',v=>v],['epoch','epoch',v=>v.toFixed(2)],['samples/s','samples_per_s',v=>Math.round(v).toLocaleString('en')],['loss','loss',v=>v===null?'':v.toFixed(4)],['test accuracy','accuracy',v=>(100*v).toFixed(2)+' %'],['checkpoint','checkpoint',v=>'version '+v],['term','term',v=>v]]){
   if(s[k]===undefined)continue;const dt=document.createElement('dt'),dd=document.createElement('dd');dt.textContent=n;dd.textContent=f(s[k]);facts.append(dt,dd)}
  rows(by('waits'),['who','on','for','since','until'],s.waits.slice(0,20).map(w=>[w.who,w.node,w.for,w.s.toFixed(1)+' s',w.until]));
  rows(by('nodes'),['name','node','members','heard'],s.nodes.map(n=>[n.name,n.node,n.members.join(' '),n.heard_s.toFixed(1)+' s ago']));
 }catch(e){by('state').textContent='the run does not answer: it may have ended'}
}
ask();setInterval(ask,1000);
</script></body></html>
)page";
}

}  // namespace thalweg::actors

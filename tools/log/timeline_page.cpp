#include "tools/log/timeline_page.hpp"

namespace thalweg::log {

// The palette is Okabe and Ito's, "Color universal design" (2008).
std::string_view timeline_style() {
  return R"css(
:root{--back:#fff;--text:#1c1c1c;--faint:#6b6b6b;--line:#d8d8d8;--message:#0072b2;--compute:#009e73;--wait:#e69f00;--mark:#cc3311;--loss:#0072b2;--accuracy:#d55e00}
@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e8e8e8;--faint:#9a9a9a;--line:#3a3d44;--message:#56b4e9;--compute:#2fbf95;--wait:#f0b840;--mark:#ff7766;--loss:#56b4e9;--accuracy:#f0864a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:14px/1.4 system-ui,sans-serif}
header{padding:8px 14px;border-bottom:1px solid var(--line)}
h1{font-size:16px;margin:0}
#legend{margin:2px 0 0;color:var(--faint)}
#legend b{font-weight:600}
main{display:flex;height:calc(100vh - 66px)}
canvas{flex:1;min-width:0;height:100%;outline:none;cursor:grab}
canvas:focus-visible{box-shadow:inset 0 0 0 2px var(--message)}
aside{width:330px;overflow:auto;border-left:1px solid var(--line);padding:10px 14px;font-size:13px}
aside h2{font-size:14px;margin:0 0 6px}
aside dl{display:grid;grid-template-columns:auto 1fr;gap:2px 10px;margin:0}
aside dt{color:var(--faint)}
aside dd{margin:0;overflow-wrap:anywhere}
aside li{margin:3px 0;cursor:pointer;overflow-wrap:anywhere}
aside ol{padding-left:20px}
)css";
}

std::string_view timeline_script() {
  return R"js(
'use strict';
const canvas=document.getElementById('lanes'),detail=document.getElementById('detail'),pen=canvas.getContext('2d');
const N=DATA.at.length,LANE=26,HEAD=22,LABEL=150,CHART=90;
const NAMES=['message','step on a device','decision','wait'];
const end=Math.max(1,DATA.at.reduce((m,a,i)=>Math.max(m,a+DATA.took[i]),0));
const lanes=DATA.lanes.map(()=>[]);
for(let i=0;i<N;i++)lanes[DATA.lane[i]].push(i);
// Longest first of all that began before: how far back a lane must be looked at.
const longest=lanes.map(list=>{list.sort((a,b)=>DATA.at[a]-DATA.at[b]);return list.reduce((m,i)=>Math.max(m,DATA.took[i]),0)});
const byId=new Map();
for(let i=0;i<N;i++)if(DATA.id[i]&&DATA.type[i]===0)byId.set(DATA.id[i],i);
const children=new Map();
for(let i=0;i<N;i++)if(DATA.cause[i]&&DATA.type[i]===0){const c=children.get(DATA.cause[i]);if(c)c.push(i);else children.set(DATA.cause[i],[i])}
const rows=DATA.metrics.trim().split('\n').slice(1).map(r=>r.split(',')).filter(r=>r.length>5)
 .map(r=>({at:+r[0]*1e6,loss:r[4]===''?NaN:+r[4],accuracy:r[5]===''?NaN:+r[5]}));
let from=0,to=end,above=0,chosen=-1,chain=new Set(),colours={};
function readColours(){const s=getComputedStyle(document.documentElement);for(const n of['back','text','faint','line','message','compute','wait','mark','loss','accuracy'])colours[n]=s.getPropertyValue('--'+n).trim()}
function size(){const d=devicePixelRatio||1,r=canvas.getBoundingClientRect();canvas.width=r.width*d;canvas.height=r.height*d;pen.setTransform(d,0,0,d,0,0);return r}
const chartHeight=()=>rows.length?CHART:0;
const x=(t,w)=>LABEL+(t-from)/(to-from)*(w-LABEL);
function timeText(us){const a=Math.abs(us);return a>=1e6?(us/1e6).toFixed(3)+' s':a>=1e3?(us/1e3).toFixed(2)+' ms':us.toFixed(0)+' us'}
function firstFrom(list,t){let a=0,b=list.length;while(a<b){const m=(a+b)>>1;if(DATA.at[list[m]]<t)a=m+1;else b=m}return a}
function colourOf(type){return type===1?colours.compute:type===3?colours.wait:type===2?colours.faint:colours.message}
const SHAPE=[[4,9],[4,16],[1,4],[LANE-7,5]];
// Runs by type: what touches or falls on the same pixels is one rectangle, so that a million events cost as many as
// there are pixels.
function drawLane(l,y,w){
 const list=lanes[l],begin=[-1,-1,-1,-1],end=[-1,-1,-1,-1],marked=[];let drawn=0;
 const flush=type=>{if(begin[type]<0)return;const[dy,h]=SHAPE[type];pen.fillStyle=colourOf(type);pen.fillRect(begin[type],y+dy,end[type]-begin[type],h);drawn++};
 for(let k=firstFrom(list,from-longest[l]);k<list.length;k++){
  const i=list[k],t=DATA.at[i];if(t>to)break;
  const took=DATA.took[i];if(t+took<from)continue;
  const type=DATA.type[i],a=Math.max(LABEL,x(t,w)),b=Math.max(a+1,x(t+took,w));
  if(chain.has(i))marked.push([type,a,b]);
  if(begin[type]>=0&&a<=end[type]+.4){if(b>end[type])end[type]=b;continue}
  flush(type);begin[type]=a;end[type]=b;
 }
 for(let type=0;type<4;type++)flush(type);
 pen.fillStyle=colours.mark;
 for(const[type,a,b]of marked){const[dy,h]=SHAPE[type];pen.fillRect(a,y+dy,Math.max(2,b-a),h)}
 return drawn;
}
function drawAxis(w,h,head){
 pen.fillStyle=colours.back;pen.fillRect(0,0,w,HEAD);
 pen.strokeStyle=colours.line;pen.fillStyle=colours.faint;pen.textBaseline='middle';
 const span=to-from;let step=Math.pow(10,Math.floor(Math.log10(span/6)));
 for(const f of[2,5,10])if(span/step>12)step*=f===10?2:f===5?2.5:2;
 for(let t=Math.ceil(from/step)*step;t<=to;t+=step){const a=x(t,w);if(a<LABEL)continue;pen.beginPath();pen.moveTo(a,HEAD);pen.lineTo(a,h);pen.stroke();pen.fillText(timeText(t),a+3,HEAD/2)}
 if(!head&&DATA.rounds.length&&(to-from)/end*DATA.rounds.length<400){pen.strokeStyle=colours.faint;pen.setLineDash([2,3]);
  for(const[t,r]of DATA.rounds){if(t<from||t>to)continue;const a=x(t,w);pen.beginPath();pen.moveTo(a,HEAD);pen.lineTo(a,h);pen.stroke();if((to-from)/end*DATA.rounds.length<40)pen.fillText('round '+r,a+3,h-8)}
  pen.setLineDash([])}
}
function drawChart(w,h){
 if(!rows.length)return;const y0=h-CHART;
 pen.fillStyle=colours.back;pen.fillRect(0,y0,w,CHART);pen.strokeStyle=colours.line;pen.strokeRect(LABEL,y0+4,w-LABEL-1,CHART-8);
 const most=rows.reduce((m,r)=>r.loss>m?r.loss:m,0)||1;
 const line=(key,max,colour)=>{pen.strokeStyle=colour;pen.lineWidth=1.5;pen.beginPath();let open=false;
  for(const r of rows){if(Number.isNaN(r[key]))continue;const a=x(r.at,w);if(a<LABEL||a>w)continue;const b=y0+CHART-8-(CHART-16)*r[key]/max;if(open)pen.lineTo(a,b);else pen.moveTo(a,b);open=true;pen.fillStyle=colour;pen.fillRect(a-1.5,b-1.5,3,3)}
  pen.stroke();pen.lineWidth=1};
 line('loss',most,colours.loss);line('accuracy',1,colours.accuracy);
 pen.fillStyle=colours.loss;pen.fillText('loss (to '+most.toPrecision(3)+')',8,y0+22);pen.fillStyle=colours.accuracy;pen.fillText('accuracy (to 1)',8,y0+42);
}
let wanted=false;
function draw(){
 wanted=false;const r=size(),w=r.width,h=r.height,bottom=h-chartHeight();
 pen.fillStyle=colours.back;pen.fillRect(0,0,w,h);pen.font='12px system-ui,sans-serif';
 drawAxis(w,bottom);
 let drawn=0;
 for(let l=0;l<lanes.length;l++){const y=HEAD+l*LANE-above;if(y+LANE<HEAD||y>bottom)continue;drawn+=drawLane(l,y,w);
  pen.fillStyle=colours.back;pen.fillRect(0,Math.max(HEAD,y),LABEL,LANE);pen.fillStyle=colours.text;pen.textBaseline='middle';
  if(y+LANE/2>HEAD)pen.fillText(DATA.lanes[l].length>22?'…'+DATA.lanes[l].slice(-21):DATA.lanes[l],8,y+LANE/2);
  pen.strokeStyle=colours.line;pen.beginPath();pen.moveTo(0,y+LANE);pen.lineTo(w,y+LANE);pen.stroke()}
 pen.fillStyle=colours.back;pen.fillRect(0,0,w,HEAD);drawAxis(w,HEAD,true);
 drawChart(w,h);
 window.drawnLast=drawn;
}
function again(){if(!wanted){wanted=true;requestAnimationFrame(draw)}}
function moveTo(a,b){const span=Math.min(Math.max(b-a,20),end*1.02);let f=Math.min(Math.max(a,-end*.02),end*1.02-span);from=f;to=f+span;again()}
function zoom(factor,at){moveTo(at-(at-from)*factor,at+(to-at)*factor)}
function under(px,py){
 const r=canvas.getBoundingClientRect(),l=Math.floor((py-HEAD+above)/LANE);
 if(px<LABEL||py<HEAD||py>r.height-chartHeight()||l<0||l>=lanes.length)return -1;
 const t=from+(px-LABEL)/(r.width-LABEL)*(to-from),slack=(to-from)/(r.width-LABEL)*3,list=lanes[l];
 let best=-1,score=Infinity;
 for(let k=firstFrom(list,t-longest[l]-slack);k<list.length;k++){const i=list[k],a=DATA.at[i],b=a+DATA.took[i];if(a>t+slack)break;if(b<t-slack)continue;
  const s=(t<a?a-t:t>b?t-b:0)*1e6+(b-a)+(DATA.type[i]===2?1:0);if(s<score){score=s;best=i}}
 return best;
}
function add(list,name,value){if(value===''||value===undefined)return;const dt=document.createElement('dt'),dd=document.createElement('dd');dt.textContent=name;dd.textContent=value;list.append(dt,dd)}
function show(i){
 detail.textContent='';const h=document.createElement('h2');detail.append(h);
 if(i<0){h.textContent='Nothing chosen';const p=document.createElement('p');p.textContent='Drag to move, scroll to zoom, click a message for its causal chain. Keys: arrows, + and -, 0 for all, Escape.';detail.append(p);return}
 h.textContent=NAMES[DATA.type[i]]+' at '+timeText(DATA.at[i]);const list=document.createElement('dl');detail.append(list);
 add(list,'actor',DATA.lanes[DATA.lane[i]]);add(list,DATA.type[i]===3?'waits for':'from',DATA.names[DATA.who[i]]);add(list,'what',DATA.words[DATA.word[i]]);
 add(list,'took',timeText(DATA.took[i]));if(DATA.round[i]>=0)add(list,'round',String(DATA.round[i]));add(list,'id',DATA.ids[DATA.id[i]]);add(list,'because of',DATA.ids[DATA.cause[i]]);
}
const says=(i,kind)=>DATA.words[DATA.word[i]].startsWith(kind);
// From the root's parameters, with which its round began, to those that came of it.
function chainOf(i){
 const set=new Set([i]);if(!DATA.id[i])return set;
 for(let j=i,k=0;k<500;k++){if(says(j,'parameters')&&DATA.names[DATA.who[j]]==='root')break;const c=DATA.cause[j];j=c?byId.get(c):undefined;if(j===undefined||set.has(j))break;set.add(j)}
 const open=[i];while(open.length&&set.size<500){const j=open.pop();
  for(const c of children.get(DATA.id[j])||[])if(!set.has(c)&&!(says(j,'parameters')&&!says(c,'parameters'))){set.add(c);open.push(c)}}
 return set;
}
function choose(i){
 chosen=i;chain=i<0?new Set():chainOf(i);show(i);
 if(i>=0&&chain.size>1){const p=document.createElement('p');p.textContent='Its causal chain:';const ol=document.createElement('ol');
  for(const j of[...chain].sort((a,b)=>DATA.at[a]-DATA.at[b]).slice(0,200)){const li=document.createElement('li');li.textContent=timeText(DATA.at[j])+' '+DATA.lanes[DATA.lane[j]]+': '+DATA.words[DATA.word[j]];li.onclick=()=>{const s=to-from;moveTo(DATA.at[j]-s/2,DATA.at[j]+s/2);choose(j)};ol.append(li)}
  detail.append(p,ol)}
 again();
}
let drag=null;
canvas.addEventListener('pointerdown',e=>{drag={x:e.offsetX,y:e.offsetY,from,to,above,moved:false};canvas.setPointerCapture(e.pointerId)});
canvas.addEventListener('pointermove',e=>{
 if(drag){const w=canvas.getBoundingClientRect().width-LABEL,d=(e.offsetX-drag.x)/w*(drag.to-drag.from);
  if(Math.abs(e.offsetX-drag.x)+Math.abs(e.offsetY-drag.y)>3)drag.moved=true;
  if(drag.moved){above=Math.min(Math.max(0,drag.above-(e.offsetY-drag.y)),Math.max(0,lanes.length*LANE-200));moveTo(drag.from-d,drag.to-d)}return}
 if(chosen<0){const i=under(e.offsetX,e.offsetY);canvas.title=i<0?'':DATA.words[DATA.word[i]];show(i)}});
canvas.addEventListener('pointerup',e=>{if(drag&&!drag.moved)choose(under(e.offsetX,e.offsetY));drag=null});
canvas.addEventListener('wheel',e=>{e.preventDefault();const w=canvas.getBoundingClientRect().width-LABEL,at=from+(e.offsetX-LABEL)/w*(to-from);
 if(e.shiftKey)moveTo(from+e.deltaY/w*(to-from),to+e.deltaY/w*(to-from));else zoom(Math.exp(e.deltaY/400),at)},{passive:false});
canvas.addEventListener('keydown',e=>{const s=to-from,m=(from+to)/2;
 if(e.key==='ArrowLeft')moveTo(from-s/5,to-s/5);else if(e.key==='ArrowRight')moveTo(from+s/5,to+s/5);
 else if(e.key==='ArrowUp'){above=Math.max(0,above-LANE);again()}else if(e.key==='ArrowDown'){above=Math.min(above+LANE,Math.max(0,lanes.length*LANE-200));again()}
 else if(e.key==='+'||e.key==='=')zoom(.6,m);else if(e.key==='-')zoom(1.6,m);else if(e.key==='0')moveTo(0,end);else if(e.key==='Escape')choose(-1);else return;e.preventDefault()});
addEventListener('resize',again);matchMedia('(prefers-color-scheme:dark)').addEventListener('change',()=>{readColours();again()});
document.getElementById('legend').textContent=lanes.length+' actors, '+N+' events over '+timeText(end)+'. Blue: messages; green: steps on a device; yellow: waits; grey: decisions; dashed: ends of rounds.';
readColours();show(-1);moveTo(0,end);draw();
)js";
}

}  // namespace thalweg::log

#include "tools/compare/page_style.hpp"

namespace thalweg::compare {

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark;--paper:#fbfbf9;--card:#fff;--ink:#1c2126;--soft:#5b6570;--rule:#dfe3e6;--rest:#e3e6e9;
--k0:#0072b2;--k1:#d55e00;--k2:#009e73;--k3:#b6579a;--k4:#a87900;--k5:#3fa3dc;--k6:#5b4b9a;--k7:#5f6469}
@media (prefers-color-scheme:dark){:root{--paper:#14181c;--card:#1c2126;--ink:#e8ebee;--soft:#a2acb6;--rule:#333b43;
--rest:#3a434c;--k0:#4aa8e6;--k1:#ff8a3d;--k2:#2cc79d;--k3:#e695cb;--k4:#e3bd3c;--k5:#9ad9ff;--k6:#b3a4f0;--k7:#b9bfc5}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:28px 20px 40px}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 6px}
h2{font-size:1.15rem;margin:34px 0 10px}
h3{font-size:.98rem;margin:0 0 2px}
.job{color:var(--soft);margin:0 0 18px;max-width:120ch}
.emulated{display:inline-block;border:1px solid var(--k1);color:var(--k1);border-radius:4px;padding:0 8px;font-size:.8rem;
vertical-align:middle;margin-left:10px;font-weight:600}
.warning{border-left:4px solid var(--k1);padding:8px 14px;background:var(--card)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:14px}
.tile,figure{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:14px 16px;margin:0}
.tile p{margin:0}.tile .what,.tile .next{color:var(--soft);font-size:.86rem}
.tile .who{font-size:1.25rem;font-weight:650}.tile .much{font-variant-numeric:tabular-nums}
.table{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{padding:7px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
tbody tr:last-child>*{border-bottom:0}
th{font-weight:600}thead th{vertical-align:top;line-height:1.25}
thead small{display:block;color:var(--soft);font-weight:400}
th:first-child{text-align:left;position:sticky;left:0;background:var(--card)}
.notes{color:var(--soft);font-size:.88rem;padding-left:1.2em;max-width:120ch}
p.notes{padding:0}.table+.table{margin-top:12px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:16px}
.many{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));gap:16px}
figcaption{color:var(--soft);font-size:.84rem}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;margin:4px 0 6px;padding:0;list-style:none;font-size:.84rem}
.legend li{display:flex;align-items:center;gap:7px}
.key{width:24px;height:0;border-top:4px solid var(--c);flex:none}.key.dashed{border-top-style:dashed}
.key.box{height:12px;border:0;background:var(--c)}.key.rest{background:var(--rest)}
svg.chart{display:block;width:100%;height:auto;overflow:visible;touch-action:pan-y}
svg text{font:13px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
svg .tick{fill:var(--soft);font-variant-numeric:tabular-nums}svg .name{fill:var(--soft);font-size:13px}
.end{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:var(--rule);fill:none}.axis,.mark{stroke:var(--soft);fill:none}
.line{fill:none;stroke:var(--c);stroke-linejoin:round;stroke-linecap:round}
.line.thin{stroke-width:1;opacity:.45}.line.mean{stroke-width:3}.line.dashed{stroke-dasharray:9 7}
.line.thin.dashed{stroke-dasharray:4 4}
.dot{fill:var(--card);stroke:var(--c);stroke-width:2.5}
.fill{fill:var(--c)}.fill.dashed{fill-opacity:.35;stroke:var(--c);stroke-dasharray:4 3}.rest{fill:var(--rest)}
.cursor{stroke:var(--soft);stroke-dasharray:3 3;visibility:hidden}
[data-tip]:hover{filter:brightness(1.12)}
.c0{--c:var(--k0)}.c1{--c:var(--k1)}.c2{--c:var(--k2)}.c3{--c:var(--k3)}.c4{--c:var(--k4)}.c5{--c:var(--k5)}
.c6{--c:var(--k6)}.c7{--c:var(--k7)}
#tip{position:fixed;z-index:2;pointer-events:none;background:var(--ink);color:var(--paper);font-size:.82rem;line-height:1.4;
padding:7px 10px;border-radius:6px;max-width:300px;visibility:hidden}
#tip div{display:flex;gap:8px;align-items:center;justify-content:space-between}
#tip b{width:14px;height:4px;background:var(--c);flex:none}#tip span{flex:1}#tip i{font-style:normal;font-weight:600}
footer{color:var(--soft);font-size:.84rem;margin-top:34px;border-top:1px solid var(--rule);padding-top:12px}
@media (max-width:700px){main{padding:18px 12px 30px}h1{font-size:1.4rem}.tile,figure{padding:12px 10px}
.pair svg text,.pair svg .name{font-size:20px}
.line.mean{stroke-width:4}.line.thin{stroke-width:1.5}}
@media print{figure,.tile{break-inside:avoid}}
)css";
}

std::string_view page_script() {
  return R"js(
"use strict";
const tip=document.getElementById("tip");
function place(event){
  tip.style.visibility="visible";
  const x=event.clientX+14,y=event.clientY+14,w=tip.offsetWidth,h=tip.offsetHeight;
  tip.style.left=Math.max(4,Math.min(x,innerWidth-w-6))+"px";
  tip.style.top=(y+h>innerHeight?Math.max(4,event.clientY-h-10):y)+"px";
}
function hide(){tip.style.visibility="hidden"}
function valueAt(points,x){
  if(!points.length||x<points[0][0]||x>points[points.length-1][0])return null;
  let i=0;while(i<points.length&&points[i][0]<x)i++;
  if(i===0)return points[0][1];
  const[a,b]=[points[i-1],points[i]];
  return b[0]>a[0]?a[1]+(b[1]-a[1])*(x-a[0])/(b[0]-a[0]):b[1];
}
function row(look,label,text){
  const div=document.createElement("div"),key=document.createElement("b"),name=document.createElement("span"),
    value=document.createElement("i");
  key.className=look;name.textContent=label;value.textContent=text;div.append(key,name,value);return div;
}
for(const svg of document.querySelectorAll("svg[data-series]")){
  const series=JSON.parse(svg.dataset.series),percent=svg.dataset.percent==="1",cursor=svg.querySelector(".cursor");
  const[left,top,right,bottom,low,high,width]=JSON.parse(svg.dataset.box);
  svg.addEventListener("pointermove",event=>{
    const box=svg.getBoundingClientRect(),at=(event.clientX-box.left)*width/box.width;
    if(at<left||at>right){leave();return}
    const x=low+(at-left)/(right-left)*(high-low),head=document.createElement("div");
    head.textContent=svg.dataset.x+": "+(x>=100?Math.round(x).toLocaleString("en"):x.toPrecision(3));
    const rows=series.map(([label,look,points])=>{
      const y=valueAt(points,x);
      return row(look,label,y===null?"\u2014":percent?(y*100).toFixed(2)+" %":Number(y.toPrecision(4)).toString());
    });
    tip.replaceChildren(head,...rows);
    cursor.setAttribute("d","M"+at.toFixed(1)+" "+top+"V"+bottom);cursor.style.visibility="visible";
    place(event);
  });
  const leave=()=>{hide();cursor.style.visibility="hidden"};
  svg.addEventListener("pointerleave",leave);
}
for(const part of document.querySelectorAll("[data-tip]")){
  part.addEventListener("pointermove",event=>{tip.textContent=part.dataset.tip;place(event)});
  part.addEventListener("pointerleave",hide);
}
)js";
}

}  // namespace thalweg::compare

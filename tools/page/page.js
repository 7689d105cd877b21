// SPDX-License-Identifier: MIT
// page.js - a subnet drawn on a canvas: zoom, pan, search, colour, details. The data stands in the page as JSON, as
// tools/text/subnet_page.cpp writes it; texts from the network become text nodes, never HTML.
import { quadtree } from "d3-quadtree";
import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform } from "d3-zoom";

const data = JSON.parse(document.getElementById("data").textContent);
const nodes = data.nodes.map(([type, guid, name, lid, ports, level, x, y], index) => (
  { index, type, guid, name, lid, ports, level, x, y, links: [] }));
const links = data.links.map(([a, aPort, b, bPort, state, speed, color, errors]) => (
  { a: nodes[a], aPort, b: nodes[b], bPort, state, speed, color, errors, bend: 0 }));
const pairs = new Map();
for (const l of links) {
  l.a.links.push(l);
  if (l.b !== l.a) l.b.links.push(l);
  const pair = Math.min(l.a.index, l.b.index) + "," + Math.max(l.a.index, l.b.index);
  const before = pairs.get(pair) ?? 0;
  pairs.set(pair, before + 1);
  l.bend = 3 * Math.ceil(before / 2) * (before % 2 ? 1 : -1); // links between the same two stand beside each other
}
const places = quadtree(nodes, n => n.x, n => n.y);

const by = id => document.getElementById(id);
const canvas = by("canvas"), context = canvas.getContext("2d");
const coloring = by("color"), status = by("status"), details = by("details"), found = by("found");

// ---- colours ---------------------------------------------------------------------------------------------------------

const good = "#1b9e77", bad = "#d62728", unknown = "#888888", chosen = "#ff00c8";
const byErrors = errors => errors === null ? unknown : errors === 0 ? good
  : errors < 10 ? "#e6a700" : errors < 1000 ? "#f26b1d" : bad;
const paints = {
  state: l => l.state === "Active" ? good : l.state === "" ? unknown : bad,
  speed: l => l.color,
  errors: l => byErrors(l.errors),
};
const words = {
  state: l => l.state || "unknown",
  speed: l => l.speed || "unknown",
  errors: l => l.errors === null ? "not read" : l.errors === 0 ? "none" : l.errors < 10 ? "1 to 9"
    : l.errors < 1000 ? "10 to 999" : "1000 and more",
};

let batches = []; // [colour, links], so that a colour is one stroke
function paint() {
  const of = new Map(), legend = new Map();
  for (const l of links) {
    const color = paints[coloring.value](l);
    if (!of.has(color)) of.set(color, []);
    of.get(color).push(l);
    const word = words[coloring.value](l);
    legend.set(word, [color, (legend.get(word)?.[1] ?? 0) + 1]);
  }
  batches = [...of].sort((p, q) => q[1].length - p[1].length); // what is rare is drawn above
  by("legend").replaceChildren(...[...legend].sort().map(([word, [color, count]]) => {
    const line = document.createElement("li");
    line.style.borderColor = color;
    line.textContent = `${word}: ${count}`;
    return line;
  }));
}

// ---- drawing ---------------------------------------------------------------------------------------------------------

let view = zoomIdentity, selected = null, width = 0, height = 0, waiting = false;

function offset(l) {
  const length = Math.hypot(l.b.x - l.a.x, l.b.y - l.a.y) || 1;
  return [-(l.b.y - l.a.y) / length * l.bend, (l.b.x - l.a.x) / length * l.bend];
}
function trace(l) {
  const [dx, dy] = offset(l);
  if (l.a === l.b) {
    context.moveTo(l.a.x + 18, l.a.y - 10);
    context.arc(l.a.x + 10, l.a.y - 10, 8, 0, 7);
    return;
  }
  context.moveTo(l.a.x + dx, l.a.y + dy);
  context.lineTo(l.b.x + dx, l.b.y + dy);
}

function draw() {
  waiting = false;
  const scale = window.devicePixelRatio || 1, began = performance.now();
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.translate(view.x, view.y);
  context.scale(view.k, view.k);
  const [left, top] = view.invert([-20, -20]), [right, bottom] = view.invert([width + 20, height + 20]);
  const is_beside = l => Math.max(l.a.x, l.b.x) < left || Math.min(l.a.x, l.b.x) > right ||
    Math.max(l.a.y, l.b.y) < top || Math.min(l.a.y, l.b.y) > bottom;

  let drawnLinks = 0, drawnNodes = 0;
  context.lineWidth = Math.max(0.6, 0.4 / view.k);
  for (const [color, all] of batches) {
    context.strokeStyle = color;
    // What is most common must not hide the rest, nor all that lies behind it.
    context.globalAlpha = all === batches[0][1] && all.length > 5000 && view.k < 0.3 ? 0.15 : 1;
    context.beginPath();
    for (const l of all) {
      if (is_beside(l)) continue;
      trace(l);
      ++drawnLinks;
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  const own = selected?.links ?? (selected ? [selected] : []);
  context.strokeStyle = chosen;
  context.lineWidth *= 3;
  context.beginPath();
  for (const l of own) trace(l);
  context.stroke();

  const size = Math.max(5, 1.2 / view.k), shown = nodes.filter(n => n.x >= left && n.x <= right && n.y >= top && n.y <= bottom);
  for (const [type, fill] of [["Switch", "#40566f"], ["CA", "#7f8ea0"], ["Router", "#e6a700"]]) {
    context.fillStyle = fill;
    for (const n of shown) {
      if (n.type !== type) continue;
      const wide = type === "Switch" ? 1.6 * size : size;
      context.fillRect(n.x - wide, n.y - size, 2 * wide, 2 * size);
      ++drawnNodes;
    }
  }
  if (selected?.name !== undefined) {
    context.fillStyle = chosen;
    context.fillRect(selected.x - 2 * size, selected.y - 2 * size, 4 * size, 4 * size);
  }
  if (view.k > 1.5) {
    context.fillStyle = "#111111";
    context.textAlign = "center";
    context.font = `${Math.min(4, 20 / view.k)}px sans-serif`;
    for (const n of shown) context.fillText(n.name, n.x, n.y + (n.type === "Switch" ? -6.5 : 10));
  }
  document.body.dataset.nodes = drawnNodes;
  document.body.dataset.links = drawnLinks;
  document.body.dataset.zoom = view.k;
  document.body.dataset.milliseconds = Math.round(performance.now() - began);
}
function drawSoon() {
  if (!waiting) requestAnimationFrame(draw);
  waiting = true;
}

// ---- zoom and pan ----------------------------------------------------------------------------------------------------

const zooming = zoom().on("zoom", event => {
  view = event.transform;
  drawSoon();
});
function whole() {
  const k = Math.min(width / (data.width + 80), height / (data.height + 80));
  return zoomIdentity.translate((width - k * data.width) / 2, (height - k * data.height) / 2).scale(k);
}
function resize() {
  const scale = window.devicePixelRatio || 1, is_first = width === 0;
  width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * scale, canvas.height = height * scale;
  const least = whole().k;
  zooming.scaleExtent([least / 2, 16]);
  if (is_first) select(canvas).call(zooming.transform, whole());
  draw();
}
function goTo(node) {
  const k = Math.max(3, zoomTransform(canvas).k);
  select(canvas).call(zooming.transform, zoomIdentity.translate(width / 2 - k * node.x, height / 2 - k * node.y).scale(k));
}

// ---- details ---------------------------------------------------------------------------------------------------------

function row(table, head, value) {
  const line = table.insertRow();
  line.insertCell().textContent = head;
  const cell = line.insertCell();
  if (typeof value === "string" || typeof value === "number") cell.textContent = value;
  else cell.append(value);
}
function link_to(node) {
  const button = document.createElement("button");
  button.textContent = node.name || node.guid;
  button.onclick = () => show(node, true);
  return button;
}
function nodeDetails(n) {
  const table = document.createElement("table");
  row(table, n.type, n.name);
  row(table, "nodeGUID", n.guid);
  row(table, "LID", n.lid ?? "unknown");
  row(table, "ports", n.ports);
  row(table, "level", n.level);
  const mine = l => l.a === n ? l.aPort : l.bPort;
  for (const l of [...n.links].sort((p, q) => mine(p) - mine(q))) {
    const [other, port] = l.a === n ? [l.b, l.bPort] : [l.a, l.aPort];
    const line = document.createElement("span");
    line.append(link_to(other), `[${port}] ${l.speed} ${l.state}${l.errors ? `, ${l.errors} errors` : ""}`);
    row(table, `port ${mine(l)}`, line);
  }
  return table;
}
function linkDetails(l) {
  const table = document.createElement("table");
  row(table, "from", link_to(l.a));
  row(table, "port", l.aPort);
  row(table, "to", link_to(l.b));
  row(table, "port", l.bPort);
  row(table, "state", l.state || "unknown");
  row(table, "speed", l.speed || "unknown");
  row(table, "errors", l.errors ?? "not read");
  return table;
}
function show(what, moves) {
  selected = what;
  details.replaceChildren(...(what === null ? [] : [what.links ? nodeDetails(what) : linkDetails(what)]));
  if (moves && what) goTo(what);
  drawSoon();
}

function linkAt(x, y, within) {
  let best = null, least = within;
  for (const l of links) {
    const [dx, dy] = offset(l), ax = l.a.x + dx, ay = l.a.y + dy, vx = l.b.x - l.a.x, vy = l.b.y - l.a.y;
    const along = Math.max(0, Math.min(1, ((x - ax) * vx + (y - ay) * vy) / (vx * vx + vy * vy || 1)));
    const distance = Math.hypot(x - ax - along * vx, y - ay - along * vy);
    if (distance < least) best = l, least = distance;
  }
  return best;
}
canvas.addEventListener("click", event => {
  const box = canvas.getBoundingClientRect();
  const [x, y] = view.invert([event.clientX - box.left, event.clientY - box.top]);
  show(places.find(x, y, Math.max(9, 4 / view.k)) ?? linkAt(x, y, 6 / view.k), false);
});

// ---- search ----------------------------------------------------------------------------------------------------------

const most = 50;
function matches(text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const is_number = /^\d+$/.test(wanted), bare = wanted.replace(/^0x/, "").replace(/:/g, "");
  const exact = [], part = [];
  for (const n of nodes) {
    const name = n.name.toLowerCase(), guid = n.guid.replace(/^0x/, "").replace(/:/g, "");
    if (name === wanted || guid === bare || (is_number && n.lid === Number(wanted))) exact.push(n);
    else if (name.includes(wanted) || (bare.length >= 4 && guid.includes(bare))) part.push(n);
  }
  return [...exact, ...part];
}
by("search").addEventListener("input", event => {
  const all = matches(event.target.value);
  found.replaceChildren(...all.slice(0, most).map(n => {
    const line = document.createElement("li");
    line.append(link_to(n), ` ${n.type}${n.lid ? `, LID ${n.lid}` : ""}`);
    return line;
  }));
  if (all.length > most) {
    const line = document.createElement("li");
    line.textContent = `and ${all.length - most} more`;
    found.append(line);
  }
  found.dataset.count = all.length;
  if (all.length) show(all[0], true);
});
by("whole").addEventListener("click", () => select(canvas).call(zooming.transform, whole()));
coloring.addEventListener("change", () => { paint(); draw(); });

for (const option of [...coloring.options]) if (option.value === "errors" && !data.has_errors) option.remove();
if (data.has_errors) coloring.value = "errors";
status.textContent = `${nodes.length} nodes, ${links.length} links${data.complete ? "" : ", not complete"}`;
select(canvas).call(zooming).on("dblclick.zoom", null);
paint();
window.addEventListener("resize", resize);
resize();

"use strict";
// The page reads without this: it adds what follows the pointer, zooming, sorting and filtering.
const WIDTH = 1000, HEIGHT = 260, ROWS = 10, POINTS = 800;
const SVG = "http://www.w3.org/2000/svg";
const number = new Intl.NumberFormat("en-US");

// Amounts as the page writes them.
function sized(bytes) {
  if (bytes < 1024) return number.format(bytes) + " B";
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = 0, value = bytes / 1024;
  while (value >= 1023.95 && unit < units.length - 1) { value /= 1024; unit += 1; }
  const digits = value < 9.995 ? 2 : 1;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " " + units[unit];
}

function made(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  parent.append(element);
  return element;
}

function curve(figure) {
  const data = JSON.parse(document.getElementById(figure.dataset.curve).textContent);
  const total = data.layers[data.layers.length - 1] || [];
  if (total.length < 2) return;
  const svg = figure.querySelector("svg");
  const hint = document.createElement("div");
  hint.className = "hint";
  hint.hidden = true;
  const whole = document.createElement("button");
  whole.type = "button";
  whole.textContent = "Show all";
  whole.hidden = true;
  figure.querySelector("figcaption").append(whole);
  figure.append(hint);
  let from = 0, to = total.length - 1, drag = null;

  function draw() {
    svg.replaceChildren();
    // Of samples that share a point the highest is drawn.
    const length = Math.max(1, Math.ceil((to - from + 1) / POINTS));
    const kept = [];
    for (let start = from; start <= to; start += length) {
      let best = start;
      for (let at = start; at < Math.min(start + length, to + 1); at += 1) if (total[at] > total[best]) best = at;
      kept.push(best);
    }
    let top = 1;
    for (const at of kept) top = Math.max(top, total[at]);
    const near = data.limit && top >= data.limit * 0.25;
    if (near) top = Math.max(top, data.limit);
    const y = (bytes) => (HEIGHT * (1 - bytes / top * 0.96)).toFixed(1);
    const x = (at) => ((at - from) * WIDTH / Math.max(1, to - from)).toFixed(1);
    for (let place = data.layers.length - 1; place >= 0; place -= 1) {
      let path = "M0 " + HEIGHT;
      for (const at of kept) path += "L" + x(at) + " " + y(data.layers[place][at]);
      made("path", { class: data.groups[place].color, d: path + "L" + WIDTH + " " + HEIGHT + "Z" }, svg);
    }
    if (near) made("line", { class: "limit", x1: 0, x2: WIDTH, y1: y(data.limit), y2: y(data.limit) }, svg);
    whole.hidden = from === 0 && to === total.length - 1;
  }

  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return Math.round(from + share * (to - from));
  };
  const share = (sample) => (sample - from) * WIDTH / Math.max(1, to - from);

  function row(table, first, second, color) {
    const line = table.insertRow();
    const name = line.insertCell();
    if (color) { const patch = document.createElement("i"); patch.className = color; name.append(patch, " "); }
    name.append(first);
    const cell = line.insertCell();
    cell.className = "number";
    cell.textContent = second;
  }

  function say(event) {
    const sample = at(event);
    svg.querySelectorAll(".pointer, .mark").forEach((old) => old.remove());
    const x = share(sample);
    made("line", { class: "pointer", x1: x, x2: x, y1: 0, y2: HEIGHT }, svg);
    if (drag !== null && drag !== sample) {
      const [low, high] = [share(Math.min(drag, sample)), share(Math.max(drag, sample))];
      made("rect", { class: "mark", x: low, y: 0, width: high - low, height: HEIGHT }, svg);
    }
    hint.replaceChildren();
    const title = document.createElement("strong");
    title.textContent = figure.dataset.step + " " + number.format(data.steps[sample]);
    const name = document.createElement("div");
    name.textContent = data.names[data.nameOf[sample]] || "";
    const table = document.createElement("table");
    row(table, "Alive", sized(total[sample]));
    if (data.groups.length > 1) {
      for (let place = data.groups.length - 1; place >= 0; place -= 1) {
        const below = place ? data.layers[place - 1][sample] : 0;
        const bytes = data.layers[place][sample] - below;
        if (bytes > 0) row(table, data.groups[place].title, sized(bytes), data.groups[place].color);
      }
    }
    hint.append(title, name, table);
    hint.hidden = false;
    const box = svg.getBoundingClientRect(), own = figure.getBoundingClientRect();
    const left = event.clientX - own.left;
    const isRight = event.clientX - box.left > box.width / 2;
    hint.style.left = isRight ? "" : left + 12 + "px";
    hint.style.right = isRight ? own.width - left + 12 + "px" : "";
    hint.style.top = box.top - own.top + 8 + "px";
  }

  svg.addEventListener("pointermove", say);
  svg.addEventListener("pointerleave", () => { if (drag === null) { hint.hidden = true; svg.querySelectorAll(".pointer").forEach((old) => old.remove()); } });
  svg.addEventListener("pointerdown", (event) => { drag = at(event); svg.setPointerCapture(event.pointerId); say(event); });
  svg.addEventListener("pointerup", (event) => {
    const end = at(event), start = drag;
    drag = null;
    if (start !== null && Math.abs(end - start) >= 2) { [from, to] = [Math.min(start, end), Math.max(start, end)]; draw(); }
    else say(event);
  });
  svg.addEventListener("pointercancel", () => { drag = null; });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const middle = at(event), factor = event.deltaY + event.deltaX > 0 ? 1.25 : 0.8;
    from = Math.max(0, Math.round(middle - (middle - from) * factor));
    to = Math.min(total.length - 1, Math.round(middle + (to - middle) * factor));
    if (to - from < 2) { from = Math.max(0, middle - 1); to = Math.min(total.length - 1, from + 2); }
    draw();
  }, { passive: false });
  const all = () => { from = 0; to = total.length - 1; draw(); };
  svg.addEventListener("dblclick", all);
  whole.addEventListener("click", all);
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const width = to - from, step = Math.max(1, Math.round(width / 5));
    if (event.key === "Escape" || event.key === "0") all();
    else if (event.key === "+" && width > 4) { from += step; to -= step; draw(); }
    else if (event.key === "-") { from = Math.max(0, from - step); to = Math.min(total.length - 1, to + step); draw(); }
    else if (event.key === "ArrowLeft" && from > 0) { const by = Math.min(step, from); from -= by; to -= by; draw(); }
    else if (event.key === "ArrowRight" && to < total.length - 1) { const by = Math.min(step, total.length - 1 - to); from += by; to += by; draw(); }
    else return;
    event.preventDefault();
  });
  const note = document.createElement("span");
  note.className = "note";
  note.textContent = "Drag to zoom";
  figure.querySelector("figcaption").append(note);
  draw();
}

function table(figure) {
  const head = figure.querySelector("thead tr"), body = figure.querySelector("tbody");
  const rows = [...body.rows];
  let isShort = rows.length > ROWS + 1, wanted = "";
  const caption = figure.querySelector("figcaption");
  const more = document.createElement("button");
  more.type = "button";
  function show() {
    const isFound = (row) => !wanted || row.textContent.toLowerCase().includes(wanted);
    const found = [...body.rows].filter(isFound);
    const most = isShort && found.length > ROWS + 1 ? ROWS : found.length;
    for (const row of body.rows) row.hidden = true;
    found.slice(0, most).forEach((row) => { row.hidden = false; });
    more.hidden = found.length <= ROWS + 1;
    more.textContent = isShort ? "Show all " + number.format(found.length) : "Show fewer";
  }
  more.addEventListener("click", () => { isShort = !isShort; show(); });
  if (rows.length > ROWS + 1) {
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "Filter";
    search.setAttribute("aria-label", "Filter " + caption.textContent);
    search.addEventListener("input", () => { wanted = search.value.toLowerCase(); show(); });
    caption.append(search);
    figure.append(more);
  }
  [...head.cells].forEach((cell, place) => {
    cell.setAttribute("aria-sort", "none");
    cell.tabIndex = 0;
    const sort = () => {
      const isNumber = cell.classList.contains("number");
      const was = cell.getAttribute("aria-sort");
      const isDown = was === "none" ? isNumber : was === "ascending";
      for (const other of head.cells) other.setAttribute("aria-sort", "none");
      cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const value = (row) => {
        const of = row.cells[place];
        return isNumber ? Number(of.dataset.value ?? -Infinity) : of.textContent;
      };
      const by = isNumber ? (a, b) => value(a) - value(b) : (a, b) => value(a).localeCompare(value(b), "en", { numeric: true });
      rows.sort((a, b) => (isDown ? by(b, a) : by(a, b)));
      body.append(...rows);
      show();
    };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  });
  show();
}

document.querySelectorAll("figure.curve").forEach(curve);
document.querySelectorAll("figure.table").forEach(table);

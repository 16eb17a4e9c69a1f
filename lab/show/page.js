"use strict";
// Shows one step of the trace. What each step changed was worked out before; here it is only drawn,
// and every text goes in as text, never as markup.

const trace = JSON.parse(document.getElementById("trace").textContent);
const last = trace.frames.length - 1;
const rows = [...document.querySelectorAll("#lanes li")];
const PACE = 1400; // ms a step stays while the page plays
let step = 0;
let timer = null;

const get = (id) => document.getElementById(id);

function make(tag, kind, ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside);
  return element;
}

function own(name) {
  return name === "amber" || name === "blue" ? name : "other";
}

function sign(name) {
  const letter = make("span", "sign " + own(name), [...name][0].toUpperCase());
  letter.setAttribute("aria-hidden", "true");
  return letter;
}

function shown(value) {
  return value === null || value === undefined ? "–" : String(value);
}

function courierOr(value, nobody) {
  return value === null ? [nobody] : [sign(value), value];
}

function changesOf(frame, table, row) {
  const mine = frame.changes.filter((c) => c.table === table && c.row === row);
  return {
    fresh: mine.some((c) => c.column === null),
    was: new Map(mine.filter((c) => c.column !== null).map((c) => [c.column, c.was])),
  };
}

function was(value) {
  const old = make("s", "was", value === null ? "null" : shown(value));
  old.title = "before this step";
  return old;
}

function fact(label, inside, changed, old) {
  // What it was goes beside the label, so that the value stays where it was and nothing moves.
  const name = make("dt", "", label.replaceAll(" ", "\u00a0"));
  if (changed) name.append(" ", was(old));
  return make("div", changed ? "changed" : "", name, make("dd", "", ...inside));
}

function drawNow(frame) {
  get("now-number").textContent = frame.n;
  const who = get("now-who");
  const stage = step === 0 ? "start" : "stage";
  who.className = frame.courier === null ? "" : own(frame.courier);
  who.replaceChildren(...courierOr(frame.courier, stage));
  if (step > 0) who.append(make("span", "kind", frame.kind));
  get("now-text").textContent = frame.text;
  get("now-text").className = frame.text.length > 150 ? "long" : "";
  get("now-told").textContent = frame.told.length ? "→ " + frame.told.join("; ") : "";
  get("now").querySelector("div").scrollTop = 0;
}

function drawNumbers(frame) {
  const facts = [];
  for (const [name, label] of [
    ["clock", "clock, ms"],
    ["lock", "write lock"],
    ["requests", "requests"],
    ["effects", "effects"],
  ]) {
    const value = frame.state[name];
    const change = frame.changes.find((c) => c.table === name);
    const inside = name === "lock" ? courierOr(value, "free") : [shown(value)];
    const old = change && (name === "lock" && change.was === null ? "free" : change.was);
    const drawn = fact(label, inside, change !== undefined, old);
    if (shown(value).length > 7) drawn.lastChild.classList.add("long");
    facts.push(drawn);
  }
  get("numbers").replaceChildren(...facts);
}

function drawCouriers(frame) {
  const doing = {
    idle: "in no call",
    busy: "in a call",
    waiting: "waits for lock",
    sending: "sending",
    dead: "killed ✖",
  };
  const drawn = Object.entries(frame.lanes).map(([name, lane]) => {
    const next = make("small", "", lane.next ? "next: " + lane.next : "\u00a0");
    next.title = lane.next || "";
    return make("div", own(name), sign(name), make("p", "", make("b", "", name), " " + doing[lane.doing], next));
  });
  get("couriers").replaceChildren(...drawn);
}

function drawJob(frame, job, number) {
  const change = changesOf(frame, "jobs", number);
  const status = make("span", "status " + job.status, job.status);
  const head = make("h3", "", job.id, make("span", "", "×" + job.qty));
  if (change.fresh) head.append(make("span", "new", "new"));
  if (change.was.has("status")) {
    status.classList.add("changed");
    const old = was(change.was.get("status"));
    old.classList.add("status");
    head.append(old);
    status.style.marginLeft = "0";
  }
  head.append(status);
  const facts = make("dl", "");
  for (const [column, label] of [
    ["token", "token"],
    ["owner", "owner"],
    ["lease_until", "lease until"],
    ["attempts", "attempts"],
    ["reason", "reason"],
    ["deadline", "deadline"],
    ["available_at", "available at"],
    ["seq", "seq"],
  ]) {
    let inside = [shown(job[column])];
    if (column === "owner") inside = courierOr(job.owner, "–");
    if (column === "attempts") inside = [job.attempts + " of " + job.max_attempts];
    if (column === "lease_until" && job.lease_until !== null) {
      if (job.lease_until <= frame.state.clock) inside.push(make("span", "new", "over"));
    }
    facts.append(fact(label, inside, change.was.has(column), change.was.get(column)));
  }
  return make("article", "job" + (change.fresh ? " changed" : ""), head, facts);
}

function drawRows(frame) {
  const none = () => make("span", "none", "none");
  const jobs = frame.state.jobs.map((job, number) => drawJob(frame, job, number));
  get("jobs").replaceChildren(...(jobs.length ? jobs : [none()]));
  for (const table of ["inbox", "redrives"]) {
    const drawn = frame.state[table].map((row, number) => {
      const change = changesOf(frame, table, number);
      const said = table === "inbox" ? ` ×${row.qty}` : `, token ${row.token}, at ${row.at_ms}: ${row.note}`;
      const item = make("li", "", row.id + said);
      if (change.fresh) item.append(" ", make("span", "new", "new"));
      for (const [column, old] of change.was) item.append(` ${column} `, was(old));
      if (change.fresh || change.was.size) item.className = "changed";
      return item;
    });
    get(table).replaceChildren(...(drawn.length ? drawn : [make("li", "none", "none")]));
  }
  showChanged(get("state"));
}

function showChanged(panel) {
  panel.scrollTop = 0;
  const changed = panel.querySelector(".job .changed, .job.changed, li.changed");
  if (!changed) return;
  const card = changed.closest(".job, li").getBoundingClientRect();
  const below = card.bottom - panel.getBoundingClientRect().bottom;
  if (below > 0) panel.scrollTop = below + 12;
}

function drawLanes() {
  rows.forEach((row, i) => {
    row.classList.toggle("later", i + 1 > step);
    row.classList.toggle("current", i + 1 === step);
    if (i + 1 === step) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  const lanes = get("lanes");
  const row = rows[step - 1];
  // Not scrollIntoView: on a narrow screen that would move the whole page.
  lanes.scrollTop = row ? row.offsetTop - lanes.clientHeight * 0.6 : 0;
}

function go(to) {
  step = Math.min(last, Math.max(0, to));
  const frame = trace.frames[step];
  drawNow(frame);
  drawNumbers(frame);
  drawCouriers(frame);
  drawRows(frame);
  drawLanes();
  const slider = get("slider");
  slider.value = step;
  slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
  get("count").textContent = `${step} / ${last}`;
  get("first").disabled = get("back").disabled = step === 0;
  get("last").disabled = get("forward").disabled = step === last;
  if (step === last) pause();
  try {
    history.replaceState(null, "", "#step=" + step);
  } catch {
    // In a frame without an address of its own there is nothing to link to.
  }
}

function pause() {
  clearInterval(timer);
  timer = null;
  document.body.classList.remove("playing");
  get("play").setAttribute("aria-label", "Play");
}

function play() {
  if (step === last) go(0);
  if (step === last) return;
  timer = setInterval(() => go(step + 1), PACE);
  document.body.classList.add("playing");
  get("play").setAttribute("aria-label", "Pause");
}

function drive(to) {
  pause();
  go(to);
}

async function copy() {
  const field = get("schedule");
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    field.select();
    if (!document.execCommand("copy")) said = "Press Ctrl+C";
  }
  get("copied").textContent = said;
}

function fromAddress() {
  const asked = /^#step=(\d+)$/.exec(location.hash);
  return asked ? Number(asked[1]) : 0;
}

get("first").onclick = () => drive(0);
get("back").onclick = () => drive(step - 1);
get("forward").onclick = () => drive(step + 1);
get("last").onclick = () => drive(last);
get("play").onclick = () => (timer === null ? play() : pause());
get("slider").oninput = (event) => drive(Number(event.target.value));
get("copy").onclick = copy;
rows.forEach((row, i) => (row.onclick = () => drive(i + 1)));
addEventListener("hashchange", () => drive(fromAddress()));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === get("schedule")) return;
  const pressed = {
    ArrowRight: () => drive(step + 1),
    ArrowDown: () => drive(step + 1),
    PageDown: () => drive(step + 1),
    ArrowLeft: () => drive(step - 1),
    ArrowUp: () => drive(step - 1),
    PageUp: () => drive(step - 1),
    Home: () => drive(0),
    End: () => drive(last),
    " ": () => get("play").click(),
  }[event.key];
  const own = event.target.closest("#slider, #state") && /^(ArrowUp|ArrowDown)$/.test(event.key);
  if (!pressed || own || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  pressed();
});
go(fromAddress());

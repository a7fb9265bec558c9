// The configuration editor: what was refused goes away beside a field once it is mended, and comes to a
// field that was touched. Whether it is, the server says in #state; nothing is judged here.
"use strict";

const touched = new Set();

function place(name) {
  const input = document.getElementById(name);
  return input && { input, field: input.closest(".field, .boxes") };
}

function tell(name, said) {
  const found = place(name);
  if (!found || !found.field) return;
  const { input, field } = found;
  let complaint = field.querySelector(":scope > .complaint");
  field.classList.toggle("wrong", said !== undefined);
  if (said === undefined) {
    complaint?.remove();
    input.removeAttribute("aria-invalid");
    return;
  }
  if (!complaint) {
    complaint = document.createElement("p");
    complaint.className = "complaint";
    complaint.id = `${name}-complaint`;
    (field.querySelector(":scope > .control") ?? field.querySelector(":scope > textarea, :scope > select, :scope > label:last-of-type"))?.after(complaint);
  }
  complaint.textContent = said;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", complaint.id);
}

function retell() {
  const refused = new Map();
  for (const one of document.querySelectorAll("#state [data-field]")) {
    if (!refused.has(one.dataset.field)) refused.set(one.dataset.field, one.dataset.beside);
  }
  const names = new Set(touched);
  for (const field of document.querySelectorAll("#editor .wrong")) {
    const input = field.matches(".boxes") ? field : field.querySelector("input, select, textarea");
    if (input && input.id !== "name") names.add(input.id);
  }
  for (const name of names) tell(name, refused.get(name));
}

// Bring what came of a trial into view, and in the reply the place where the loop began.
function showTrial() {
  const trial = document.getElementById("trial");
  const side = trial.closest(".side");
  if (side.scrollHeight > side.clientHeight) side.scrollTop = trial.offsetTop - 64;
  else trial.scrollIntoView({ block: "start" });
  const reply = trial.querySelector(".reply");
  const mark = reply?.querySelector("mark");
  if (mark) reply.scrollTop += mark.getBoundingClientRect().top - reply.getBoundingClientRect().top - 48;
}

function sayRefused(text) {
  const trial = document.getElementById("trial");
  const said = document.createElement("p");
  said.className = "notice wrong";
  said.setAttribute("role", "alert");
  said.textContent = text;
  trial.replaceChildren(said);
}

const LARGE = "The file is too large to be tried here: leave out some of it, or run loopwatch scan on it.";

document.addEventListener("change", (event) => {
  if (event.target.form?.id === "editor" && event.target.id) touched.add(event.target.id);
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target.id === "trial") showTrial();
  else retell();
});
document.addEventListener("htmx:beforeRequest", (event) => {
  const file = document.getElementById("try-file");
  const size = file?.files[0]?.size ?? 0;
  if (event.detail.elt.value === "try" && size > Number(file.dataset.most)) {
    event.preventDefault();
    sayRefused(LARGE);
  }
});
document.addEventListener("htmx:responseError", (event) => {
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  sayRefused(page.querySelector("main p:not(.brand)")?.textContent ?? `The server refused (${event.detail.xhr.status}).`);
});
document.addEventListener("htmx:sendError", () => sayRefused("The server cannot be reached just now: try again."));
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("summary")?.focus();
  if (document.querySelector("#trial .reply")) showTrial();
});

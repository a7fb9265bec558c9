// Before the page is painted: the theme that was chosen, if one was; else the system's.
"use strict";
try {
  const chosen = localStorage.getItem("loopwatch-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing shows the system's theme.
}

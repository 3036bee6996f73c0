/*
Copyright (c) 2026, nodebootstrap.eks contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
*/
// Corrects what the theme and antsibull-docs leave inaccessible.
const correct = () => {
  const set = (selector, name, value) => document.querySelectorAll(selector).forEach((element) => element.setAttribute(name, value));
  set(".caption[role=heading]", "aria-level", "2");
  set(".wy-nav-side", "aria-label", "Pages");
  set(".highlight pre, .wy-table-responsive", "tabindex", "0");
  set("[role=main]", "id", "content");
  set("[role=main]", "tabindex", "-1");
  document.querySelectorAll("[aria-role]").forEach((element) => element.removeAttribute("aria-role"));
};
window.addEventListener("DOMContentLoaded", () => {
  correct();
  // A script of the theme wraps the tables later, and the search adds its results.
  new MutationObserver(correct).observe(document.body, {childList: true, subtree: true});
});

// SPDX-License-Identifier: MIT
"use strict";
/** The page whose machines never change. */
(() => {
  const root = document.querySelector(".purchase");
  const comparisons = JSON.parse(document.getElementById("comparisons").textContent);
  const show = () => purchase.show(root, comparisons);
  addEventListener("hashchange", show);
  // Links within the page would put the reader's settings out of the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    target.scrollIntoView();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  });
  show();
})();

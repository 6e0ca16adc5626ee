// SPDX-License-Identifier: MIT
"use strict";
/** The page whose machines never change. */
(() => {
  const root = document.querySelector(".purchase");
  const comparisons = JSON.parse(document.getElementById("comparisons").textContent);
  const show = () => purchase.show(root, comparisons);
  addEventListener("hashchange", show);
  setting.keep();
  show();
})();

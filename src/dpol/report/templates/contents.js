"use strict";
// Marks the present section in the list of contents.
{
  const links = [...document.querySelectorAll("nav a")];
  const sections = links.map((it) => document.getElementById(it.hash.slice(1)));
  const mark = () => {
    const passed = sections.filter((it) => it.getBoundingClientRect().top < innerHeight / 3).length;
    const end = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const present = links[end ? links.length - 1 : Math.max(passed - 1, 0)];
    for (const it of links) {
      if (it === present) it.setAttribute("aria-current", "true");
      else it.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// A figure that is wider than its place fades where more of it is hidden.
for (const it of document.querySelectorAll(".panel")) {
  const mark = () => it.classList.toggle("more", it.scrollLeft + it.clientWidth < it.scrollWidth - 2);
  it.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(it);
}

// On a phone a table is a long list, so these parts start folded.
if (matchMedia("(max-width: 48rem)").matches) {
  for (const it of document.querySelectorAll("details.wide")) it.open = false;
}

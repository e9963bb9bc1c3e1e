// Zoom and search in a static flame graph. Names are only ever set as text.
(function () {
  "use strict";
  var svg = document.currentScript.ownerSVGElement;
  var left = 10, inner = svg.viewBox.baseVal.width - 20, advance = 7.25;
  var boxes = Array.prototype.map.call(svg.querySelectorAll("g.b"), function (g) {
    var rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
    return {
      g: g, rect: rect, text: g.querySelector("text"),
      name: title.replace(/ \([^()]*\)$/, ""),
      x: +rect.getAttribute("x"), w: +rect.getAttribute("width"), y: +rect.getAttribute("y")
    };
  });
  var groups = Array.prototype.map.call(svg.querySelectorAll("path.m"), function (path) {
    var at = path.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    var title = document.createElementNS(svg.namespaceURI, "title");
    title.textContent = path.getAttribute("data-more");
    path.appendChild(title);
    return { path: path, x: at[0], y: at[1], w: at[2] };
  });
  var said = svg.querySelector("#said"), search = svg.querySelector("#search");
  var lowest = Math.max.apply(null, boxes.map(function (b) { return b.y; }));
  function own(name) {
    return name.replace(/^([^()]+\+0x[0-9a-f]+) \(.+\.\..+\)$/, "$1");
  }
  function label(b, width) {
    var room = Math.floor((width - 6) / advance);
    if (!b.text) {
      b.text = document.createElementNS(svg.namespaceURI, "text");
      b.text.setAttribute("y", b.y + 12);
      b.text.setAttribute("fill", "#111");
      b.g.appendChild(b.text);
    }
    b.text.textContent = room < 3 ? "" : b.name.length <= room ? b.name : b.name.slice(0, room - 1) + "…";
  }
  function zoom(to) {
    var scale = inner / to.w;
    boxes.forEach(function (b) {
      var carries = b.y > to.y && b.x <= to.x + 0.01 && b.x + b.w >= to.x + to.w - 0.01;
      var x = carries ? left : left + (b.x - to.x) * scale, w = carries ? inner : b.w * scale;
      var out = !carries && (b.x + b.w <= to.x + 0.005 || b.x >= to.x + to.w - 0.005 || b.y > to.y);
      b.g.style.display = out ? "none" : "";
      b.rect.style.opacity = carries ? 0.5 : 1;
      if (out) return;
      b.rect.setAttribute("x", x);
      b.rect.setAttribute("width", w);
      label(b, w);
      b.text.setAttribute("x", x + 3);
    });
    groups.forEach(function (p) {
      var out = p.y > to.y || p.x + p.w <= to.x + 0.005 || p.x >= to.x + to.w - 0.005;
      p.path.style.display = out ? "none" : "";
      p.path.setAttribute("d", "M" + (left + (p.x - to.x) * scale) + " " + p.y + "h" + p.w * scale + "v16h" + -p.w * scale + "z");
    });
  }
  function find() {
    var asked = prompt("Find functions (regular expression)", "");
    if (asked === null) return;
    var regex = null;
    try {
      regex = asked === "" ? null : new RegExp(asked, "i");
    } catch (error) {
      said.textContent = "not a regular expression";
      return;
    }
    var hits = boxes.filter(function (b) { return regex && regex.test(own(b.name)); });
    // A box counts once, however often a match recurs above it.
    var outer = hits.filter(function (b) {
      return !hits.some(function (o) {
        return o.y > b.y && o.x <= b.x + 0.005 && o.x + o.w >= b.x + b.w - 0.005;
      });
    });
    var sum = outer.reduce(function (all, b) { return all + b.w; }, 0);
    boxes.forEach(function (b) {
      b.g.style.opacity = regex && hits.indexOf(b) < 0 ? 0.3 : 1;
    });
    said.textContent = regex
      ? outer.length + " found, " + (100 * sum / inner).toFixed(1) + " %" + (groups.length ? " or more" : "") + " of all"
      : "";
  }
  boxes.forEach(function (b) {
    b.g.style.cursor = "pointer";
    b.g.addEventListener("click", function () {
      zoom(b.y === lowest ? { x: left, w: inner, y: lowest } : b);
    });
  });
  search.style.cursor = "pointer";
  search.style.display = "";
  search.addEventListener("click", find);
})();

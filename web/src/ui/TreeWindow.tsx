// A small window of the call tree as real elements: the path to the selected function, some of its
// siblings and its first children. It has the keyboard focus of the graph.

import { sentence } from "../flame/describe";
import type { FlameModel } from "../flame/model";
import { children, pathTo } from "../flame/navigate";
import type { Graph } from "../state/graph";

const CHILDREN = 8;
const SIBLINGS = 3;

interface Item {
  readonly node: number;
  readonly of: number;
  readonly place: number;
}

/** Path, siblings around the selected node, and its first children, in reading order. */
function windowAround(m: FlameModel, node: number): Item[] {
  const items: Item[] = [];
  for (const one of pathTo(m.tree, node).slice(0, -1)) items.push(placed(m, one));
  const parent = m.tree.parent[node];
  const brothers = parent >= 0 ? children(m.tree, parent, m.weight) : [node];
  const at = brothers.indexOf(node);
  const first = Math.max(0, at - SIBLINGS);
  brothers.slice(first, at + SIBLINGS + 1).forEach((one, i) => {
    items.push({ node: one, of: brothers.length, place: first + i + 1 });
    if (one !== node) return;
    const below = children(m.tree, node, m.weight);
    below.slice(0, CHILDREN).forEach((child, k) => {
      items.push({ node: child, of: below.length, place: k + 1 });
    });
  });
  return items;
}

function placed(m: FlameModel, node: number): Item {
  const parent = m.tree.parent[node];
  const brothers = parent >= 0 ? children(m.tree, parent, m.weight) : [node];
  return { node, of: brothers.length, place: brothers.indexOf(node) + 1 };
}

interface Props {
  readonly graph: Graph;
  readonly onFocus: () => void;
  readonly onBlur: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export function TreeWindow({ graph, ...handlers }: Props) {
  const m = graph.model.value;
  if (!m) return null;
  const current = graph.cursor.value;
  const id = (node: number) => `${graph.name.replaceAll(" ", "-")}-${node}`;
  return (
    <div
      class="tree"
      role="tree"
      tabIndex={0}
      aria-label={`${graph.name}; arrows move, Enter zooms, Backspace goes back`}
      aria-activedescendant={id(current)}
      {...handlers}
    >
      {windowAround(m, current).map(({ node, of, place }) => {
        const leaf = m.tree.end[node] === node + 1;
        const open = current >= node && current < m.tree.end[node];
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it handles the keys
          <div
            key={node}
            id={id(node)}
            role="treeitem"
            tabIndex={-1}
            aria-level={m.data.level[node] + 1}
            aria-setsize={of}
            aria-posinset={place}
            aria-selected={node === current}
            {...(leaf ? {} : { "aria-expanded": open })}
            onClick={() => graph.zoomTo(node)}
          >
            {sentence(m, node)}
          </div>
        );
      })}
    </div>
  );
}

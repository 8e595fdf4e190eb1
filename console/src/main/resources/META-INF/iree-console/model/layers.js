// @ts-check
// Places a graph of operations in layers, from left to right: a node is one layer after the last of its predecessors.
// Within a layer, nodes are sorted by the average place of their neighbours, which leaves few crossings.

const SWEEPS = 8;

/**
 * @param {import("./schedule.js").Operation[]} operations those to place, in the order of definition
 * @returns {{layers: import("./schedule.js").Operation[][], place: Map<import("./schedule.js").Operation, {layer: number, row: number}>, rows: number}}
 */
export function placeInLayers(operations) {
  const shown = new Set(operations);
  const layerOf = new Map();
  const begun = new Set();
  const visit = (first) => {
    const open = [first];
    while (open.length > 0) {
      const op = open[open.length - 1];
      // In a circle, as of operations that wait for each other, the edge that closes it does not count.
      const missing = begun.has(op) ? [] : op.before.filter((each) => shown.has(each) && !begun.has(each));
      begun.add(op);
      if (missing.length > 0) {
        open.push(...missing);
        continue;
      }
      open.pop();
      if (!layerOf.has(op)) {
        layerOf.set(op, op.before.reduce((most, each) => (layerOf.has(each) ? Math.max(most, layerOf.get(each) + 1) : most), 0));
      }
    }
  };
  operations.forEach(visit);
  const layers = [];
  for (const op of operations) (layers[layerOf.get(op)] ??= []).push(op);

  const rowOf = new Map();
  const number = () => layers.forEach((layer) => layer.forEach((op, row) => rowOf.set(op, row)));
  number();
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forwards = sweep % 2 === 0;
    for (const layer of forwards ? layers : [...layers].reverse()) {
      const wish = new Map(
        layer.map((op) => {
          const near = (forwards ? op.before : op.after).filter((each) => shown.has(each));
          const sum = near.reduce((total, each) => total + rowOf.get(each), 0);
          return [op, near.length > 0 ? sum / near.length : rowOf.get(op)];
        }),
      );
      layer.sort((a, b) => wish.get(a) - wish.get(b) || rowOf.get(a) - rowOf.get(b));
      layer.forEach((op, row) => rowOf.set(op, row));
    }
  }
  const rows = layers.reduce((most, layer) => Math.max(most, layer.length), 1);
  const place = new Map();
  layers.forEach((layer, index) =>
    layer.forEach((op, row) => place.set(op, { layer: index, row: row + (rows - layer.length) / 2 })),
  );
  return { layers, place, rows };
}

/** The operations next to one, nearest first, at most so many, in the order of definition. */
export function neighbourhood(op, most) {
  const found = new Set([op]);
  let edge = [op];
  while (edge.length > 0 && found.size < most) {
    const next = [];
    for (const each of edge) {
      for (const near of [...each.before, ...each.after]) {
        if (!found.has(near) && found.size < most) {
          found.add(near);
          next.push(near);
        }
      }
    }
    edge = next;
  }
  return [...found].sort((a, b) => a.index - b.index);
}

// @ts-check
// The machines of a cluster, in a form that is shown only where there are several.

/** @param {number} index of a machine @returns {string} its name */
export const machineName = (index) => `machine ${index}`;

/**
 * Names the machine of each queue; the name is empty when all are on one.
 *
 * @param {any[]} queues with the index of their machine
 * @returns {(queue: any) => string}
 */
export function namesOfMachines(queues) {
  const several = new Set(queues.map((queue) => queue.machine ?? 0)).size > 1;
  return (queue) => (several ? machineName(queue.machine ?? 0) : "");
}

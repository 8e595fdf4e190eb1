package io.github.iree4j.task;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A FIFO queue of waiting processes. Lock-free, for any number of producers and consumers; allocates nothing.
 *
 * <p>The Michael-Scott queue, over numbered nodes: the first node belonged to the process taken last, so a taken
 * process receives the former first node.
 */
final class ProcessList {
    /*
     * first, last: links as in ListNodes. last may lag by one node during an addition; any thread that observes the lag
     * advances last. last is never behind first, and a process counts as added when last has moved to its node. The
     * list is therefore empty when both are at the same node.
     *
     * TASK-15: each process is taken once, in the order of addition.
     */
    private final ListNodes nodes;
    private final PaddedLong first = new PaddedLong();
    private final PaddedLong last = new PaddedLong();

    ProcessList(ListNodes nodes) {
        this.nodes = nodes;
        int empty = nodes.take();
        nodes.setNextRelease(empty, ListNodes.NONE);
        first.setVolatile(ListNodes.link(0, empty));
        last.setVolatile(ListNodes.link(0, empty));
    }

    /** Adds a process that is in no list and owns a node. */
    void push(TaskProcess process) {
        int node = process.node;
        nodes.setProcessRelease(node, process);
        nodes.setNextRelease(node, ListNodes.NONE);
        for (; ; ) {
            long end = last.getVolatile();
            long next = nodes.nextVolatile(ListNodes.node(end));
            if (end != last.getVolatile()) {
                continue;
            }
            if (ListNodes.node(next) != ListNodes.NONE) {
                last.compareAndSetVolatile(end, ListNodes.link(end, ListNodes.node(next)));
            } else if (nodes.compareAndSetNext(ListNodes.node(end), next, node)) { // TASK-15
                last.compareAndSetVolatile(end, ListNodes.link(end, node));
                return;
            }
        }
    }

    /** Takes the process that has waited longest; null for an empty list. */
    @Nullable
    TaskProcess pop() {
        for (; ; ) {
            long begin = first.getVolatile();
            long end = last.getVolatile();
            int node = ListNodes.node(begin);
            if (node == ListNodes.node(end)) {
                if (begin == first.getVolatile()) {
                    return null;
                }
                continue;
            }
            int next = ListNodes.node(nodes.nextVolatile(node));
            if (next == ListNodes.NONE) {
                continue; // the node was taken meanwhile, and freed or added again
            }
            TaskProcess process =
                    nodes.processAcquire(next); // stale if the node was taken meanwhile; then the next line fails
            if (first.compareAndSetVolatile(begin, ListNodes.link(begin, next))) { // TASK-15
                nodes.setProcessRelease(node, null);
                Objects.requireNonNull(process).node = node;
                return process;
            }
        }
    }

    boolean isEmpty() {
        for (; ; ) {
            long begin = first.getVolatile();
            boolean empty = ListNodes.node(begin) == ListNodes.node(last.getVolatile());
            if (!empty || begin == first.getVolatile()) {
                return empty;
            }
        }
    }
}

package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.GpuDevice;
import io.github.iree4j.nativeaccess.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes graphs of commands that are executed again and again: the driver then launches all of them by one call. They are captured on streams of
 * their own; commands of a region become branches of the graph. Safe from any thread.
 */
final class GpuGraphs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GpuGraphs.class);

    /** How many commands of a region can run at once. A guess: there was no device to measure on. */
    private static final int BRANCHES = 4;

    private final GpuDevice device;
    private final AtomicLong launches = new AtomicLong();
    private volatile boolean impossible; // the driver has no graphs, or made one badly
    private final MemorySegment branches = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2 * BRANCHES);
    private int handles; // of them, a stream and an event in turn; guarded by this, like the next
    private boolean closed;

    GpuGraphs(GpuDevice device) {
        this.device = device;
    }

    /**
     * Makes a graph, or has one do the same commands with other parameters.
     *
     * @param words commands that neither wait nor record
     * @param graph 0 for a new one
     * @return the graph; 0 where there are none, and then the given one is released
     */
    synchronized long make(GpuWords words, long graph) {
        if (impossible || closed) {
            return graph == 0 ? 0 : dropped(graph);
        }
        try {
            int branching = words.hasBranches() ? BRANCHES : 1;
            for (; handles < 2 * branching; handles++) {
                branches.setAtIndex(
                        ValueLayout.JAVA_LONG,
                        handles,
                        handles % 2 == 0 ? device.createStream() : device.createEvent());
            }
            return device.makeGraph(branches.asSlice(0, 2L * branching * Long.BYTES), words.segment(), graph);
        } catch (IreeException e) {
            if (graph != 0) { // it cannot become this one
                dropped(graph);
                return make(words, 0);
            }
            impossible = true;
            if (e.code() != StatusCode.UNIMPLEMENTED && !device.isLost()) {
                LOG.warn("graphs are not used: {}", e.getMessage());
            }
            return 0;
        }
    }

    private long dropped(long graph) {
        device.releaseGraph(graph);
        return 0;
    }

    /** Counts a launch. */
    void countLaunch() {
        launches.incrementAndGet();
    }

    /** How often graphs were launched. */
    long launches() {
        return launches.get();
    }

    /** No more are made; those that are there stay until they are released. */
    @Override
    public synchronized void close() {
        closed = true;
        for (; handles > 0; handles--) {
            long handle = branches.getAtIndex(ValueLayout.JAVA_LONG, handles - 1);
            if (handles % 2 == 0) {
                device.releaseEvent(handle);
            } else {
                device.releaseStream(handle);
            }
        }
    }
}

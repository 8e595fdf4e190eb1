package io.github.iree4j.hal.local;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * Default limit for the total memory of the CPU's devices, without configuration. No other safeguard exists: the system
 * overcommits memory and kills the process touching the memory.
 *
 * <p>The limit is the smaller of two shares: half of the memory available on the machine, which has other processes,
 * and three quarters of the room in the container, both after the maximum Java heap and a reserve for metaspace, code
 * and threads. The limit is at least an eighth of the available memory, for a heap that leaves nothing.
 *
 * @param machine bytes available on the machine now
 * @param container bytes still available to this process, by the limits of its container or the size of the machine
 * @param heap maximum of the Java heap, bytes
 */
record DefaultBudget(long machine, long container, long heap) {
    /** Memory of a Java process beside the heap, bytes. A guess: Spring Boot with a web server takes about half. */
    static final long RESERVE = 512L << 20;

    /** Limit of the reserve, as a fraction of the available memory. */
    private static final long RESERVED_AT_MOST = 8;

    private static final long AT_LEAST = 8;

    /** Returns the figures as of this moment. */
    static DefaultBudget now() {
        long heap = Runtime.getRuntime().maxMemory();
        long all = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : heap * 4; // the default share of the heap is a quarter
        AvailableMemory available = new AvailableMemory(Path.of("/"));
        return new DefaultBudget(
                Math.min(all, available.ofMachine()), Math.min(all, available.ofControlGroups()), heap);
    }

    /** Returns the budget of each of several devices. */
    long bytes(int devices) {
        return Math.max(1, bytes() / devices);
    }

    /** Returns the budget of all devices together. */
    long bytes() {
        long least = Math.min(machine, container);
        long java = heap + Math.min(RESERVE, least / RESERVED_AT_MOST);
        long share = Math.min((machine - java) / 2, (container - java) / 4 * 3);
        return Math.max(1, Math.max(share, least / AT_LEAST));
    }
}

package io.github.iree4j.hal.local;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * The memory that devices of the CPU may take together where nothing is configured. There is no other safeguard: the system overcommits memory
 * and kills the process that touches it.
 *
 * <p>Half of what is available on the machine, which has other processes, and three quarters of what the container has room for, both
 * after the Java heap at its maximum and a reserve for metaspace, code and threads. At least an eighth of what there is, for a heap that
 * leaves nothing.
 *
 * @param machine bytes that are available on the machine now
 * @param container bytes that this process may still take, by the limits of its container or the size of the machine
 * @param heap maximum of the Java heap, bytes
 */
record DefaultBudget(long machine, long container, long heap) {
    /** Memory of a Java process beside its heap, bytes. A guess: Spring Boot with a web server takes about half of it. */
    static final long RESERVE = 512L << 20;

    /** The same at most, as a fraction of what there is. */
    private static final long RESERVED_AT_MOST = 8;

    private static final long AT_LEAST = 8;

    /** As of this moment. */
    static DefaultBudget now() {
        long heap = Runtime.getRuntime().maxMemory();
        long all = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : heap * 4; // the default share of the heap is a quarter
        AvailableMemory available = new AvailableMemory(Path.of("/"));
        return new DefaultBudget(
                Math.min(all, available.ofMachine()), Math.min(all, available.ofControlGroups()), heap);
    }

    /** The budget of each of several devices. */
    long bytes(int devices) {
        return Math.max(1, bytes() / devices);
    }

    /** The budget of all. */
    long bytes() {
        long least = Math.min(machine, container);
        long java = heap + Math.min(RESERVE, least / RESERVED_AT_MOST);
        long share = Math.min((machine - java) / 2, (container - java) / 4 * 3);
        return Math.max(1, Math.max(share, least / AT_LEAST));
    }
}

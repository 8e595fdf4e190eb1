package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Allocates axes, in ascending order per domain, each once.
 *
 * <p>All code of a process takes axes from {@link #ofProcess()}, or from an allocator with a unique (session, machine)
 * pair: a cluster leases both. Safe from any thread.
 */
public final class AxisAllocator {
    private static final class OfProcess {
        private static final AxisAllocator INSTANCE = create(sessionOf(ProcessHandle.current()), 0);
    }

    private final int session;
    private final int machine;
    private final AtomicLongArray next; // next ordinal to allocate, by domain

    AxisAllocator(int session, int machine, long firstOrdinal) {
        Axis.of(session, machine, CausalDomain.QUEUE, firstOrdinal); // checks the ranges
        this.session = session;
        this.machine = machine;
        this.next = new AtomicLongArray(CausalDomain.HOST.number() + 1);
        for (int i = 0; i < next.length(); i++) {
            next.setPlain(i, firstOrdinal);
        }
    }

    /**
     * Returns the allocator of this process: machine 0, and a session computed from the process id and start instant,
     * so that the session changes from run to run. Axes are unique within the process. A session has eight bits, so two
     * runs share a session with probability 1/255; where axes outlive the process, in a cluster, the session is leased
     * with the machine, see {@link #create}.
     *
     * @return always the same allocator
     */
    public static AxisAllocator ofProcess() {
        return OfProcess.INSTANCE;
    }

    /**
     * Creates an allocator for a session and machine known by the caller to be unused. For leases, and for tests that
     * need predictable axes.
     *
     * @param session 1 to 255
     * @param machine 0 to 255
     * @return the allocator, at ordinal 0 in every domain
     * @throws IreeException INVALID_ARGUMENT when out of range
     */
    public static AxisAllocator create(int session, int machine) {
        return new AxisAllocator(session, machine, 0);
    }

    /**
     * Allocates an axis.
     *
     * @param domain the kind of timeline
     * @return an axis never allocated before
     * @throws IreeException RESOURCE_EXHAUSTED when all 2^40 ordinals of the domain are used
     */
    public long allocate(CausalDomain domain) {
        int index = domain.number();
        for (; ; ) {
            long ordinal = next.get(index);
            if (ordinal > Axis.MAXIMUM_ORDINAL) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "all " + ordinal + " axes of domain " + domain + " are used; restart to begin a session");
            }
            if (next.compareAndSet(index, ordinal, ordinal + 1)) {
                return Axis.of(session, machine, domain, ordinal);
            }
        }
    }

    /**
     * Returns the session of the allocated axes.
     *
     * @return 1 to 255
     */
    public int session() {
        return session;
    }

    /**
     * Returns the machine of the allocated axes.
     *
     * @return 0 to 255
     */
    public int machine() {
        return machine;
    }

    private static int sessionOf(ProcessHandle process) {
        Instant start = process.info().startInstant().orElseGet(Instant::now);
        return session(process.pid(), start);
    }

    /** Mixes the bits, so that a container with a constant process id also gets a new session. */
    static int session(long pid, Instant start) {
        long bits = pid * 0x9E37_79B9_7F4A_7C15L + start.getEpochSecond() * 1_000L + start.getNano() / 1_000_000;
        bits = (bits ^ bits >>> 33) * 0xFF51_AFD7_ED55_8CCDL;
        bits ^= bits >>> 33;
        return 1 + (int) Long.remainderUnsigned(bits, Axis.MAXIMUM_SESSION);
    }
}

package io.github.iree4j;

import java.lang.ref.Cleaner;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows what of one runtime is to be closed and has not been, and finds what was dropped like that. Each is reported once and counted; its
 * memory is not taken back, because the collector is no substitute for {@code close()}.
 */
final class Leaks {
    private static final Logger LOG = LoggerFactory.getLogger(Leaks.class);
    private static final Cleaner CLEANER = Cleaner.create();
    /** Of every runtime of this process: one that is dropped itself has nobody to ask any more. */
    private static final LongAdder FORGOTTEN_IN_PROCESS = new LongAdder();

    private final boolean trace;
    private final LongAdder forgottenTensors = new LongAdder();
    private final LongAdder openTensors = new LongAdder();
    /** What is open, with the place of its creation; only when that is remembered. */
    private final Set<Watch> open = ConcurrentHashMap.newKeySet();

    private final AtomicLong nextId = new AtomicLong();

    /**
     * Creates the watch of one runtime.
     *
     * @param trace whether to remember where each thing was created; costs a stack walk per result
     */
    Leaks(boolean trace) {
        this.trace = trace;
    }

    /** Watches a tensor that owns device memory until it is closed. */
    Watch watch(Tensor tensor, String what) {
        openTensors.increment();
        return watch(tensor, "result", what, true);
    }

    /** Watches a program, which nobody can drop but with its runtime, until it is closed. */
    Watch watch(Program program, String what) {
        return watch(program, "program", what, false);
    }

    /** Watches the runtime itself until it is closed. */
    Watch watch(IreeRuntime runtime, String what) {
        return watch(runtime, "runtime", what, false);
    }

    private Watch watch(Object watched, String kind, String what, boolean tensor) {
        Watch watch;
        if (trace) {
            watch = new Watch(this, kind, what, tensor, nextId.incrementAndGet(), new CreationSite());
            open.add(watch);
        } else {
            watch = new Watch(this, kind, what, tensor, 0, null);
        }
        watch.cleanable = CLEANER.register(watched, watch);
        return watch;
    }

    long forgotten() {
        return forgottenTensors.sum();
    }

    static long forgottenInProcess() {
        return FORGOTTEN_IN_PROCESS.sum();
    }

    long openTensors() {
        return openTensors.sum();
    }

    /** What is open but for the runtime itself, in the order of creation; nothing unless places of creation are remembered. */
    List<LeakReport.Open> open() {
        return open.stream()
                .filter(watch -> !watch.kind.equals("runtime"))
                .sorted(Comparator.comparingLong(watch -> watch.id))
                .map(watch -> new LeakReport.Open(watch.id, watch.kind + " " + watch.what, watch.site))
                .toList();
    }

    /** Knows of what it watches only what to say about it: it must not keep it reachable. */
    static final class Watch implements Runnable {
        private final Leaks leaks;
        private final long id; // in the order of creation; 0 when that is not remembered
        private final String kind;
        private final String what;
        private final boolean tensor;
        private final @Nullable CreationSite site;
        private Cleaner.@Nullable Cleanable cleanable;
        private volatile boolean closed;

        private Watch(Leaks leaks, String kind, String what, boolean tensor, long id, @Nullable CreationSite site) {
            this.leaks = leaks;
            this.id = id;
            this.kind = kind;
            this.what = what;
            this.tensor = tensor;
            this.site = site;
        }

        /** It was closed as it should be. Once. */
        void closed() {
            closed = true;
            if (tensor) {
                leaks.openTensors.decrement();
            }
            if (site != null) {
                leaks.open.remove(this);
            }
            Cleaner.Cleanable registered = cleanable;
            if (registered != null) {
                registered.clean();
            }
        }

        @Override
        public void run() {
            if (closed) {
                return;
            }
            FORGOTTEN_IN_PROCESS.increment();
            if (tensor) {
                leaks.forgottenTensors.increment();
            }
            if (site != null) {
                LOG.warn("{} {} was never closed; its memory is lost. It was created here", kind, what, site);
            } else {
                LOG.warn(
                        "{} {} was never closed; its memory is lost. Set traceLeaks in RuntimeOptions to see where it was created",
                        kind,
                        what);
            }
        }
    }

    /** A stack trace, not a failure. */
    private static final class CreationSite extends Throwable {
        private static final long serialVersionUID = 1L;

        CreationSite() {
            super("creation site");
        }
    }
}

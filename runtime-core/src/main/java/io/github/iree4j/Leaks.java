package io.github.iree4j;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
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
    Watch watch(Tensor tensor, long[] shape, ElementType type) {
        openTensors.increment();
        return watch(tensor, new Result(this, shape, type));
    }

    /** Watches a program, which nobody can drop but with its runtime, until it is closed. */
    Watch watch(Program program, String what) {
        return watch(program, new Named(this, "program " + what));
    }

    /** Watches the runtime itself until it is closed. It is not open as what it made is. */
    Watch watch(IreeRuntime runtime, String what) {
        return register(runtime, new Named(this, "runtime " + what));
    }

    private Watch watch(Object watched, Watch watch) {
        if (trace) {
            open.add(watch);
        }
        return register(watched, watch);
    }

    private static Watch register(Object watched, Watch watch) {
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
                .sorted(Comparator.comparingLong(watch -> watch.id))
                .map(watch -> new LeakReport.Open(watch.id, watch.what(), watch.site))
                .toList();
    }

    /** Knows of what it watches only what to say about it: it must not keep it reachable. */
    abstract static class Watch implements Runnable {
        final Leaks leaks;
        private final long id; // in the order of creation; 0 when that is not remembered
        private final @Nullable CreationSite site;
        private Cleaner.@Nullable Cleanable cleanable;
        private boolean closed; // read by whoever wrote it: what was closed is not found by the collector

        Watch(Leaks leaks) {
            this.leaks = leaks;
            this.id = leaks.trace ? leaks.nextId.incrementAndGet() : 0;
            this.site = leaks.trace ? new CreationSite() : null;
        }

        /** Says what it is; not asked for what is closed. */
        abstract String what();

        /** It was closed as it should be. Once, while it is reachable. */
        void closed() {
            closed = true;
            if (site != null) {
                leaks.open.remove(this);
            }
            Cleaner.Cleanable registered = cleanable;
            if (registered != null) {
                registered.clean();
            }
        }

        /** It was dropped. */
        void forgotten() {
            FORGOTTEN_IN_PROCESS.increment();
            if (site != null) {
                LOG.warn("{} was never closed; its memory is lost. It was created here", what(), site);
            } else {
                LOG.warn(
                        "{} was never closed; its memory is lost. Set traceLeaks in RuntimeOptions to see where it was created",
                        what());
            }
        }

        @Override
        public final void run() {
            if (!closed) {
                forgotten();
            }
        }
    }

    private static final class Named extends Watch {
        private final String what;

        Named(Leaks leaks, String what) {
            super(leaks);
            this.what = what;
        }

        @Override
        String what() {
            return what;
        }
    }

    /** There is one for each result of each call, so it is put into words only when somebody reads them. */
    private static final class Result extends Watch {
        private final long[] shape;
        private final ElementType type;

        Result(Leaks leaks, long[] shape, ElementType type) {
            super(leaks);
            this.shape = shape;
            this.type = type;
        }

        @Override
        String what() {
            return "result " + Shape.format(shape, type);
        }

        @Override
        void closed() {
            leaks.openTensors.decrement();
            super.closed();
        }

        @Override
        void forgotten() {
            leaks.forgottenTensors.increment();
            super.forgotten();
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

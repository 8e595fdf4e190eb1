package io.github.iree4j;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds results that were dropped without being closed. Each is reported once and counted; its memory is not taken back, because the
 * collector is no substitute for {@code close()}.
 */
final class TensorLeaks {
    private static final Logger LOG = LoggerFactory.getLogger(TensorLeaks.class);
    private static final Cleaner CLEANER = Cleaner.create();

    private final boolean trace;
    private final LongAdder forgotten = new LongAdder();

    /**
     * Creates the watch of one runtime.
     *
     * @param trace whether to remember where each result was created; costs a stack walk per result
     */
    TensorLeaks(boolean trace) {
        this.trace = trace;
    }

    /** Watches one result until it is closed. */
    Watch watch(Tensor tensor, String what) {
        Watch watch = new Watch(this, what, trace ? new CreationSite() : null);
        watch.cleanable = CLEANER.register(tensor, watch);
        return watch;
    }

    long forgotten() {
        return forgotten.sum();
    }

    /** Knows of its tensor only what to say about it: it must not keep it reachable. */
    static final class Watch implements Runnable {
        private final TensorLeaks leaks;
        private final String what;
        private final @Nullable CreationSite site;
        private Cleaner.@Nullable Cleanable cleanable;
        private volatile boolean closed;

        private Watch(TensorLeaks leaks, String what, @Nullable CreationSite site) {
            this.leaks = leaks;
            this.what = what;
            this.site = site;
        }

        /** The tensor was closed as it should be. */
        void closed() {
            closed = true;
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
            leaks.forgotten.increment();
            if (site != null) {
                LOG.warn("result {} was never closed; its memory is lost. It was created here", what, site);
            } else {
                LOG.warn(
                        "result {} was never closed; its memory is lost. Set traceLeaks in RuntimeOptions to see where it was created",
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

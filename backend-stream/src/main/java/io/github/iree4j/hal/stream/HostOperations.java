package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.hal.HostCall;
import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Operations without hardware work. */
final class HostOperations {
    private static final Logger LOG = LoggerFactory.getLogger(HostOperations.class);

    private HostOperations() {}

    static final class Barrier extends StreamOperation {
        Barrier() {
            super(BARRIER);
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    /** Runs user code. A detached call is only started in the order of the queue. */
    static final class Call extends StreamOperation implements HostStep {
        private final HostCall call;
        private final boolean detached;

        Call(HostCall call, boolean detached) {
            super(HOST_CALL);
            this.call = call;
            this.detached = detached;
        }

        @Override
        HostStep hostStep() {
            return this;
        }

        @Override
        protected boolean mayWait() {
            return !detached;
        }

        @Override
        public void run(Consumer<@Nullable IreeException> done) {
            if (detached) {
                CallThreads.start("iree4j-host-call", this::callAlone);
            } else {
                call.call();
            }
            done.accept(null);
        }

        private void callAlone() {
            try {
                call.call();
            } catch (Throwable t) {
                LOG.error("a host call threw; its signals did not wait for it", t);
            }
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }
}

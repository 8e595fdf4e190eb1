package io.github.iree4j.modules.parameters;

import io.github.iree4j.modules.parameters.ParameterProgress.Phase;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Counts the bytes of a request and reports the bytes at a limited rate. Safe from any thread. */
final class LoadProgress {
    /** The interval between reports is this part of the total, but at most {@link #STEP} bytes. */
    private static final int PARTS = 100;

    private static final long STEP = 256L << 20;

    private final ParameterProgress.Listener listener;
    private final String scope;
    private final Phase underWay;
    private final Phase end;

    // Guarded by the monitor, held while the listener runs so that reported numbers rise.
    private long total;
    private long done;
    private long reported = -1;
    private boolean complete;
    private boolean over;

    private LoadProgress(ParameterProgress.Listener listener, String scope, Phase underWay, Phase end) {
        this.listener = listener;
        this.scope = scope;
        this.underWay = underWay;
        this.end = end;
    }

    static LoadProgress ofLoading(ParameterProgress.Listener listener, String scope) {
        return new LoadProgress(listener, scope, Phase.LOADING, Phase.LOADED);
    }

    static LoadProgress ofStoring(ParameterProgress.Listener listener, String scope) {
        return new LoadProgress(listener, scope, Phase.STORING, Phase.STORED);
    }

    /** Adds requested bytes; called before any arrive. */
    synchronized void expect(long bytes) {
        total += bytes;
    }

    /** Adds bytes arrived at their destination. */
    synchronized void arrived(ParameterEntry entry, long bytes) {
        done += bytes;
        if (!over && (done - reported >= Math.max(1, Math.min(STEP, total / PARTS)) || done == total)) {
            report(underWay, fileOf(entry));
        }
        finish();
    }

    /** Records that all bytes have been requested. */
    synchronized void complete() {
        complete = true;
        finish();
    }

    synchronized void failed() {
        if (!over) {
            over = true;
            report(Phase.FAILED, null);
        }
    }

    private void finish() {
        if (complete && done == total && !over) {
            over = true;
            report(end, null);
        }
    }

    private void report(Phase phase, @Nullable Path file) {
        reported = done;
        report(listener, new ParameterProgress(phase, scope, file, done, total));
    }

    static void report(ParameterProgress.Listener listener, ParameterProgress progress) {
        try {
            listener.progressed(progress);
        } catch (RuntimeException e) {
            LoggerFactory.getLogger(LoadProgress.class).warn("a listener of parameter progress failed", e);
        }
    }

    private static @Nullable Path fileOf(ParameterEntry entry) {
        return entry instanceof ParameterEntry.Stored stored && stored.origin() != null
                ? stored.origin().file()
                : null;
    }
}

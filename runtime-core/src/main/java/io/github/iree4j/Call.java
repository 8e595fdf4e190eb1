package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import org.jspecify.annotations.Nullable;

/** One call under way: lets another thread cancel it, and only it, although invocations and threads serve other calls later. */
final class Call {
    private final String function;
    private final ArgumentList arguments;
    private @Nullable Invocation running;
    private @Nullable Thread thread;
    private @Nullable Runnable onCancel;
    private boolean cancelled;
    private final boolean confined;

    private Call(String function, ArgumentList arguments, boolean confined) {
        this.function = function;
        this.arguments = arguments;
        this.confined = confined;
    }

    /** A call that other threads may cancel. */
    Call(String function, ArgumentList arguments) {
        this(function, arguments, false);
    }

    /** A call that only the calling thread ever knows of, so that nobody can cancel it. */
    static Call confined(String function, ArgumentList arguments) {
        return new Call(function, arguments, true);
    }

    ArgumentList arguments() {
        return arguments;
    }

    /** Says which thread may be interrupted; one of ours, never a caller's. */
    synchronized void runsOn(@Nullable Thread own) {
        thread = own;
    }

    void begin(Invocation invocation) {
        if (confined) {
            return; // two locks less, which a call of a trivial function would notice
        }
        synchronized (this) {
            checkNotCancelled();
            running = invocation;
        }
    }

    void end() {
        if (confined) {
            return;
        }
        synchronized (this) {
            running = null;
        }
    }

    /** Says what else is to be told of a cancellation, at once if that has been. */
    void onCancel(Runnable listener) {
        synchronized (this) {
            onCancel = listener;
            if (!cancelled) {
                return;
            }
        }
        listener.run();
    }

    void cancel() {
        Runnable listener;
        synchronized (this) {
            cancelled = true;
            if (running != null) {
                running.cancel();
            }
            if (thread != null) {
                thread.interrupt();
            }
            listener = onCancel;
        }
        if (listener != null) {
            listener.run();
        }
    }

    synchronized boolean isCancelled() {
        return cancelled;
    }

    private void checkNotCancelled() {
        if (cancelled) {
            throw new IreeException(StatusCode.CANCELLED, "call of '%s' was cancelled".formatted(function));
        }
    }
}

package io.github.iree4j;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HostSpan;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One call between two fences, from its submission until it is done or has failed; keeps the program open and the inputs in use until
 * then. It ends once: by whoever takes it off the fence it waits for, else by the call.
 */
final class Submission {
    private final Program program;
    private final ProgramFunction function;
    private final Call call;
    private final @Nullable Fence signal;
    private final CompletableFuture<Results> future = new CompletableFuture<>();
    private volatile @Nullable Cancellation waiting;

    private Submission(Program program, ProgramFunction function, Call call, @Nullable Fence signal) {
        this.program = program;
        this.function = function;
        this.call = call;
        this.signal = signal;
    }

    /** Takes over the use of the program and the arguments of the call; a throw means that it has not. */
    static CompletableFuture<Results> start(
            Program program, ProgramFunction function, Call call, @Nullable Fence wait, @Nullable Fence signal) {
        if (wait != null) {
            wait.retain(); // fails for a closed one, before anything is promised
        }
        Submission submission = new Submission(program, function, call, signal);
        try {
            if (signal != null) {
                signal.retain();
                try {
                    signal.addSignaller();
                } catch (RuntimeException | Error e) {
                    signal.release();
                    throw e;
                }
            }
        } catch (RuntimeException | Error e) {
            release(wait);
            throw e;
        }
        submission.future.whenComplete((_, failure) -> {
            if (failure != null) {
                submission.cancel();
            }
        });
        if (function.isAsynchronous()) {
            program.ordered().add(() -> submission.callWithFences(wait));
        } else {
            submission.runAfter(wait);
        }
        return submission.future;
    }

    private void cancel() {
        call.cancel();
        Cancellation wait = waiting;
        if (wait != null && wait.cancel()) {
            fail(new IreeException(
                    StatusCode.CANCELLED, "submission of '%s' was cancelled".formatted(function.fullName())));
        }
    }

    // Work of the host.

    private void runAfter(@Nullable Fence wait) {
        if (wait == null) {
            startHostWork(null, null);
            return;
        }
        waiting = wait.whenReached(failure -> startHostWork(wait, failure));
        wait.release(); // who waits keeps nothing open
    }

    private void startHostWork(@Nullable Fence reached, @Nullable IreeException failure) {
        HostSpan span = program.memory().device().schedulingDomain().beginHostWork(reached);
        // Off the thread that signals, for a failure as well: the last one to leave a closed program frees it.
        CallThreads.start("iree4j-call " + function.fullName(), () -> {
            if (failure == null) {
                runHostWork(span);
            } else {
                fail(failure);
            }
        });
    }

    private void runHostWork(HostSpan span) {
        Results results;
        try {
            call.runsOn(Thread.currentThread());
            results = new Results(function.fullName(), program.runInTurn(function, call, null, null));
        } catch (Throwable e) { // whatever it is, those who wait must hear of it
            call.runsOn(null);
            fail(failure(e));
            return;
        }
        call.runsOn(null);
        leave();
        boolean received = future.complete(results);
        if (!received) {
            results.close();
        }
        if (signal != null) {
            if (received) {
                signal.signalOrFail(span.end());
            } else {
                signal.fail(new IreeException(
                        StatusCode.CANCELLED, "submission of '%s' was cancelled".formatted(function.fullName())));
            }
            signal.release();
        }
    }

    // Work of devices.

    private void callWithFences(@Nullable Fence wait) {
        try {
            if (signal != null) {
                passThrough(wait, signal);
            } else {
                passThroughOwn(wait);
            }
        } finally {
            release(wait);
        }
    }

    private void passThrough(@Nullable Fence wait, Fence done) {
        @Nullable Object[] values = callNow(wait, done);
        if (values == null) {
            return;
        }
        Results results = new Results(function.fullName(), values);
        if (!future.complete(results)) {
            results.close(); // what is under way keeps the memory it needs
        }
        done.whenReached(_ -> CallThreads.start("iree4j-end " + function.fullName(), this::leave));
        done.release(); // it is the work that keeps it now
    }

    /** Without a fence of the caller there is one of ours, whose timeline fails when the program forgets it. */
    private void passThroughOwn(@Nullable Fence wait) {
        TimelineSemaphore timeline;
        try {
            timeline = program.memory().device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        } catch (Throwable e) {
            fail(failure(e));
            return;
        }
        try (timeline;
                Fence done = Fence.at(timeline, 1)) {
            @Nullable Object[] values = callNow(wait, done);
            if (values != null) {
                done.whenReached(
                        failure -> CallThreads.start("iree4j-end " + function.fullName(), () -> end(values, failure)));
            }
        }
    }

    /** Makes the call; null when that has failed, and everybody has heard of it. */
    private @Nullable Object @Nullable [] callNow(@Nullable Fence wait, Fence done) {
        try {
            call.runsOn(Thread.currentThread());
            return program.runInTurn(function, call, wait, done);
        } catch (Throwable e) {
            call.runsOn(null);
            fail(failure(e));
            return null;
        } finally {
            call.runsOn(null);
        }
    }

    private void end(@Nullable Object[] values, @Nullable IreeException failure) {
        if (failure != null) {
            Results.free(values);
            fail(failure);
            return;
        }
        Results results = new Results(function.fullName(), values);
        leave();
        if (!future.complete(results)) {
            results.close();
        }
    }

    // The end.

    private void fail(IreeException cause) {
        leave();
        future.completeExceptionally(cause);
        if (signal != null) {
            signal.fail(cause);
            signal.release();
        }
    }

    private void leave() {
        call.arguments().close();
        program.exit();
    }

    private static IreeException failure(Throwable cause) {
        return cause instanceof IreeException e
                ? e
                : new IreeException(StatusCode.INTERNAL, "call failed: " + cause, cause);
    }

    private static void release(@Nullable Fence fence) {
        if (fence != null) {
            fence.release();
        }
    }
}

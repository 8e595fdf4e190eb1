package io.github.iree4j.call;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of a call on workers. A call waiting for a turn or for a fence sleeps and occupies no thread; the
 * awaited event only schedules the process. Only for code that does not block.
 */
final class CoroutineProcess extends TaskProcess {
    private final AsyncCall call;
    private final Runnable end;

    /** Runs the steps when the executor no longer does. */
    private volatile @Nullable CallThread successor;

    private CoroutineProcess(AsyncCall call, ProcessOptions options, Runnable end) {
        super(options);
        this.call = call;
        this.end = end;
    }

    /** Process options for calls of a function. */
    static ProcessOptions options(String function) {
        return ProcessOptions.named("iree4j-call " + function).suspended(1);
    }

    /** Starts a call. After the call, {@code end} runs on the worker, and therefore must not block or run foreign code. */
    static void start(ProcessExecutor executor, AsyncCall call, ProcessOptions options, Runnable end) {
        CoroutineProcess process = new CoroutineProcess(call, options, end);
        executor.submit(process);
        call.lineUp(process::wakeUp); // not drained before the wake-up below
        process.wake();
    }

    private void wakeUp() {
        CallThread thread = successor;
        if (thread == null) {
            schedule();
        } else {
            thread.wake();
        }
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        return switch (call.step()) {
            case WAITING -> DrainResult.IDLE;
            case AGAIN -> DrainResult.WORKED;
            case OVER -> DrainResult.COMPLETED;
        };
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        if (failure == null) {
            end.run();
            return;
        }
        // The executor was closed. A runtime closes its own executor only when no call is left. The call must be
        // abandoned in the program's turn.
        CallThread thread = new CallThread(call, options().name(), end);
        successor = thread;
        call.cancel();
        thread.wake();
    }
}

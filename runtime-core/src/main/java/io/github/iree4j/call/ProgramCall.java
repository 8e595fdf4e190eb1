package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmWait;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A call in its program: from the first instruction until the results have been read, with the waits between. All
 * methods but {@link #await} require the program's turn.
 */
final class ProgramCall {
    private final ProgramCalls program;
    private final FunctionCalls function;
    private final Call call;
    private final @Nullable Fence ready;
    private final @Nullable Fence done;
    private @Nullable FilesWait files; // before the first instruction
    private @Nullable Invocation invocation;
    private boolean hasReturned;
    private @Nullable Object @Nullable [] values;

    /**
     * Creates a call. For a function with fences, {@code ready}, which may be null, and {@code done} are passed;
     * {@code done} is null for other functions.
     */
    ProgramCall(ProgramCalls program, FunctionCalls function, Call call, @Nullable Fence ready, @Nullable Fence done) {
        this.program = program;
        this.function = function;
        this.call = call;
        this.ready = ready;
        this.done = done;
    }

    Call call() {
        return call;
    }

    FunctionCalls function() {
        return function;
    }

    /** The wait until it is known whether the files used in place are unchanged. */
    private final class FilesWait implements VmWait {
        /** The reason why the call must not begin; null for none. */
        private final CompletableFuture<@Nullable IreeException> verdict;

        FilesWait(CompletableFuture<@Nullable IreeException> verdict) {
            this.verdict = verdict;
        }

        @Override
        public boolean isReady() {
            return verdict.isDone();
        }

        @Override
        public void whenReady(Runnable callback) {
            verdict.whenComplete((_, _) -> callback.run());
        }

        @Override
        public void await() throws InterruptedException {
            CountDownLatch over = new CountDownLatch(1);
            whenReady(over::countDown);
            call.onCancel(over::countDown); // when the program is closed
            over.await();
        }
    }

    /** Runs until the function returns or waits; false when it waits, possibly before its first instruction. */
    boolean begin() {
        CompletableFuture<@Nullable IreeException> verdict = program.inPlace().verdict();
        if (verdict != null) {
            call.checkNotCancelled(); // a call cancelled in line was woken before, and is not woken again
            files = new FilesWait(verdict);
            return false;
        }
        return start();
    }

    private boolean start() {
        call.seesFiles(program.inPlace()
                .comparisons()); // PLACE-1: after the check, so that files compared in between were touched before
        Invocation taken = function.takeInvocation(program.context());
        invocation = taken;
        call.begin(taken);
        call.arguments().writeTo(taken);
        if (done != null) {
            taken.ref((Object) ready); // null: inputs are ready
            taken.ref(done);
        }
        return run(taken, false);
    }

    /** Continues after a wait that has ended, or when the call was cancelled; false when the call waits again. */
    boolean resume() {
        FilesWait known = files;
        if (known != null) {
            call.checkNotCancelled();
            files = null;
            IreeException failure = known.verdict.join(); // complete, unless the call was cancelled
            if (failure != null) {
                throw failure;
            }
            return start();
        }
        Invocation waiting = running();
        return run(waiting, true);
    }

    /** Runs code of the program with the call as memory holder. */
    private boolean run(Invocation taken, boolean again) {
        MemoryHolder holder = call.holder();
        holder.begins();
        program.inTurn(holder);
        MemoryHolder before = holder.enter();
        try {
            return readWhen(taken, again ? taken.resume() : taken.start());
        } catch (IreeException e) {
            IreeException givenUp = program.givenUp();
            throw givenUp != null && e.code() == StatusCode.CANCELLED
                    ? IreeException.of(StatusCode.CANCELLED, e.getMessage() + ": " + givenUp.getMessage(), e)
                    : program.explained(e);
        } finally {
            if (program.overlaps()) {
                program.inTurn(null);
            }
            holder.leave(before);
        }
    }

    private boolean readWhen(Invocation returned, boolean over) {
        if (over) {
            values = ResultReader.read(function.signature().results(), returned, program.memory());
            hasReturned = true;
            call.holder().suspendsUntil(List.of());
        }
        return over;
    }

    private Invocation running() {
        Invocation taken = invocation;
        if (taken == null) {
            throw new IllegalStateException("call of '" + function.fullName() + "' has not begun");
        }
        return taken;
    }

    /** The wait of the call, pending until the call is resumed or abandoned. */
    VmWait pendingWait() {
        FilesWait unknown = files;
        return unknown != null ? unknown : running().pendingWait();
    }

    /** Blocks until the call can be resumed, or was cancelled. */
    void await() throws InterruptedException {
        FilesWait unknown = files;
        if (unknown != null) {
            unknown.await();
        } else {
            running().awaitReady();
        }
    }

    /** The results; the caller frees the results. Called only once, after the call has ended. */
    @Nullable
    Object[] takeValues() {
        @Nullable Object[] taken = values;
        if (taken == null) {
            throw new IllegalStateException("call of '" + function.fullName() + "' has no results");
        }
        values = null;
        return taken;
    }

    /** Ends the call, in any state. */
    void end() {
        call.end();
        program.inTurn(null);
        Invocation taken = invocation;
        if (taken != null) {
            invocation = null;
            if (!hasReturned) { // while the invocation still has the cause with which its operations fail
                program.withdraw(call, null);
            }
            function.giveBack(taken);
        }
    }
}

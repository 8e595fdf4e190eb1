package io.github.iree4j.call;

import io.github.iree4j.async.AwaitsFences;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.FilesInPlace;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmWait;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A call in progress. Another thread can cancel this call, and no other call, although later calls reuse invocations and threads. */
final class Call {
    private static final VarHandle INTERRUPTION;

    static {
        try {
            INTERRUPTION = MethodHandles.lookup().findVarHandle(Call.class, "interruption", Interruption.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Whether the thread that made a confined call was interrupted to end the call. */
    private enum Interruption {
        NONE,
        BEING_MADE,
        MADE,
        OVER
    }

    private final String function;
    private final ArgumentList arguments;
    private final MemoryHolder holder;
    private @Nullable Invocation running;
    private @Nullable Thread thread;
    private @Nullable Thread maker; // thread of a confined call; published by the list, or as the call in turn
    private @Nullable Runnable onCancel;
    private @Nullable Consumer<IreeException> onGiveUp; // published by the list, like onLeave
    private @Nullable Runnable onLeave;
    private boolean cancelled;
    private long filesSeen; // written as the call's code begins, and published with the results
    private final boolean confined;

    // Links of the list of calls in progress, guarded by the list.
    @Nullable
    Call previous;

    @Nullable
    Call next;

    boolean linked;
    boolean lingers;

    /** The state of the call, for diagnostics. The awaited fences are only read, because the fences may be closed by then. */
    private record Place(CallState state, List<Fence> awaited, Supplier<String> memory) {
        static final Place IN_LINE = new Place(CallState.IN_LINE, List.of());
        static final Place RUNNING = new Place(CallState.RUNNING, List.of());

        Place(CallState state, List<Fence> awaited) {
            this(state, awaited, () -> "");
        }

        List<PendingOperation.Wait> waits() {
            return awaited.stream()
                    .flatMap(fence -> PendingOperation.waitsFor(fence).stream())
                    .toList();
        }
    }

    /** Null while in line, or running in the program's turn, so that untracked calls write nothing. */
    private volatile @Nullable Place place;

    private long since; // published by the list, or as the call in turn; 0 before the clock is started
    private volatile long changed;
    private volatile Interruption interruption = Interruption.NONE;
    private @Nullable IreeException interruptedBy; // published by 'interruption'

    private Call(String function, ArgumentList arguments, boolean confined) {
        this.function = function;
        this.arguments = arguments;
        this.confined = confined;
        this.holder = arguments.holder();
    }

    /** A call that other threads may cancel. */
    Call(String function, ArgumentList arguments) {
        this(function, arguments, false);
    }

    /** A call known only to the calling thread, and therefore cancelled only with the program. */
    static Call confined(String function, ArgumentList arguments) {
        Call call = new Call(function, arguments, true);
        call.maker = Thread.currentThread();
        return call;
    }

    /** The holder of the memory requested by the call. */
    MemoryHolder holder() {
        return holder;
    }

    ArgumentList arguments() {
        return arguments;
    }

    /** Sets the thread that may be interrupted: a thread of the runtime, never the caller's. */
    synchronized void runsOn(@Nullable Thread own) {
        thread = own;
    }

    /** Starts the clock of the call unless already started. Called before the call is added to the list. */
    void startClock() {
        if (since == 0) {
            long now = System.nanoTime();
            since = now;
            changed = now;
        }
    }

    void inLine() {
        changed = System.nanoTime();
        place = null;
    }

    void runs() {
        changed = System.nanoTime();
        place = Place.RUNNING;
    }

    void suspendedBy(VmWait wait) {
        changed = System.nanoTime();
        place = new Place(CallState.SUSPENDED, wait instanceof AwaitsFences fences ? fences.awaited() : List.of());
    }

    /** Records a wait for memory. The description of the wait is asked for only if the call is late. */
    void waitsForMemory(Supplier<String> awaited) {
        changed = System.nanoTime();
        place = new Place(CallState.FOR_MEMORY, List.of(), awaited);
    }

    /** Records a wait for a fence, before the program runs or after. */
    void waitsFor(Fence fence, CallState state) {
        changed = System.nanoTime();
        place = new Place(state, List.of(fence));
    }

    /** Whether the call waits for its turn, according to the recorded state. */
    boolean isInLine() {
        return place == null;
    }

    /** Describes the call's state; {@code inTurn} is true while the call has the program's turn. */
    <T> T describe(boolean inTurn, ProgramCalls.Description<T> description) {
        Place looked = place;
        // A call in turn that begins to wait is running until it is in the list, where it keeps its order.
        Place at = inTurn ? Place.RUNNING : looked != null ? looked : Place.IN_LINE;
        List<PendingOperation.Wait> waits = at.waits();
        long now = System.nanoTime(); // after the times to be subtracted
        return description.of(function, at.state(), before(now, since), waits, number(), before(now, changed));
    }

    /** Describes what the call waits for; empty when running, or unknown. On the thread of a confined call. */
    String awaited() {
        Place at = place;
        if (at == null) {
            return confined && running != null ? "" : "its turn";
        }
        return switch (at.state()) {
            case BEFORE_INPUTS, SUSPENDED -> describe(at.waits());
            case FOR_MEMORY -> at.memory().get();
            case BEFORE_RESULTS -> "its work";
            case IN_LINE -> "its turn";
            case RUNNING -> "";
        };
    }

    static String describe(List<PendingOperation.Wait> waits) {
        return waits.stream().map(PendingOperation.Wait::describe).collect(Collectors.joining(" and "));
    }

    private static Duration before(long now, long then) {
        return Duration.ofNanos(then == 0 ? 0 : Math.max(0, now - then));
    }

    /** The number of the call, as in recordings. */
    long number() {
        return holder.number();
    }

    /**
     * Ends this call soon, and no other call; false when the call has ended, or is being ended. A confined call is
     * ended by interrupting the thread that made the call.
     */
    boolean cancelAlone(ProgramCalls program, IreeException cause) {
        if (!confined) {
            giveUp(cause);
            program.withdraw(this, cause);
            return true;
        }
        Thread own = maker;
        // END-3: the thread does not leave the call before the interruption is recorded as MADE.
        if (own == null || !INTERRUPTION.compareAndSet(this, Interruption.NONE, Interruption.BEING_MADE)) {
            return false;
        }
        interruptedBy = cause;
        own.interrupt();
        interruption = Interruption.MADE;
        return true;
    }

    /**
     * Clears the interrupt that ended this confined call, and returns whether there was an interrupt. Called on the
     * call's thread, after the call.
     */
    boolean wasInterrupted() {
        if (INTERRUPTION.compareAndSet(this, Interruption.NONE, Interruption.OVER)) {
            return false;
        }
        while (interruption == Interruption.BEING_MADE) {
            Thread.onSpinWait();
        }
        Thread.interrupted();
        return true;
    }

    /** Returns the failure of a confined call that {@link #wasInterrupted}, with the stack of the call. */
    IreeException cancelled(Throwable end) {
        IreeException given = Objects.requireNonNull(interruptedBy);
        return new IreeException(given.code(), given.getMessage(), end);
    }

    /** Records the number of {@linkplain FilesInPlace#comparisons comparisons} of files in place when the call's code begins. */
    void seesFiles(long comparisons) {
        filesSeen = comparisons;
    }

    long filesSeen() {
        return filesSeen;
    }

    void begin(Invocation invocation) {
        invocation.endsWhenInterrupted(confined); // a confined call runs on the thread that made the call
        if (confined) {
            running = invocation; // saves two locks, noticeable for a trivial function
            return;
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

    /** Sets a listener for cancellation, notified at once if the call is already cancelled. */
    void onCancel(Runnable listener) {
        synchronized (this) {
            onCancel = listener;
            if (!cancelled) {
                return;
            }
        }
        listener.run();
    }

    /** Sets the action for the closing of the program; without an action, closing cancels the call. Called before the call is in the list. */
    void onGiveUp(Consumer<IreeException> listener) {
        onGiveUp = listener;
    }

    /** Ends the call soon because the program is closed. A confined call may have ended; then no call of the program runs any more. */
    void giveUp(IreeException cause) {
        Consumer<IreeException> listener = onGiveUp;
        if (listener == null) {
            cancel();
        } else {
            listener.accept(cause);
        }
    }

    /** Sets how a call that has returned ends before its fence is reached. Called before the call lingers. */
    void onLeave(Runnable listener) {
        onLeave = listener;
    }

    /** Ends a lingering call. */
    void leave() {
        Runnable listener = onLeave;
        if (listener != null) {
            listener.run();
        }
    }

    void cancel() {
        Runnable listener;
        synchronized (this) {
            cancelled = true;
            holder.abandon();
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

    synchronized void checkNotCancelled() {
        if (cancelled) {
            throw new IreeException(StatusCode.CANCELLED, "call of '%s' was cancelled".formatted(function));
        }
    }
}

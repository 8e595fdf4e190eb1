package io.github.iree4j.vm;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The call of an {@link Invocation} as the function sees it. */
final class RootCall extends VmCall {
    /** The patience of a call that is not a hook of a context: the invocation can cancel the call. */
    static final long NO_HOOK = -1;

    private final @Nullable Context context;
    private final VmFunction called;
    private final long patience;
    private final long created;
    private volatile boolean cancelled;

    /** The name of the function in messages; null for the name with the module. */
    @Nullable
    String name;

    /** Whether an interrupt of the running thread ends the call. */
    boolean interruptible;

    /** Another condition that ends the call; null for none. */
    @Nullable
    BooleanSupplier unwanted;

    /** The enclosing call, or null. */
    @Nullable
    VmCall outer;

    /**
     * Creates the call.
     *
     * @param context the context, able to cancel all calls made in the context; null for none
     * @param called the function
     * @param patience nanoseconds after which a hook is cancelled; {@link Long#MAX_VALUE} for a hook to be cancelled
     *     when the thread is interrupted; {@link #NO_HOOK} for a call that is not a hook
     */
    RootCall(@Nullable Context context, VmFunction called, long patience) {
        this.context = context;
        this.called = called;
        this.patience = patience;
        created = patience == NO_HOOK || patience == Long.MAX_VALUE ? 0 : System.nanoTime();
    }

    void enter(
            VmFunction function,
            char[] letters,
            int[] operands,
            int count,
            int[] words,
            @Nullable Object[] refs,
            boolean again) {
        bind(words, 0, refs, 0);
        begin(function, letters, operands, count, again);
    }

    boolean leave() {
        return end();
    }

    @Nullable
    VmWait pending() {
        return pendingWait();
    }

    long word(int index) {
        return resultWord(index);
    }

    @Nullable
    Object borrow(int index) {
        return resultRef(index);
    }

    void take(int index) {
        takeResultRef(index);
    }

    void giveUp(boolean waiting) {
        if (waiting) {
            abandon();
        } else {
            dropResults();
        }
    }

    /** Cancels the call. Safe from any thread. */
    void cancel() {
        cancelled = true;
    }

    void forgetCancel() {
        cancelled = false;
    }

    boolean wasCancelled() {
        return cancelled;
    }

    @Override
    public String calledAs() {
        return name == null ? called.fullName() : name;
    }

    @Override
    public boolean isCancelled() {
        VmCall within = outer;
        BooleanSupplier also = unwanted;
        return cancelled
                || (interruptible && Thread.currentThread().isInterrupted())
                || (also != null && also.getAsBoolean())
                || (within != null
                        ? within.isCancelled()
                        : context != null ? context.areCallsCancelled() : patience != NO_HOOK && isHookOver());
    }

    private boolean isHookOver() {
        return patience == Long.MAX_VALUE
                ? Thread.currentThread().isInterrupted()
                : System.nanoTime() - created > patience;
    }
}

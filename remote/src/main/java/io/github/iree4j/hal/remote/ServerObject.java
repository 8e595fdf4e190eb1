package io.github.iree4j.hal.remote;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Something that a client has on this node under a handle: memory, code, commands. Made by an executor, since that may take long; commands that
 * use it wait for it, and fail with what prevented it. The handle and every command that uses it hold a reference. Safe from any thread.
 */
final class ServerObject extends Resource {
    private final String what;
    private final Runnable gone;
    private final List<Runnable> waiting = new ArrayList<>(0); // guarded by this, like the rest
    private @Nullable Resource made;
    private @Nullable IreeException failure;
    private boolean settled;
    private @Nullable Runnable again;

    /**
     * Creates one that is still to be made.
     *
     * @param gone runs when nothing uses it any more
     */
    ServerObject(String what, Runnable gone) {
        this.what = what;
        this.gone = gone;
    }

    /** Makes it; {@code maker} returns what it then owns. It is not made when it was released meanwhile. */
    void make(Executor executor, Supplier<Resource> maker) {
        if (!tryRetain()) {
            settle(null, new IreeException(StatusCode.CANCELLED, what + " was released"));
            return;
        }
        executor.execute(() -> {
            Resource result = null;
            IreeException why = null;
            try {
                result = maker.get();
            } catch (IreeException e) {
                why = e;
            } catch (RuntimeException | Error e) { // commands that use it must not hang
                why = new IreeException(StatusCode.INTERNAL, "%s could not be made: %s".formatted(what, e), e);
            }
            settle(result, why);
            release();
        });
    }

    /** What tries again to make it; ends in {@link #settle}. */
    synchronized void setAgain(Runnable action) {
        again = action;
    }

    /**
     * Tries again to make what there was no room for, which may be there now. What uses it from now on waits for that; it keeps its failure until
     * it is made.
     */
    void tryAgain() {
        Runnable action = null;
        synchronized (this) {
            IreeException last = failure;
            if (settled && last != null && last.code() == StatusCode.RESOURCE_EXHAUSTED && again != null) {
                action = again;
                settled = false;
            }
        }
        if (action != null) {
            action.run();
        }
    }

    void settle(@Nullable Resource result, @Nullable IreeException why) {
        List<Runnable> due;
        synchronized (this) {
            made = result;
            failure = why;
            settled = true;
            due = List.copyOf(waiting);
            waiting.clear();
        }
        due.forEach(Runnable::run);
    }

    /** Whether it is there, or never will be; if not, the action runs once it is. */
    boolean isSettledOrThen(Runnable action) {
        synchronized (this) {
            if (!settled) {
                waiting.add(action);
            }
            return settled;
        }
    }

    @Nullable
    IreeException failure() {
        synchronized (this) {
            return failure;
        }
    }

    /**
     * What was made.
     *
     * @throws IreeException what prevented that; INVALID_ARGUMENT when it is something else
     */
    <T extends Resource> T get(Class<T> type) {
        synchronized (this) {
            if (failure != null) {
                throw failure;
            }
            if (!type.isInstance(made)) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "%s is used as a %s".formatted(what, type.getSimpleName()));
            }
            return type.cast(made);
        }
    }

    @Override
    protected String describe() {
        return what;
    }

    @Override
    protected void destroy() {
        Resource last;
        synchronized (this) {
            last = made;
            made = null;
        }
        if (last != null) {
            last.close();
        }
        gone.run();
    }
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An object of a client on this node under a handle: memory, code, commands. Made by an executor, since the making may
 * take long. Commands using the object wait for the making, and fail if the making fails. The handle and every command
 * using the object hold a reference. Safe from any thread.
 */
final class ServerObject extends Resource {
    private final String what;
    private final @Nullable GrantKey key;
    private final Runnable gone;
    private final List<Runnable> waiting = new ArrayList<>(0); // guarded by this, like the rest
    private @Nullable Resource made;
    private @Nullable IreeException failure;
    private boolean settled;
    private @Nullable Runnable again;
    private boolean ending; // whether a reference ends under the lock
    private boolean unused; // whether the last reference has ended

    /**
     * Creates an object still to be made.
     *
     * @param key the key for other nodes to copy the object; null for none
     * @param gone runs when nothing uses the object any more
     */
    ServerObject(String what, @Nullable GrantKey key, Runnable gone) {
        this.what = what;
        this.key = key;
        this.gone = gone;
    }

    /**
     * Makes the object; {@code maker} returns the resource, owned by the object from then on.
     *
     * @return false if the object was released meanwhile; then nothing is made
     */
    boolean make(Executor executor, Supplier<? extends Resource> maker) {
        if (!tryRetain()) {
            settle(null, IreeException.of(StatusCode.CANCELLED, what + " was released"));
            return false;
        }
        makeRetained(executor, maker);
        return true;
    }

    /** Makes the object like {@link #make}, with a reference of the caller that ends with the making. */
    void makeRetained(Executor executor, Supplier<? extends Resource> maker) {
        executor.execute(() -> {
            Resource result = null;
            IreeException why = null;
            try {
                result = maker.get();
            } catch (IreeException e) {
                why = e;
            } catch (RuntimeException | Error e) { // commands using the object must not hang
                why = IreeException.of(StatusCode.INTERNAL, "%s could not be made: %s".formatted(what, e), e);
            }
            settleRetained(result, why);
        });
    }

    /**
     * Settles the object, and ends a reference of the caller, at once: a client that knows of a command using the object,
     * and gives the handle back, has given the memory back.
     */
    void settleRetained(@Nullable Resource result, @Nullable IreeException why) {
        List<Runnable> due;
        boolean isUnused;
        synchronized (this) {
            due = end(result, why);
            ending = true;
            release();
            ending = false;
            isUnused = unused;
        }
        if (isUnused) { // without the lock
            free();
        }
        due.forEach(Runnable::run);
    }

    /** Returns the key for other nodes to copy the object; null for objects never copied. */
    @Nullable
    GrantKey key() {
        return key;
    }

    /** Sets the action for another attempt to make the object; the action ends in {@link #settle}. */
    synchronized void setAgain(Runnable action) {
        again = action;
    }

    /**
     * Tries again to make an object that lacked room, since there may be room now. Later users wait for the attempt;
     * the object keeps its failure until made.
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
            due = end(result, why);
        }
        due.forEach(Runnable::run);
    }

    private List<Runnable> end(@Nullable Resource result, @Nullable IreeException why) { // under the lock
        made = result;
        failure = why;
        settled = true;
        List<Runnable> due = List.copyOf(waiting);
        waiting.clear();
        return due;
    }

    /**
     * Ends the wait for an object that is not made yet, after the failure of the session. A peer may make objects of
     * objects that wait for each other, and these would keep each other.
     */
    void abandon(IreeException cause) {
        List<Runnable> due;
        synchronized (this) {
            if (settled) {
                return;
            }
            due = end(null, cause);
        }
        due.forEach(Runnable::run);
    }

    /** Returns whether the object was made or has failed; if neither, the action runs once the object is settled. */
    boolean isSettledOrThen(Runnable action) {
        synchronized (this) {
            if (!settled) {
                waiting.add(action);
            }
            return settled;
        }
    }

    /** Forgets an action that waits by {@link #isSettledOrThen}. */
    synchronized void forget(Runnable action) {
        waiting.remove(action);
    }

    @Nullable
    IreeException failure() {
        synchronized (this) {
            return failure;
        }
    }

    /**
     * Returns the resource.
     *
     * @throws IreeException the failure of the making; INVALID_ARGUMENT when the resource is of another type
     */
    <T extends Resource> T get(Class<T> type) {
        synchronized (this) {
            if (failure != null) {
                throw failure;
            }
            if (!type.isInstance(made)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "%s is used as a %s".formatted(what, type.getSimpleName()));
            }
            return type.cast(made);
        }
    }

    /**
     * Returns the memory.
     *
     * @throws IreeException as {@link #get}
     */
    Buffer buffer() {
        synchronized (this) {
            if (made instanceof ServerConstant constant) {
                return constant.buffer();
            }
        }
        return get(Buffer.class);
    }

    /**
     * Reports the first write to a view, after the writing command and before the command's end is reported. The view
     * fails if there is no room for the memory taken by writes.
     *
     * @return the failure of the view, or null
     */
    @Nullable
    IreeException reportWrites() {
        ServerConstant view;
        synchronized (this) {
            view = made instanceof ServerConstant constant && constant.takeWritten() ? constant : null;
        }
        IreeException refused = view == null ? null : view.report();
        if (view != null && refused != null) {
            synchronized (this) {
                made = null;
                failure = refused;
                again = null; // another view would lack the writes
            }
            view.close();
        }
        return refused;
    }

    @Override
    protected String describe() {
        return what;
    }

    @Override
    protected void destroy() {
        synchronized (this) {
            unused = true;
            if (ending) {
                return; // the ending thread frees
            }
        }
        free();
    }

    private void free() {
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

package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A constant of a module as dispatches use it. Compilers since 3.6 have dispatches write into constants in place, as if those were made anew
 * for each call. So a dispatch gets a {@link View}, which no other call uses meanwhile. Views in which nothing was stored are given to the
 * next, so that no constant is copied that no dispatch writes; one in which something was stays with its call, which reads its own stores,
 * until the call is over. For backends.
 *
 * <p>A user is a call; for work that belongs to none, one execution. Safe from any thread.
 *
 * @param <V> the backend's views
 */
public final class ConstantViews<V extends ConstantViews.View> extends Resource {
    private static final Logger LOG = LoggerFactory.getLogger(ConstantViews.class);

    /** How many views that no call uses are kept for the next. */
    private static final int MOST_IDLE = 16;

    /** Memory with the bytes of the constant, to begin with. Used by one thread at a time. */
    public abstract static class View {
        private int uses; // guarded by what made it: executions of its user that have it

        /** For backends. */
        protected View() {}

        /**
         * Returns whether a dispatch has stored something there, or may have.
         *
         * @return asked when no dispatch uses it
         */
        protected abstract boolean isWritten();

        /**
         * Has it begin anew, with the bytes of the constant.
         *
         * @return false when it cannot, or is not worth its memory meanwhile; it is closed then
         */
        protected abstract boolean tryRestore();

        /** Gives its memory back; no dispatch uses it any more. */
        protected abstract void close();
    }

    private final long size;
    private final Supplier<V> source;
    private final @Nullable RefCounted owner;

    // Guarded by this.
    private final Map<Object, V> own = new IdentityHashMap<>(); // of users that use one, or have stored in it
    private final Deque<V> idle = new ArrayDeque<>(); // as they were made
    private boolean told; // that something was stored

    /**
     * Makes views of a constant possible.
     *
     * @param size bytes of the constant
     * @param source makes a view
     * @param owner what keeps the constant's bytes, retained here; null when nothing needs to
     */
    public ConstantViews(long size, Supplier<V> source, @Nullable RefCounted owner) {
        if (owner != null) {
            owner.retain();
        }
        this.size = size;
        this.source = source;
        this.owner = owner;
    }

    /**
     * Begins a use.
     *
     * @param user whose; each use is ended by {@link #end}
     * @return the view that it uses
     * @throws IreeException RESOURCE_EXHAUSTED without memory for a view
     */
    public V begin(Object user) {
        List<V> gone = new ArrayList<>(0);
        try {
            V view = tryBegin(user, null, gone);
            return view == null ? begin(user, source.get(), gone) : view;
        } finally {
            gone.forEach(View::close); // with no lock held: memory that goes back may let others go on
        }
    }

    private V begin(Object user, V made, List<V> gone) {
        V view = Objects.requireNonNull(tryBegin(user, made, gone));
        if (!view.equals(made)) { // another execution of the call was faster
            gone.add(made);
        }
        return view;
    }

    private synchronized @Nullable V tryBegin(Object user, @Nullable V made, List<V> gone) {
        V view = own.get(user);
        if (view == null) {
            view = made == null ? takeIdle(gone) : made;
            if (view == null) {
                return null;
            }
            own.put(user, view);
        }
        uses(view, 1);
        return view;
    }

    private static int uses(View view, int more) {
        return view.uses += more;
    }

    /**
     * Ends a use: its dispatches have ended, and what they have stored is seen by the calling thread.
     *
     * @param view what {@link #begin} returned
     * @param user what it was given
     */
    public void end(V view, Object user) {
        List<V> gone = new ArrayList<>(0);
        end(view, user, gone);
        gone.forEach(View::close);
    }

    private synchronized void end(V view, Object user, List<V> gone) {
        if (uses(view, -1) > 0) {
            return;
        }
        if (!view.isWritten()) {
            own.remove(user);
            retire(view, gone);
            return;
        }
        if (!told) {
            told = true;
            LOG.debug("a program writes into a constant of {} bytes in place; each call has its own", size);
        }
        if (!(user instanceof MemoryHolder)) { // that was all of it
            own.remove(user);
            retire(view, gone);
        }
    }

    /**
     * Returns what a user reads.
     *
     * @param user whose; null for none
     * @return its own stores in it, valid until the user is finished; null when it reads the constant
     */
    public synchronized @Nullable V seenBy(@Nullable Object user) {
        return user == null ? null : own.get(user);
    }

    private @Nullable V takeIdle(List<V> gone) {
        for (Iterator<Map.Entry<Object, V>> all = own.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Object, V> each = all.next();
            V view = each.getValue(); // an identity map's entry is gone once it is removed
            if (uses(view, 0) == 0 && isFinished(each.getKey())) {
                all.remove();
                retire(view, gone);
            }
        }
        return idle.poll();
    }

    private static boolean isFinished(Object user) {
        return !(user instanceof MemoryHolder call) || call.isFinished();
    }

    /** No user has it any more. */
    private void retire(V view, List<V> gone) {
        if (idle.size() < MOST_IDLE && (!view.isWritten() || view.tryRestore())) {
            idle.push(view);
        } else {
            gone.add(view);
        }
    }

    @Override
    protected void destroy() {
        List<V> all;
        synchronized (this) {
            all = new ArrayList<>(own.values());
            all.addAll(idle);
        }
        all.forEach(View::close);
        if (owner != null) {
            owner.release();
        }
    }

    @Override
    protected String describe() {
        return "views of a constant of " + size + " bytes";
    }
}

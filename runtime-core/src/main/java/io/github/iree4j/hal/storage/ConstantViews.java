package io.github.iree4j.hal.storage;

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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Views of a module's constant, for commands. Compilers since 3.6 emit dispatches and transfers that write into
 * constants in place, as if the constants were created anew for each call. A command therefore gets a {@link View} that
 * no other call uses at the same time. An unwritten view is handed to the next call, so a constant not written by
 * commands is never copied. A written view stays with the call until the call is complete, and the call reads its own
 * stores. For backends.
 *
 * <p>The stores of the call that made the constant stay: initialisers of a program compute globals in place too. Later
 * views begin with the bytes left by this call.
 *
 * <p>A user is a call; for work outside of any call, a single execution. Safe from any thread.
 *
 * @param <V> the backend's views
 */
public final class ConstantViews<V extends ConstantViews.View> extends Resource {
    private static final Logger LOG = LoggerFactory.getLogger(ConstantViews.class);

    /** Maximum number of idle views kept for reuse. */
    private static final int MOST_IDLE = 16;

    /** Memory initially holding the bytes of the constant. Used by one thread at a time. */
    public abstract static class View {
        // Guarded by the creating ConstantViews.
        private int uses; // executions of the view's user that have the view
        private @Nullable View base; // origin of the first bytes; null for the constant

        /** For backends. */
        protected View() {}

        /**
         * Returns whether a command has written to the view, or may have.
         *
         * @return true when possibly written; called when no command uses the view
         */
        protected abstract boolean isWritten();

        /**
         * Returns whether {@link #isWritten} is known only once the commands have ended, while later operations are
         * issued before: operations of the call may read the view until the call has finished.
         *
         * @return false unless overridden: a view found unwritten at the end of a use is free for another call
         */
        protected boolean isKnownLate() {
            return false;
        }

        /**
         * Restores the view's initial bytes.
         *
         * @return false when impossible, or not worthwhile; the view is then closed
         */
        protected abstract boolean tryRestore();

        /** Frees the view's memory; no command uses the view any more. */
        protected abstract void close();
    }

    /**
     * Makes views.
     *
     * @param <V> the backend's views
     */
    @FunctionalInterface
    public interface Source<V> {
        /**
         * Makes a view.
         *
         * @param base a view that no command writes any more, as the source of the first bytes; null for the constant
         * @return the view
         * @throws IreeException RESOURCE_EXHAUSTED without memory
         */
        V view(@Nullable V base);
    }

    private final long size;
    private final Source<V> source;
    private final @Nullable RefCounted owner;
    private final @Nullable Object maker = MemoryHolder.current(); // the user whose stores stay, or null

    // Guarded by this.
    private final Map<Object, V> own = new IdentityHashMap<>(); // views in use, or written by the user
    private final Deque<V> idle = new ArrayDeque<>(); // with the bytes that views begin with
    private final List<V> bases = new ArrayList<>(0); // left by the maker; views begin with the last base
    private boolean told; // whether a write has been logged

    /**
     * Creates the views of a constant, made by the current thread's call.
     *
     * @param size bytes of the constant
     * @param source makes a view
     * @param owner keeps the constant's bytes, retained here; null for none
     */
    public ConstantViews(long size, Source<V> source, @Nullable RefCounted owner) {
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
     * @param user the user; each use is ended by {@link #end}
     * @return the user's view
     * @throws IreeException RESOURCE_EXHAUSTED without memory for a view
     */
    public V begin(Object user) {
        List<V> gone = new ArrayList<>(0);
        try {
            V made = null;
            V base = null;
            while (true) {
                V begun;
                synchronized (this) {
                    if (made != null && !Objects.equals(base, base())) { // the maker has left other bytes meanwhile
                        gone.add(made);
                        made = null;
                    }
                    begun = tryBegin(user, made, gone);
                    base = base();
                }
                if (begun != null) {
                    if (made != null && !begun.equals(made)) { // another execution of the call was first
                        gone.add(made);
                    }
                    return begun;
                }
                made = source.view(base);
            }
        } finally {
            gone.forEach(View::close); // with no lock held: freed memory may let waiters continue
        }
    }

    /** Under the lock, as all private methods below. */
    private @Nullable V tryBegin(Object user, @Nullable V made, List<V> gone) {
        V view = own.get(user);
        V left = view == null ? left() : null;
        if (left != null && uses(left, 0) > 0) {
            view = left; // the maker still writes this view, with an unknown result
        } else if (left != null) {
            own.remove(maker);
            bases.add(left);
            gone.addAll(idle); // idle views have other bytes, and so has a view made before
            idle.clear();
            if (made != null) {
                gone.add(made);
                return null;
            }
        }
        if (view == null) {
            view = made == null ? takeIdle(gone) : made;
            if (view == null) {
                return null;
            }
            setBase(view, base());
            own.put(user, view);
        }
        uses(view, 1);
        return view;
    }

    /** Returns the view written by the maker that others have not begun with yet. */
    private @Nullable V left() {
        V view = maker == null ? null : own.get(maker);
        return view != null && (view.isWritten() || view.isKnownLate() && uses(view, 0) > 0) ? view : null;
    }

    private @Nullable V base() {
        return bases.isEmpty() ? null : bases.getLast();
    }

    private static void setBase(View view, @Nullable View base) {
        view.base = base;
    }

    private static boolean isBased(View view, @Nullable View base) {
        return Objects.equals(view.base, base);
    }

    private static int uses(View view, int more) {
        return view.uses += more;
    }

    /**
     * Ends a use: the commands have ended, and their stores are visible to the calling thread.
     *
     * @param view the view returned by {@link #begin}
     * @param user the user passed to {@link #begin}
     */
    public void end(V view, Object user) {
        List<V> gone = new ArrayList<>(0);
        end(view, user, gone);
        gone.forEach(View::close);
    }

    private synchronized void end(V view, Object user, List<V> gone) {
        if (uses(view, -1) > 0 || view.equals(left()) || !view.equals(own.get(user))) {
            return; // in use, or of the maker
        }
        if (!view.isWritten()) {
            if (view.isKnownLate() && !isFinished(user)) {
                return; // VIEW-1
            }
            own.remove(user);
            retire(view, false, gone);
            return;
        }
        if (!told) {
            told = true;
            LOG.debug("a program writes into a constant of {} bytes in place; each call has its own", size);
        }
        if (!(user instanceof MemoryHolder)) { // an execution outside of any call ends here
            own.remove(user);
            retire(view, true, gone);
        }
    }

    /**
     * Returns the view that a user reads.
     *
     * @param user the user; null for none
     * @return the view with the user's own stores, valid until the user has finished, or with the stores of the maker;
     *     null when the user reads the constant, as also through an unwritten view free for others after its use
     */
    public synchronized @Nullable V seenBy(@Nullable Object user) {
        V view = user == null ? null : own.get(user);
        if (view != null && (view.isKnownLate() || view.isWritten())) { // VIEW-1
            return view;
        }
        V left = left();
        return left == null ? base() : left;
    }

    private @Nullable V takeIdle(List<V> gone) {
        for (Iterator<Map.Entry<Object, V>> all = own.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Object, V> each = all.next();
            V view = each.getValue(); // an identity map's entry is invalid after its removal
            if (uses(view, 0) == 0
                    && isFinished(each.getKey())
                    && !each.getKey().equals(maker)) {
                all.remove();
                retire(view, view.isWritten(), gone);
            }
        }
        return idle.poll();
    }

    private static boolean isFinished(Object user) {
        return !(user instanceof MemoryHolder call) || call.isFinished();
    }

    /** Recycles or closes a view whose user has finished. */
    private void retire(V view, boolean isWritten, List<V> gone) {
        if (idle.size() < MOST_IDLE && isBased(view, base()) && (!isWritten || view.tryRestore())) {
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
            all.addAll(bases);
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

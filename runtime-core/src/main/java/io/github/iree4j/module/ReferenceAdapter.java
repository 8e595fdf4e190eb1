package io.github.iree4j.module;

/**
 * Turns references that programs pass into what Java methods take, and back. Safe from any thread.
 *
 * @param <T> what methods take and return
 */
public interface ReferenceAdapter<T> {
    /**
     * Makes what the method takes.
     *
     * @param reference what the program passes, not null, of any type; borrowed
     * @return what the method gets, valid until the call ends
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when the reference is of another type
     */
    T take(Object reference);

    /**
     * Makes a reference of what the method returns, and frees that if it needs to be freed.
     *
     * @param value not null
     * @return the reference; its one count goes to the program
     */
    Object give(T value);

    /**
     * Makes a reference to pass to a function that the method calls, and leaves the value alone.
     *
     * @param value not null
     * @return the reference; its one count goes to whoever calls this. The default is {@link #give}
     */
    default Object lend(T value) {
        return give(value);
    }

    /**
     * Frees what {@link #take} made. Called once, when the call has ended; the default does nothing.
     *
     * @param value what was made
     */
    default void done(T value) {}
}

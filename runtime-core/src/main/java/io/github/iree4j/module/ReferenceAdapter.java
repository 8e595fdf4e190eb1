package io.github.iree4j.module;

/**
 * Converts references of programs to values of Java methods, and back. Safe from any thread.
 *
 * @param <T> the type of the methods' parameters and results
 */
public interface ReferenceAdapter<T> {
    /**
     * Converts an argument.
     *
     * @param reference the program's reference, not null, of any type; borrowed
     * @return the value for the method, valid until the call ends
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when the reference is of another type
     */
    T take(Object reference);

    /**
     * Converts a result, and frees the value if necessary.
     *
     * @param value the value, not null
     * @return the reference; the program takes ownership of a single count
     */
    Object give(T value);

    /**
     * Converts an argument of a function called by the method, without freeing the value. The default is {@link #give}.
     *
     * @param value the value, not null
     * @return the reference; the caller takes ownership of a single count
     */
    default Object lend(T value) {
        return give(value);
    }

    /**
     * Frees a value returned by {@link #take}. Called once, when the call has ended; the default does nothing.
     *
     * @param value the value
     */
    default void done(T value) {}
}

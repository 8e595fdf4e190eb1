package io.github.iree4j.lifetime;

/**
 * An object that lives for as long as somebody holds a reference to it.
 *
 * <p>Every holder owns exactly one reference per place where it keeps the object: a VM register, a list element, a global, a command
 * buffer, a pending operation. Copying retains, moving transfers, overwriting and clearing release. Safe from any thread.
 */
public interface RefCounted {

    /**
     * Adds one reference.
     *
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION when the last reference is already gone
     */
    void retain();

    /** Gives up one reference; the last one frees what the object holds, on this thread. */
    void release();
}

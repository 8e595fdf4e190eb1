package io.github.iree4j.lifetime;

/**
 * A reference-counted object.
 *
 * <p>Every holder owns exactly one reference per place that stores the object: a VM register, a list element, a global, a command buffer, a
 * pending operation. Copying retains, moving transfers, overwriting and clearing release. Safe from any thread.
 */
public interface RefCounted {

    /**
     * Adds a reference.
     *
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION when the last reference has been released
     */
    void retain();

    /** Releases a reference; releasing the last reference frees the object's resources on this thread. */
    void release();
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;

/**
 * Receives events of the sessions of a {@link RemoteNode}. Called on threads of the transport, without locks; MUST be
 * quick, MUST NOT throw, MAY call the node.
 */
public interface SessionListener {
    /** Does nothing. */
    SessionListener NONE = new SessionListener() {};

    /**
     * Called when a session is open: both sides have accepted each other.
     *
     * @param session the session
     */
    default void opened(RemoteSession session) {}

    /**
     * Called when the peer drains: the peer accepts no more work and will end the session once its work is done. Opens
     * of devices fail from now on.
     *
     * @param session the session
     * @param reason the peer's reason
     */
    default void draining(RemoteSession session, IreeException reason) {}

    /**
     * Called when a session has failed, once for each session, opened or not. The axes, semaphores and devices of the
     * session have failed already.
     *
     * @param session the session
     * @param cause the cause
     */
    default void failed(RemoteSession session, IreeException cause) {}
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;

/**
 * Learns of the sessions of a {@link RemoteNode}. Called on threads of the transport, without locks; MUST be quick, MUST NOT throw, MAY call the
 * node.
 */
public interface SessionListener {
    /** Does nothing. */
    SessionListener NONE = new SessionListener() {};

    /**
     * A session is open: both sides have accepted the other.
     *
     * @param session the session
     */
    default void opened(RemoteSession session) {}

    /**
     * The peer drains: it accepts no more work and will end the session once its work is done. Opens of devices fail from now on.
     *
     * @param session the session
     * @param reason what the peer said
     */
    default void draining(RemoteSession session, IreeException reason) {}

    /**
     * A session has failed, once for each session, opened or not. Its axes, semaphores and devices have failed already.
     *
     * @param session the session
     * @param cause why
     */
    default void failed(RemoteSession session, IreeException cause) {}
}

package io.github.iree4j.hal.remote;

/**
 * A command of a peer, sent with a span of the submitter.
 *
 * @param parent the span
 * @param peer the submitter
 * @param device id of the command's device
 * @param queue index of the queue
 * @param name execute when the command runs recorded commands; otherwise the first step: fill, copy, upload, download
 *     or update
 * @param steps number of steps
 * @param axis the timeline of the command's lane, belonging to the peer
 * @param epoch the value to which the command raises the timeline
 */
public record RemoteWork(
        TraceParent parent,
        NodeIdentity peer,
        String device,
        int queue,
        String name,
        int steps,
        long axis,
        long epoch) {}

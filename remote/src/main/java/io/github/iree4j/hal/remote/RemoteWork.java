package io.github.iree4j.hal.remote;

/**
 * A command of a peer, which came with a span of its submitter.
 *
 * @param parent the span
 * @param peer who submitted it
 * @param device id of the device that it is for
 * @param queue index of the queue
 * @param name execute when it runs recorded commands; otherwise its first step: fill, copy, upload, download or update
 * @param steps how many steps it has
 * @param axis the timeline of its lane, which belongs to the peer
 * @param epoch what it raises that to
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

package io.github.iree4j.hal.remote;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** A node with an open session whose peer sends frames of a test's choice and takes every frame. */
final class StressPeer implements PeerConnection, SessionListener {
    static final IreeException LOST = IreeException.of(StatusCode.UNAVAILABLE, "lost on purpose");

    /** An axis of the peer, unknown to the node. */
    static final long AXIS = Axis.of(1, 2, CausalDomain.QUEUE, 0);

    private static final NodeIdentity SELF = new NodeIdentity(7, 1, 1, 1);
    private static final NodeIdentity PEER = new NodeIdentity(7, 2, 1, 2);

    final FrontierTracker tracker = FrontierTracker.create();
    final RemoteSession session;
    final AtomicInteger failures = new AtomicInteger(); // reported to the listener
    private final Map<FrameType, ConcurrentLinkedQueue<Long>> sequences = new ConcurrentHashMap<>();

    /** Opens a session with a peer that serves a device. */
    StressPeer() {
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(SELF.session(), SELF.machine()), tracker, Frontier.DEFAULT_CAPACITY);
        RemoteNode node = RemoteNode.builder(SELF, domain).listener(this).build();
        PeerListener receiver = node.dial(this, PEER.incarnation());
        FrameWriter frame = new FrameWriter(FrameType.HELLO_ACK).u64(1);
        new Hello(
                        PEER,
                        SELF.incarnation(),
                        new Hello.Limits(1 << 18, 1024, 1 << 16),
                        List.of(),
                        List.of(new RemoteDeviceInfo("far", "stress", "far", List.of(), 1, 1 << 20, true, false)))
                .write(frame);
        ByteBuffer bytes = frame.finish();
        bytes.putInt(FrameWriter.NUMBER, 1);
        receiver.received(PeerStream.CONTROL, bytes);
        session = node.session(PEER.incarnation());
    }

    /** A frame on arrival, after the head. */
    static FrameReader frame(FrameWriter frame) {
        return new FrameReader(frame.type.stream, frame.finish());
    }

    @Override
    public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
        FrameType type = FrameType.of(head.get(0), stream);
        if (type == FrameType.COMMAND || type == FrameType.COMPLETED) { // lane, then sequence
            sequences
                    .computeIfAbsent(type, _ -> new ConcurrentLinkedQueue<>())
                    .add(head.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong(FrameWriter.HEAD + 8));
        }
        return true;
    }

    /** The sequence numbers of frames sent, in order. */
    String sequences(FrameType type) {
        ConcurrentLinkedQueue<Long> sent = sequences.get(type);
        return sent == null ? "" : sent.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }

    @Override
    public void close(IreeException cause) {}

    @Override
    public String describe() {
        return "stress";
    }

    @Override
    public void failed(RemoteSession which, IreeException cause) {
        failures.incrementAndGet();
    }
}

package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The frames between nodes, checked when sent: no command ends twice or out of order, no unaccepted command ends, no
 * (axis, epoch) is issued twice, and no frontier claims an epoch before its completion at the sender.
 */
final class History {
    private final Map<String, Long> completed = new HashMap<>(); // last sequence, by session and lane
    private final Map<String, Long> sent = new HashMap<>();
    private final Set<String> epochs = new HashSet<>();
    private final List<String> faults = new ArrayList<>();
    private final Map<String, Long> values = new HashMap<>(); // last value, by session and subscription
    long commands;
    long ends;
    long advances;

    /** Reads a frame sent between nodes. */
    synchronized byte[] sent(RemoteNode from, RemoteNode to, byte[] frame) {
        int type = frame[0];
        String pair = from.identity().incarnation() + ">" + to.identity().incarnation() + " ";
        String back = to.identity().incarnation() + ">" + from.identity().incarnation() + " ";
        if (type == FrameType.COMMAND.number) {
            FrameReader in = new FrameReader(PeerStream.QUEUE, ByteBuffer.wrap(frame));
            String lane = pair + in.u64("lane");
            long sequence = in.u64("sequence");
            commands++;
            check(sequence == sent.getOrDefault(lane, 0L) + 1, "command " + sequence + " of " + lane);
            sent.put(lane, sequence);
        } else if (type == FrameType.COMPLETED.number) {
            FrameReader in = new FrameReader(PeerStream.QUEUE, ByteBuffer.wrap(frame));
            long axis = in.u64("lane");
            String lane = back + axis;
            long sequence = in.u64("sequence");
            long epoch = in.u64("epoch");
            ends++;
            check(sequence == completed.getOrDefault(lane, 0L) + 1, "end " + sequence + " of " + lane);
            check(sequence <= sent.getOrDefault(lane, 0L), "end of a command never sent: " + sequence + " of " + lane);
            check(epochs.add(axis + "@" + epoch), "epoch " + epoch + " of lane " + axis + " twice");
            completed.put(lane, sequence);
            in.status("");
            check(from, in.frontier());
        } else if (type == FrameType.ADVANCE.number) {
            FrameReader in = new FrameReader(PeerStream.QUEUE, ByteBuffer.wrap(frame));
            String subscription = pair + in.u64("subscription");
            long value = in.u64("value");
            advances++;
            check(value > values.getOrDefault(subscription, -1L), "value " + value + " of " + subscription);
            values.put(subscription, value);
            check(from, in.frontier());
        }
        return frame;
    }

    private void check(RemoteNode sender, Frontier frontier) {
        for (int i = 0; i < frontier.size(); i++) {
            long reached = sender.domain().tracker().completed(frontier.axis(i));
            check(
                    !sender.identity().owns(frontier.axis(i)) || reached >= frontier.epoch(i),
                    "frontier " + frontier + " of " + sender + ", which has reached " + reached);
        }
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            faults.add(what);
        }
    }

    synchronized void verify(Object seed) {
        assertThat(faults).as("seed %s", seed).isEmpty();
    }
}

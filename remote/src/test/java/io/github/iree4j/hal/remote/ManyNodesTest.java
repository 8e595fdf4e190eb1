package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.remote.ManyNodes.Line;
import io.github.iree4j.hal.remote.ManyNodes.Node;
import io.github.iree4j.hal.remote.ManyNodes.Outcome;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The frames between many nodes with own work. docs/cluster-scale.md has a thousand. */
class ManyNodesTest {
    private static final int COUNT = 64;

    private final ManyNodes all = new ManyNodes(COUNT);

    @AfterEach
    void close() {
        all.close();
    }

    @Test
    void aRingSendsAFrameForEachHop() {
        Outcome ring = all.ring(3);
        assertThat(ring.sessions()).isEqualTo(COUNT);
        assertThat(ring.frames()).isEqualTo(1);
        assertThat(all.network.frames(FrameType.ADVANCE)).isEqualTo(all.network.frames());
        assertThat(ring.most())
                .as("events at a peer are in the entry of the peer")
                .isEqualTo(1);
    }

    @Test
    void aReductionAtOneNodeSendsTwoFramesForEachOther() {
        all.allReduce(3);
        assertThat(all.network.sessions()).isEqualTo(COUNT - 1);
        assertThat(all.network.frames()).isEqualTo(3L * 2 * (COUNT - 1));
        assertThat(all.network.entries()).containsOnly(1);
    }

    @Test
    void aGroupOfEightSendsEightFramesForEachNode() {
        all.tensorParallel(2);
        assertThat(all.network.frames()).isEqualTo(2L * (COUNT * 7 + COUNT - 8));
        assertThat(all.network.entries()).containsOnly(1);
    }

    /** Each node learns of the loss from the previous node of the ring. */
    @Test
    void theLossOfANodeReachesItsFollowersOnly() {
        int lost = 20;
        for (int i = 1; i < COUNT; i++) {
            Node own = all.nodes.get(i);
            own.submit(List.of(own.point(all.lines.get(i - 1), 1)), all.lines.get(i), 1);
        }
        all.begin();
        all.nodes.get(lost).node.close();
        all.nodes.getFirst().submit(List.of(), all.lines.getFirst(), 1);
        all.clock.runUntilIdle();
        for (int i = 0; i < COUNT; i++) {
            Line line = all.lines.get(i);
            IreeException failure = line.timeline().failure();
            if (i < lost) {
                assertThat(line.timeline().isReached(1)).as("node %d", i).isTrue();
            } else {
                assertThat(failure).as("node %d", i).isNotNull();
                assertThat(failure.code()).isNotEqualTo(StatusCode.INTERNAL);
            }
        }
        assertThat(all.network.frames(FrameType.FAIL)).as("each tells the next").isEqualTo(COUNT - lost - 1);
    }
}

package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Channels and collective commands as called by programs. */
class HalCollectiveImportsTest {
    private final HalFixture hal = new HalFixture();

    @AfterEach
    void nothingIsLeft() {
        hal.close();
    }

    private Channel channel(String id, int rank, int count) {
        return hal.one(
                "channel.create",
                "0rIIrrii_r",
                hal.device,
                -1L,
                0L,
                HalFixture.text(id),
                HalFixture.text("group"),
                rank,
                count);
    }

    private Fence submit(
            Channel channel, Collective operation, int parameter, Buffer source, Buffer target, long count) {
        CommandBuffer commands = hal.one("command_buffer.create", "0riiIi_r", hal.device, 1, 3, -1L, 0);
        hal.call(
                "command_buffer.collective",
                "0rriiiirrIIIII_v",
                commands,
                channel,
                operation.packed(),
                parameter,
                0,
                0,
                source,
                target,
                0L,
                source.length(),
                0L,
                target.length(),
                count);
        hal.call("command_buffer.finalize", "0r_v", commands);
        Fence done = hal.fence();
        hal.call("device.queue.execute", "0rIrrrI_v", hal.device, -1L, null, done, commands, 0L);
        return done;
    }

    @Test
    void participantsOfANamedGroupReduceTogether() {
        Channel first = channel("sum", 0, 2);
        Channel second = channel("sum", 1, 2);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", second)).containsExactly(1, 2);
        Collective sum = Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32);
        Buffer target = hal.buffer(0, 0);
        Fence a = submit(first, sum, 0, hal.buffer(1, 2), target, 2);
        assertThat(a.isReached()).isFalse();
        Fence b = submit(second, sum, 0, hal.buffer(10, 20), hal.buffer(0, 0), 2);
        HalFixture.assertReached(a);
        HalFixture.assertReached(b);
        assertThat(HalFixture.ints(target)).containsExactly(11, 22);
    }

    @Test
    void theDefaultChannelIsASingleParticipant() {
        Channel channel = hal.one("channel.create", "0rIIrrii_r", hal.device, -1L, 0L, null, null, -1, -1);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", channel)).containsExactly(0, 1);
    }

    @Test
    void aSplitGivesRanksOfTheSmallerGroup() {
        List<Channel> channels = List.of(channel("split", 0, 3), channel("split", 1, 3), channel("split", 2, 3));
        Channel a = hal.one("channel.split", "0riiI_r", channels.get(0), 7, 2, 0L);
        Channel none = hal.one("channel.split", "0riiI_r", channels.get(1), -1, 0, 0L);
        assertThat(none).isNull();
        Channel c = hal.one("channel.split", "0riiI_r", channels.get(2), 7, 1, 0L);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", a)).containsExactly(1, 2);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", c)).containsExactly(0, 2);
        hal.failure(StatusCode.INVALID_ARGUMENT, "channel.split", "0riiI_r", channels.get(0), -2, 0, 0L);
    }

    @Test
    void rankAndCountWaitForTheOthersToSplit() throws Exception {
        List<Channel> channels = List.of(channel("late", 0, 2), channel("late", 1, 2));
        Channel part = hal.one("channel.split", "0riiI_r", channels.get(0), 0, 0, 0L);
        Thread other = Thread.startVirtualThread(
                () -> hal.keep(Objects.requireNonNull(channels.get(1).split(0, 0))));
        assertThat(hal.call("channel.rank_and_count", "0r_ii", part)).containsExactly(0, 2);
        other.join();
    }

    @Test
    void aMismatchFailsBothFences() {
        Channel first = channel("bad", 0, 2);
        Channel second = channel("bad", 1, 2);
        Fence a = submit(
                first,
                Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32),
                0,
                hal.buffer(1),
                hal.buffer(0),
                1);
        Fence b = submit(
                second,
                Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.F32),
                0,
                hal.buffer(1),
                hal.buffer(0),
                1);
        assertThat(a.query()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(b.query()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        hal.failure(StatusCode.INVALID_ARGUMENT, "channel.create", "0rIIrrii_r", hal.device, -1L, 0L, null, null, 3, 2);
    }

    @Test
    void aGatheringOfAnUnknownTypeIsRefused() {
        CommandBuffer commands = hal.one("command_buffer.create", "0riiIi_r", hal.device, 1, 3, -1L, 0);
        int unknown = Collective.of(Collective.ALL_GATHER, Collective.NONE, Collective.BF16)
                        .packed()
                + (1 << 16);
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "command_buffer.collective",
                "0rriiiirrIIIII_v",
                commands,
                channel("gather", 0, 2),
                unknown,
                0,
                0,
                0,
                hal.buffer(1),
                hal.buffer(0, 0),
                0L,
                4L,
                0L,
                8L,
                2L);
    }
}

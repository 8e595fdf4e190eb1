package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The reports to participants of a collective when one of them disagrees, fails or leaves. */
class CollectiveFailureTest extends CollectiveFixture {

    @Test
    void aClosedDeviceFailsTheGroup() {
        Device other = closed(new LocalBackend().open(DeviceOptions.builder()));
        Channel mine = closed(device.createChannel(-1, ChannelParams.of("devices", 0, 2)));
        Channel theirs = closed(other.createChannel(-1, ChannelParams.of("devices", 1, 2)));
        assertThat(theirs.rank()).isOne();
        Fence done = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        other.close();
        assertFailed(List.of(done), StatusCode.ABORTED, "device 'local' of a channel was closed");
    }

    @Test
    void aFailingCollectiveIsAFailedOperationOfEachQueue() {
        List<Channel> channels = channels("failed", 2);
        Fence never = fence();
        Fence done = submit(0, never, one(channels.get(0), SUM, 0, ints(1), ints(1), 1));
        Fence other = submit(1, null, one(channels.get(1), SUM, 0, ints(1), ints(1), 1));
        never.fail(IreeException.of(StatusCode.DATA_LOSS, "disk gone"));
        assertFailed(List.of(done, other), StatusCode.DATA_LOSS, "disk gone");
        QueueCounters refused = device.queue(0).counters();
        assertThat(refused.submitted()).isOne();
        assertThat(refused.failed()).isOne();
        assertThat(refused.retired()).as("it never ran").isZero();
        QueueCounters ran = device.queue(1).counters();
        assertThat(ran.submitted()).isOne();
        assertThat(ran.failed()).isOne();
        assertThat(ran.retired()).isOne();
        assertThat(ran.inFlight()).isZero();
    }

    @Test
    void unsuitableSizesAreRefusedAtTheRecording() {
        List<Channel> channels = channels("checks", 2);
        Channel channel = channels.getFirst();
        Collective gather = Collective.of(Collective.ALL_GATHER, 0, Collective.S32);
        assertThatThrownBy(() -> one(channel, gather, 0, ints(1), ints(1), 1))
                .hasMessageContaining("target of all_gather [0, 8) does not fit buffer of 4 bytes");
        assertThatThrownBy(() -> one(channel, gather, 0, ints(1), null, 1)).hasMessageContaining("is missing");
        assertThatThrownBy(() -> one(channel, SUM, 0, ints(1), ints(1), Long.MAX_VALUE / 2))
                .hasMessageContaining("among 2 participants");
        assertThatThrownBy(() -> one(channel, new Collective(9), 0, ints(1), ints(1), 1))
                .hasMessageContaining("unknown kind");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.BROADCAST, 0, Collective.S32), 2, ints(1), ints(1), 1))
                .hasMessageContaining("root rank 2");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.ALL_TO_ALL, 0, Collective.S8), 0, ints(1), ints(1), 3))
                .hasMessageContaining("does not divide");
        assertThatThrownBy(() ->
                        one(channel, Collective.of(Collective.ALL_REDUCE, 0, Collective.S8), 0, ints(1), ints(1), 3))
                .hasMessageContaining("needs a reduction");
    }

    // GROUP-1: an arrival is told once, even if the group fails meanwhile.
    @Test
    void aFailureWhileOthersArriveLeavesNothingPending() throws Exception {
        int threads = 4;
        int rounds = 100;
        List<Channel> channels = channels("failing", threads);
        List<List<Fence>> done = new ArrayList<>();
        List<CommandBuffer> commands = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            commands.add(one(channels.get(rank), SUM, 0, ints(1), ints(0), 1));
            List<Fence> own = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                own.add(fence());
            }
            done.add(own);
        }
        Fence broken = fence();
        broken.fail(IreeException.of(StatusCode.DATA_LOSS, "disk gone"));
        List<Thread> running = new ArrayList<>();
        for (int rank = 0; rank < threads; rank++) {
            int own = rank;
            running.add(Thread.startVirtualThread(() -> {
                for (int round = 0; round < rounds; round++) {
                    Fence wait = own == 3 && round == rounds / 2 ? broken : null;
                    device.queue(own).execute(wait, done.get(own).get(round), commands.get(own), null, 0);
                }
            }));
        }
        for (Thread each : running) {
            each.join();
        }
        for (int round = 0; round < rounds; round++) {
            for (int rank = 0; rank < threads; rank++) {
                Fence each = done.get(rank).get(round);
                assertThat(each.query()).as("rank %d, round %d", rank, round).isNotEqualTo(StatusCode.DEFERRED);
                if (round >= rounds / 2) {
                    assertThat(each.query()).isEqualTo(StatusCode.DATA_LOSS);
                }
            }
        }
    }

    private static void assertFailed(List<Fence> fences, StatusCode code, String message) {
        for (Fence each : fences) {
            IreeException failure = catchThrowableOfType(IreeException.class, () -> each.await(Duration.ofSeconds(60)));
            assertThat(failure).isNotNull();
            assertThat(failure.code()).isEqualTo(code);
            assertThat(failure.getMessage()).contains(message);
        }
    }
}

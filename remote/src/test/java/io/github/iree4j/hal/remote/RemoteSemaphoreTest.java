package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Semaphores of another node: every value with its own frontier, and none before the owner reached the value. */
class RemoteSemaphoreTest {
    private final TestNodes nodes = new TestNodes();
    private Loopback loopback = new Loopback(1);
    private final RemoteNode owner = nodes.node(1);
    private final RemoteNode other = nodes.node(2);
    private final TimelineSemaphore semaphore = TimelineSemaphore.create(0);
    private final long axis = owner.domain().axes().allocate(CausalDomain.HOST);

    @AfterEach
    void closeAll() {
        nodes.close();
        semaphore.close();
    }

    private Link open() {
        owner.domain().tracker().register(axis);
        Link link = loopback.connect(owner, other);
        loopback.run();
        return link;
    }

    private void signal(long value) {
        owner.domain().tracker().advance(axis, value);
        semaphore.signal(value, Frontier.producedBy(axis, value));
    }

    @Test
    void aLateSubscriberGetsTheFrontierOfItsOwnValue() {
        open();
        SemaphoreExport export = owner.export(semaphore);
        signal(3);
        signal(7);
        TimelineSemaphore proxy = other.session(1).semaphore(export.id(), 2);
        assertThat(proxy.value()).isZero();
        loopback.run();
        assertThat(proxy.value()).isEqualTo(7);
        assertThat(proxy.frontierAt(2)).isEqualTo(Frontier.producedBy(axis, 3));
        assertThat(proxy.frontierAt(4)).isEqualTo(Frontier.producedBy(axis, 7));
        assertThat(other.domain().tracker().completed(axis)).isEqualTo(7);
        signal(8);
        assertThat(proxy.value()).isEqualTo(7);
        loopback.run();
        assertThat(proxy.value()).isEqualTo(8);
        proxy.close();
        export.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void aProxyIsNeverAheadWhateverTheTransportDoes(long seed) {
        loopback = new Loopback(seed).capacity(1 + (int) (seed % 3)).repeats((int) seed * 5);
        open();
        Random random = new Random(seed);
        SemaphoreExport export = owner.export(semaphore);
        List<TimelineSemaphore> proxies = new ArrayList<>();
        long value = 0;
        for (int i = 0; i < 400; i++) {
            switch (random.nextInt(6)) {
                case 0 -> proxies.add(other.session(1).semaphore(export.id(), 1 + random.nextInt(100)));
                case 1, 2 -> signal(value += 1 + random.nextInt(3));
                default -> loopback.step();
            }
            for (TimelineSemaphore proxy : proxies) {
                assertThat(proxy.value()).as("seed %d", seed).isLessThanOrEqualTo(value);
                assertThat(other.domain().tracker().completed(axis)).isLessThanOrEqualTo(value);
            }
        }
        loopback.run();
        for (TimelineSemaphore proxy : proxies) {
            if (value >= 100) {
                assertThat(proxy.value()).as("seed %d", seed).isEqualTo(value);
            }
            for (long at = 1; at <= proxy.value(); at++) {
                Frontier frontier = proxy.frontierAt(at);
                assertThat(frontier.producerEpoch())
                        .as("seed %d at %d: the owner has reached the value", seed, at)
                        .isGreaterThanOrEqualTo(at)
                        .isLessThanOrEqualTo(value);
            }
            proxy.close();
        }
    }

    @Test
    void aFullStreamQueuesNoValues() {
        loopback = new Loopback(1).capacity(4);
        Link link = open();
        SemaphoreExport export = owner.export(semaphore);
        TimelineSemaphore proxy = other.session(1).semaphore(export.id(), 1);
        loopback.run();
        RemoteSession session = owner.session(2);
        link.hold(PeerStream.QUEUE, true);
        for (long value = 1; value <= 1_000_000; value += 10) {
            signal(value);
        }
        assertThat(session.statistics().bytesWaiting()).isLessThan(RemoteOptions.DEFAULTS.outboxBytes() + 100L);
        link.hold(PeerStream.QUEUE, false);
        loopback.run();
        assertThat(proxy.value()).isEqualTo(999_991);
        assertThat(session.statistics().bytesWaiting()).isZero();
        proxy.close();
    }

    @Test
    void failuresOfTheSemaphoreAndOfTheSessionReachTheProxy() {
        Link link = open();
        SemaphoreExport export = owner.export(semaphore);
        TimelineSemaphore failing = other.session(1).semaphore(export.id(), 1);
        loopback.run();
        semaphore.fail(IreeException.of(StatusCode.DATA_LOSS, "disk"));
        loopback.run();
        assertThat(failing.failure().code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(failing.failure()).hasMessageContaining("node 1").hasMessageContaining("disk");

        TimelineSemaphore unknown = other.session(1).semaphore(77, 1);
        loopback.run();
        assertThat(unknown.failure().code()).isEqualTo(StatusCode.NOT_FOUND);

        TimelineSemaphore second = TimelineSemaphore.create(0);
        TimelineSemaphore proxy =
                other.session(1).semaphore(owner.export(second).id(), 1);
        RemoteSession session = other.session(1);
        loopback.run();
        loopback.cut(link);
        loopback.run();
        assertThat(proxy.failure().code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThatThrownBy(() -> session.semaphore(1, 1)).isSameAs(session.failure());
        List.of(failing, unknown, second, proxy).forEach(TimelineSemaphore::close);
    }

    @Test
    void aSignalFromOutsideStaysUnknown() {
        open();
        SemaphoreExport export = owner.export(semaphore);
        TimelineSemaphore proxy = other.session(1).semaphore(export.id(), 1);
        semaphore.signalExternal(2);
        loopback.run();
        assertThat(proxy.isTainted(2)).isTrue();
        proxy.close();
    }

    @Test
    void forgettingEndsTheStream() {
        open();
        SemaphoreExport export = owner.export(semaphore);
        TimelineSemaphore proxy = other.session(1).semaphore(export.id(), 1);
        signal(1);
        loopback.run();
        other.session(1).forget(proxy);
        signal(2); // may cross
        loopback.run();
        signal(3);
        loopback.run();
        assertThat(proxy.value()).isEqualTo(1);
        assertThat(owner.session(2).statistics().subscriptionsOfPeer()).isZero();
        assertThat(other.session(1).statistics().subscriptionsAtPeer()).isZero();
        proxy.close();
    }
}

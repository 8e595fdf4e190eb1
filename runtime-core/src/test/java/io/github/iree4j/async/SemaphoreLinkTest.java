package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** LINK-1: a link ends once: by signalling, by failing, or by cancellation. */
class SemaphoreLinkTest {
    private static final IreeException LOST = new IreeException(StatusCode.DATA_LOSS, "lost on purpose");

    private final TimelineSemaphore source = TimelineSemaphore.create(0);
    private final TimelineSemaphore target = TimelineSemaphore.create(0);

    private static Frontier produced(long epoch) {
        return Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 0), epoch);
    }

    @Test
    void signalsTheTargetWhenTheSourceIsThere() {
        source.link(2, target, 7);
        source.signal(1);
        assertThat(target.value()).isEqualTo(0);
        source.signal(2);
        assertThat(target.value()).isEqualTo(7);
    }

    @Test
    void signalsAtOnceWhenTheSourceIsThereAlready() {
        source.signal(5);
        assertThat(source.link(2, target, 7).cancel()).isFalse();
        assertThat(target.value()).isEqualTo(7);
    }

    @Test
    void theFrontierIsPassedOn() {
        source.link(2, target, 7);
        source.signal(1, produced(1));
        source.signal(2, produced(2));
        source.signal(3, produced(3));
        assertThat(target.frontierAt(7)).isEqualTo(produced(2));
        TimelineSemaphore late = TimelineSemaphore.create(0);
        source.link(1, late, 1);
        assertThat(late.frontierAt(1))
                .as("of the value linked, not of the latest")
                .isEqualTo(produced(1));
    }

    @Test
    void taintIsPassedOn() {
        source.link(1, target, 1);
        source.signalExternal(1);
        assertThat(target.isTainted(1)).isTrue();
    }

    @Test
    void failureIsPassedOn() {
        source.link(1, target, 1);
        source.fail(LOST);
        assertThat(target.failure()).isSameAs(LOST);
        TimelineSemaphore late = TimelineSemaphore.create(0);
        source.link(2, late, 2);
        assertThat(late.failure()).isSameAs(LOST);
    }

    @Test
    void aSourceClosedTooEarlyCancelsTheTarget() {
        source.link(1, target, 1);
        source.close();
        assertThat(target.failure()).extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
    }

    @Test
    void aTargetThatIsThereAlreadyFails() {
        target.signal(7);
        source.link(1, target, 7);
        assertThat(target.failure()).isNull();
        source.signal(1);
        assertThat(target.failure()).extracting(IreeException::code).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(source.failure()).isNull();
    }

    @Test
    void aCancelledLinkDoesNothing() {
        Cancellation link = source.link(1, target, 1);
        assertThat(link.cancel()).isTrue();
        assertThat(link.cancel()).isFalse();
        source.signal(1);
        assertThat(target.value()).isEqualTo(0);
        source.fail(LOST);
        assertThat(target.failure()).isNull();
    }

    @Test
    void aLinkKeepsItsTargetUntilItEnds() {
        source.link(1, target, 1);
        Cancellation second = source.link(2, target, 2);
        target.close();
        assertThat(target.isLive()).isTrue();
        source.signal(1);
        assertThat(target.isLive()).as("the second link holds it").isTrue();
        second.cancel();
        assertThat(target.isLive()).isFalse();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> source.link(3, target, 3))
                .withMessageContaining("is closed");
    }

    @Test
    void aRingOfLinksDoesNotRecurse() {
        List<TimelineSemaphore> ring = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ring.add(TimelineSemaphore.create(0));
        }
        for (int lap = 1; lap <= 500; lap++) {
            for (int i = 0; i < ring.size(); i++) {
                boolean last = i == ring.size() - 1;
                ring.get(i).link(lap, ring.get(last ? 0 : i + 1), last ? lap + 1 : lap);
            }
        }
        ring.getFirst().signal(1, produced(1));
        assertThat(ring.getFirst().value()).isEqualTo(501);
        assertThat(ring.getLast().frontierAt(500)).isEqualTo(produced(1));
    }
}

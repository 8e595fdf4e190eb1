package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.gpu.GpuEvents.Event;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A ring of points works like a queue, of any size and with counters at any place. */
class GpuPointsTest {
    private record Point(long ticket, Event event, int commands) {}

    @ParameterizedTest
    @ValueSource(ints = {0, 7, -1, Integer.MAX_VALUE - 100, Integer.MIN_VALUE + 3, -300})
    void aRingWorksLikeAQueue(int first) {
        Random random = new Random(Effort.seed(getClass(), "operations", 20261122) + first);
        for (int round = 0; round < Effort.rounds(200); round++) {
            GpuPoints points = new GpuPoints(first);
            ArrayDeque<Point> model = new ArrayDeque<>();
            long ticket = random.nextInt(3);
            int rising = random.nextInt(8); // of ten: the final size
            for (int i = 0; i < 400; i++) {
                if (random.nextInt(10) < 2 + rising) {
                    ticket += 1 + random.nextInt(3);
                    Point added = new Point(ticket, new Event(i, false), random.nextInt(5));
                    model.add(added);
                    points.add(added.ticket, added.event, added.commands);
                } else if (!model.isEmpty()) {
                    Point removed = model.remove();
                    assertThat(points.firstTicket()).isEqualTo(removed.ticket);
                    assertThat(points.firstCommands()).isEqualTo(removed.commands);
                    assertThat(points.remove()).isSameAs(removed.event);
                }
                check(points, model, ticket, random);
            }
        }
    }

    private static void check(GpuPoints points, ArrayDeque<Point> model, long last, Random random) {
        assertThat(points.isEmpty()).isEqualTo(model.isEmpty());
        assertThat(points.first()).isSameAs(model.isEmpty() ? null : model.getFirst().event);
        assertThat(points.last()).isSameAs(model.isEmpty() ? null : model.getLast().event);
        long wanted = random.nextLong(last + 3);
        assertThat(points.at(wanted))
                .as("point %d", wanted)
                .isSameAs(model.stream()
                        .filter(each -> each.ticket >= wanted)
                        .map(Point::event)
                        .findFirst()
                        .orElse(null));
        assertThat(points.ticketFrom(wanted))
                .as("ticket from %d", wanted)
                .isEqualTo(model.stream()
                        .mapToLong(Point::ticket)
                        .filter(each -> each >= wanted)
                        .findFirst()
                        .orElse(0));
    }

    @Test
    void anEmptyRingHasNothing() {
        GpuPoints points = new GpuPoints();
        assertThat(points.isEmpty()).isTrue();
        assertThat(points.first()).isNull();
        assertThat(points.last()).isNull();
        assertThat(points.at(0)).isNull();
        assertThat(points.ticketFrom(0)).isZero();
    }
}

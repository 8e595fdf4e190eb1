package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class AxisTest {
    @Test
    void packsSessionMachineDomainAndOrdinal() {
        long axis = Axis.of(1, 3, CausalDomain.COLLECTIVE, 42);
        assertThat(axis).isEqualTo(0x0103_0100_0000_002AL);
        assertThat(Axis.session(axis)).isEqualTo(1);
        assertThat(Axis.machine(axis)).isEqualTo(3);
        assertThat(Axis.domain(axis)).isEqualTo(CausalDomain.COLLECTIVE);
        assertThat(Axis.ordinal(axis)).isEqualTo(42);
        assertThat(Axis.of(1, 3, CausalDomain.HOST, 7)).isEqualTo(0x0103_0300_0000_0007L);
    }

    @Test
    void keepsTheExtremesOfEveryPart() {
        long axis = Axis.of(255, 255, CausalDomain.HOST, Axis.MAXIMUM_ORDINAL);
        assertThat(axis).isEqualTo(0xFFFF_03FF_FFFF_FFFFL);
        assertThat(Axis.session(axis)).isEqualTo(255);
        assertThat(Axis.machine(axis)).isEqualTo(255);
        assertThat(Axis.ordinal(axis)).isEqualTo((1L << 40) - 1);
    }

    @Test
    void domainNumbersMatchTheFormat() {
        assertThat(CausalDomain.values()).extracting(CausalDomain::number).containsExactly(0, 1, 3);
        assertThat(CausalDomain.values())
                .containsExactly(CausalDomain.QUEUE, CausalDomain.COLLECTIVE, CausalDomain.HOST);
    }

    @Test
    void comparesUnsigned() {
        long low = Axis.of(127, 0, CausalDomain.QUEUE, 0);
        long high = Axis.of(128, 0, CausalDomain.QUEUE, 0);
        assertThat(high).as("as a signed number").isNegative();
        assertThat(Axis.compare(low, high)).isNegative();
        Frontier frontier = Frontier.of(high, 1).insertOrRaise(low, 1);
        assertThat(frontier.axis(0)).isEqualTo(low);
    }

    @Test
    void printsDomainOrdinalMachineAndSession() {
        assertThat(Axis.toString(Axis.of(7, 1, CausalDomain.QUEUE, 3))).isEqualTo("queue:3@m1.s7");
        assertThat(Axis.toString(0xFFFF_FFFF_FFFF_FFFFL)).isEqualTo("domain255:1099511627775@m255.s255");
    }

    @Test
    void refusesUnsuitableParts() {
        assertRefused(() -> Axis.of(0, 0, CausalDomain.QUEUE, 0), "session 0 of an axis is not within [1, 255]");
        assertRefused(() -> Axis.of(256, 0, CausalDomain.QUEUE, 0), "session 256");
        assertRefused(() -> Axis.of(1, 256, CausalDomain.QUEUE, 0), "machine 256");
        assertRefused(() -> Axis.of(1, 0, CausalDomain.QUEUE, 1L << 40), "ordinal 1099511627776");
        assertRefused(() -> Axis.domain(0x0100_0400_0000_0000L), "has domain 4, not 0, 1 or 3");
        assertThat(Axis.isValid(Axis.NONE)).isFalse();
        assertThat(Axis.isValid(0x0100_0200_0000_0000L)).isFalse();
        assertThat(Axis.isValid(0x0100_0400_0000_0000L)).isFalse();
    }

    private static void assertRefused(Runnable call, String message) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }

    @Test
    void allocatorCountsUpPerDomain() {
        AxisAllocator allocator = AxisAllocator.create(9, 2);
        assertThat(Axis.toString(allocator.allocate(CausalDomain.QUEUE))).isEqualTo("queue:0@m2.s9");
        assertThat(Axis.toString(allocator.allocate(CausalDomain.QUEUE))).isEqualTo("queue:1@m2.s9");
        assertThat(Axis.toString(allocator.allocate(CausalDomain.HOST))).isEqualTo("host:0@m2.s9");
    }

    @Test
    void allocatorHandsOutEachAxisOnceToAllThreads() throws InterruptedException {
        AxisAllocator allocator = AxisAllocator.create(1, 0);
        long[][] axes = new long[2][1_000_000];
        List<Thread> threads = new ArrayList<>();
        for (long[] each : axes) { // long enough for the threads to meet
            threads.add(Thread.ofPlatform()
                    .start(() -> Arrays.setAll(each, _ -> allocator.allocate(CausalDomain.QUEUE))));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertThat(Arrays.stream(axes).flatMapToLong(Arrays::stream).distinct().count())
                .isEqualTo(2_000_000);
    }

    @Test
    void allocatorNeverWrapsAround() {
        AxisAllocator allocator = new AxisAllocator(1, 0, Axis.MAXIMUM_ORDINAL);
        assertThat(Axis.ordinal(allocator.allocate(CausalDomain.QUEUE))).isEqualTo(Axis.MAXIMUM_ORDINAL);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> allocator.allocate(CausalDomain.QUEUE))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        }
    }

    @Test
    void processHasASingleAllocator() {
        assertThat(AxisAllocator.ofProcess()).isSameAs(AxisAllocator.ofProcess());
        assertThat(AxisAllocator.ofProcess().session()).isBetween(1, 255);
        assertThat(AxisAllocator.ofProcess().machine()).isZero();
    }

    @Test
    void sessionChangesFromStartToStart() {
        Instant start = Instant.parse("2026-08-01T00:00:00Z");
        int same = 0;
        Set<Integer> seen = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 1_000; i++) { // a container: always process 1, restarted every second
            int session = AxisAllocator.session(1, start.plusSeconds(i));
            assertThat(session).isBetween(1, 255);
            seen.add(session);
            same += session == AxisAllocator.session(1, start.plusSeconds(i + 1)) ? 1 : 0;
        }
        assertThat(same)
                .as("of 1000 restarts, the repetitions of the previous session")
                .isLessThan(15);
        assertThat(seen).hasSizeGreaterThan(200);
    }
}

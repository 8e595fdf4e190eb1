package io.github.iree4j.spring.actuate.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.CallDurations;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A peak between two responses is in the second, for each reader. */
class PeaksTests {

    private static Peaks of(AtomicInteger calls) {
        return new Peaks(() -> new Peaks.Values(calls.getAndSet(0), 0, Map.of(), Map.of()));
    }

    @Test
    void eachReaderGetsTheLargestValueSinceItsOwnPreviousResponse() {
        AtomicInteger calls = new AtomicInteger();
        Peaks peaks = of(calls);
        long slow = peaks.since(null).cursor();
        long fast = peaks.since(null).cursor();
        calls.set(7);
        PeaksDescriptor second = peaks.since(fast);
        assertThat(second.calls()).isEqualTo(7);
        PeaksDescriptor third = peaks.since(second.cursor());
        assertThat(third.calls()).as("nothing since").isZero();
        assertThat(third.since()).isAfterOrEqualTo(second.since());
        PeaksDescriptor atLast = peaks.since(slow);
        assertThat(atLast.calls()).as("seen by the other reader in between").isEqualTo(7);
        assertThat(atLast.since()).isBeforeOrEqualTo(second.since());
        assertThat(peaks.since(null).calls()).as("a new reader").isZero();
        assertThat(peaks.since(Long.MAX_VALUE).calls())
                .as("a cursor of another server")
                .isZero();
    }

    @Test
    void aLateReaderLearnsTheBegin() {
        AtomicInteger calls = new AtomicInteger(9);
        Peaks peaks = of(calls);
        PeaksDescriptor first = peaks.since(null);
        assertThat(first.calls()).isEqualTo(9);
        for (int i = 0; i < Peaks.KEPT; i++) {
            peaks.since(null);
        }
        PeaksDescriptor late = peaks.since(0L);
        assertThat(late.calls()).as("no longer kept").isZero();
        assertThat(late.since()).isAfterOrEqualTo(first.since());
    }

    @Test
    void callsInFlightBetweenTwoResponsesAreShownAfterTheirEnd(@TempDir Path directory) throws Exception {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(IreeAutoConfiguration.class, IreeEndpointAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=iree",
                        "iree.modules.adding.location=" + TestModules.adder(directory))
                .run(context -> {
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    InvocationService invocations = context.getBean(InvocationService.class);
                    long cursor = live(endpoint, null).peaks().cursor();
                    invocations.invoke("adding.add", 3, 4).close();
                    assertCallFails(invocations);
                    try (Timeline gate = runtime.createTimeline();
                            Fence open = gate.at(1)) {
                        runtime.device().queue(0).barrier(open, null, 0);
                        runtime.device().queue(0).barrier(open, null, 0);
                        gate.semaphore().signal(1);
                    }
                    while (runtime.device().queue(0).counters().pending() > 0) {
                        Poll.pause();
                    }
                    LiveDescriptor live = live(endpoint, cursor);
                    assertThat(live.activeCalls()).isZero();
                    assertThat(live.peaks().calls()).isEqualTo(1);
                    assertThat(live.peaks().queues().getFirst().pending()).isEqualTo(2);
                    assertThat(live.peaks().memory())
                            .extracting(PeaksDescriptor.OfMemory::device)
                            .containsExactly("local");
                    PeaksDescriptor next = live(endpoint, live.peaks().cursor()).peaks();
                    assertThat(next.calls()).isZero();
                    assertThat(next.queues().getFirst().pending()).isZero();
                    assertThat(durations(live, "add")).satisfies(each -> {
                        assertThat(each.ended()).isEqualTo(1);
                        assertThat(each.failed()).isZero();
                        assertThat(each.measured()).isEqualTo(1);
                        assertThat(each.median()).isPositive().isEqualTo(each.slowest());
                        assertThat(each.p99()).as("of a single call").isNull();
                    });
                    assertThat(durations(live, "refuse").failed()).isEqualTo(1);
                });
    }

    private static void assertCallFails(InvocationService invocations) {
        try (Results _ = invocations.invoke("adding.refuse")) {
            throw new AssertionError("refuse was not refused");
        } catch (IreeException expected) {
            assertThat(expected.getMessage()).isNotEmpty();
        }
    }

    private static LiveDescriptor live(IreeEndpoint endpoint, Long peaks) {
        return (LiveDescriptor) Objects.requireNonNull(endpoint.part("live", null, peaks));
    }

    private static CallDurations durations(LiveDescriptor live, String function) {
        return live.modules().getFirst().versions().getFirst().functions().stream()
                .filter(each -> each.name().equals(function))
                .findFirst()
                .orElseThrow()
                .calls();
    }
}

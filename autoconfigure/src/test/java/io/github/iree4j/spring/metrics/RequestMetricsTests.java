package io.github.iree4j.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeRequestProblemsAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.github.iree4j.spring.problems.Problem;
import io.github.iree4j.spring.problems.ProblemFinder;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.web.server.ResponseStatusException;

/** The operators' view of requests, whatever serves them. */
class RequestMetricsTests {

    private static final int MEMORY = 64_000;

    private final BodyLimits limits = new BodyLimits(MEMORY, Duration.ofSeconds(10), 2);
    private final MeterRegistry registry = new SimpleMeterRegistry();

    /** MVC, WebFlux, and gRPC alone. */
    static List<AbstractApplicationContextRunner<?, ?, ?>> stacks() {
        return List.of(
                new WebApplicationContextRunner(),
                new ReactiveWebApplicationContextRunner(),
                new ApplicationContextRunner());
    }

    @ParameterizedTest
    @MethodSource("stacks")
    void allStacksHaveTheSameMetersAndTags(AbstractApplicationContextRunner<?, ?, ?> stack) {
        stack.withBean(SimpleMeterRegistry.class)
                .withConfiguration(AutoConfigurations.of(
                        IreeAutoConfiguration.class,
                        IreeHttpAutoConfiguration.class,
                        IreeRequestProblemsAutoConfiguration.class,
                        IreeMetricsAutoConfiguration.class))
                .withPropertyValues("iree.http.max-in-flight-size=64000B")
                .run(context -> {
                    context.getBean(RequestMetrics.class).bindTo(registry);
                    TreeSet<String> meters = new TreeSet<>();
                    for (Meter each : registry.getMeters()) {
                        meters.add(each.getId().getName() + " "
                                + each.getId().getTags().stream()
                                        .map(Tag::getValue)
                                        .toList());
                    }
                    assertThat(meters)
                            .containsExactly(
                                    "iree.grpc.calls []",
                                    "iree.grpc.streams []",
                                    "iree.requests.active [grpc]",
                                    "iree.requests.active [http]",
                                    "iree.requests.awaited []",
                                    "iree.requests.budget []",
                                    "iree.requests.memory [answers]",
                                    "iree.requests.memory [bodies]",
                                    "iree.requests.refused [bodies]",
                                    "iree.requests.refused [calls]",
                                    "iree.requests.refused [memory]",
                                    "iree.requests.refused [requests]",
                                    "iree.requests.refused [size]",
                                    "iree.requests.refused [slow]",
                                    "iree.requests.refused [streams]",
                                    "iree.requests.refused [unread]",
                                    "iree.requests.unread []",
                                    "iree.requests.waiting [grpc]",
                                    "iree.requests.waiting [http]");
                    ProblemFinder finder = context.getBean(ProblemFinder.class);
                    assertThat(finder.find(Duration.ofMinutes(10))).isEmpty();
                    refuseOne(context.getBean(BodyLimits.class));
                    assertThat(finder.find(Duration.ofMinutes(10)))
                            .extracting(Problem::kind)
                            .containsExactly("refused-requests");
                });
    }

    private static void refuseOne(BodyLimits limits) {
        try (LimitedBody body = limits.receive(InputStream.nullInputStream(), 0, 0, "")) {
            body.charge(40_000);
            try (LimitedBody other = limits.receive(InputStream.nullInputStream(), 0, 0, "")) {
                other.charge(40_000);
            } catch (ResponseStatusException e) {
                assertThat(e.getStatusCode().value()).isEqualTo(503);
            }
        }
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    private double refused(String reason) {
        return registry.get("iree.requests.refused")
                .tag("reason", reason)
                .functionCounter()
                .count();
    }

    @Test
    void metersFollowRequests() {
        new RequestMetrics(limits).bindTo(registry);
        assertThat(gauge("iree.requests.budget")).isEqualTo(MEMORY);
        refuseOne(limits);
        assertThat(refused("memory")).isEqualTo(1);
        try (LimitedBody body = limits.receive(InputStream.nullInputStream(), -1, 100, "")) {
            assertThat(gauge("iree.requests.awaited")).isEqualTo(1);
            body.charge(3000);
            body.chargeAnswer(2000);
            assertThat(gauge("iree.requests.memory", "state", "bodies")).isEqualTo(3000);
            assertThat(gauge("iree.requests.memory", "state", "answers")).isEqualTo(2000);
            assertThat(gauge("iree.requests.unread")).isZero();
            body.answered();
            assertThat(gauge("iree.requests.unread")).isEqualTo(1);
            assertThat(gauge("iree.requests.memory", "state", "bodies")).isZero();
        }
        assertThat(gauge("iree.requests.memory", "state", "answers")).isZero();
        limits.counts().measure(Work.GRPC, () -> 3);
        assertThat(gauge("iree.requests.active", "protocol", "grpc")).isEqualTo(3);
        assertThat(gauge("iree.requests.active", "protocol", "http")).isZero();
    }
}

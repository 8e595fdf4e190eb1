package io.github.iree4j.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.http.IreeHttpAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@ExtendWith(OutputCaptureExtension.class)
class IreeMetricsTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Registry.class)
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class, IreeHttpAutoConfiguration.class, IreeMetricsAutoConfiguration.class));

    @Test
    void everyMeterMatchesItsDocumentation(@TempDir Path directory) throws Exception {
        String adder = TestModules.adder(directory).toUri().toString();
        runner.withPropertyValues("iree.modules.adding.location=" + adder).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(IreeMetrics.class).bindTo(registry);
            context.getBean(ProgramMetrics.class).bindTo(registry);
            context.getBean(ProblemMetrics.class).bindTo(registry);
            context.getBean(RequestMetrics.class).bindTo(registry);
            context.getBean(BatchMetrics.class).batched("adding", "add", 2, 3, 4, 5_000_000);
            context.getBean(VariantMetrics.class).called("adding", "add", "add_8", 8, 3);
            context.getBean(VariantMetrics.class).aligned("adding", "add", 2);
            assertThat(registry.get("iree.variant.padding").counter().count()).isEqualTo(5);
            assertThat(registry.get("iree.batch.size")
                            .tag("module", "adding")
                            .summary()
                            .totalAmount())
                    .isEqualTo(3);
            assertThat(registry.get("iree.batch.wait").timer().totalTime(TimeUnit.MILLISECONDS))
                    .isEqualTo(5);
            Map<String, List<Meter>> meters = registry.getMeters().stream()
                    .collect(Collectors.groupingBy(meter -> meter.getId().getName()));
            for (IreeMeters documented : IreeMeters.values()) {
                assertThat(meters).containsKey(documented.getName());
                for (Meter meter : meters.get(documented.getName())) {
                    assertThat(meter.getId().getDescription())
                            .as(documented.getName())
                            .isEqualTo(documented.getDescription());
                    assertThat(meter.getId().getType()).as(documented.getName()).isEqualTo(documented.getType());
                    assertThat(new TreeSet<>(meter.getId().getTags().stream()
                                    .map(Tag::getKey)
                                    .toList()))
                            .as(documented.getName())
                            .isEqualTo(new TreeSet<>(Arrays.stream(documented.getKeyNames())
                                    .map(KeyName::asString)
                                    .toList()));
                    if (documented.getType() != Meter.Type.TIMER) {
                        assertThat(meter.getId().getBaseUnit())
                                .as(documented.getName())
                                .isEqualTo(documented.getBaseUnit());
                    }
                }
                meters.remove(documented.getName());
            }
            assertThat(meters.keySet()).as("undocumented meters").isEmpty();
        });
    }

    @Test
    void reloadedProgramKeepsItsMeters(CapturedOutput output, @TempDir Path directory) throws Exception {
        String adder = TestModules.adder(directory).toUri().toString();
        runner.withPropertyValues("iree.modules.adding.location=" + adder).run(context -> {
            ProgramMetrics metrics = context.getBean(ProgramMetrics.class);
            metrics.bindTo(context.getBean(MeterRegistry.class));
            metrics.onApplicationEvent(new ProgramStatusEvent(
                    context, context.getBean(Programs.class).statuses().getFirst()));
            assertThat(output).doesNotContain("already registered");
        });
    }

    @Test
    void metersFollowActivity() {
        runner.withPropertyValues("iree.device=cpu", "iree.devices.cpu.uri=local")
                .run(context -> {
                    IreeRuntime runtime = context.getBean(IreeRuntime.class);
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    context.getBean(IreeMetrics.class).bindTo(registry);
                    assertThat(registry.get("iree.pool.memory")
                                    .tags("device", "cpu", "pool", "persistent", "state", "live")
                                    .gauge()
                                    .value())
                            .isZero();
                    try (Tensor _ = runtime.upload(Tensor.of(new float[256], 256));
                            Timeline timeline = runtime.createTimeline();
                            Fence wait = timeline.at(1)) {
                        assertThat(registry.get("iree.pool.memory")
                                        .tags("device", "cpu", "pool", "persistent", "state", "live")
                                        .gauge()
                                        .value())
                                .isEqualTo(1024);
                        assertThat(registry.get("iree.tensor.open").gauge().value())
                                .isEqualTo(1);
                        runtime.device().queue(0).barrier(wait, null, 0);
                        assertThat(registry.get("iree.queue.pending").gauge().value())
                                .isEqualTo(1);
                        timeline.semaphore().signal(1);
                        assertThat(registry.get("iree.queue.waits")
                                        .tag("decision", "deferred")
                                        .functionCounter()
                                        .count())
                                .isEqualTo(1);
                        assertThat(registry.get("iree.fence.wait")
                                        .functionTimer()
                                        .count())
                                .isEqualTo(1);
                    }
                    assertThat(registry.get("iree.device.lost").gauge().value()).isZero();
                    runtime.device().close();
                    assertThat(registry.get("iree.device.lost").gauge().value()).isEqualTo(1);
                });
    }

    @Test
    void backsOffWhenUserDefinesTheBeans() {
        runner.withUserConfiguration(OwnMetrics.class)
                .run(context ->
                        assertThat(context).hasSingleBean(IreeMetrics.class).hasBean("myMetrics"));
    }

    @Test
    void absentWithoutRegistry() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(IreeAutoConfiguration.class, IreeMetricsAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IreeMetrics.class));
    }

    @Test
    void absentWithoutMicrometerOnClasspath() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(IreeAutoConfiguration.class, IreeMetricsAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeMetrics"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnMetrics {
        @Bean
        IreeMetrics myMetrics(IreeRuntime runtime, Programs programs) {
            return new IreeMetrics(runtime, programs);
        }
    }
}

package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.DeviceLostEvent;
import io.github.iree4j.spring.FakeCuda;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.health.IreeHealthContributorAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.metrics.IreeMetricsAutoConfiguration;
import io.github.iree4j.spring.health.IreeHealthContributor;
import io.github.iree4j.spring.metrics.IreeMetrics;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.mock.env.MockEnvironment;

/** Applications with a device of CUDA, usually on a driver without hardware. */
class CudaDeviceTests {

    private static final float[] ONES = {1, 2, 3, 4};
    private static final float[] TENS = {10, 20, 30, 40};
    private static final float[] SUMS = {11, 22, 33, 44};

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Beans.class)
            .withConfiguration(AutoConfigurations.of(
                    IreeAutoConfiguration.class,
                    IreeHealthContributorAutoConfiguration.class,
                    IreeMetricsAutoConfiguration.class));

    @BeforeEach
    void needsADriver() {
        FakeCuda.require();
    }

    private ApplicationContextRunner with(String uri, Path module) {
        return runner.withPropertyValues(
                "iree.devices.cpu.uri=local",
                "iree.devices.gpu.uri=" + uri,
                "iree.device=cpu",
                "iree.modules.adding.location=" + module,
                "iree.modules.adding.devices=gpu");
    }

    private static Path adder() {
        return TestModules.fixture("3.13.0/cuda/add.vmfb");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuda", "cuda:0", "cuda://0", "cuda://UUID"})
    void everyFormOfTheNameSelectsTheDevice(String form) {
        String uuid = FakeCuda.driver("cuda").devices().getFirst().details().get("uuid");
        with(form.replace("UUID", uuid), adder()).run(context -> {
            IreeRuntime runtime = context.getBean(IreeRuntime.class);
            assertThat(runtime.device("gpu").id()).isEqualTo("cuda:0");
            assertThat(add(context.getBean(InvocationService.class), "adding")).containsExactly(SUMS);
        });
    }

    @Test
    void programsRunOnTheirDevices() {
        with("cuda", adder())
                .withPropertyValues(
                        "iree.modules.cpu-adding.location=" + TestModules.fixture("3.13.0/cpu/add.vmfb"),
                        "iree.modules.cpu-adding.devices=cpu")
                .run(context -> {
                    InvocationService invocations = context.getBean(InvocationService.class);
                    assertThat(add(invocations, "adding")).containsExactly(SUMS);
                    assertThat(add(invocations, "cpu-adding")).containsExactly(SUMS);
                    Programs programs = context.getBean(Programs.class);
                    assertThat(programs.find("adding").orElseThrow().program().devices())
                            .extracting(Device::id)
                            .containsExactly("cuda:0");
                });
    }

    @Test
    void metersCountStreamsEventsAndSubmissions() {
        with("cuda", adder()).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(IreeMetrics.class).bindTo(registry);
            double before = submissions(registry);
            add(context.getBean(InvocationService.class), "adding");
            assertThat(submissions(registry)).isGreaterThan(before);
            assertThat(gauge(registry, "iree.device.streams", "gpu")).isEqualTo(2);
            assertThat(gauge(registry, "iree.device.streams", "cpu")).isZero();
            assertThat(gauge(registry, "iree.device.events", "gpu")).isPositive();
            assertThat(gauge(registry, "iree.device.held", "gpu")).isZero();
            assertThat(registry.get("iree.device.graph.launches")
                            .tag("device", "gpu")
                            .functionCounter()
                            .count())
                    .isZero();
            assertThat(registry.get("iree.stream.waits").tag("device", "gpu").functionCounters())
                    .hasSize(2);
        });
    }

    private static double submissions(MeterRegistry registry) {
        return registry.get("iree.stream.submissions").tag("device", "gpu").functionCounters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    private static double gauge(MeterRegistry registry, String name, String device) {
        return registry.get(name).tag("device", device).gauge().value();
    }

    @Test
    void aLossIsToldAndDegradesTheHealth() {
        with("cuda", adder()).run(context -> {
            InvocationService invocations = context.getBean(InvocationService.class);
            assertThat(add(invocations, "adding")).containsExactly(SUMS);
            assertThat(deviceHealth(context.getBean(IreeHealthContributor.class))
                            .getDetails())
                    .containsEntry("driver", "cuda")
                    .containsKey("name")
                    .doesNotContainKey("degraded");
            try (FakeCuda.Loss _ = FakeCuda.lose()) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> add(invocations, "adding"))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED));
                DeviceLostEvent event = context.getBean(Beans.class).losses.poll(10, TimeUnit.SECONDS);
                assertThat(event).isNotNull();
                assertThat(event.device()).isEqualTo("gpu");
            }
            Health health = deviceHealth(context.getBean(IreeHealthContributor.class));
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("degraded", true);
            assertThat(health.getDetails().get("reason")).asString().contains("lost");
        });
        with("cuda", adder())
                .run(context -> assertThat(add(context.getBean(InvocationService.class), "adding"))
                        .as("a new device works")
                        .containsExactly(SUMS));
    }

    private static Health deviceHealth(IreeHealthContributor contributor) {
        CompositeHealthContributor devices = (CompositeHealthContributor) contributor.getContributor("devices");
        return ((HealthIndicator) devices.getContributor("gpu")).health();
    }

    @Test
    void aMissingDriverNamesThePackageToInstall() {
        assumeFalse(FakeCuda.driver("hip").availability().available(), "HIP is here");
        with("hip", adder()).run(context -> {
            InvalidConfigurationPropertyValueException failure =
                    cause(context.getStartupFailure(), InvalidConfigurationPropertyValueException.class);
            assertThat(failure.getName()).isEqualTo("iree.devices.gpu.uri");
            assertThat(failure.getReason())
                    .contains("Driver 'hip' is not available: ")
                    .contains("hip (not available: ")
                    .contains("cuda");
        });
    }

    @Test
    void aMissingDeviceNamesTheExistingDevices() {
        with("cuda://9", adder()).run(context -> {
            RuntimeOpenException failure = cause(context.getStartupFailure(), RuntimeOpenException.class);
            assertThat(new RuntimeOpenFailureAnalyzer().analyze(failure).getDescription())
                    .contains("driver 'cuda' has no device '9'; it has: cuda:0 (");
        });
    }

    @Test
    void codeForANewerArchitectureNamesTheCompilersFlag() throws IOException {
        assertThat(action("cuda", newer()))
                .contains("compile the program for this architecture: --iree-cuda-target=sm_")
                .contains("'iree.modules.adding.devices'");
    }

    /** The adder for a future architecture, with checksums to match. */
    private Path newer() throws IOException {
        String module = Files.readString(adder(), StandardCharsets.ISO_8859_1);
        try (ZipFile archive = new ZipFile(adder().toFile())) {
            for (ZipEntry entry : Collections.list(archive.entries())) {
                byte[] bytes = archive.getInputStream(entry).readAllBytes();
                CRC32 checksum = new CRC32();
                checksum.update(
                        newer(new String(bytes, StandardCharsets.ISO_8859_1)).getBytes(StandardCharsets.ISO_8859_1));
                module = module.replace(text(entry.getCrc()), text(checksum.getValue()));
            }
        }
        return Files.writeString(directory.resolve("newer.vmfb"), newer(module), StandardCharsets.ISO_8859_1);
    }

    private static String newer(String module) {
        return module.replace(".target sm_75", ".target sm_99");
    }

    private static String text(long checksum) {
        byte[] bytes = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt((int) checksum)
                .array();
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Test
    void codeForAnotherDriverNamesTheDriver() {
        assertThat(action("local", adder()))
                .contains("The program is compiled for driver 'cuda'")
                .contains("'iree.devices.<name>.uri=cuda'")
                .contains("'iree.modules.adding.devices=<name>'");
        assertThat(action("cuda", TestModules.fixture("3.13.0/rocm/add.vmfb"))).contains("for driver 'hip'");
    }

    @Test
    void aDeviceWithoutMemorySaysSo() throws IOException {
        String memory = FakeCuda.driver("cuda").devices().getFirst().details().get("memory");
        assumeTrue(memory.equals("256 MiB"), "not on hardware");
        Path hungry = TestModules.hungry(directory, 200L << 20);
        try (IreeRuntime other = IreeRuntime.builder().device("cuda").build();
                Buffer _ = other.device().allocator().allocate(BufferParams.DEFAULT, 200L << 20)) {
            with("cuda", hungry)
                    .withPropertyValues("iree.pools.gpu.budget=256MB")
                    .run(context -> {
                        FailureAnalysis analysis = analysis(context.getStartupFailure());
                        assertThat(analysis.getDescription())
                                .contains("RESOURCE_EXHAUSTED")
                                .contains("OUT_OF_MEMORY");
                        assertThat(analysis.getAction())
                                .startsWith("The device itself has no memory left")
                                .contains("'iree.pools.<device>.budget'");
                    });
            with("cuda", hungry)
                    .run(
                            context -> { // the default budget is the rest left by the other runtime
                                FailureAnalysis analysis = analysis(context.getStartupFailure());
                                assertThat(analysis.getDescription())
                                        .contains("RESOURCE_EXHAUSTED", "has at most 58720256 bytes");
                            });
        }
    }

    private String action(String uri, Path module) {
        String[] action = new String[1];
        with(uri, module)
                .run(context ->
                        action[0] = analysis(context.getStartupFailure()).getAction());
        return action[0];
    }

    private static FailureAnalysis analysis(Throwable failure) {
        return new ProgramLoadFailureAnalyzer(new MockEnvironment())
                .analyze(failure, cause(failure, ProgramLoadException.class));
    }

    private static <T extends Throwable> T cause(Throwable failure, Class<T> type) {
        assertThat(failure).isNotNull();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
        }
        throw new AssertionError("not caused by " + type, failure);
    }

    private static float[] add(InvocationService invocations, String program) {
        try (Tensor left = Tensor.of(ONES, 4);
                Tensor right = Tensor.of(TENS, 4);
                Results results = invocations.invoke(program + ".add", left, right)) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        private final BlockingQueue<DeviceLostEvent> losses = new LinkedBlockingQueue<>();

        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        @EventListener
        void lost(DeviceLostEvent event) {
            losses.add(event);
        }
    }
}

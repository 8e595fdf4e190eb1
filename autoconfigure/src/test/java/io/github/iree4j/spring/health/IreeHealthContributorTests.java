package io.github.iree4j.spring.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.health.IreeHealthContributorAutoConfiguration;
import io.github.iree4j.status.IreeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

class IreeHealthContributorTests {

    private final IreeRuntime runtime = IreeRuntime.builder()
            .device("one", "local", DeviceOptions.DEFAULTS)
            .device("two", "local", DeviceOptions.DEFAULTS)
            .build();
    private final Programs programs = new Programs(runtime, new DefaultResourceLoader());
    private final IreeHealthContributor contributor = new IreeHealthContributor(runtime, programs, () -> null);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeHealthContributorAutoConfiguration.class));

    @AfterEach
    void close() {
        programs.close();
        runtime.close();
    }

    @Test
    void loadedProgramIsUpWithItsDevices(@TempDir Path directory) throws Exception {
        String location = TestModules.adder(directory).toUri().toString();
        programs.load(ProgramSource.of("adding", location));
        Health health = health("modules", "adding");
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails()).containsEntry("location", location).containsEntry("version", "1");
        assertThat(health.getDetails().get("devices")).asString().isEqualTo("[one, two]");
    }

    @Test
    void closedProgramIsDownWithTheReason(@TempDir Path directory) throws Exception {
        programs.load(ProgramSource.of(
                        "adding", TestModules.adder(directory).toUri().toString()))
                .program()
                .close();
        Health health = health("modules", "adding");
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails()).containsEntry("reason", "program is closed");
    }

    @Test
    void programWithParametersChangedInPlaceIsDownUntilLoadedAgain(@TempDir Path directory) throws Exception {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        programs.load(ProgramSource.builder(
                        "weighing",
                        TestModules.fixture("3.13.0/cpu/weights.vmfb").toUri().toString())
                .parameters(Map.of("model", List.of(weights.toUri().toString())))
                .build());
        assertThat(health("modules", "weighing").getStatus()).isEqualTo(Status.UP);
        Files.write(weights, new byte[1], StandardOpenOption.APPEND);
        Health health = health("modules", "weighing");
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails().get("reason")).asString().contains("weights.irpa", "load the program again");
        programs.load("weighing", null);
        assertThat(health("modules", "weighing").getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void lazyProgramIsUpBeforeItsFirstCall(@TempDir Path directory) throws Exception {
        programs.define(
                ProgramSource.of("adding", TestModules.adder(directory).toUri().toString()));
        Health health = health("modules", "adding");
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails().get("state")).asString().isEqualTo("UNLOADED");
    }

    @Test
    void lostDeviceDegradesAndItsProgramsAreDown(@TempDir Path directory) throws Exception {
        programs.load(ProgramSource.builder(
                        "adding", TestModules.adder(directory).toUri().toString())
                .devices(List.of("two"))
                .build());
        runtime.device("two").close();
        Health device = health("devices", "two");
        assertThat(device.getStatus()).isEqualTo(Status.UP);
        assertThat(device.getDetails()).containsEntry("degraded", true).containsKey("reason");
        assertThat(health("devices", "one").getDetails()).doesNotContainKey("degraded");
        assertThat(health("modules", "adding").getStatus()).isEqualTo(Status.DOWN);
        runtime.device("one").close();
        assertThat(health("devices", "two").getStatus()).isEqualTo(Status.DOWN);
    }

    @Test
    void programForSeveralDevicesIsDownWithoutAnyDevice() throws Exception {
        programs.load(ProgramSource.builder(
                        "both",
                        TestModules.fixture("3.13.0/cpu-two/two_devices.vmfb")
                                .toUri()
                                .toString())
                .devices(List.of("one", "two"))
                .build());
        assertThat(health("modules", "both").getStatus()).isEqualTo(Status.UP);
        runtime.device("two").close();
        Health health = health("modules", "both");
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails())
                .containsEntry("reason", "it needs devices that are lost")
                .containsEntry("lostDevices", List.of("two"));
    }

    @Test
    void programWithWarningsIsUpAndListsTheWarnings() {
        String location = Path.of("../fixtures/modules/3.13.0/vulkan/compare_i1.vmfb")
                .toUri()
                .toString();
        try (IreeRuntime gpu = vulkan();
                Programs onGpu = new Programs(gpu, new DefaultResourceLoader())) {
            onGpu.load(ProgramSource.of("comparing", location));
            CompositeHealthContributor modules = (CompositeHealthContributor)
                    new IreeHealthContributor(gpu, onGpu, () -> null).getContributor("modules");
            Health health = ((HealthIndicator) modules.getContributor("comparing")).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("warnings")).asString().contains("--iree-vulkan-target=");
        }
    }

    private static IreeRuntime vulkan() {
        try {
            return IreeRuntime.builder().device("vulkan").build();
        } catch (IreeException e) {
            return Assumptions.abort("no Vulkan: " + e.getMessage());
        }
    }

    @Test
    void poolReportsItsUsage() {
        Health health = health("pools", "one");
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails()).containsEntry("live", 0L).containsKeys("budget", "waiters");
    }

    @Test
    void unknownNamesHaveNoHealth() {
        assertThat(contributor.getContributor("weather")).isNull();
        assertThat(((CompositeHealthContributor) contributor.getContributor("modules")).getContributor("none"))
                .isNull();
    }

    private Health health(String kind, String name) {
        CompositeHealthContributor group = (CompositeHealthContributor) contributor.getContributor(kind);
        assertThat(group.stream().map(entry -> entry.name())).contains(name);
        return ((HealthIndicator) group.getContributor(name)).health();
    }

    @Test
    void registeredByDefault() {
        runner.run(context ->
                assertThat(context).hasSingleBean(IreeHealthContributor.class).hasBean("ireeHealthContributor"));
    }

    @Test
    void backsOffForABeanOfItsName() {
        runner.withUserConfiguration(OwnContributor.class)
                .run(context -> assertThat(context).doesNotHaveBean(IreeHealthContributor.class));
    }

    @Test
    void absentWhenDisabled() {
        runner.withPropertyValues("management.health.iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeHealthContributor.class));
    }

    @Test
    void absentWithoutARuntime() {
        runner.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeHealthContributor.class));
    }

    @Test
    void absentWithoutHealthOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeHealthContributor"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnContributor {
        @Bean
        HealthContributor ireeHealthContributor() {
            return (HealthIndicator) () -> Health.up().build();
        }
    }
}

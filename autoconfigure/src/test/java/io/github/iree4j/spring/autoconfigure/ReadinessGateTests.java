package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.problems.Watchdog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Several reasons for refusing traffic at once. The file of program {@code weighing} is changed from the beginning. */
@Timeout(120)
class ReadinessGateTests {

    @TempDir
    Path directory;

    private Path late;
    private ConfigurableApplicationContext context;

    @BeforeEach
    void start() throws IOException {
        Path weights = Files.copy(TestModules.fixture("weights.irpa"), directory.resolve("weights.irpa"));
        late = directory.resolve("late").resolve("adder.vmfb");
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        context = application.run(
                "--spring.main.banner-mode=off",
                "--iree.watchdog.interval=1h",
                "--iree.modules.weighing.location=" + TestModules.fixture("3.13.0/cpu/weights.vmfb"),
                "--iree.modules.weighing.parameters.model=" + weights,
                "--iree.modules.late.load=background",
                "--iree.modules.late.location=" + late);
        Files.write(weights, new byte[1], StandardOpenOption.APPEND);
        context.getBean(Watchdog.class).look();
    }

    @AfterEach
    void close() {
        context.close();
    }

    private ReadinessState readiness() {
        return context.getBean(ApplicationAvailability.class).getReadinessState();
    }

    private void loadLate() throws IOException {
        TestModules.adder(Files.createDirectories(late.getParent()));
        context.getBean(Programs.class).load("late", null);
    }

    private void mend() {
        context.getBean(Programs.class).load("weighing", null);
        context.getBean(Watchdog.class).look();
    }

    @Test
    void applicationAcceptsTrafficOnceNeitherReasonIsLeft() throws IOException {
        assertThat(readiness()).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        loadLate();
        assertThat(readiness()).as("with a changed file").isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        mend();
        assertThat(readiness()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
    }

    @Test
    void applicationAcceptsTrafficOnceNeitherReasonIsLeftInTheOtherOrder() throws IOException {
        mend();
        assertThat(readiness()).as("without the late program").isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        loadLate();
        assertThat(readiness()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
    }

    @Test
    void onlyTheOperatorEndsADrainOfTheOperator() throws IOException {
        loadLate();
        AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC);
        mend();
        assertThat(readiness()).as("while drained").isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
        assertThat(readiness()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
    }

    @Test
    void theOperatorDoesNotEndARefusalOfTheWatchdog() throws IOException {
        loadLate();
        AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
        assertThat(readiness()).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        mend();
        assertThat(readiness()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}

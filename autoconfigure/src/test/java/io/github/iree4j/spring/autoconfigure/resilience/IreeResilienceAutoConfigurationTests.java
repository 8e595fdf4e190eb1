package io.github.iree4j.spring.autoconfigure.resilience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.CallTimeouts;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.resilience.ResilienceInterceptor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(60)
class IreeResilienceAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeResilienceAutoConfiguration.class));

    @Test
    void doesWithoutResilience4j() {
        runner.withClassLoader(new FilteredClassLoader("io.github.resilience4j"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(InvocationService.class)
                        .hasSingleBean(CallTimeouts.class)
                        .doesNotHaveBean(ResilienceInterceptor.class));
    }

    @Test
    void theBreakerIsThatOfTheRegistryUnderTheProgramsName() throws Exception {
        CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();
        runner.withBean(CircuitBreakerRegistry.class, () -> registry)
                .withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.resilience.circuit-breaker=true")
                .run(context -> {
                    registry.circuitBreaker("iree.adder").transitionToForcedOpenState();
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() ->
                                    context.getBean(InvocationService.class).invoke("adder.add", 1, 2))
                            .withMessageContaining("'iree.adder' is FORCED_OPEN")
                            .extracting(IreeException::code)
                            .isEqualTo(StatusCode.UNAVAILABLE);
                });
    }

    @Test
    void backsOffForTheUsersOwn() {
        ResilienceInterceptor own = new ResilienceInterceptor(Map.of());
        runner.withBean(ResilienceInterceptor.class, () -> own)
                .run(context ->
                        assertThat(context).getBean(ResilienceInterceptor.class).isSameAs(own));
    }

    @Test
    void callsThatTakeLongerThanTheirProgramMayAreGivenUp() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.timeout=7ms",
                        "iree.invocation.timeout=1h")
                .run(context -> {
                    try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline()) {
                        assertThatExceptionOfType(IreeException.class)
                                .isThrownBy(() -> context.getBean(InvocationService.class)
                                        .request("adder.add")
                                        .inputs(1, 2)
                                        .after(timeline.at(1))
                                        .invoke())
                                .withMessageContaining("PT0.007S");
                        timeline.at(1).signal();
                    }
                });
    }
}

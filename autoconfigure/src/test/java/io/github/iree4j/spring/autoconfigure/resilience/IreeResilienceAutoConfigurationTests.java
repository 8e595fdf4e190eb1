package io.github.iree4j.spring.autoconfigure.resilience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.resilience.ResilienceInterceptor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

@Timeout(900)
class IreeResilienceAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeResilienceAutoConfiguration.class));

    @Test
    void worksWithoutResilience4j() {
        runner.withClassLoader(new FilteredClassLoader("io.github.resilience4j"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(InvocationService.class)
                        .doesNotHaveBean(ResilienceInterceptor.class));
    }

    @Test
    void usesTheBreakerOfTheRegistry() throws Exception {
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
    void backsOffWhenUserDefinesTheBean() {
        ResilienceInterceptor own = new ResilienceInterceptor(Map.of());
        runner.withBean(ResilienceInterceptor.class, () -> own)
                .run(context ->
                        assertThat(context).getBean(ResilienceInterceptor.class).isSameAs(own));
    }

    @Test
    void timeoutsFollowChangedProperties() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory), "iree.modules.adder.timeout=1h")
                .run(context -> {
                    Map<String, Object> changed = new HashMap<>(Map.of("iree.modules.adder.timeout", "9ms"));
                    ConfigurableEnvironment environment = context.getBean(ConfigurableEnvironment.class);
                    environment.getPropertySources().addFirst(new MapPropertySource("changed", changed));
                    context.publishEvent(new EnvironmentChangeEvent(context));
                    assertTimesOutAfter(context, "9 ms");

                    changed.put("iree.modules.adder.timeout", "soon");
                    context.publishEvent(new EnvironmentChangeEvent(context));
                    assertTimesOutAfter(context, "9 ms");
                });
    }

    private static void assertTimesOutAfter(ApplicationContext context, String time) {
        try (Timeline timeline = context.getBean(IreeRuntime.class).createTimeline()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> context.getBean(InvocationService.class)
                            .request("adder.add")
                            .inputs(1, 2)
                            .after(timeline.at(1))
                            .invoke())
                    .withMessageContaining(time);
            timeline.at(1).signal();
        }
    }

    @Test
    void callsBeyondTheTimeoutOfTheirProgramAreCancelled() throws Exception {
        runner.withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory),
                        "iree.modules.adder.timeout=7ms",
                        "iree.invocation.timeout=1h")
                .run(context -> assertTimesOutAfter(context, "7 ms"));
    }
}

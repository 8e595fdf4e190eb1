package io.github.iree4j.spring.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.health.IreeHealthContributorAutoConfiguration;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

class IreeHealthIndicatorTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeHealthContributorAutoConfiguration.class));

    @Test
    void upWithEachDeviceAndModule(@TempDir Path directory) throws Exception {
        try (IreeRuntime runtime = IreeRuntime.create();
                Programs programs = new Programs(runtime, new DefaultResourceLoader())) {
            String location = TestModules.adder(directory).toUri().toString();
            programs.load(ProgramSource.of("adding", location));
            Health health = new IreeHealthIndicator(runtime, programs).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(details(health, "devices", runtime.device().id()))
                    .containsEntry("status", "UP")
                    .containsEntry("driver", "local");
            assertThat(details(health, "modules", "adding"))
                    .containsEntry("status", "UP")
                    .containsEntry("location", location);
        }
    }

    @Test
    void downWithTheReasonWhenAModuleIsClosed(@TempDir Path directory) throws Exception {
        try (IreeRuntime runtime = IreeRuntime.create();
                Programs programs = new Programs(runtime, new DefaultResourceLoader())) {
            programs.load(ProgramSource.of(
                            "adding", TestModules.adder(directory).toUri().toString()))
                    .program()
                    .close();
            Health health = new IreeHealthIndicator(runtime, programs).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(details(health, "modules", "adding"))
                    .containsEntry("status", "DOWN")
                    .containsEntry("reason", "program is closed");
        }
    }

    @Test
    void contributorIsNamedIree() {
        runner.run(context ->
                assertThat(context).hasSingleBean(IreeHealthIndicator.class).hasBean("ireeHealthContributor"));
    }

    @Test
    void contributorBacksOffWhenUserDefinesOne() {
        runner.withUserConfiguration(OwnContributor.class)
                .run(context -> assertThat(context)
                        .doesNotHaveBean(IreeHealthIndicator.class)
                        .hasSingleBean(HealthContributor.class));
    }

    @Test
    void contributorIsAbsentWhenDisabled() {
        runner.withPropertyValues("management.health.iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeHealthIndicator.class));
    }

    @Test
    void contributorIsAbsentWithoutARuntime() {
        runner.withPropertyValues("iree.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(IreeHealthIndicator.class));
    }

    @Test
    void contributorIsAbsentWithoutHealthOnClasspath() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(IreeRuntime.class)
                        .doesNotHaveBean("ireeHealthContributor"));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> details(Health health, String group, String name) {
        return (Map<String, Object>) ((Map<String, Object>) health.getDetails().get(group)).get(name);
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnContributor {
        @Bean
        HealthIndicator ireeHealthIndicator() {
            return () -> Health.up().build();
        }
    }
}

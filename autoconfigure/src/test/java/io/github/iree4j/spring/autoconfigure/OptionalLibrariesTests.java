package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.util.ClassUtils;

/** With all auto-configurations, an application starts without each optional library. */
class OptionalLibrariesTests {

    @TempDir
    private Path directory;

    private static AutoConfigurations ours() {
        List<Class<?>> classes =
                ImportCandidates.load(AutoConfiguration.class, OptionalLibrariesTests.class.getClassLoader())
                        .getCandidates()
                        .stream()
                        .filter(name -> name.startsWith("io.github.iree4j."))
                        .<Class<?>>map(name -> ClassUtils.resolveClassName(name, null))
                        .toList();
        assertThat(classes).hasSizeGreaterThan(8);
        return AutoConfigurations.of(classes.toArray(Class<?>[]::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.springframework.web,jakarta.servlet",
                "org.springframework.web.servlet,jakarta.servlet",
                "org.springframework.web.reactive",
                "org.springframework.boot.actuate,org.springframework.boot.health",
                "io.micrometer",
                "io.github.resilience4j",
                "io.micrometer.context",
                "reactor,org.reactivestreams",
                "tools.jackson,com.fasterxml.jackson",
                "org.springframework.web,jakarta.servlet,org.springframework.boot.actuate,org.springframework.boot.health,io.micrometer,io.github.resilience4j,reactor,org.reactivestreams,tools.jackson"
            })
    void callsWorkWithoutOptionalLibraries(String packages) throws Exception {
        String module = "iree.modules.adder.location=" + TestModules.adder(directory);
        FilteredClassLoader without = new FilteredClassLoader(packages.split(","));
        new ApplicationContextRunner()
                .withConfiguration(ours())
                .withPropertyValues(module, "iree.serving.enabled=true")
                .withClassLoader(without)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    try (Results results =
                            context.getBean(InvocationService.class).invoke("adder.add", 40, 2)) {
                        assertThat(results.intValue(0)).isEqualTo(42);
                    }
                });
        if (!packages.contains("jakarta.servlet")) {
            new WebApplicationContextRunner()
                    .withConfiguration(ours())
                    .withPropertyValues(module, "iree.serving.enabled=true")
                    .withClassLoader(without)
                    .run(context -> assertThat(context).hasNotFailed());
        }
        if (Stream.of("springframework.web,", "springframework.web.reactive", "reactor")
                .noneMatch(packages::contains)) {
            new ReactiveWebApplicationContextRunner()
                    .withConfiguration(ours())
                    .withPropertyValues(module, "iree.serving.enabled=true", "iree.serving.repository=true")
                    .withClassLoader(without)
                    .run(context -> assertThat(context).hasNotFailed());
        }
    }
}

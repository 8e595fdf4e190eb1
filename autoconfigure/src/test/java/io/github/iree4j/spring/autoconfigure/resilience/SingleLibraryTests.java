package io.github.iree4j.spring.autoconfigure.resilience;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.resilience.ResilienceInterceptor;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Each library of Resilience4j works alone, and a protection without a library ends the start. */
@Timeout(120)
class SingleLibraryTests {

    private static final List<String> ALL = List.of("circuit-breaker", "bulkhead", "time-limiter", "retry");

    @TempDir
    private Path directory;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(IreeAutoConfiguration.class, IreeResilienceAutoConfiguration.class));

    private static String library(String protection) {
        return protection.replace("-", "");
    }

    private static String property(String protection) {
        return "iree.modules.adder.resilience." + protection;
    }

    private static String[] packagesOfOthers(String protection) {
        return ALL.stream()
                .filter(each -> !each.equals(protection))
                .map(each -> "io.github.resilience4j." + library(each))
                .toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"circuit-breaker", "bulkhead", "time-limiter", "retry"})
    void aProtectionNeedsOnlyItsOwnLibrary(String protection) throws Exception {
        runner.withClassLoader(new FilteredClassLoader(packagesOfOthers(protection)))
                .withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory), property(protection) + "=true")
                .run(context -> assertThat(context).hasSingleBean(ResilienceInterceptor.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"circuit-breaker", "bulkhead", "time-limiter", "retry"})
    void aProtectionWithoutItsLibraryEndsTheStart(String protection) throws Exception {
        runner.withClassLoader(new FilteredClassLoader("io.github.resilience4j." + library(protection)))
                .withPropertyValues(
                        "iree.modules.adder.location=" + TestModules.adder(directory), property(protection) + "=true")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage("property '%s' is true, but 'resilience4j-%s' is not on the class path"
                                .formatted(property(protection), library(protection))));
    }

    /** Unlike filtered classes, absent classes cannot be linked either. */
    @ParameterizedTest
    @ValueSource(strings = {"circuit-breaker", "bulkhead", "time-limiter", "retry"})
    void callsRunWhereOtherLibrariesAreAbsent(String protection) throws Exception {
        List<String> absent = ALL.stream()
                .filter(each -> !each.equals(protection))
                .map(each -> "resilience4j-" + library(each))
                .toList();
        URL[] path = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> absent.stream().noneMatch(entry::contains))
                .map(SingleLibraryTests::url)
                .toArray(URL[]::new);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(loader);
            Object sum = loader.loadClass(Application.class.getName())
                    .getMethod("sum", String.class, String.class)
                    .invoke(null, TestModules.adder(directory).toString(), property(protection));
            assertThat(sum).isEqualTo(3);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(entry, e);
        }
    }

    /** Runs in a class loader without the absent libraries. */
    public static final class Application {
        private Application() {}

        public static int sum(String location, String property) {
            int[] sum = new int[1];
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(IreeAutoConfiguration.class, IreeResilienceAutoConfiguration.class))
                    .withPropertyValues("iree.modules.adder.location=" + location, property + "=true")
                    .run(context -> {
                        assertThat(context).hasSingleBean(ResilienceInterceptor.class);
                        try (Results results =
                                context.getBean(InvocationService.class).invoke("adder.add", 1, 2)) {
                            sum[0] = results.intValue(0);
                        }
                    });
            return sum[0];
        }
    }
}

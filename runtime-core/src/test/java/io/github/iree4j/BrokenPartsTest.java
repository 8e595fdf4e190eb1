package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.vm.ModuleProvider;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Parts are found as services, in an application with a broken class path. */
class BrokenPartsTest {
    @TempDir
    private Path directory;

    /** A provider of nothing. */
    public static final class Throwing {
        public Throwing() {
            throw new IllegalStateException("cannot be created");
        }
    }

    /** A separate application, with the classes of this one; may lack the lines of a service. */
    private static final class Application extends URLClassLoader {
        private final String hidden;

        Application(List<URL> classPath, String hidden) {
            super(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            this.hidden = hidden;
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            return name.equals(hidden) ? Collections.emptyEnumeration() : super.getResources(name);
        }

        Object call(String type, String method) throws ReflectiveOperationException {
            return loadClass(type).getMethod(method).invoke(null);
        }
    }

    private List<URL> classPath() throws MalformedURLException {
        List<URL> all = new ArrayList<>();
        all.add(directory.toUri().toURL());
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            all.add(Path.of(entry).toUri().toURL());
        }
        return all;
    }

    @Test
    void partsThatCannotBeCreatedAreSkipped() throws Exception {
        Path services = Files.createDirectories(directory.resolve("META-INF/services"));
        for (Class<?> service :
                List.of(DriverProvider.class, ExecutableLoader.class, ModuleProvider.class, ProgramCheck.class)) {
            Files.writeString(
                    services.resolve(service.getName()), "no.such.Provider\n" + Throwing.class.getName() + "\n");
        }
        try (Application application = new Application(classPath(), "")) {
            assertThat((List<?>) application.call("io.github.iree4j.hal.spi.DriverProvider", "installed"))
                    .singleElement()
                    .satisfies(
                            each -> assertThat(each.getClass().getSimpleName()).isEqualTo("LocalDriverProvider"));
            AutoCloseable runtime = (AutoCloseable) application.call("io.github.iree4j.IreeRuntime", "create");
            try (runtime) {
                Path module = Fixtures.file("3.13.0/cpu/add.vmfb");
                assertThatNoException()
                        .isThrownBy(() -> ((AutoCloseable) runtime.getClass()
                                        .getMethod("load", Path.class)
                                        .invoke(runtime, module))
                                .close());
            }
        }
    }

    @Test
    void partWithAServiceLostInAMergedJarIsReportedAsSuch() throws Exception {
        String lost = "META-INF/services/" + DriverProvider.class.getName();
        try (Application application = new Application(classPath(), lost)) {
            assertThat((Optional<?>) application
                            .loadClass("io.github.iree4j.MissingPart")
                            .getMethod("remedy", Collection.class)
                            .invoke(null, List.of("local")))
                    .hasValueSatisfying(remedy -> assertThat(remedy.toString())
                            .contains("keep the line 'io.github.iree4j.hal.local.LocalDriverProvider' in " + lost));
        }
    }
}

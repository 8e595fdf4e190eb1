package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackendContractTest {
    /** A suite not nested there runs on no backend. */
    @Test
    void everySuiteIsNested() throws Exception {
        Stream<Class<?>> nested =
                Arrays.stream(BackendContract.class.getDeclaredClasses()).map(Class::getSuperclass);
        assertThat(nested).containsExactlyInAnyOrderElementsOf(suites());
    }

    /** Abstract classes with this ending, except the shared base. */
    private static Iterable<Class<?>> suites() throws Exception {
        try (Stream<Path> files = Files.list(folder())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Contract.class"))
                    .<Class<?>>map(BackendContractTest::load)
                    .filter(type -> Suite.class.isAssignableFrom(type) && type != DeviceContract.class)
                    .filter(type -> Modifier.isAbstract(type.getModifiers()))
                    .toList();
        }
    }

    private static Path folder() throws URISyntaxException {
        Path root = Path.of(
                Suite.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        return root.resolve(Suite.class.getPackageName().replace('.', '/'));
    }

    private static Class<?> load(String file) {
        try {
            return Class.forName(Suite.class.getPackageName() + "." + file.substring(0, file.length() - 6));
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}

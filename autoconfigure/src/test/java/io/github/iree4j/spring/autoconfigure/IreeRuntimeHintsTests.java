package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.lab.Scenario;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class IreeRuntimeHintsTests {

    private final RuntimeHints hints = new RuntimeHints();

    IreeRuntimeHintsTests() {
        new IreeRuntimeHints().registerHints(hints, getClass().getClassLoader());
    }

    @Test
    void theLibraryOfEachPlatformIsAResource() throws Exception {
        for (String library : List.of(
                "linux-x86_64/libiree4j_shim.so",
                "linux-aarch_64/libiree4j_shim.so",
                "linux-aarch_64/libiree4j_shim.so.sha256",
                "windows-x86_64/iree4j_shim.dll",
                "osx-aarch_64/libiree4j_shim.dylib")) {
            assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/native/" + library))
                    .as(library)
                    .accepts(hints);
        }
        List<URL> found = Collections.list(
                getClass().getClassLoader().getResources("META-INF/native/linux-x86_64/libiree4j_shim.so"));
        assertThat(found).as("the path is the library's").isNotEmpty();
    }

    /** The library registers them during its load, and is not loaded if any is missing. */
    @Test
    void registersTheClassesOfTheNativeMethods() {
        List<Class<?>> shims = new ClassFileImporter()
                .importPackagesOf(IreeRuntime.class).stream()
                        .filter(type -> type.getMethods().stream()
                                .anyMatch(method -> method.getModifiers().contains(JavaModifier.NATIVE)))
                        .<Class<?>>map(JavaClass::reflect)
                        .toList();
        assertThat(shims).hasSizeGreaterThan(1).allSatisfy(shim -> {
            assertThat(hints.jni().getTypeHint(shim)).as(shim.getName()).isNotNull();
            assertThat(hints.jni().getTypeHint(shim).getMemberCategories())
                    .contains(MemberCategory.INVOKE_DECLARED_METHODS);
        });
    }

    @Test
    void listsOfDriversAndLoadersAreResources() {
        for (Class<?> service : new Class<?>[] {DriverProvider.class, ExecutableLoader.class}) {
            String list = "META-INF/services/" + service.getName();
            assertThat(getClass().getClassLoader().getResource(list)).as(list).isNotNull();
            assertThat(RuntimeHintsPredicates.resource().forResource(list))
                    .as(list)
                    .accepts(hints);
        }
    }

    /** Whatever lies beside the classes of the runtime, the recorder and the laboratory is there to be read. */
    @Test
    void everyFileOfTheRuntimeIsAResource() throws Exception {
        List<String> resources = new ArrayList<>();
        for (Class<?> part : List.of(IreeRuntime.class, FlightRecorder.class, Scenario.class)) {
            resources.addAll(resourcesBeside(part));
        }
        assertThat(resources)
                .contains("io/github/iree4j/lab/scenarios/pipeline.yaml")
                .allSatisfy(name -> assertThat(RuntimeHintsPredicates.resource().forResource(name))
                        .accepts(hints));
    }

    private static List<String> resourcesBeside(Class<?> part) throws Exception {
        Path classes =
                Path.of(part.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (FileSystem jar = Files.isDirectory(classes) ? null : FileSystems.newFileSystem(classes);
                Stream<Path> files = Files.walk(jar == null ? classes : jar.getPath("/"))) {
            Path root = jar == null ? classes : jar.getPath("/");
            return files.filter(Files::isRegularFile)
                    .map(file -> root.relativize(file).toString())
                    .filter(name ->
                            !name.endsWith(".class") && !name.matches("META-INF/(MANIFEST.MF|LICENSE|NOTICE|maven/.*)"))
                    .toList();
        }
    }

    @Test
    void everyDriverAndLoaderCanBeInstantiated() {
        for (ServiceLoader<?> services : new ServiceLoader<?>[] {
            ServiceLoader.load(DriverProvider.class), ServiceLoader.load(ExecutableLoader.class)
        }) {
            services.stream()
                    .map(provider -> provider.type())
                    .filter(type -> !type.getName().contains("Test"))
                    .forEach(type -> assertThat(RuntimeHintsPredicates.reflection()
                                    .onType(TypeReference.of(type))
                                    .withMemberCategory(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS))
                            .as(type.getName())
                            .accepts(hints));
        }
    }
}

package io.github.iree4j.spring;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.lab.Scenario;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Registrations are complete, and the runtime is used only through its exported packages. */
class RegistrationTests {
    private static final String R = "io.github.iree4j";

    /** A class of each module of the runtime used by the starter. */
    private static final List<Class<?>> RUNTIME = List.of(IreeRuntime.class, FlightRecorder.class, Scenario.class);

    private static JavaClasses main;

    @BeforeAll
    static void importClasses() {
        main = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages(R + ".spring");
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(main.stream()
                        .map(JavaClass::getPackage)
                        .filter(p -> !p.isAnnotatedWith(NullMarked.class))
                        .map(p -> p.getName()))
                .as("packages without @NullMarked package-info")
                .isEmpty();
    }

    @Test
    void onlyExportedPackagesOfTheRuntimeAreUsed() throws IOException {
        Set<String> allowed = exportedByTheRuntime();
        allowed.add(R + ".spring..");
        classes()
                .should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage(allowed.toArray(String[]::new)).or(resideOutsideOfPackage(R + "..")))
                .check(main);
    }

    @Test
    void everyAutoConfigurationIsListed() throws IOException {
        Set<String> declared = main.stream()
                .filter(c -> c.isAnnotatedWith(AutoConfiguration.class))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        String listed = resource("META-INF/spring/" + AutoConfiguration.class.getName() + ".imports");
        assertThat(listed.lines().map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#")))
                .containsExactlyInAnyOrderElementsOf(declared);
    }

    @Test
    void everyFailureAnalyzerIsRegistered() throws IOException {
        Set<String> declared = main.stream()
                .filter(c -> c.isAssignableTo(FailureAnalyzer.class)
                        && !c.getModifiers().contains(JavaModifier.ABSTRACT))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        Properties factories = new Properties();
        factories.load(new StringReader(resource("META-INF/spring.factories")));
        Stream<String> registered = Arrays.stream(
                factories.getProperty(FailureAnalyzer.class.getName(), "").split(","));
        assertThat(registered.map(String::strip).filter(name -> !name.isEmpty()))
                .containsExactlyInAnyOrderElementsOf(declared);
    }

    @Test
    void everyPropertyIsDescribedForEditors() throws IOException {
        JsonNode metadata = JsonMapper.shared().readTree(resource("META-INF/spring-configuration-metadata.json"));
        Set<String> names = new TreeSet<>();
        for (JsonNode property : metadata.required("properties")) {
            String name = property.required("name").stringValue();
            names.add(name);
            if (property.has("deprecation")) {
                continue;
            }
            assertThat(property.path("description").asString("")).as(name).isNotBlank();
        }
        assertThat(names)
                .contains(
                        "iree.modules",
                        "iree.modules.*.location",
                        "iree.modules.*.batching.max-size",
                        "iree.advanced.pools.*.trim.retained",
                        "iree.serving.enabled");
        assertThat(metadata.required("hints").findValuesAsString("name"))
                .contains("iree.modules.*.load", "iree.executables.allowed-formats");
    }

    private static Set<String> exportedByTheRuntime() throws IOException {
        Set<String> exported = new TreeSet<>();
        for (Class<?> part : RUNTIME) {
            String place =
                    part.getProtectionDomain().getCodeSource().getLocation().toString();
            URL descriptor =
                    Collections.list(RegistrationTests.class.getClassLoader().getResources("module-info.class"))
                            .stream()
                            .filter(url -> url.toString().contains(place))
                            .findAny()
                            .orElseThrow(() -> new AssertionError("no module descriptor in " + place));
            try (InputStream in = descriptor.openStream()) {
                ModuleDescriptor.read(in).exports().stream()
                        .map(ModuleDescriptor.Exports::source)
                        .forEach(exported::add);
            }
        }
        return exported;
    }

    /** The text of a resource of this module, not of a jar with the same resource. */
    private static String resource(String name) throws IOException {
        for (URL url : Collections.list(RegistrationTests.class.getClassLoader().getResources(name))) {
            if (url.toString().contains("/autoconfigure/target/classes/")) {
                try (InputStream in = url.openStream()) {
                    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
                }
            }
        }
        throw new AssertionError("autoconfigure has no resource " + name);
    }
}
